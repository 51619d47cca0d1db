"""Goods sold beyond their stock, over HTTP with the worker at work: who waits, what is sent when, and that nothing is given out twice."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import requests

from services.orders.actions import backorders, fulfilment
from services.orders.dependencies import Dependencies
from services.orders.documents import DELIVERY, DISPATCH
from services.orders.rules import steps
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.writing import decision_of, dispatch_of, sold
from shared.clock import now
from tests.maildir import read_mail
from tests.people import Person
from tests.services.orders.conftest import Shop, clone, insisting, until
from tests.services.orders.crashes import Dying, Killed

Order = dict[str, Any]
pytestmark = pytest.mark.usefixtures("worker")


def goods(shop: Shop, stock: int, **more: Any) -> str:
    """A lamp of which so many are there; sold beyond that unless `more` says otherwise."""
    productid = f"lamp{secrets.token_hex(5)}"
    body = {
        "productid": productid,
        "taxonomy": ["Home", "Light", "Lamps"],
        "name": f"Lamp {productid}",
        "price": {"amount": 1000, "currency": "GBP"},
        "stock": stock,
        "backorder": True,
        **more,
    }
    answer = shop.admin.post(f"{shop.products}/v1/products", json=body, timeout=30)
    assert answer.status_code == 201, answer.text
    return productid


def come_in(shop: Shop, productid: str, count: int) -> requests.Response:
    path = f"{shop.products}/v1/products/{productid}/stock"
    body = {"delta": count, "reason": "delivery"}
    headers = {"Idempotency-Key": secrets.token_hex(8)}
    return shop.admin.post(path, json=body, headers=headers, timeout=30)


def read(shop: Shop, orderid: str) -> Order:
    return dict(shop.get(shop.admin, f"/v1/orders/{orderid}").json())


def waiting_orders(shop: Shop, productid: str) -> set[str]:
    """What the desk lists of orders that wait for these goods."""
    path = f"/v1/admin/orders?waiting=true&product={productid}&limit=100"
    answer = shop.get(shop.admin, path)
    assert answer.status_code == 200, answer.text
    return {row["orderid"] for row in answer.json()["items"]}


def is_sent(order: Order) -> bool:
    return order["status"] in ("dispatched", "delivered")


def first_come(shop: Shop, productid: str) -> list[str]:
    """The orders in the order in which the stock's chain took them."""
    movements = shop.admin.get(f"{shop.products}/v1/products/{productid}/stock", timeout=30).json()[
        "movements"
    ]
    return [each["orderid"] for each in reversed(movements) if each["reason"] == "reserved"]


def buyers(shop: Shop, customer: Person, productid: str, count: int) -> list[requests.Response]:
    """Each buys one, and orders anew where a busy shop has closed the attempt meanwhile."""

    def buy(_: int) -> requests.Response:
        while True:
            answer = insisting(shop, clone(customer), {productid: 1})
            if answer.json().get("code") != "attempt_closed":
                return answer

    with ThreadPoolExecutor(10) as pool:
        return list(pool.map(buy, range(count)))


def test_of_fifty_buyers_at_once_ten_get_what_is_there_and_the_oldest_the_next(
    shop: Shop, customer: Person
) -> None:
    lamp = goods(shop, 10)
    bought = buyers(shop, customer, lamp, 50)
    assert {answer.status_code for answer in bought} == {201}
    ids = first_come(shop, lamp)
    assert sorted(ids) == sorted(answer.json()["orderid"] for answer in bought)
    until(
        lambda: len(waiting_orders(shop, lamp)) == 40 and all(is_sent(read(shop, each)) for each in ids[:10])
    )
    assert waiting_orders(shop, lamp) == set(ids[10:])
    one = read(shop, ids[20])
    assert (one["status"], one["waiting"], one["items"][0]["waiting"]) == ("paid", 1, 1)
    assert one["items"][0]["status"] == "waiting"
    assert come_in(shop, lamp, 25).status_code == 201
    until(lambda: all(is_sent(read(shop, each)) for each in ids[10:35]), 90)
    assert all(not read(shop, each)["parcels"] for each in ids[35:])
    until(lambda: waiting_orders(shop, lamp) == set(ids[35:]))
    until(
        lambda: shop.admin.get(f"{shop.products}/v1/products/{lamp}", timeout=30).json().get("waiting") == 15
    )


