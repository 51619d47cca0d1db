"""Nothing that staff do is without its entry in the audit trail, whatever is killed between the entry and the act."""

import random
import time
from collections.abc import Callable, Iterator
from itertools import count
from threading import Event, Thread
from typing import Any

import pytest
import requests

from services.orders.documents import DESIGN as ORDERS
from services.products.documents import DESIGN as PRODUCTS
from services.users.documents import DESIGN as USERS
from shared.couch import DatabaseDesign
from shared.errors import AisleError
from tests.faults.shop import ADMIN, VICTIMS, BreakableShop
from tests.people import PASSWORD, Person
from tests.waiting import eventually

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1800)]

KILLS = 12
DESIGNS = {"users": USERS, "products": PRODUCTS, "orders": ORDERS}
PRODUCT = {
    "productid": "vase",
    "name": "Vase",
    "taxonomy": ["Home"],
    "keywords": [],
    "brand": "Oak & Co",
    "colours": [],
    "description": "",
    "price": {"amount": 100, "currency": "GBP"},
    "delivery": {"amount": 100, "currency": "GBP"},
    "image": "",
    "stock": 1_000_000,
}


@pytest.fixture(scope="module")
def admin(shop: BreakableShop) -> Person:
    person = Person(shop.url("users"), ADMIN, PASSWORD)
    made = person.post(f"{shop.url('products')}/v1/products", json=PRODUCT, timeout=30)
    assert made.status_code == 201, made.text
    return person


def acts(shop: BreakableShop, admin: Person) -> dict[str, Callable[[int], requests.Response]]:
    """By service, what staff do there; each time with a number of its own."""

    def grant(number: int) -> requests.Response:
        body = {"amount": {"amount": number, "currency": "GBP"}, "reason": "an example"}
        return admin.post(f"{shop.url('orders')}/v1/admin/store-credit/{admin.userid}", json=body, timeout=30)

    def change_stock(number: int) -> requests.Response:
        body = {"delta": number, "reason": "counted"}
        return admin.post(f"{shop.url('products')}/v1/products/vase/stock", json=body, timeout=30)

    def set_group(number: int) -> requests.Response:
        url = f"{shop.url('users')}/v1/admin/users/{admin.userid}/group"
        return admin.put(url, json={"group": f"group-{number}"}, timeout=30)

    return {"orders": grant, "products": change_stock, "users": set_group}


def keep_acting(act: Callable[[int], requests.Response], stopping: Event, done: set[int]) -> None:
    """`done` gets the numbers whose answer was that it was done."""
    for number in count(1):
        if stopping.is_set():
            return
        try:
            if act(number).ok:
                done.add(number)
        except requests.RequestException:
            time.sleep(0.05)


def wait_for_an_entry(shop: BreakableShop, design: DatabaseDesign) -> None:
    database, since, deadline = shop.server().open(design), "now", time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            found = database.changes(since, wait=1, limit=20)
        except AisleError:
            return
        if any(row.doc and row.doc.get("type") == "audit" for row in found.rows):
            return
        since = found.last_seq


def victims(chance: random.Random) -> Iterator[tuple[str, str]]:
    """(whose entries are waited for, what is killed then)"""
    while True:
        for service in chance.sample(list(DESIGNS), len(DESIGNS)):
            yield service, chance.choice([service, service, *({"couch"} & set(VICTIMS))])


def test_whatever_is_killed_every_act_has_its_entry(shop: BreakableShop, admin: Person) -> None:
    stopping, chance = Event(), random.Random(19)
    done: dict[str, set[int]] = {service: set() for service in DESIGNS}
    threads = [
        Thread(target=keep_acting, args=(act, stopping, done[service]))
        for service, act in acts(shop, admin).items()
    ]
    for thread in threads:
        thread.start()
    try:
        for _, (service, victim) in zip(range(KILLS), victims(chance), strict=False):
            wait_for_an_entry(shop, DESIGNS[service])
            shop.kill(victim)
            shop.start(victim)
        for service, act in acts(shop, admin).items():
            assert eventually(lambda act=act: act(900_000).ok, seconds=60), service
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
    found = {
        service: [doc for doc in shop.documents(shop.server().open(design)) if "type" in doc]
        for service, design in DESIGNS.items()
    }
    entries = {service: list(map(number_of_entry, audited(docs))) for service, docs in found.items()}
    happened = {
        "orders": [each["delta"] for each in found["orders"] if each["type"] == "creditentry"],
        "products": [
            each["delta"]
            for each in found["products"]
            if each["type"] == "movement" and each.get("note") == "counted"
        ],
        "users": [
            int(each["group"].removeprefix("group-"))
            for each in found["users"]
            if each["type"] == "user" and each.get("group")
        ],
    }
    for service in DESIGNS:
        assert len(done[service]) > KILLS, service
        assert set(happened[service]) <= set(entries[service]), service
        assert done[service] <= set(entries[service]), service
    assert done["orders"] <= set(happened["orders"])
    assert done["products"] <= set(happened["products"])


def audited(docs: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    wanted = ("grant store credit", "change stock", "set group")
    return (doc["details"] for doc in docs if doc["type"] == "audit" and doc["action"] in wanted)


def number_of_entry(details: dict[str, Any]) -> int:
    if "amount" in details:
        return int(details["amount"]["amount"])
    return int(details["delta"] if "delta" in details else details["after"].removeprefix("group-"))
