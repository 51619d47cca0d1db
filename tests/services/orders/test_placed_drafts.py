"""Draft orders of staff become orders: once, in cash or by a payment link, whoever places them at once and whatever dies on the way."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import requests

from services.orders.actions import draft_placing, fulfilment
from services.orders.actions.drafts import Editor
from services.orders.dependencies import Dependencies
from services.orders.documents import draft_key
from shared.clock import now
from shared.couch import Database
from tests.maildir import read_mail
from tests.people import Person
from tests.services.orders.conftest import Shop, clone
from tests.services.orders.draft_orders import PATH, content, made, of_account, orders_of, placed

EDITOR = Editor("user clerk", is_admin=True, network="127.0.0.1")


def test_paid_in_cash_it_is_an_order_like_any_other(
    shop: Shop, staff: Person, database: Database, ledger: Database, advance: Callable
) -> None:
    body = content(shop, note="left the umbrella here")
    draft = made(shop, staff, body)
    answer = placed(shop, staff, draft["id"], reference="receipt 7")
    assert answer.status_code == 201, answer.text
    order = answer.json()
    assert order["status"] == "paid"
    assert order["placed_by"] == f"user {staff.userid}"
    assert (order["payment"]["provider"], order["payment"]["provider_ref"]) == ("cash", "receipt 7")
    assert shop.stock(body["items"][0]["productid"]) == 98
    assert not [
        doc
        for doc in ledger.across_partitions.documents("", "z", limit=1000)
        if order["orderid"] in doc["_id"]
    ]
    notes = shop.get(staff, f"/v1/admin/orders/{order['orderid']}/notes").json()["items"]
    assert [note["text"] for note in notes] == ["left the umbrella here"]
    again = placed(shop, staff, draft["id"], reference="receipt 7")
    assert (again.status_code, again.json()["orderid"]) == (201, order["orderid"])
    other = placed(shop, staff, draft["id"], "bank_transfer")
    assert (other.status_code, other.json()["code"]) == (409, "draft_placed")
    assert other.json()["orderid"] == order["orderid"]
    assert len(orders_of(database, draft["id"])) == 1
    listed = shop.get(staff, f"{PATH}/{draft['id']}").json()
    assert (listed["state"], listed["order"]["number"]) == ("placed", order["number"])
    changed = staff.put(f"{shop.orders}{PATH}/{draft['id']}", json=body, timeout=30)
    assert changed.json()["code"] == "draft_placed"
    advance(order["orderid"])
    assert read_mail(shop.mail, body["email"])


def test_an_order_for_an_account_is_in_its_history(shop: Shop, staff: Person, customer: Person) -> None:
    draft = made(shop, staff, of_account(shop, customer.userid))
    order = placed(shop, staff, draft["id"], "bank_transfer", reference="T-1").json()
    assert order["userid"] == customer.userid
    assert shop.get(customer, f"/v1/orders/{order['orderid']}").json()["status"] == "paid"
    assert order["orderid"] in {each["orderid"] for each in shop.get(customer, "/v1/orders").json()["items"]}


def test_a_refund_of_cash_is_recorded_by_staff(
    shop: Shop, staff: Person, ledger: Database, deps: Dependencies, advance: Callable
) -> None:
    draft = made(shop, staff, content(shop))
    order = placed(shop, staff, draft["id"]).json()
    path = f"/v1/admin/orders/{order['orderid']}/refunds"
    refunded = shop.post(staff, path, {"amount": 500, "reason": "a scratch"}).json()["refunds"][0]
    assert (refunded["settled"], refunded["by_hand"]) == (False, True)
    advance(order["orderid"])
    assert not shop.get(staff, f"/v1/orders/{order['orderid']}").json()["refunds"][0]["settled"]
    assert shop.post(staff, f"{path}/2/settlement", {}).status_code == 404
    for _ in range(2):
        done = shop.post(staff, f"{path}/1/settlement", {"reference": "till 3"})
        assert (done.status_code, done.json()["refunds"][0]["settled"]) == (201, True)
    docs = [doc for doc in deps.orders.documents_of(order["orderid"]) if doc["type"] == "settlement"]
    assert [(doc["by"], doc["provider"], doc["provider_ref"]) for doc in docs] == [
        (f"user {staff.userid}", "cash", "till 3")
    ]
    assert not [
        doc
        for doc in ledger.across_partitions.documents("", "z", limit=1000)
        if order["orderid"] in doc["_id"]
    ]
    card = shop.placed(shop.customer(), {shop.product(): 1})
    paid_back = shop.post(staff, f"/v1/admin/orders/{card['orderid']}/refunds", {"amount": 1, "reason": "x"})
    assert paid_back.json()["refunds"][0]["settled"]
    by_itself = shop.post(staff, f"/v1/admin/orders/{card['orderid']}/refunds/1/settlement", {})
    assert by_itself.json()["code"] == "not_by_hand"


def test_cash_is_in_the_sales_report_and_the_invoice(shop: Shop, staff: Person) -> None:
    def gross() -> int:
        total = shop.get(shop.admin, "/v1/admin/reports/sales?currency=GBP").json()["total"]
        return int(total["gross"]["amount"])

    before = gross()
    order = placed(shop, staff, made(shop, staff, content(shop))["id"]).json()
    assert gross() - before == 2200
    invoice = shop.get(
        staff, f"/v1/orders/{order['orderid']}/invoice", headers={"Accept": "application/json"}
    )
    assert invoice.status_code == 200
    assert invoice.json()["number"]


def test_a_payment_link_is_sent_paid_and_shown(
    shop: Shop, staff: Person, advance: Callable, database: Database
) -> None:
    body = content(shop)
    draft = made(shop, staff, body)
    order = placed(shop, staff, draft["id"], "link").json()
    assert order["status"] == "placed"
    assert order["payment_link"]
    again = placed(shop, staff, draft["id"], "link").json()
    assert again["orderid"] == order["orderid"]
    advance(order["orderid"])
    advance(order["orderid"])
    letters = read_mail(shop.mail, body["email"])
    assert len(letters) == 1
    text = letters[0].text
    assert order["payment_page"]["url"] in text
    assert "22.00" in text
    sent = shop.get(staff, f"/v1/admin/orders/{order['orderid']}/emails").json()["items"]
    assert [each["kind"] for each in sent] == ["payment-link"]
    resent = shop.post(staff, f"/v1/admin/orders/{order['orderid']}/emails", {"kind": "payment-link"})
    assert resent.status_code == 201, resent.text
    key = order["payment_page"]["url"].partition("key=")[2]
    page = f"/v1/orders/{order['orderid']}/sandbox-payment"
    anybody = requests.Session()
    assert shop.get(anybody, f"{page}?key=guessed").status_code == 404
    assert shop.get(anybody, f"{page}?key={key}").json()["total"]["amount"] == 2200
    assert shop.post(anybody, page, {"key": key, "token": "tok_declined"}).status_code == 402
    for _ in range(2):
        paid = shop.post(anybody, page, {"key": key, "token": "tok_timeout"})
        assert (paid.status_code, paid.json()["paid"]) == (200, True)
    found = shop.get(staff, f"/v1/orders/{order['orderid']}").json()
    assert found["status"] == "paid"
    advance(order["orderid"])
    kinds = [
        each["kind"]
        for each in shop.get(staff, f"/v1/admin/orders/{order['orderid']}/emails").json()["items"]
    ]
    assert (kinds.count("payment-link"), kinds.count("payment")) == (2, 1)
    assert len(orders_of(database, draft["id"])) == 1


def test_a_link_that_nobody_pays_gives_everything_back(
    shop: Shop, staff: Person, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = content(shop)
    key = body["items"][0]["productid"]
    order = placed(shop, staff, made(shop, staff, body)["id"], "link").json()
    assert shop.stock(key) == 98
    fulfilment.advance_order(deps, order["orderid"])
    assert shop.get(staff, f"/v1/orders/{order['orderid']}").json()["status"] == "placed"
    for module in (fulfilment,):
        monkeypatch.setattr(module, "now", lambda: now() + timedelta(hours=1))
    fulfilment.advance_order(deps, order["orderid"])
    assert shop.get(staff, f"/v1/orders/{order['orderid']}").json()["status"] == "placed"
    monkeypatch.setattr(fulfilment, "now", lambda: now() + timedelta(hours=25))
    fulfilment.advance_order(deps, order["orderid"])
    ended = shop.get(staff, f"/v1/orders/{order['orderid']}").json()
    assert (ended["status"], ended["payment"]) == ("cancelled", None)
    assert shop.stock(key) == 100


def test_staff_cancel_an_order_that_waits_for_its_link(shop: Shop, staff: Person) -> None:
    body = content(shop)
    order = placed(shop, staff, made(shop, staff, body)["id"], "link").json()
    ended = shop.post(staff, f"/v1/orders/{order['orderid']}/payment/cancellation", {})
    assert ended.json()["status"] == "cancelled"
    assert shop.stock(body["items"][0]["productid"]) == 100
    key = order["payment_page"]["url"].partition("key=")[2]
    late = shop.post(
        requests.Session(), f"/v1/orders/{order['orderid']}/sandbox-payment", {"key": key, "token": "tok_ok"}
    )
    assert (late.status_code, late.json()["paid"]) == (200, False)
    assert (
        shop.post(staff, f"/v1/admin/orders/{order['orderid']}/emails", {"kind": "payment-link"}).status_code
        == 404
    )


def test_two_clerks_at_once_place_one_order(shop: Shop, staff: Person, database: Database) -> None:
    draft = made(shop, staff, content(shop))
    people = [clone(staff if number % 2 else shop.admin) for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda person: placed(shop, person, draft["id"]), people))
    assert {answer.status_code for answer in answers} == {201}, [answer.text for answer in answers]
    assert len({answer.json()["orderid"] for answer in answers}) == 1
    assert len(orders_of(database, draft["id"])) == 1


def test_sold_out_it_stays_a_draft_and_can_be_placed_when_goods_are_there(
    shop: Shop, staff: Person, database: Database
) -> None:
    body = content(shop)
    key = body["items"][0]["productid"]
    shop.admin.post(
        f"{shop.products}/v1/products/{key}/stock", json={"delta": -100, "reason": "lost"}, timeout=30
    )
    draft = made(shop, staff, body)
    refused = placed(shop, staff, draft["id"])
    assert (refused.status_code, refused.json()["code"]) == (409, "out_of_stock")
    assert shop.get(staff, f"{PATH}/{draft['id']}").json()["state"] == "open"
    shop.admin.post(
        f"{shop.products}/v1/products/{key}/stock", json={"delta": 5, "reason": "found"}, timeout=30
    )
    assert placed(shop, staff, draft["id"]).json()["status"] == "paid"
    assert len(orders_of(database, draft["id"])) == 2


def test_another_total_than_was_shown_places_nothing(shop: Shop, staff: Person, database: Database) -> None:
    draft = made(shop, staff, content(shop))
    body = {"payment": {"kind": "cash"}, "expected_total": {"amount": 1, "currency": "GBP"}}
    refused = shop.post(staff, f"{PATH}/{draft['id']}/order", body)
    assert (refused.status_code, refused.json()["code"]) == (409, "price_changed")
    assert orders_of(database, draft["id"]) == []


@pytest.mark.parametrize(
    "change", [{"items": []}, {"address": None}, {"email": None}], ids=["no items", "no address", "no e-mail"]
)
def test_what_a_link_needs_is_said(shop: Shop, staff: Person, change: dict[str, Any]) -> None:
    body = {name: value for name, value in {**content(shop), **change}.items() if value is not None}
    refused = placed(shop, staff, made(shop, staff, body)["id"], "link")
    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == list(change)


def test_a_gift_card_is_kept_without_its_code(shop: Shop, staff: Person, database: Database) -> None:
    value = {"amount": 700, "currency": "GBP"}
    card = shop.post(shop.admin, "/v1/admin/gift-cards", {"value": value}).json()
    draft = made(shop, staff, content(shop, gift_cards=[card["code"]]))
    assert draft["quote"]["to_pay"]["amount"] == 1500
    stored = database.get(draft_key(draft["id"]))
    assert card["code"] not in str(stored)
    assert card["code"].replace("-", "") not in str(stored)
    kept = content(shop, gift_cards=[draft["gift_cards"][0]["id"]])
    changed = staff.put(f"{shop.orders}{PATH}/{draft['id']}", json=kept, timeout=30)
    assert changed.status_code == 200, changed.text
    strange = shop.post(staff, PATH, content(shop, gift_cards=[draft["gift_cards"][0]["id"]]))
    assert strange.json()["code"] == "gift_card_not_valid"
    order = placed(shop, staff, draft["id"]).json()
    assert (order["to_pay"]["amount"], order["payment"]["total"]["amount"]) == (1500, 2200)
    left = shop.get(shop.admin, f"/v1/admin/gift-cards/{card['id']}").json()["balance"]["amount"]
    assert left == 0


class Died(BaseException):
    """The process was killed."""


@pytest.mark.parametrize("kind", ["cash", "link"])
@pytest.mark.parametrize("moment", ["place_order", "_finish"])
def test_killed_on_the_way_it_is_one_order_when_it_is_placed_again(
    shop: Shop,
    staff: Person,
    deps: Dependencies,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
    kind: str,
) -> None:
    draft = made(shop, staff, content(shop))

    def die(*_: Any) -> None:
        raise Died

    payment = {"kind": kind, "reference": "", "provider": ""}
    with monkeypatch.context() as patched:
        patched.setattr(draft_placing, moment, die)
        with pytest.raises(Died):
            draft_placing.place_draft(deps, draft["id"], payment, None, EDITOR)
    assert shop.get(staff, f"{PATH}/{draft['id']}").json()["state"] == "placing"
    locked = staff.put(f"{shop.orders}{PATH}/{draft['id']}", json=content(shop), timeout=30)
    assert locked.json()["code"] == "draft_being_placed"
    assert staff.delete(f"{shop.orders}{PATH}/{draft['id']}", timeout=30).status_code == 409
    assert placed(shop, staff, draft["id"], kind).status_code == 201
    assert len(orders_of(database, draft["id"])) == 1
    assert shop.get(staff, f"{PATH}/{draft['id']}").json()["state"] == "placed"


def test_an_attempt_that_the_worker_ended_leaves_the_draft_to_be_placed_again(
    shop: Shop, staff: Person, deps: Dependencies, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed with the goods reserved: the sweep gives them back, and the next press begins anew."""
    from services.orders.actions import claims

    body = content(shop)
    draft = made(shop, staff, body)

    def die(*_: Any) -> None:
        raise Died

    with monkeypatch.context() as patched:
        patched.setattr(claims, "take", die)
        with pytest.raises(Died):
            draft_placing.place_draft(
                deps, draft["id"], {"kind": "cash", "reference": "", "provider": ""}, None, EDITOR
            )
        patched.setattr(fulfilment, "now", lambda: now() + timedelta(minutes=5))
        [order] = orders_of(database, draft["id"])
        fulfilment.advance_order(deps, order["orderid"])
    assert shop.stock(body["items"][0]["productid"]) == 100
    first = placed(shop, staff, draft["id"])
    assert (first.status_code, first.json()["code"]) == (409, "attempt_closed")
    second = placed(shop, staff, draft["id"])
    assert (second.status_code, second.json()["status"]) == (201, "paid")
    assert shop.stock(body["items"][0]["productid"]) == 98
