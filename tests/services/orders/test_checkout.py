"""Placing orders through HTTP: once per key whatever happens, and what a checkout costs the databases."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from shared.couch import Database
from tests.people import Person, add_address
from tests.services.orders.conftest import Shop, calls, clone, insisting
from tests.waiting import Holds


def kinds(database: Database, orderid: str) -> list[str]:
    """The keys of an order's documents."""
    return sorted(doc["_id"].partition(":")[2] for doc in database.partition(f"order{orderid}").all())


def test_an_order_is_placed_paid_and_read_back(shop: Shop, customer: Person, database: Database) -> None:
    kettle, pot = shop.product(price=1250, delivery=250), shop.product(price=800, delivery=0)
    answer = shop.order(customer, {kettle: 2, pot: 1})
    assert answer.status_code == 201, answer.text
    order = answer.json()
    assert order["status"] == "paid"
    assert order["userid"] == customer.userid
    assert order["goods"] == {"amount": 3300, "currency": "GBP"}
    assert order["deliveryCharge"] == {"amount": 250, "currency": "GBP"}
    assert order["total"] == {"amount": 3550, "currency": "GBP"}
    assert order["tax"] == {
        "name": "VAT",
        "basisPoints": 2000,
        "included": True,
        "total": {"amount": 592, "currency": "GBP"},
    }
    assert order["payment"]["total"] == order["total"]
    assert [line["quantity"] for line in order["items"]] == [2, 1]
    assert answer.headers["Location"] == f"/v1/orders/{order['orderid']}"
    assert kinds(database, order["orderid"]) == ["customer", "item1", "item2", "order", "payment"]
    read = shop.get(customer, f"/v1/orders/{order['orderid']}")
    assert read.json() == order
    assert shop.stock(kettle) == 98


def test_what_requests_cost(shop: Shop, customer: Person, database: Database) -> None:
    """On a cluster an order is read by its documents' ids besides."""
    items = {shop.product(): 1, shop.product(): 2}
    shop.order(customer, items)
    answer = shop.order(customer, items)
    orderid = answer.json()["orderid"]
    none = {"partition": 0, "global": 0, "read": 0, "write": 0}
    assert calls(answer) == none | {"write": 3}
    by_id = {"read": 0 if database.has_one_copy else 1}
    assert calls(shop.get(customer, f"/v1/orders/{orderid}")) == none | {"partition": 1} | by_id
    assert calls(shop.get(customer, f"/v1/orders/{orderid}/items")) == none | {"partition": 1}
    assert calls(shop.get(customer, "/v1/orders")) == none | {"global": 1}


