"""Stock that was counted at a stall without a network, and told later."""

import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from services.products.rules.ledger import level_on_shelf
from shared.clock import iso, now
from tests.services.products.conftest import ADMIN, Answer, Shop, product, token
from tests.waiting import Holds

PATH = "/v1/admin/stall/counts"
TAXONOMY = ["Home", "Kitchen", "Kettles"]


@pytest.fixture
def goods(shop: Shop) -> str:
    sku = f"stallcount-{secrets.token_hex(4)}"
    shop.load([product(sku, stock=10, taxonomy=TAXONOMY)])
    return sku


def count(shop: Shop, sku: str, level: int, counted_at: str, id: str = "") -> Answer:
    items = [{"sku": sku, "level": level, "counted_at": counted_at}]
    return shop.admin("POST", PATH, {"id": id or secrets.token_hex(8), "stall": "Market", "items": items})


def level(shop: Shop, sku: str) -> int:
    movements = shop.ok(f"/v1/products/{sku}/stock", token(*ADMIN))["movements"]
    return sum(each["delta"] for each in movements)


def change(shop: Shop, sku: str, delta: int) -> None:
    body = {"changes": [{"sku": sku, "delta": delta}], "reason": "x"}
    assert shop.admin("POST", "/v1/admin/products/stock", body).status == 200


def test_what_was_sold_after_the_count_stays_sold(shop: Shop, goods: str) -> None:
    counted_at = iso(now())
    change(shop, goods, -3)
    told = count(shop, goods, 8, counted_at)
    assert told.status == 200, told.body
    assert told.json == {
        "items": [
            {
                "sku": goods,
                "counted": 8,
                "expected": 10,
                "change": -2,
                "since": -3,
                "stock": 5,
                "superseded": False,
            }
        ],
        "failed": [],
    }
    assert level(shop, goods) == 5


def test_a_count_is_booked_once_also_of_two_who_send_it_at_once(shop: Shop, goods: str) -> None:
    counted_at, id = iso(now()), secrets.token_hex(8)
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda _: count(shop, goods, 4, counted_at, id), range(4)))
    assert [each.status for each in told] == [200] * 4
    assert {each.json["items"][0]["change"] for each in told} == {-6}
    assert level(shop, goods) == 4
    assert count(shop, goods, 4, counted_at, id).json["items"][0]["stock"] == 4


def test_what_was_sold_before_the_count_and_told_after_it_was_not_counted(shop: Shop, goods: str) -> None:
    """Sold at the stall at ten, counted at eleven, both told at noon: the shelf had one less than the chain says of eleven."""
    sold_at = iso(now())
    counted_at = iso(now() + timedelta(milliseconds=1))
    sell(shop, goods, 1, sold_at)
    sell(shop, goods, 2, iso(now() + timedelta(milliseconds=2)))
    told = count(shop, goods, 9, counted_at).json["items"][0]
    assert (told["expected"], told["change"], told["since"]) == (9, 0, -2)
    assert level(shop, goods) == 7


def test_more_was_sold_since_than_was_there_is_shown_below_zero(shop: Shop, goods: str, holds: Holds) -> None:
    counted_at = iso(now())
    change(shop, goods, -9)
    told = count(shop, goods, 6, counted_at).json["items"][0]
    assert (told["change"], told["stock"]) == (-4, -3)
    holds(lambda: shop.ok(f"/v1/products/{goods}")["stock"] == 0)


def test_what_cannot_be_counted_says_why(shop: Shop, goods: str) -> None:
    early = count(shop, goods, 1, "2020-01-01T00:00:00.000Z").json
    assert [each["code"] for each in early["failed"]] == ["counted_too_early"]
    unknown = count(shop, "nothing-like-it", 1, iso(now())).json
    assert [each["code"] for each in unknown["failed"]] == ["no_such_product"]
    assert count(shop, goods, -1, iso(now())).status == 422
    assert count(shop, goods, 1, "today").status == 422
    assert level(shop, goods) == 10


def test_the_shelf_at_a_moment() -> None:
    def movement(slot: int, level: int, delta: int, date: str, happened: str = "") -> Any:
        found = {"slot": slot, "level": level, "delta": delta, "date": date}
        return found | ({"happened": happened} if happened else {})

    newest_first = [
        movement(4, 5, -2, "12:00", "11:30"),
        movement(3, 7, -1, "12:00", "10:00"),
        movement(2, 8, -2, "11:45"),
        movement(1, 10, 10, "09:00"),
    ]
    assert level_on_shelf(newest_first, "11:00") == 9
    assert level_on_shelf(newest_first, "11:30") == 7
    assert level_on_shelf(newest_first, "12:00") == 5
    assert level_on_shelf(newest_first, "08:00") is None


