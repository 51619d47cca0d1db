"""Invoices, credit notes and packing slips as PDF: numbered without gaps, equal to the order, in any script, the same for ever."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pypdf
import pytest
import requests

from services.orders.documents import ISSUED_NUMBER, issued_numbers_partition, order_key
from services.products.documents import DESIGN as PRODUCTS
from services.products.documents import PICTURE, picture_id
from services.products.imaging import NAMES as SIZES
from services.products.store.pictures import Pictures
from shared.couch import Database, Server
from tests.patience import patient
from tests.people import Person
from tests.pictures import png
from tests.services.orders.conftest import Shop, calls, clone, until

NAMES = {
    "Polish": "Zażółć Gęślą",
    "Greek": "Αθήνα Παπαδοπούλου",
    "Cyrillic": "Ёлка Щукина",
    "Arabic": "محمد",
    "Hebrew": "שלום",
    "Chinese": "王小明",
    "Japanese": "山田カナ",
    "Korean": "김철수",
    "Thai": "สมชาย",
}
GERMANY = {"line1": "Am Markt 1", "city": "Bremen", "postcode": "28195", "country": "DE"}


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    return {
        "COURIER": "manual",
        "LANGUAGES": "en,de",
        "SHOP_NAME": "Lamp & Book",
        "SHOP_ADDRESS": "1 Mill Lane; Bath BA1 1AA; VAT GB 123 4567 89",
    }


def pdf(shop: Shop, person: requests.Session, path: str) -> str:
    """The text of a document, which is PDF/A."""
    answer = shop.get(person, path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/pdf"
    reader = pypdf.PdfReader(BytesIO(answer.content))
    assert b"pdfaid" in answer.content
    return "\n".join(page.extract_text() for page in reader.pages).replace("\xa0", " ")


def invoice_of(shop: Shop, person: requests.Session, order: dict[str, Any]) -> dict[str, Any]:
    path = f"/v1/orders/{order['orderid']}/invoice"
    answer = patient(lambda: shop.get(person, path, headers={"Accept": "application/json"}))
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def issued(database: Database, kind: str) -> list[int]:
    partition = database.partition(issued_numbers_partition(kind, datetime.now(UTC).year))
    return [each["number"] for each in ISSUED_NUMBER.among(partition.all())]


def test_an_invoice_says_what_the_order_says(shop: Shop, customer: Person, database: Database) -> None:
    kettle = shop.product(price=1250, delivery=250)
    order = shop.placed(customer, {kettle: 3})
    path = f"/v1/orders/{order['orderid']}/invoice"
    first = shop.get(customer, path)
    assert first.headers["Content-Type"] == "application/pdf", first.text
    number = shop.get(customer, f"/v1/orders/{order['orderid']}").json()["invoice"]["number"]
    assert f'filename="{number}.pdf"' in first.headers["Content-Disposition"]
    text = pdf(shop, customer, f"{path}.pdf")
    for expected in (
        f"Invoice {number}",
        "Lamp & Book",
        "1 Mill Lane",
        "VAT GB 123 4567 89",
        order["number"],
        "Ada Lovelace",
        f"Kettle {kettle}",
        "£12.50",
        f"Total £{order['total']['amount'] / 100:.2f}",
    ):
        assert expected in text, (expected, text)
    for tax in order["taxes"]:
        assert f"£{tax['amount']['amount'] / 100:.2f}" in text, text
    assert invoice_of(shop, customer, order)["number"] == number
    again = shop.get(customer, path, headers={"Accept": "application/json"})
    reads = 0 if database.has_one_copy else calls(again)["read"]
    assert calls(again) == {"partition": 1, "global": 0, "read": reads, "write": 0}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_names_of_any_script_are_printed(shop: Shop, customer: Person, name: str) -> None:
    order = shop.placed(customer, {shop.product(): 1}, address={"name": name, **GERMANY})
    text = pdf(shop, customer, f"/v1/orders/{order['orderid']}/invoice.pdf")
    assert all(word in text for word in name.split()), text
    assert "cannot be printed" not in text
    assert name.split()[0] in pdf(shop, shop.admin, f"/v1/admin/orders/{order['orderid']}/packing-slip.pdf")


def test_characters_that_no_font_has_are_said_to_be_missing(shop: Shop, customer: Person) -> None:
    order = shop.placed(customer, {shop.product(): 1}, address={"name": "Ada 😀 #panic() *x*", **GERMANY})
    text = pdf(shop, customer, f"/v1/orders/{order['orderid']}/invoice.pdf")
    assert "Ada [U+1F600] #panic() *x*" in text
    assert "Characters that cannot be printed here are written as their numbers: U+1F600." in text


def test_an_invoice_is_in_the_language_of_the_order(shop: Shop, customer: Person) -> None:
    order = shop.placed(customer, {shop.product(): 1}, language="de", address={"name": "Ada", **GERMANY})
    assert order["language"] == "de"
    text = pdf(shop, customer, f"/v1/orders/{order['orderid']}/invoice.pdf")
    for expected in ("Rechnung A-", "Einzelpreis", "12,50 £", "Deutschland", "Summe 15,00 £"):
        assert expected in text, (expected, text)


def test_numbers_have_no_gaps_whoever_issues_them(
    shop: Shop, customer: Person, replica: str, database: Database
) -> None:
    """Each order is asked for by both replicas, and by two threads of each, at once."""
    kettle = shop.product(stock=1000)
    orders = [shop.placed(customer, {kettle: 1}) for _ in range(12)]
    shops = [shop, replace(shop, orders=replica)]
    people = [clone(customer) for _ in range(16)]

    def ask(job: int) -> tuple[str, str]:
        order = orders[job % len(orders)]
        return order["orderid"], invoice_of(shops[job // len(orders) % 2], people[job % 16], order)["number"]

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(4 * len(orders))))
    numbers = {orderid: {number for each, number in answers if each == orderid} for orderid, _ in answers}
    assert all(len(each) == 1 for each in numbers.values()), numbers
    assert len(set.union(*numbers.values())) == len(orders)
    assert issued(database, "invoice") == list(range(1, len(issued(database, "invoice")) + 1))


def test_a_number_that_was_taken_before_a_crash_is_found_again(
    shop: Shop, customer: Person, database: Database
) -> None:
    """The invoice's document is lost after its number was written, and others were issued since."""
    kettle = shop.product()
    order, later = (shop.placed(customer, {kettle: 1}) for _ in range(2))
    number = invoice_of(shop, customer, order)["number"]
    invoice_of(shop, customer, later)
    document = database.get(order_key(order["orderid"], "invoice"))
    database.delete(document["_id"], document["_rev"])
    before = issued(database, "invoice")
    assert invoice_of(shop, customer, order)["number"] == number
    assert issued(database, "invoice") == before