def test_the_same_key_is_the_same_order(shop: Shop, customer: Person, ledger: Database) -> None:
    product, key = shop.product(), secrets.token_hex(8)
    first, second = (shop.order(customer, {product: 1}, key) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert second.headers["Idempotency-Replayed"] == "true"
    other = shop.order(customer, {product: 2}, key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    elsewhere = shop.order(shop.customer(), {product: 1}, key)
    assert elsewhere.json()["orderid"] != first.json()["orderid"]
    assert shop.stock(product) == 98


def test_a_key_used_again_for_more_lines_leaves_the_first_order_as_it_was(
    shop: Shop, customer: Person, database: Database
) -> None:
    """A bulk writes each document on its own: lines that the first order has not must not stay in it."""
    product, more, key = shop.product(), shop.product(), secrets.token_hex(8)
    first = shop.placed(customer, {product: 1}, key=key)
    refused = shop.order(customer, {product: 1, more: 1}, key)
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")
    assert kinds(database, first["orderid"]) == ["customer", "item1", "order", "payment"]
    assert shop.get(customer, f"/v1/orders/{first['orderid']}").json() == first


def test_the_same_key_answers_the_same_although_the_price_changed_since(shop: Shop, customer: Person) -> None:
    product, key = shop.product(price=1000, delivery=0), secrets.token_hex(8)
    seen = {"expected_total": {"amount": 1000, "currency": "GBP"}}
    first = shop.order(customer, {product: 1}, key, **seen)
    body = shop.admin.get(f"{shop.products}/v1/products/{product}", timeout=30).json()
    changed = {name: body[name] for name in body if name not in ("stock", "rating")}
    changed["price"] = {"amount": 1100, "currency": "GBP"}
    answer = shop.admin.put(f"{shop.products}/v1/products/{product}", json=changed, timeout=30)
    assert answer.status_code == 200, answer.text
    assert shop.order(customer, {product: 1}, key, **seen).json() == first.json()
    refused = shop.order(customer, {product: 1}, **seen)
    assert (refused.status_code, refused.json()["code"]) == (409, "price_changed")
    assert refused.json()["total"] == {"amount": 1100, "currency": "GBP"}


def test_fifty_requests_with_one_key_make_one_order_and_one_charge(
    shop: Shop, customer: Person, database: Database, ledger: Database
) -> None:
    """The guard is the order's id, made of the customer and the key: with one at random these are fifty orders."""
    product, key = shop.product(stock=100), secrets.token_hex(8)
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: shop.order(clone(customer), {product: 1}, key), range(50)))
    assert {answer.status_code for answer in answers} == {201}, {answer.text for answer in answers}
    assert len({answer.json()["orderid"] for answer in answers}) == 1
    orderid = answers[0].json()["orderid"]
    assert kinds(database, orderid) == ["customer", "item1", "order", "payment"]
    assert [doc["status"] for doc in ledger.partition(f"order{orderid}").all()] == ["paid"]
    assert shop.stock(product) == 99


def test_the_last_ten_are_sold_ten_times(shop: Shop, customer: Person) -> None:
    """The guard is the numbered slot of the stock's chain, which only one buyer can write."""
    product = shop.product(stock=10)
    with ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(lambda _: insisting(shop, clone(customer), {product: 1}), range(200)))
    codes = [answer.status_code for answer in answers]
    assert (codes.count(201), codes.count(409)) == (10, 190), codes
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"out_of_stock"}
    assert shop.stock(product) == 0


def test_a_declined_payment_gives_everything_back(shop: Shop, customer: Person, database: Database) -> None:
    product, key = shop.product(stock=5), secrets.token_hex(8)
    payment = {"payment": {"provider": "sandbox", "token": "tok_declined"}}
    for _ in range(2):
        answer = shop.order(customer, {product: 1}, key, **payment)
        assert (answer.status_code, answer.json()["code"]) == (402, "payment_declined")
    assert shop.stock(product) == 5
    assert product not in shop.get(customer, "/v1/orders").text


def test_lost_and_failed_answers_of_the_provider_are_asked_again(
    shop: Shop, customer: Person, ledger: Database
) -> None:
    product = shop.product()
    for token in ("tok_timeout", "tok_error"):
        order = shop.placed(customer, {product: 1}, payment={"provider": "sandbox", "token": token})
        assert order["status"] == "paid"
        charges = [
            doc for doc in ledger.partition(f"order{order['orderid']}").all() if doc["type"] == "charge"
        ]
        assert [charge["total"] for charge in charges] == [order["total"]]


def test_guests_order_with_an_email_address_and_read_with_a_token(shop: Shop) -> None:
    guest = requests.Session()
    items = {shop.product(): 1}
    assert shop.order(guest, items).status_code == 401
    order = shop.placed(guest, items, email="guest@example.com", name="Guest")
    path, token = f"/v1/orders/{order['orderid']}", order["guest_token"]
    assert shop.get(guest, path).status_code == 404
    assert shop.get(guest, path, headers={"X-Order-Token": token}).json() == order
    assert shop.get(guest, path, headers={"X-Order-Token": token[:-1] + "g"}).status_code == 404


