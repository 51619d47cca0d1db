"""E-mails about orders: in the order's language and amounts, text with HTML beside it, under the shop's name and logo."""

import email
import secrets
from email.message import EmailMessage
from email.policy import default as POLICY
from typing import Any

import pytest

from tests.people import Person
from tests.pictures import png
from tests.services.orders.conftest import Shop, until
from tests.services.worker.processes import Worker


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    return {
        "COURIER": "manual",
        "LANGUAGES": "en,de",
        "SHOP_NAME": "Lamp & Book",
        "SHOP_ADDRESS": "1 Mill Lane; Bath",
    }


def messages(shop: Shop, order: dict[str, Any]) -> list[EmailMessage]:
    """About an order, the oldest first."""
    found = []
    for path in sorted((shop.mail / "new").iterdir()):
        message = email.message_from_bytes(path.read_bytes(), policy=POLICY)
        if order["number"] in str(message["Subject"]):
            found.append(message)
    return found


def parts(message: EmailMessage) -> tuple[str, str]:
    assert message.get_content_type() == "multipart/alternative"
    text, html = (message.get_body((kind,)) for kind in ("plain", "html"))
    assert text is not None
    assert html is not None
    return text.get_content().replace("\xa0", " "), html.get_content().replace("&#160;", " ")


@pytest.mark.parametrize(
    ("language", "greeting", "amount", "total"),
    [
        ("en", "thank you for your order.", "£25.00", "Total"),
        ("de", "vielen Dank für Ihre", "25,00 £", "Summe"),
    ],
)
def test_a_confirmation_reads_as_the_order_was_placed(
    shop: Shop, customer: Person, worker: Worker, language: str, greeting: str, amount: str, total: str
) -> None:
    order = shop.placed(customer, {shop.product(price=1250, delivery=0): 2}, language=language)
    [message] = until(lambda: messages(shop, order))
    text, html = parts(message)
    assert greeting in text
    assert f"{total}  {amount}" in text
    assert f'<td class="amount">{amount}</td>' in html.replace("&#163;", "£")
    assert f'<html lang="{language}"' in html
    assert "1 Mill Lane" in html
    assert "Lamp &amp; Book" in html
    assert message["From"] == "Lamp & Book <shop@aisle.example>"


def test_later_e_mails_of_a_german_order_are_german(shop: Shop, customer: Person, worker: Worker) -> None:
    order = shop.placed(customer, {shop.product(): 1}, language="de")
    path = f"/v1/admin/orders/{order['orderid']}"
    parcel = f"p{secrets.token_hex(4)}"
    until(lambda: messages(shop, order))
    assert (
        shop.post(shop.admin, f"{path}/dispatch", {"courier": "Post", "courierid": parcel}).status_code == 201
    )
    assert shop.post(shop.admin, f"{path}/delivery").status_code == 201
    subjects = until(lambda: _subjects(shop, order, 3))
    assert subjects[1:] == [
        f"Ihre Bestellung {order['number']} ist unterwegs",
        f"Ihre Bestellung {order['number']} ist angekommen",
    ]
    text, _ = parts(messages(shop, order)[1])
    assert f"mit Post unterwegs, Sendungsnummer {parcel}" in text


def _subjects(shop: Shop, order: dict[str, Any], number: int) -> list[str]:
    found = [str(message["Subject"]) for message in messages(shop, order)]
    return found if len(found) >= number else []


def test_what_people_write_is_escaped(shop: Shop, worker: Worker) -> None:
    order = shop.placed(
        shop.customer(), {shop.product(): 1}, address={"name": "<img src=x>", "address": "<b>7</b> Lane"}
    )
    [message] = until(lambda: messages(shop, order))
    text, html = parts(message)
    assert "<b>7</b> Lane" in text
    assert "<b>" not in html
    assert "<img" not in html
    assert "&lt;b&gt;7&lt;/b&gt; Lane" in html


def test_staff_look_at_an_e_mail_and_send_it_again(shop: Shop, customer: Person, worker: Worker) -> None:
    order = shop.placed(customer, {shop.product(): 1}, language="de")
    path = f"/v1/admin/orders/{order['orderid']}/emails"
    [first] = until(lambda: messages(shop, order))
    listed = until(lambda: shop.get(shop.admin, path).json()["items"])
    assert [(each["kind"], each["result"], each["by"]) for each in listed] == [("payment", "sent", "worker")]
    for language, text in (("", "vielen Dank"), ("de", "vielen Dank"), ("en", "thank you for your order")):
        seen = shop.get(shop.admin, f"{path}/payment", params={"language": language}).json()
        assert seen["to"] == customer.email
        assert text in seen["text"]
        assert text in seen["html"]
        assert seen["languages"] == ["en", "de"]
    assert len(messages(shop, order)) == 1
    key = {"Idempotency-Key": secrets.token_hex(8)}
    for _ in range(2):
        done = shop.post(shop.admin, path, {"kind": "payment"}, headers=key)
        assert done.status_code == 201, done.text
        assert done.json()["by"] == f"user {shop.admin.userid}"
    again = messages(shop, order)
    assert len(again) == 2
    assert again[1]["Subject"] == first["Subject"]
    assert again[1]["Message-ID"] != first["Message-ID"]
    assert [each["by"] for each in shop.get(shop.admin, path).json()["items"]] == [
        f"user {shop.admin.userid}",
        "worker",
    ]
    assert shop.get(shop.admin, f"{path}/dispatch").status_code == 404
    assert shop.post(shop.admin, path, {"kind": "dispatch"}).status_code == 404
    for method in (shop.get, shop.post):
        assert method(customer, path).status_code == 403


def test_a_logo_stands_above_the_e_mail(shop: Shop, customer: Person, worker: Worker) -> None:
    """A picture that the shop uploaded; then no picture again."""
    uploaded = shop.admin.post(f"{shop.products}/v1/pictures", data=png(120, (300, 100)), timeout=60)
    assert uploaded.status_code == 201, uploaded.text
    logo = uploaded.json()["id"]
    saved = shop.get(shop.admin, "/v1/admin/settings")
    headers = {"If-Match": saved.headers["ETag"]} if saved.status_code == 200 else {"If-None-Match": "*"}
    content = {"country": "GB", "name": "Lamp & Book", "logo": logo}
    put = {"url": f"{shop.orders}/v1/admin/settings", "timeout": 60}
    done = shop.admin.put(json=content, headers=headers, **put)
    assert done.status_code == 200, done.text
    html = until(lambda: _with_logo(shop, customer, logo))
    assert 'alt="Lamp &amp; Book"' in html
    done = shop.admin.put(json=content | {"logo": ""}, headers={"If-Match": done.headers["ETag"]}, **put)
    assert done.status_code == 200, done.text


def _with_logo(shop: Shop, customer: Person, logo: str) -> str:
    order = shop.placed(customer, {shop.product(): 1})
    _, html = parts(until(lambda: messages(shop, order))[0])
    return html if f"/pictures/{logo}/320" in html else ""