def test_each_refund_has_a_credit_note(shop: Shop, customer: Person, database: Database) -> None:
    order = shop.placed(customer, {shop.product(price=2000): 2})
    path = f"/v1/orders/{order['orderid']}"
    for amount, reason in ((500, "Scratched"), (300, "")):
        body = {"amount": amount, "reason": reason or "Late"}
        done = shop.post(shop.admin, f"/v1/admin/orders/{order['orderid']}/refunds", body)
        assert done.status_code == 201, done.text
    text = pdf(shop, customer, f"{path}/credit-notes/1.pdf")
    pdf(shop, customer, f"{path}/credit-notes/2.pdf")
    seen = shop.get(customer, path).json()
    assert [note["refund"] for note in seen["credit_notes"]] == [1, 2]
    for expected in (
        f"Credit note {seen['credit_notes'][0]['number']}",
        f"Invoice: {seen['invoice']['number']}",
        "Scratched",
        "Credited in all £5.00",
    ):
        assert expected in text, (expected, text)
    tax = seen["refunds"][0].get("taxes") or []
    assert all(f"£{each['amount']['amount'] / 100:.2f}" in text for each in tax)
    assert shop.get(customer, f"{path}/credit-notes/3.pdf").status_code == 404
    assert issued(database, "creditnote") == list(range(1, len(issued(database, "creditnote")) + 1))


