"""Devices of a stall tell what they sold and counted while any process is killed: each sale is one order, each count is booked once."""

import secrets
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event
from typing import Any

import pytest
import requests

from services.orders.documents import DESIGN
from services.products.documents import DESIGN as PRODUCTS
from shared.clock import timestamp
from tests.faults.aimed_kills import STEPS, Step, kill_between_steps
from tests.faults.shop import ADMIN, BreakableShop
from tests.faults.test_killed_acts import PRODUCT
from tests.faults.walks import UNDER_WAY
from tests.people import PASSWORD, Person
from tests.waiting import eventually

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]

SOLD, COUNTED = "jar", "crate"
STOCK = 10
DEVICES, KILLS = 2, 10
AIMS: dict[str, Step] = {
    **{name: STEPS[name] for name in ("order placed", "stock reserved", "stock sold", "payment written")},
    "day written": (DESIGN, lambda doc: doc.get("type") == "stallentry"),
    "count booked": (PRODUCTS, lambda doc: doc.get("type") == "movement" and "counted" in doc),
}


@pytest.fixture(scope="module")
def admin(shop: BreakableShop) -> Person:
    person = Person(shop.url("users"), ADMIN, PASSWORD)
    for name in (SOLD, COUNTED):
        goods = {**PRODUCT, "productid": name, "stock": STOCK}
        made = person.post(f"{shop.url('products')}/v1/products", json=goods, timeout=30)
        assert made.status_code == 201, made.text
    return person


def insist(url: str, admin: Person, body: Any, key: str = "") -> dict[str, Any]:
    """As a device does: sent again under its key until there is an answer."""
    headers = {"Authorization": admin.headers["Authorization"], **({"Idempotency-Key": key} if key else {})}
    ends = time.monotonic() + 240
    while True:
        try:
            answer = requests.post(url, json=body, headers=headers, timeout=30)
            said: dict[str, Any] = answer.json() if answer.status_code < 500 else {}
            if said and answer.status_code != 429 and said.get("code") not in UNDER_WAY:
                assert answer.ok, answer.text
                return said
        except requests.RequestException:
            pass
        assert time.monotonic() < ends, url
        time.sleep(0.1)


def sale(quantity: int) -> dict[str, Any]:
    price = {"amount": 100, "currency": "GBP"}
    item = {"productid": SOLD, "quantity": quantity, "price": price, "name": "Jar", "taxonomy": ["Home"]}
    total = {"amount": 100 * quantity, "currency": "GBP"}
    about = {"payment": {"kind": "cash"}, "stall": "Killed", "sold_by": "somebody", "sold_at": timestamp()}
    return {"items": [item], "total": total, **about}


def test_a_sale_is_one_order_and_a_count_one_movement_whatever_is_killed(
    shop: BreakableShop, admin: Person
) -> None:
    stopping, numbers = Event(), count(1)
    sold: dict[str, tuple[str, int]] = {}
    counted: list[tuple[int, dict[str, Any]]] = []

    def sell() -> None:
        while not stopping.is_set():
            key, quantity = f"stall-{secrets.token_hex(8)}", 1 + next(numbers) % 3
            told = insist(f"{shop.url('orders')}/v1/admin/stall/sales", admin, sale(quantity), key)
            assert told["status"] == "delivered"
            sold[key] = (told["orderid"], quantity)

    def take_counts() -> None:
        while not stopping.is_set():
            level = next(numbers) % 20
            items = [{"sku": COUNTED, "level": level, "counted_at": timestamp()}]
            body = {"stall": "Killed", "id": secrets.token_hex(8), "items": items}
            told = insist(f"{shop.url('products')}/v1/admin/stall/counts", admin, body)
            counted.append((level, told["items"][0]))

    killed, aimed = Counter[str](), Counter[str]()
    with ThreadPoolExecutor(DEVICES + 1) as pool:
        at_work = [pool.submit(each) for each in (*[sell] * DEVICES, take_counts)]
        try:
            kill_between_steps(shop, killed, aimed, stopping, AIMS, KILLS)
        finally:
            stopping.set()
    for each in at_work:
        each.result()
    assert sum(aimed[name] for name in AIMS) > sum(aimed.values()) / 2, aimed
    assert len(sold) > 10
    assert len(counted) > 5
    assert len({orderid for orderid, _ in sold.values()}) == len(sold)
    pieces = sum(quantity for _, quantity in sold.values())
    assert eventually(lambda: level_of(shop, SOLD) == STOCK - pieces, 60), (level_of(shop, SOLD), pieces)
    assert level_of(shop, COUNTED) == counted[-1][0]
    assert all(told["stock"] == level for level, told in counted)
    check_books(shop, {orderid for orderid, _ in sold.values()}, pieces)


def check_books(shop: BreakableShop, told: set[str], pieces: int) -> None:
    """Each order is there once with its payment and in its day; what the stock did not have is listed, to the piece."""
    docs = shop.documents(shop.orders())

    def orders_in(kind: str) -> list[str]:
        return sorted(doc["orderid"] for doc in docs if doc.get("type") == kind)

    for kind in ("order", "orderpayment", "orderdelivery", "stallentry"):
        assert orders_in(kind) == sorted(told), kind
    oversold = sum(doc["oversold"] for doc in docs if doc.get("type") == "stallentry")
    assert oversold == pieces - STOCK


def level_of(shop: BreakableShop, productid: str) -> int:
    """Where the stock's chain is."""
    docs = shop.documents(shop.server().open(PRODUCTS))
    movements = [doc for doc in docs if doc.get("type") == "movement" and doc["productid"] == productid]
    return sum(doc["delta"] for doc in movements)