def test_without_the_setting_exactly_what_is_there_is_sold(shop: Shop, customer: Person) -> None:
    lamp = goods(shop, 10, backorder=False)
    codes = sorted(answer.status_code for answer in buyers(shop, customer, lamp, 30))
    assert codes == [201] * 10 + [409] * 20
    assert shop.stock(lamp) == 0


def test_no_more_wait_than_the_limit_says(shop: Shop, customer: Person) -> None:
    lamp = goods(shop, 1, backorder_limit=3)
    shop.placed(customer, {lamp: 3})
    refused = shop.order(customer, {lamp: 2})
    assert (refused.status_code, refused.json()["code"]) == (409, "out_of_stock")
    assert refused.json()["items"][0]["available"] == 1
    shop.placed(customer, {lamp: 1})
    assert shop.order(customer, {lamp: 1}).status_code == 409


def test_what_is_there_goes_first_and_the_rest_when_it_comes(shop: Shop, customer: Person) -> None:
    lamp, there = goods(shop, 1, backorder_date="2026-12-12"), shop.product(price=500, delivery=0)
    order = shop.placed(customer, {lamp: 3, there: 2})
    line = next(each for each in order["items"] if each["productid"] == lamp)
    assert (line["backorder"], line["waiting"]) == ({"waiting": 2, "date": "2026-12-12"}, 2)
    orderid = order["orderid"]
    first = until(lambda: read(shop, orderid)["parcels"])[0]
    assert {each["productid"]: each["quantity"] for each in first["lines"]} == {lamp: 1, there: 2}
    assert read(shop, orderid)["status"] in ("partly_dispatched", "partly_delivered")
    assert come_in(shop, lamp, 1).status_code == 201
    until(lambda: len(read(shop, orderid)["parcels"]) == 2)
    assert come_in(shop, lamp, 5).status_code == 201
    found = until(lambda: is_sent(now := read(shop, orderid)) and now)
    assert [[each["quantity"] for each in parcel["lines"]] for parcel in found["parcels"]][1:] == [[1], [1]]
    assert len({parcel["courierid"] for parcel in found["parcels"]}) == 3
    assert found["waiting"] == 0
    assert shop.stock(lamp) == 4


def test_the_confirmation_says_what_follows_and_when(shop: Shop, customer: Person) -> None:
    lamp = goods(shop, 1, backorder_date="2999-12-12")
    order = shop.placed(customer, {lamp: 3})
    until(lambda: read(shop, order["orderid"])["parcels"])
    text = until(
        lambda: next((m for m in read_mail(shop.mail) if "thank you" in str(m) and lamp in str(m)), None)
    )
    assert f"2 x Lamp {lamp}: still to come, and sent from 12 December 2999." in " ".join(str(text).split())


def test_cancelled_lines_and_returns_go_to_who_waits(shop: Shop, customer: Person) -> None:
    lamp = goods(shop, 2)
    first, second, third = (shop.placed(customer, {lamp: count})["orderid"] for count in (2, 3, 1))
    until(lambda: is_sent(read(shop, first)) and read(shop, third)["waiting"] == 1)
    until(lambda: read(shop, second)["items"][0].get("waiting") == 3 and waiting_orders(shop, lamp))
    items = [{"productid": lamp, "quantity": 2}]
    cancelled = shop.post(customer, f"/v1/orders/{second}/cancellation", {"items": items, "reason": "fewer"})
    assert cancelled.status_code == 201, cancelled.text
    assert read(shop, second)["waiting"] == 1
    assert come_in(shop, lamp, 1).status_code == 201
    until(lambda: is_sent(read(shop, second)))
    assert read(shop, third)["waiting"] == 1
    until(lambda: read(shop, first)["status"] == "delivered")
    shop.sent_back(customer, first, {lamp: 1})
    until(lambda: is_sent(read(shop, third)))
    assert shop.stock(lamp) == 0
    until(lambda: not waiting_orders(shop, lamp))