def test_an_invoice_stays_as_it_was_when_the_shop_moves(shop: Shop, customer: Person) -> None:
    kettle = shop.product()
    before = shop.placed(customer, {kettle: 1})
    path = f"/v1/orders/{before['orderid']}/invoice.pdf"
    text = pdf(shop, customer, path)
    saved = shop.get(shop.admin, "/v1/admin/settings")
    content = {"country": "GB", "name": "New Lamps", "address": "9 Hill Road\nYork"}
    headers = {"If-Match": saved.headers["ETag"]} if saved.status_code == 200 else {"If-None-Match": "*"}
    done = shop.admin.put(f"{shop.orders}/v1/admin/settings", json=content, headers=headers, timeout=60)
    assert done.status_code == 200, done.text
    after = until(lambda: _new_seller(shop, customer, kettle))
    assert (after["seller"]["name"], after["seller"]["lines"]) == ("New Lamps", ["9 Hill Road", "York"])
    assert pdf(shop, customer, path) == text
    content |= {"name": "Lamp & Book", "address": ""}
    done = shop.admin.put(
        f"{shop.orders}/v1/admin/settings",
        json=content,
        headers={"If-Match": done.headers["ETag"]},
        timeout=60,
    )
    assert done.status_code == 200, done.text


def _new_seller(shop: Shop, customer: Person, kettle: str) -> dict[str, Any] | None:
    invoice = invoice_of(shop, customer, shop.placed(customer, {kettle: 1}))
    return invoice if invoice["seller"]["name"] == "New Lamps" else None


def test_only_those_who_may_see_an_order_print_it(shop: Shop, customer: Person) -> None:
    order = shop.placed(customer, {shop.product(): 1})
    other = shop.customer()
    for path in ("invoice", "invoice.pdf", "credit-notes/1.pdf"):
        assert shop.get(other, f"/v1/orders/{order['orderid']}/{path}").status_code == 404
        assert shop.get(requests.Session(), f"/v1/orders/{order['orderid']}/{path}").status_code == 404
    slip = f"/v1/admin/orders/{order['orderid']}/packing-slip.pdf"
    assert shop.get(customer, slip).status_code == 403
    text = pdf(shop, shop.admin, slip)
    assert f"Packing slip {order['number']}" in text
    assert "£" not in text


def test_an_unpaid_order_has_no_invoice(shop: Shop, database: Database) -> None:
    person = shop.customer()
    declined = shop.order(
        person, {shop.product(): 1}, payment={"provider": "sandbox", "token": "tok_declined"}
    )
    assert declined.status_code == 402
    unpaid = until(lambda: _declined(shop, person.userid))
    before = issued(database, "invoice")
    assert shop.get(person, f"/v1/orders/{unpaid}/invoice").status_code == 409
    assert issued(database, "invoice") == before


def _declined(shop: Shop, userid: str) -> str | None:
    listed = shop.get(shop.admin, "/v1/admin/orders", params={"limit": 100}).json()["items"]
    return next((str(each["orderid"]) for each in listed if each["userid"] == userid), None)


def test_an_erased_person_is_on_no_invoice(shop: Shop) -> None:
    person, planted = shop.customer(), f"Planted{secrets.token_hex(4)}"
    order = shop.placed(person, {shop.product(): 1}, address={"name": planted, **GERMANY})
    path = f"/v1/orders/{order['orderid']}/invoice.pdf"
    assert planted in pdf(shop, person, path)
    gone = person.delete(f"{shop.users}/v1/users/me", timeout=60)
    assert gone.status_code in (202, 204), gone.text
    text = until(lambda: _without(pdf(shop, shop.admin, path), planted))
    assert f"Total £{order['total']['amount'] / 100:.2f}" in text


def _without(text: str, planted: str) -> str:
    return "" if planted in text else text


