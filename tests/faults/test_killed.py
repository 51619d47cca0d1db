"""Checkouts while any process is killed with SIGKILL at random moments: what a client was told is there, once."""

import os
import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.faults.shop import ADMIN, BreakableShop
from tests.people import ADDRESS, Person, register

CHECKOUTS = int(os.environ.get("FAULTS_CHECKOUTS", "500"))
CLIENTS = 8
VICTIMS = ("couch", "redis", "users", "products", "orders", "worker", "follower")
ONCE = ("customer", "delivery", "dispatch", "item1", "order", "payment")
HEALING_SECONDS = 60
GIVE_UP_SECONDS = 120

pytestmark = [pytest.mark.faults, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, signing_key_file: Path) -> Iterator[BreakableShop]:
    shop = BreakableShop(tmp_path_factory.mktemp("shop"), signing_key_file)
    try:
        yield shop.open()
    finally:
        shop.close()


@dataclass
class Told:
    """What the clients were answered in the end."""

    placed: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0


def test_every_order_a_client_was_told_of_is_complete_once(shop: BreakableShop) -> None:
    admin = Person(shop.url("users"), ADMIN)
    product = stocked(shop, admin, CHECKOUTS * 2)
    customers = [register(shop.url("users"), Path(shop.environment["MAIL_DIR"])) for _ in range(CLIENTS)]
    told, stop, killed = Told(), threading.Event(), Counter()
    killer = threading.Thread(target=kill_at_random, args=(shop, stop, random.Random(20261120), killed))
    killer.start()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(lambda number: buy(shop, customers[number % CLIENTS], product, told), range(CHECKOUTS)))
    stop.set()
    killer.join()
    deadline = time.monotonic() + HEALING_SECONDS
    while (missing := incomplete(shop, told.placed)) and time.monotonic() < deadline:
        time.sleep(2)
    print(
        f"{len(told.placed)} placed, {dict(told.refused)} refused, {told.unanswered} unanswered; killed {dict(killed)}"
    )
    assert sum(killed.values()) >= CHECKOUTS / 100
    assert not missing, (
        f"{len(missing)} orders incomplete after {HEALING_SECONDS} s: {list(missing.items())[:5]}"
    )
    assert len(told.placed) + sum(told.refused.values()) >= CHECKOUTS * 0.9
    assert len(set(told.placed)) == len(told.placed)
    books_agree(shop)
    sold = sum(1 for docs in orders(shop).values() if "payment" in docs and "cancellation" not in docs)
    assert stock_of(shop, admin, product) == CHECKOUTS * 2 - sold


def stocked(shop: BreakableShop, admin: Person, units: int) -> str:
    productid = f"p{secrets.token_hex(4)}"
    body = {
        "productid": productid, "taxonomy": ["Home", "Kitchen"], "keywords": [], "brand": "", "name": "Kettle", "description": "",
        "colours": [], "image": "", "price": {"amount": 1250, "currency": "GBP"}, "delivery": {"amount": 0, "currency": "GBP"}, "stock": units,
    }  # fmt: skip
    admin.post(f"{shop.url('products')}/v1/products", json=body, timeout=30).raise_for_status()
    return productid


def stock_of(shop: BreakableShop, admin: Person, product: str) -> int:
    return admin.get(f"{shop.url('products')}/v1/products/{product}/stock", timeout=30).json()["stock"]


def kill_at_random(
    shop: BreakableShop, stop: threading.Event, chance: random.Random, killed: Counter[str]
) -> None:
    """One victim after the other, each started again; while the database starts, everything else is up."""
    while not stop.wait(chance.uniform(0.5, 3.0)):
        victim = chance.choice(VICTIMS)
        shop.kill(victim)
        killed[victim] += 1
        time.sleep(chance.uniform(0, 0.5))
        shop.start(victim)


def buy(shop: BreakableShop, person: Person, product: str, told: Told) -> None:
    """A customer who presses the button again, with the same key, until there is an answer."""
    body = {
        "items": [{"productid": product, "quantity": 1}], "address": ADDRESS, "payment": {"provider": "sandbox", "token": "tok_ok"},
    }  # fmt: skip
    headers = {"Idempotency-Key": secrets.token_hex(8), "Authorization": person.headers["Authorization"]}
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while time.monotonic() < deadline:
        try:
            answer = requests.post(f"{shop.url('orders')}/v1/orders", json=body, headers=headers, timeout=15)
        except requests.RequestException:
            time.sleep(0.2)
            continue
        if answer.status_code == 201:
            return told.placed.append(answer.json()["orderid"])
        if answer.status_code < 500:
            told.refused[answer.json()["code"]] += 1
            assert answer.json()["code"] == "attempt_closed", answer.text
            return None
        time.sleep(0.2)
    told.unanswered += 1
    return None


def orders(shop: BreakableShop) -> dict[str, dict[str, dict[str, Any]]]:
    """Every order's documents by their key."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for doc in everything(shop.orders()):
        partition, _, key = doc["_id"].partition(":")
        if partition.startswith("order"):
            found.setdefault(partition.removeprefix("order"), {})[key] = doc
    return found


def everything(database: Any) -> list[dict[str, Any]]:
    return [row.doc for row in database.changes(limit=1_000_000).rows if row.doc and not row.deleted]


def incomplete(shop: BreakableShop, placed: list[str]) -> dict[str, list[str]]:
    """Orders that lack a document, and which; and attempts without an outcome."""
    stored = orders(shop)
    lacking = {orderid: [key for key in ONCE if key not in stored.get(orderid, {})] for orderid in placed}
    still_open = {
        orderid: ["outcome"]
        for orderid, docs in stored.items()
        if "payment" not in docs and "cancellation" not in docs
    }
    return {orderid: keys for orderid, keys in lacking.items() if keys} | still_open


def books_agree(shop: BreakableShop) -> None:
    """Each paid charge has its payment document with the same amount, each payment its charge; no order two of a kind."""
    charges = {
        doc["orderid"]: doc["total"]
        for doc in everything(shop.ledger())
        if doc["type"] == "charge" and doc["status"] == "paid"
    }
    stored = orders(shop)
    payments = {orderid: docs["payment"]["total"] for orderid, docs in stored.items() if "payment" in docs}
    assert payments == charges
    for orderid, docs in stored.items():
        kinds = Counter(doc["type"] for doc in docs.values() if doc["type"] != "notice")
        assert max(kinds.values()) == 1, (orderid, kinds)
        assert all(doc["_rev"].startswith("1-") for doc in docs.values()), orderid
        assert not ({"dispatch", "cancellation"} <= docs.keys()), orderid