def test_the_desk_sends_nothing_that_is_not_here_and_counts_only_what_lies_there(
    shop: Shop, customer: Person
) -> None:
    lamp = goods(shop, 0)
    orderid = shop.placed(customer, {lamp: 2})["orderid"]
    body = {"courier": "post", "courierid": f"x{orderid}"}
    refused = shop.post(shop.admin, f"/v1/admin/orders/{orderid}/dispatch", body)
    assert (refused.status_code, refused.json()["code"]) == (409, "goods_waiting")
    assert come_in(shop, lamp, -1).status_code == 409
    counted = {"changes": [{"sku": lamp, "level": 1}], "reason": "stock take"}
    answer = shop.admin.post(f"{shop.products}/v1/admin/products/stock", json=counted, timeout=30)
    assert answer.json()["changed"] == 1, answer.text
    items = [{"productid": lamp, "quantity": 2}]
    refused = shop.post(shop.admin, f"/v1/admin/orders/{orderid}/dispatch", {**body, "items": items})
    assert refused.json()["detail"] == f"These goods are still to come: 1 of {lamp}."
    until(
        lambda: (
            [each["quantity"] for each in (read(shop, orderid)["parcels"] or [{}])[0].get("lines", [])] == [1]
        )
    )


def test_a_job_that_dies_anywhere_gives_nothing_out_twice(
    shop: Shop, deps: Dependencies, customer: Person
) -> None:
    lamp = goods(shop, 0)
    ids = [shop.placed(customer, {lamp: 1})["orderid"] for _ in range(3)]
    until(lambda: waiting_orders(shop, lamp) == set(ids))
    assert come_in(shop, lamp, 2).status_code == 201
    dying = replace(deps, stores=replace(deps.stores, orders=Dying(deps.orders, "add")))
    for _ in range(3):
        with suppress(Killed):
            backorders.look_for_goods(dying)
    for orderid in ids[:2]:
        with suppress(Killed):
            fulfilment.advance_order(dying, orderid)
    until(lambda: all(is_sent(read(shop, each)) for each in ids[:2]))
    for _ in range(2):
        backorders.look_for_goods(deps)
        for orderid in ids:
            fulfilment.advance_order(deps, orderid)
    assert [len(read(shop, each)["parcels"]) for each in ids] == [1, 1, 0]
    waits = [len(deps.orders.order(each).waits) for each in ids]
    assert waits == [2, 2, 1]


def test_an_order_is_sent_together_where_the_shop_says_so(
    shop: Shop, deps: Dependencies, customer: Person
) -> None:
    """The rule alone, for an order as it was before its first parcel: with BACKORDER_DISPATCH=whole nothing goes out while a piece waits."""
    lamp, there = goods(shop, 0), shop.product(price=500, delivery=0)
    orderid = shop.placed(customer, {lamp: 1, there: 1})["orderid"]
    until(lambda: deps.orders.order(orderid).waits)
    sent = ("decision", DISPATCH.name, DELIVERY.name)
    found = OrderDocuments([doc for doc in deps.orders.documents_of(orderid) if doc["type"] not in sent])
    together = replace(deps.policy, sends_parts=False)
    assert found.waiting == {lamp: 1}
    assert found.ready_to_send == {there: 1}
    assert steps.can_send(found, deps.policy)
    assert not steps.can_send(found, together)


def test_what_staff_leave_of_an_order_that_never_waited_is_left_to_them(
    shop: Shop, deps: Dependencies, customer: Person
) -> None:
    """The rule alone: a piece went out by hand, of an order that had all its goods, and of one that had waited for them."""
    lamp = goods(shop, 5)
    orderid = shop.placed(customer, {lamp: 2})["orderid"]
    until(lambda: deps.orders.order(orderid).waits)
    sent = ("decision", DISPATCH.name, DELIVERY.name)
    found = OrderDocuments([doc for doc in deps.orders.documents_of(orderid) if doc["type"] not in sent])
    lines = [sold(found.order["basket"][0], 1, 1000)]
    decision = decision_of(found.order, "dispatch", "", "admin", courier="van", courierid="v1", lines=lines)
    parcel = dispatch_of(found.order, found.require_payment(), "van", "v1", lines=lines)
    found = found.with_document(decision).with_document(parcel)
    later = now() + timedelta(hours=1)
    assert steps.DISPATCH not in steps.plan(found, later, deps.policy).due
    assert not found.progress.waits
    waited = {
        **found.waits[0],
        "_id": f"{found.waits[0]['_id']}x",
        "waiting": {lamp: 1},
        "change": 1,
        "number": 0,
    }
    found = found.with_document(waited)
    assert steps.DISPATCH in steps.plan(found, later, deps.policy).due
    assert found.progress.waits == 1