def test_an_address_of_the_customer_is_copied_into_the_order(shop: Shop, customer: Person) -> None:
    address = add_address(customer, shop.users)
    items = {shop.product(): 1}
    order = shop.placed(customer, items, address=None, address_id=address)
    assert "High Street" in order["deliveryAddress"]["address"]
    unknown = shop.order(customer, items, address=None, address_id="nowhere")
    assert (unknown.status_code, unknown.json()["code"]) == (422, "unknown_address")


def test_somebody_elses_order_is_404(shop: Shop, customer: Person) -> None:
    order = shop.placed(customer, {shop.product(): 1})
    stranger, path = shop.customer(), f"/v1/orders/{order['orderid']}"
    assert shop.get(stranger, path).status_code == 404
    assert shop.get(stranger, f"{path}/items").status_code == 404
    assert shop.post(stranger, f"{path}/cancellation", {}).status_code == 404
    assert shop.get(requests.Session(), path).status_code == 404
    assert shop.get(shop.admin, path).status_code == 200


@pytest.mark.parametrize("orderid", ["a:b", "a:b/items", "_a", "a%00b", "x" * 3000])
def test_an_id_that_no_order_has_is_404(shop: Shop, orderid: str) -> None:
    assert shop.get(shop.admin, f"/v1/orders/{orderid}").status_code == 404


def test_bad_checkouts_say_what_is_wrong(shop: Shop, customer: Person) -> None:
    product = shop.product()
    unknown = shop.order(customer, {"nothing": 1})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "unknown_product")
    assert shop.order(customer, {product: 0}).status_code == 422
    assert shop.order(customer, {product: 1}, address_id="both").status_code == 422
    assert shop.order(customer, {product: 1}, colour="red").status_code == 422
    keyless = customer.post(f"{shop.orders}/v1/orders", json={}, timeout=30)
    assert keyless.status_code in (400, 422)
    mixed = shop.order(customer, {product: 1, shop.product(currency="EUR"): 1})
    assert mixed.status_code == 422


@pytest.mark.parametrize(
    "address",
    [
        "1 Mill\x07 Lane",
        "1 Mill Lane\x85",
        {"street": "1 Mill Lane", "city": "Yo\x1brk"},
        {"a\x00": "b"},
        "\u202e1 Mill",
        {},
        {"street": ""},
    ],
)
def test_an_address_with_control_characters_is_refused(shop: Shop, customer: Person, address: Any) -> None:
    refused = shop.order(customer, {shop.product(): 1}, address=address)
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["address"])


def test_an_addresses_line_ends_are_line_feeds(shop: Shop, customer: Person) -> None:
    sent = {"street": "1 Mill Lane\r\nBack door", "city": "York", "line2": ""}
    order = shop.placed(customer, {shop.product(): 1}, address=sent)
    assert order["deliveryAddress"] == {"street": "1 Mill Lane\nBack door", "city": "York", "line2": ""}


def test_history_is_newest_first_in_pages_that_neither_repeat_nor_miss(shop: Shop, holds: Holds) -> None:
    person, product = shop.customer(), shop.product()
    placed = [shop.placed(person, {product: 1})["orderid"] for _ in range(5)]

    def history() -> list[str]:
        seen: list[str] = []
        cursor = None
        while True:
            page = shop.get(
                person, "/v1/orders", params={"limit": 2} | ({"cursor": cursor} if cursor else {})
            ).json()
            assert len(page["items"]) <= 2
            seen += [item["orderid"] for item in page["items"]]
            if (cursor := page["next"]) is None:
                return seen

    holds(lambda: history() == placed[::-1])
    first = shop.get(person, "/v1/orders", params={"limit": 2}).json()
    assert {item["status"] for item in first["items"]} == {"paid"}
    foreign = shop.get(shop.customer(), "/v1/orders", params={"cursor": first["next"]})
    assert (foreign.status_code, foreign.json()["code"]) == (400, "bad_cursor")