def at(seconds: float) -> str:
    return iso(now() + timedelta(seconds=seconds))


def test_a_sale_from_before_a_count_that_is_told_after_it_is_not_taken_off_twice(
    shop: Shop, goods: str
) -> None:
    """One tablet sold two at ten, another counted the eight that were left at eleven and told it at once; the first one tells at noon."""
    sold_at, counted_at = iso(now()), iso(now() + timedelta(milliseconds=1))
    time.sleep(0.01)
    assert count(shop, goods, 8, counted_at).json["items"][0]["change"] == -2
    orderid = sell(shop, goods, 2, sold_at)
    assert level(shop, goods) == 8
    sell(shop, goods, 2, sold_at, orderid)
    assert level(shop, goods) == 8, "told again, given back once"
    sell(shop, goods, 1, iso(now()))
    assert level(shop, goods) == 7, "sold after the count"
    told = count(shop, goods, 7, iso(now())).json["items"][0]
    assert (told["expected"], told["change"]) == (7, 0)


def test_a_count_that_found_all_as_it_should_be_has_seen_earlier_sales_too(shop: Shop, goods: str) -> None:
    sold_at, counted_at = iso(now()), iso(now() + timedelta(milliseconds=1))
    time.sleep(0.01)
    assert count(shop, goods, 10, counted_at).json["items"][0]["change"] == 0
    sell(shop, goods, 2, sold_at)
    assert level(shop, goods) == 10


def test_of_two_counts_the_later_holds_in_whichever_order_they_are_told(shop: Shop, goods: str) -> None:
    first, second = iso(now()), iso(now() + timedelta(milliseconds=1))
    time.sleep(0.01)
    assert count(shop, goods, 8, second).json["items"][0]["change"] == -2
    late = count(shop, goods, 8, first).json["items"][0]
    assert (late["change"], late["superseded"], late["stock"]) == (0, True, 8)
    other = f"{goods}-b"
    shop.load([product(other, stock=10, taxonomy=TAXONOMY)])
    first, second = iso(now()), iso(now() + timedelta(milliseconds=1))
    time.sleep(0.01)
    assert count(shop, other, 8, first).json["items"][0]["change"] == -2
    assert count(shop, other, 8, second).json["items"][0]["change"] == 0
    assert level(shop, other) == 8


def test_a_sale_that_a_second_count_has_met_is_not_given_back(shop: Shop, goods: str) -> None:
    """The shop died after the sale had left the stock; before it went on, somebody counted again."""
    sold_at, counted_at = iso(now()), iso(now() + timedelta(milliseconds=1))
    time.sleep(0.01)
    count(shop, goods, 8, counted_at)
    orderid = sell(shop, goods, 2, sold_at, begun=True)
    assert level(shop, goods) == 6
    assert count(shop, goods, 8, iso(now())).json["items"][0]["change"] == 2
    sell(shop, goods, 2, sold_at, orderid)
    assert level(shop, goods) == 8


def test_a_count_from_a_clock_that_is_ahead_is_of_now(shop: Shop, goods: str) -> None:
    count(shop, goods, 8, at(86_400))
    change(shop, goods, -3)
    told = count(shop, goods, 5, iso(now())).json["items"][0]
    assert (told["change"], told["superseded"]) == (0, False)
    assert level(shop, goods) == 5


def sell(
    shop: Shop, sku: str, quantity: int, happened: str, orderid: str = "", *, begun: bool = False
) -> str:
    """As the orders service tells of a sale at a stall, perhaps not to the end."""
    again, orderid = bool(orderid), orderid or secrets.token_hex(8)
    items = [{"productid": sku, "taxonomy": TAXONOMY, "quantity": quantity, "backorder_limit": 1000}]
    body = {
        "orderid": orderid,
        "items": items,
        "expires": iso(now() + timedelta(minutes=5)),
        "happened": happened,
        "again": again,
    }
    assert shop.service("/v1/internal/reservations", body).status == 201
    if not begun:
        told = {"items": items, "happened": happened}
        ended = shop.service(f"/v1/internal/reservations/{orderid}/confirmation", told)
        assert ended.status == 200, ended.body
    return orderid
