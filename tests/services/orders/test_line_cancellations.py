"""Goods that are cancelled or paid back by line and quantity: parts add up to the penny, stock and credits are given back once."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from services.orders.actions import fulfilment
from services.orders.dependencies import Dependencies
from services.orders.documents import order_key
from services.orders.rules.progress import is_finished
from shared.couch import Database
from tests.maildir import read_mail
from tests.people import Person
from tests.services.orders.conftest import Shop, clone
from tests.services.orders.gift_cards import charged_at, issued, left_on
from tests.services.orders.test_after_sale import after, delivered, desk
from tests.services.orders.test_parcels import arrived, lines, sent, wanted

Order = dict[str, Any]


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    return {"COURIER": "manual"}


@pytest.fixture
def kettle(shop: Shop) -> str:
    return shop.product(price=999, delivery=300)


@pytest.fixture
def pot(shop: Shop) -> str:
    return shop.product(price=500, delivery=0)


@pytest.fixture
def order(shop: Shop, customer: Person, kettle: str, pot: str) -> Order:
    """Three kettles and a pot, paid."""
    return shop.placed(customer, {kettle: 3, pot: 1})


def cancelled(
    shop: Shop, person: requests.Session, order: Order, items: dict[str, int], **options: Any
) -> requests.Response:
    body = {"reason": "too many", "items": wanted(items)}
    return after(shop, person, order, "cancellation", body, **options)


def seen(shop: Shop, order: Order) -> Order:
    return dict(shop.get(shop.admin, f"/v1/orders/{order['orderid']}").json())


def paid_back(ledger: Database, order: Order) -> int:
    docs = ledger.partition(f"order{order['orderid']}").all()
    return sum(doc["total"]["amount"] for doc in docs if doc["type"] == "ledgerrefund")


def test_a_customer_cancels_a_part_of_an_order(
    shop: Shop, customer: Person, order: Order, kettle: str, ledger: Database, deps: Dependencies
) -> None:
    key = {"Idempotency-Key": secrets.token_hex(8)}
    first, again = (cancelled(shop, customer, order, {kettle: 2}, headers=key) for _ in range(2))
    assert first.status_code == 201, first.text
    found = first.json()
    assert again.json() == found
    assert (found["status"], found["refunded"]) == ("paid", "part")
    assert [(line["cancelled"], line.get("status")) for line in found["items"]] == [(2, None), (0, None)]
    assert [
        (each["number"], lines(each), each["refund"]["amount"]) for each in found["line_cancellations"]
    ] == [(1, {kettle: 2}, 1998)]
    assert paid_back(ledger, order) == 1998
    assert shop.stock(kettle) == 99
    refused = cancelled(shop, customer, order, {kettle: 2})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["items.0.quantity"])
    sent(shop, order, "p1", None)
    arrived(shop, order, 1)
    found = seen(shop, order)
    assert found["status"] == "delivered"
    assert lines(found["parcels"][0])[kettle] == 1
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    assert is_finished(deps.orders.order(order["orderid"]).progress)
    assert shop.stock(kettle) == 99


def test_what_is_left_of_a_partly_sent_order_is_cancelled(
    shop: Shop, customer: Person, order: Order, kettle: str, pot: str
) -> None:
    sent(shop, order, "p1", {kettle: 1})
    refused = after(shop, customer, order, "cancellation")
    assert (refused.status_code, refused.json()["code"]) == (409, "transition_not_allowed")
    assert cancelled(shop, customer, order, {kettle: 3}).status_code == 422
    found = cancelled(shop, shop.admin, order, {kettle: 2, pot: 1}).json()
    assert (found["status"], found["items"][1]["status"]) == ("dispatched", "cancelled")
    found = arrived(shop, order, 1).json()
    assert found["status"] == "delivered"
    assert shop.stock(kettle) == 99
    found = shop.sent_back(customer, order["orderid"], {kettle: 1})
    assert (found["status"], found["returned"]) == ("returned", "whole")
    back = sum(each["total"]["amount"] for each in found["refunds"])
    assert back == order["total"]["amount"] - order["deliveryCharge"]["amount"]


def test_lines_that_add_up_to_the_order_cancel_all_of_it(
    shop: Shop, customer: Person, order: Order, kettle: str, pot: str, ledger: Database
) -> None:
    cancelled(shop, customer, order, {kettle: 3})
    found = cancelled(shop, customer, order, {pot: 1}).json()
    assert (found["status"], found["refunded"]) == ("cancelled", "whole")
    assert paid_back(ledger, order) == order["total"]["amount"]
    assert (shop.stock(kettle), shop.stock(pot)) == (100, 100)
    assert cancelled(shop, customer, order, {pot: 1}).json() == found


def test_cancelling_the_rest_gives_back_what_is_left(
    shop: Shop, customer: Person, order: Order, kettle: str, pot: str, ledger: Database
) -> None:
    cancelled(shop, customer, order, {kettle: 1})
    found = after(shop, customer, order, "cancellation").json()
    assert (found["status"], found["refunded"]) == ("cancelled", "whole")
    assert paid_back(ledger, order) == order["total"]["amount"]
    assert (shop.stock(kettle), shop.stock(pot)) == (100, 100)


def test_goods_are_paid_back_that_the_customer_keeps(
    shop: Shop, customer: Person, order: Order, kettle: str, ledger: Database
) -> None:
    delivered(shop, order)
    key = {"Idempotency-Key": secrets.token_hex(8)}
    body = {"items": wanted({kettle: 1}), "reason": "scratched"}
    first, again = (desk(shop, order, "refunds", body, headers=key) for _ in range(2))
    assert first.status_code == 201, first.text
    assert again.json() == first.json()
    assert paid_back(ledger, order) == 999
    assert first.json()["returned"] == "none"
    assert shop.stock(kettle) == 97
    too_many = desk(shop, order, "refunds", {"items": wanted({kettle: 3})})
    assert (too_many.status_code, list(too_many.json()["errors"])) == (422, ["items.0.quantity"])
    for body in ({}, {"items": wanted({kettle: 1}), "amount": 5}):
        assert desk(shop, order, "refunds", body).status_code == 422
    found = shop.sent_back(customer, order["orderid"], {kettle: 3})
    assert sum(each["total"]["amount"] for each in found["refunds"]) == 2997, (
        "what was paid back is not twice"
    )
    nothing = desk(shop, order, "refunds", {"items": wanted({kettle: 1})})
    assert nothing.status_code == 422


def test_the_parts_of_a_discounted_order_add_up_to_the_penny(
    shop: Shop, customer: Person, kettle: str, pot: str, ledger: Database, deps: Dependencies
) -> None:
    code = f"C{secrets.token_hex(4)}".upper()
    promotion = {"name": "Third", "codes": [code], "actions": [{"kind": "percent", "basis_points": 3333}]}
    assert shop.post(shop.admin, "/v1/admin/promotions", promotion).status_code == 201
    order = shop.placed(customer, {kettle: 7, pot: 3}, codes=[code])
    goods = sum(line["payable"]["amount"] for line in order["items"])
    cancelled(shop, customer, order, {kettle: 2, pot: 1})
    sent(shop, order, "p1", {kettle: 3, pot: 2})
    cancelled(shop, customer, order, {kettle: 1})
    sent(shop, order, "p2", None)
    for number in (1, 2):
        arrived(shop, order, number)
    desk(shop, order, "refunds", {"items": wanted({kettle: 1}), "reason": "scratched"})
    for items in ({kettle: 2}, {kettle: 1, pot: 1}, {kettle: 1, pot: 1}):
        found = shop.sent_back(customer, order["orderid"], items)
    assert found["status"] == "returned"
    assert paid_back(ledger, order) == goods == sum(each["total"]["amount"] for each in found["refunds"])
    refunds = deps.orders.order(order["orderid"]).refunds
    taxes = [tax for refund in refunds for tax in refund["taxes"]]
    assert sum(each["base"]["amount"] + each["amount"]["amount"] for each in taxes) == goods


def test_of_cancelling_and_sending_at_once_each_piece_is_one_or_the_other(
    shop: Shop, customer: Person, kettle: str, refusals: set[int]
) -> None:
    for _ in range(3):
        order = shop.placed(customer, {kettle: 4})
        buyer, staff = clone(customer), clone(shop.admin)
        path = f"/v1/admin/orders/{order['orderid']}/dispatch"
        with ThreadPoolExecutor(6) as pool:
            jobs = [pool.submit(cancelled, shop, buyer, order, {kettle: 1}) for _ in range(3)]
            for number in range(3):
                body = {"courier": "post", "courierid": f"p{number}", "items": wanted({kettle: 2})}
                jobs.append(pool.submit(shop.post, staff, path, body))
        assert {job.result().status_code for job in jobs} <= {201, 422} | refusals
        found = seen(shop, order)
        out = sum(lines(each)[kettle] for each in found["parcels"])
        gone = sum(lines(each)[kettle] for each in found["line_cancellations"])
        assert out + gone <= 4
        assert (found["items"][0]["dispatched"], found["items"][0]["cancelled"]) == (out, gone)
        assert sum(each["total"]["amount"] for each in found["refunds"]) == 999 * gone


def test_what_a_gift_card_has_paid_goes_back_to_it_first(
    shop: Shop, customer: Person, kettle: str, ledger: Database
) -> None:
    card = issued(shop, 1200)
    order = shop.placed(customer, {kettle: 3}, gift_cards=[card["code"]])
    assert left_on(shop, card) == 0
    for back, charged in ((999, 0), (1200, 798)):
        found = cancelled(shop, customer, order, {kettle: 1}).json()
        assert (left_on(shop, card), paid_back(ledger, order)) == (back, charged)
    assert found["line_cancellations"][1]["refund"] == {"amount": 999, "currency": "GBP"}
    whole = after(shop, customer, order, "cancellation").json()
    assert whole["status"] == "cancelled"
    assert (left_on(shop, card), charged_at(ledger, order["orderid"])) == (1200, 0)


def test_a_cancellation_that_was_cut_off_is_finished_once(
    shop: Shop, kettle: str, deps: Dependencies, database: Database, ledger: Database
) -> None:
    person = shop.customer()
    order = shop.placed(person, {kettle: 2})
    assert cancelled(shop, person, order, {kettle: 1}).status_code == 201
    reference = deps.orders.order(order["orderid"]).line_cancellations[0]["reference"]
    for key in (f"{reference}restocked", f"{reference}settled"):
        doc = database.get(order_key(order["orderid"], key))
        database.delete(doc["_id"], doc["_rev"])
    assert not is_finished(deps.orders.order(order["orderid"]).progress)
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    assert paid_back(ledger, order) == 999
    assert shop.stock(kettle) == 99
    emails = [each for each in read_mail(shop.mail, person.email) if order["number"] in each.subject]
    assert [each.subject for each in emails if "cancelled" in each.subject] == [
        f"A part of your order {order['number']} was cancelled"
    ]
