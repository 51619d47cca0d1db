"""An order in several parcels: each with its lines, tracking link, arrival and e-mail; nothing goes out twice."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from services.orders.actions import fulfilment
from services.orders.dependencies import Dependencies
from services.orders.documents import order_key
from services.orders.rules.progress import is_finished
from services.orders.store.orders import row_of
from shared.couch import Database
from tests.maildir import read_mail
from tests.people import Person
from tests.services.orders.conftest import Shop, clone
from tests.services.orders.test_after_sale import PARCEL, desk, of_customers
from tests.waiting import eventually

Order = dict[str, Any]
TRACKING = "https://post.example/track/1"


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


def sent(shop: Shop, order: Order, courierid: str, items: dict[str, int] | None, **more: Any) -> Order:
    body = {"courier": "post", "courierid": courierid, **more}
    if items is not None:
        body["items"] = wanted(items)
    answer = desk(shop, order, "dispatch", body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def wanted(items: dict[str, int]) -> list[Order]:
    return [{"productid": key, "quantity": quantity} for key, quantity in items.items()]


def arrived(shop: Shop, order: Order, number: int) -> requests.Response:
    return desk(shop, order, f"parcels/{number}/delivery")


def lines(parcel: Order) -> dict[str, int]:
    return {line["productid"]: line["quantity"] for line in parcel["lines"]}


def statuses(found: Order) -> list[Any]:
    return [found["status"], *(line.get("status") for line in found["items"])]


def test_an_order_goes_out_in_three_parcels(
    shop: Shop, customer: Person, order: Order, kettle: str, pot: str, database: Database
) -> None:
    first = sent(shop, order, "p1", {kettle: 1}, tracking_url=TRACKING)
    assert statuses(first) == ["partly_dispatched", None, "paid"]
    assert (first["dispatch"]["courierid"], first["dispatch"]["tracking_url"]) == ("p1", TRACKING)
    assert [(each["number"], lines(each), each["tracking_url"]) for each in first["parcels"]] == [
        (1, {kettle: 1}, TRACKING)
    ]
    assert sent(shop, order, "p1", {kettle: 1}) == first
    second = sent(shop, order, "p2", {pot: 1})
    assert statuses(second) == ["partly_dispatched", None, "dispatched"]
    here = arrived(shop, order, 1).json()
    assert statuses(here) == ["partly_delivered", None, "dispatched"]
    assert [(line["dispatched"], line["delivered"]) for line in here["items"]] == [(1, 1), (1, 0)]
    third = sent(shop, order, "p3", None)
    assert [lines(each) for each in third["parcels"]] == [{kettle: 1}, {pot: 1}, {kettle: 2}]
    several = desk(shop, order, "delivery")
    assert (several.status_code, several.json()["code"]) == (409, "several_parcels")
    assert arrived(shop, order, 4).json()["code"] == "no_such_parcel"
    arrived(shop, order, 3)
    whole = desk(shop, order, "delivery").json()
    assert whole["status"] == "delivered"
    assert arrived(shop, order, 2).json() == whole
    assert shop.get(customer, f"/v1/orders/{order['orderid']}").json() == of_customers(whole)
    assert [step["status"] for step in whole["timeline"]] == [
        "placed",
        "paid",
        "partly_dispatched",
        "partly_dispatched",
        "partly_delivered",
        "dispatched",
        "partly_delivered",
        "delivered",
    ]
    docs = database.partition(f"order{order['orderid']}").all()
    assert all(doc["_rev"].startswith("1-") for doc in docs if doc["type"] != "ordersummary")
    assert {"dispatch", "dispatch2", "dispatch3", "delivery", "delivery2", "delivery3", "decision3"} <= {
        doc["_id"].partition(":")[2] for doc in docs
    }


def test_more_than_is_left_is_refused(shop: Shop, order: Order, kettle: str, pot: str) -> None:
    sent(shop, order, "p1", {kettle: 2})
    refused = desk(shop, order, "dispatch", {**PARCEL, "courierid": "p2", "items": wanted({kettle: 2})})
    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"] == {"items.0.quantity": [f"1 of {kettle} can be sent."]}
    other = desk(shop, order, "dispatch", {**PARCEL, "courierid": "p1", "items": wanted({kettle: 1})})
    assert (other.status_code, other.json()["code"]) == (409, "transition_not_allowed")
    for link in ("javascript:alert(1)", "ftp://example.com"):
        assert desk(shop, order, "dispatch", {**PARCEL, "tracking_url": link}).status_code == 422
    sent(shop, order, "p2", None)
    refused = desk(shop, order, "dispatch", {**PARCEL, "courierid": "p3"})
    assert (refused.status_code, refused.json()["order_status"]) == (409, "dispatched")


def test_a_whole_order_in_one_parcel_is_written_as_ever(
    shop: Shop, order: Order, kettle: str, pot: str, database: Database
) -> None:
    found = sent(shop, order, "p1", {kettle: 3, pot: 1})
    assert found["status"] == "dispatched"
    assert [line.keys() & {"status", "dispatched"} for line in found["items"]] == [set(), set()]
    assert lines(found["parcels"][0]) == {kettle: 3, pot: 1}
    dispatch = database.get(order_key(order["orderid"], "dispatch"))
    assert "lines" not in dispatch


def test_only_what_arrived_can_be_sent_back(
    shop: Shop, customer: Person, order: Order, kettle: str, pot: str
) -> None:
    sent(shop, order, "p1", {kettle: 1})
    path = f"/v1/orders/{order['orderid']}/returns"
    assert shop.post(customer, path, {"items": wanted({kettle: 1})}).status_code == 409
    arrived(shop, order, 1)
    for items in ({kettle: 2}, {pot: 1}):
        assert shop.post(customer, path, {"items": wanted(items)}).status_code == 422
    found = shop.sent_back(customer, order["orderid"], {kettle: 1})
    assert (found["status"], found["returned"]) == ("partly_delivered", "part")
    assert found["items"][0]["status"] == "partly_returned"


def test_of_many_who_send_at_once_nobody_sends_a_piece_twice(
    shop: Shop, customer: Person, kettle: str, refusals: set[int]
) -> None:
    order, staff = shop.placed(customer, {kettle: 5}), clone(shop.admin)
    path = f"/v1/admin/orders/{order['orderid']}/dispatch"

    def send(number: int) -> requests.Response:
        body = {"courier": "post", "courierid": f"p{number}", "items": wanted({kettle: 2})}
        return shop.post(staff, path, body)

    with ThreadPoolExecutor(6) as pool:
        codes = sorted(answer.status_code for answer in pool.map(send, range(6)))
    assert codes[:2] == [201, 201]
    assert set(codes[2:]) <= {422, *refusals}
    found = shop.get(shop.admin, f"/v1/orders/{order['orderid']}").json()
    assert [lines(each) for each in found["parcels"]] == [{kettle: 2}, {kettle: 2}]


def test_each_parcel_has_its_e_mails_and_a_parcel_that_was_decided_on_is_completed(
    shop: Shop, kettle: str, deps: Dependencies, database: Database
) -> None:
    person = shop.customer()
    order = shop.placed(person, {kettle: 2})
    orderid = order["orderid"]
    sent(shop, order, "p1", {kettle: 1}, tracking_url=TRACKING)
    second = sent(shop, order, "p2", {kettle: 1})
    removed = database.get(order_key(orderid, "dispatch2"))  # as after a crash behind the decision
    database.delete(removed["_id"], removed["_rev"])
    fulfilment.advance_order(deps, orderid)
    assert shop.get(shop.admin, f"/v1/orders/{orderid}").json()["parcels"] == second["parcels"]
    arrived(shop, order, 2)
    for _ in range(2):
        fulfilment.advance_order(deps, orderid)
    assert not is_finished(deps.orders.order(orderid).progress)
    arrived(shop, order, 1)
    fulfilment.advance_order(deps, orderid)
    emails = [each for each in read_mail(shop.mail, person.email) if order["number"] in each.subject]
    assert sorted(each.subject.replace(f" of your order {order['number']}", "") for each in emails) == [
        "Parcel 1 has arrived",
        "Parcel 1 is on its way",
        "Parcel 2 has arrived",
        "Parcel 2 is on its way",
        f"Your order {order['number']}",
    ]
    assert [each.subject[:8] for each in emails if TRACKING in each.text] == ["Parcel 1"]
    assert is_finished(deps.orders.order(orderid).progress)


def test_a_list_says_what_the_order_says(shop: Shop, order: Order, kettle: str, deps: Dependencies) -> None:
    sent(shop, order, "p1", {kettle: 1})

    def listed() -> str:
        page = shop.get(shop.admin, "/v1/admin/orders?limit=100").json()["items"]
        return str(next((each["status"] for each in page if each["orderid"] == order["orderid"]), ""))

    eventually(lambda: listed() == "partly_dispatched")
    arrived(shop, order, 1)
    eventually(lambda: listed() == "partly_delivered")
    rows = deps.orders.orders_placed_since(order["date"], limit=200).items
    sums = next(row_of(row)[4] for row in rows if row_of(row)[0] == order["orderid"])
    assert sums == deps.orders.order(order["orderid"]).progress
    key = {"Idempotency-Key": secrets.token_hex(8)}
    assert desk(shop, order, "dispatch", {**PARCEL, "courierid": "rest"}, headers=key).status_code == 201
    eventually(lambda: listed() == "partly_delivered")