def test_each_parcel_has_a_packing_slip(shop: Shop, customer: Person) -> None:
    kettle, lamp = shop.product(), shop.product()
    order = shop.placed(customer, {kettle: 2, lamp: 1})
    path = f"/v1/admin/orders/{order['orderid']}"
    sent = {"courier": "Post", "courierid": "first", "items": [{"productid": kettle, "quantity": 1}]}
    assert shop.post(shop.admin, f"{path}/dispatch", sent).status_code == 201
    first, rest = (pdf(shop, shop.admin, f"{path}/packing-slip.pdf?parcel={number}") for number in (1, 0))
    assert f"1 Kettle {kettle}" in first
    assert "Post first" in first
    assert lamp not in first
    assert f"1 Kettle {kettle}" in rest
    assert f"1 Kettle {lamp}" in rest
    assert "2 items in all." in rest
    assert shop.get(shop.admin, f"{path}/packing-slip.pdf?parcel=2").status_code == 404


def test_a_packing_slip_leaves_out_what_was_cancelled(shop: Shop, customer: Person) -> None:
    kettle, lamp = shop.product(), shop.product()
    order = shop.placed(customer, {kettle: 2, lamp: 3})
    path = f"/v1/admin/orders/{order['orderid']}"
    gone = {"items": [{"productid": lamp, "quantity": 2}, {"productid": kettle, "quantity": 2}]}
    assert shop.post(shop.admin, f"/v1/orders/{order['orderid']}/cancellation", gone).status_code == 201
    assert shop.post(shop.admin, f"{path}/dispatch", {"courier": "Post", "courierid": "x"}).status_code == 201
    slip = pdf(shop, shop.admin, f"{path}/packing-slip.pdf")
    assert f"1 Kettle {lamp}" in slip
    assert kettle not in slip
    assert "1 item in all." in slip


def saved_logo(shop: Shop, logo: str) -> requests.Response:
    path = f"{shop.orders}/v1/admin/settings"
    before = shop.admin.get(path, timeout=60)
    known = {"If-Match": before.headers["ETag"]} if before.status_code == 200 else {"If-None-Match": "*"}
    content = {"country": "GB", "name": "Lamp & Book", "logo": logo}
    return shop.admin.put(path, json=content, headers=known, timeout=60)


def test_a_logo_is_a_picture_that_is_there(shop: Shop) -> None:
    for unknown in ("abc123", "0" * 64):
        refused = saved_logo(shop, unknown)
        assert refused.status_code == 422, refused.text
        assert "upload it first" in refused.json()["errors"]["logo"][0]
    assert shop.get(shop.admin, "/v1/admin/settings").json().get("logo", "") == ""


def test_invoices_are_printed_although_their_logo_is_lost(
    shop: Shop, customer: Person, server: Server
) -> None:
    """Taken away by hand in the database, and then there again but broken: the shop's name stands where it was."""
    uploaded = shop.admin.post(f"{shop.products}/v1/pictures", data=png(90, (300, 100)), timeout=60).json()
    done = saved_logo(shop, uploaded["id"])
    assert done.status_code == 200, done.text

    def with_logo() -> str:
        path = f"/v1/orders/{shop.placed(customer, {shop.product(): 1})['orderid']}/invoice.pdf"
        reader = pypdf.PdfReader(BytesIO(shop.get(customer, path).content))
        return path if any(page.images for page in reader.pages) else ""

    path = until(with_logo)
    database = server.open(PRODUCTS)
    docid = picture_id(uploaded["id"])
    database.delete(docid, database.get(docid)["_rev"])
    assert "Lamp & Book" in pdf(shop, customer, path)
    about = {"digest": uploaded["id"], "content_type": "image/png", "size": 6, "width": 300, "height": 100}
    broken = PICTURE.build(docid, date=uploaded.get("date", "2026-01-01T00:00:00.000Z"), **about)
    Pictures(database).add(broken, dict.fromkeys(SIZES, ("image/png", b"broken")))
    assert "Lamp & Book" in pdf(shop, customer, path)
    assert saved_logo(shop, uploaded["id"]).status_code == 200, (
        "what is saved already is not looked for again"
    )
    assert saved_logo(shop, "").status_code == 200
