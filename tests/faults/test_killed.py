"""Checkouts while any process is killed with SIGKILL at random moments: what a client was told is there, once."""

import os
import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests

from services.orders.documents import NUMBER_PARTITION
from tests.faults.codes import code_with_limit, wrong_uses
from tests.faults.reckoning import summary_problem, written_twice
from tests.faults.shop import ADMIN, VICTIMS, BreakableShop
from tests.patience import patient
from tests.people import ADDRESS, Person, register

CHECKOUTS = int(os.environ.get("FAULTS_CHECKOUTS", "500"))
CLIENTS = 8
ONCE = ("customer", "delivery", "dispatch", "item1", "order", "payment")
ROUNDS = int(os.environ.get("FAULTS_ROUNDS", "4"))
KILLS = ROUNDS * len(VICTIMS)
HEALING_SECONDS = 60
GIVE_UP_SECONDS = 120
STOCK_SECONDS = 200 if len(os.environ.get("COUCH_URLS", "").split()) > 1 else HEALING_SECONDS
"""Two nodes of a cluster may both take a unit for one order. It is given back when nobody can be at it any more: half a minute after the
order is paid, by a job of every 15 s."""

pytestmark = [pytest.mark.faults, pytest.mark.timeout(3600)]


@dataclass
class Told:
    """What the clients were answered in the end."""

    placed: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0


def test_every_order_a_client_was_told_of_is_complete_once(
    shop: BreakableShop, show: Callable[[str], None]
) -> None:
    """The guards: an order's id comes from its Idempotency-Key (else a repeated request is a second order), the charge's
    from the order (else a second charge), and what the feed's jobs leave is found by the sweep (else it stays undone).
    """
    admin = Person(shop.url("users"), ADMIN)
    product = stocked(shop, admin, CHECKOUTS * 2)
    customers = [register(shop.url("users"), Path(shop.environment["MAIL_DIR"])) for _ in range(CLIENTS)]
    code = code_with_limit(shop, admin, CHECKOUTS)
    told, killed = Told(), Counter()
    killer = threading.Thread(target=kill_at_random, args=(shop, random.Random(20261120), killed))
    killer.start()

    def buy_in_turn(number: int) -> None:
        while killer.is_alive() and killed.total() < number * KILLS // CHECKOUTS:
            time.sleep(0.05)
        buy(shop, customers[number % CLIENTS], product, told, [code] if number % 2 else [])

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(buy_in_turn, range(CHECKOUTS)))
    killer.join()
    ended = time.monotonic()
    deadline = ended + HEALING_SECONDS
    exact = stock_of(shop, admin, product)
    while shown_stock(shop, product) != exact and time.monotonic() < deadline:
        time.sleep(0.2)
        exact = stock_of(shop, admin, product)
    shown_after = time.monotonic() - ended
    while (missing := incomplete(shop, told.placed)) and time.monotonic() < deadline:
        time.sleep(2)
    while (wrong := wrong_uses(shop.documents(shop.orders()), orders(shop))) and time.monotonic() < deadline:
        time.sleep(2)
    while (unlike := wrong_summaries(shop)) and time.monotonic() < deadline:
        time.sleep(2)
    delivered_after = time.monotonic() - ended
    stock_deadline = ended + STOCK_SECONDS
    while (stock := stock_of(shop, admin, product)) != in_stock(shop) and time.monotonic() < stock_deadline:
        time.sleep(2)
    exact_after = time.monotonic() - ended
    show(report(shop, told, killed, missing))
    show(
        f"all delivered after {delivered_after:.0f} s, stock shown right after {shown_after:.1f} s, "
        f"what was taken twice given back after {exact_after:.0f} s"
    )
    assert killed == dict.fromkeys(VICTIMS, ROUNDS)
    assert not missing, (
        f"{len(missing)} orders incomplete after {HEALING_SECONDS} s: {list(missing.items())[:5]}"
    )
    assert not wrong, list(wrong.items())[:5]
    assert not unlike, list(unlike.items())[:5]
    assert stock == in_stock(shop)
    assert shown_stock(shop, product) == stock_of(shop, admin, product)
    assert len(told.placed) + sum(told.refused.values()) >= CHECKOUTS * 0.9
    assert len(set(told.placed)) == len(told.placed)
    books_agree(shop)


def in_stock(shop: BreakableShop) -> int:
    """What should be there: all but one unit for each order that was paid and not cancelled."""
    sold = sum(1 for docs in orders(shop).values() if "payment" in docs and "cancellation" not in docs)
    return CHECKOUTS * 2 - sold


def report(shop: BreakableShop, told: Told, killed: Counter[str], missing: dict[str, list[str]]) -> str:
    """What happened, in a line. Doubled: two documents of a kind, or two charges."""
    kills = ", ".join(f"{name} {times}" for name, times in sorted(killed.items()))
    charged = Counter(doc["orderid"] for doc in shop.documents(shop.ledger()) if doc["type"] == "charge")
    doubled = {orderid for orderid, docs in orders(shop).items() if twice(docs)}
    doubled |= {orderid for orderid, times in charged.items() if times > 1}
    return (
        f"{CHECKOUTS} checkouts, {killed.total()} kills ({kills}): {len(told.placed)} acknowledged, "
        f"{len(missing)} lost, {len(doubled)} doubled; {told.refused.total()} refused, {told.unanswered} unanswered"
    )


def twice(docs: dict[str, dict[str, Any]]) -> list[str]:
    """The kinds of document that an order of one line has more than one of."""
    kinds = Counter(doc["type"] for doc in docs.values() if doc["type"] not in ("notice", "slotchoice"))
    return [kind for kind, times in kinds.items() if times > 1]


def stocked(shop: BreakableShop, admin: Person, units: int) -> str:
    productid = f"p{secrets.token_hex(4)}"
    body = {
        "productid": productid,
        "taxonomy": ["Home", "Kitchen"],
        "keywords": [],
        "brand": "",
        "name": "Kettle",
        "description": "",
        "colours": [],
        "image": "",
        "price": {"amount": 1250, "currency": "GBP"},
        "delivery": {"amount": 0, "currency": "GBP"},
        "stock": units,
    }
    admin.post(f"{shop.url('products')}/v1/products", json=body, timeout=30).raise_for_status()
    return productid


def stock_of(shop: BreakableShop, admin: Person, product: str) -> int:
    """Out of the stock's ledger."""
    url = f"{shop.url('products')}/v1/products/{product}/stock"
    return _read(admin, url)


def shown_stock(shop: BreakableShop, product: str) -> int:
    """As everybody sees it on the product."""
    return _read(requests.Session(), f"{shop.url('products')}/v1/products/{product}")


def _read(session: requests.Session, url: str) -> int:
    answer = patient(lambda: session.get(url, timeout=30))
    assert answer.status_code == 200, answer.text
    return int(answer.json()["stock"])


def kill_at_random(shop: BreakableShop, chance: random.Random, killed: Counter[str]) -> None:
    """Every victim in every round, each started again; while the database starts, everything else is up."""
    for victim in (name for _ in range(ROUNDS) for name in chance.sample(VICTIMS, len(VICTIMS))):
        time.sleep(chance.uniform(0.2, 1.5))
        shop.kill(victim)
        killed[victim] += 1
        time.sleep(chance.uniform(0, 0.5))
        shop.start(victim)


def buy(shop: BreakableShop, person: Person, product: str, told: Told, codes: Sequence[str] = ()) -> None:
    """A customer who presses the button again, with the same key, until there is an answer."""
    body = {
        "items": [{"productid": product, "quantity": 1}],
        "codes": list(codes),
        "address": ADDRESS,
        "payment": {"provider": "sandbox", "token": "tok_ok"},
    }
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
    for doc in shop.documents(shop.orders()):
        partition, _, key = doc["_id"].partition(":")
        if partition.startswith("order") and partition != NUMBER_PARTITION:
            found.setdefault(partition.removeprefix("order"), {})[key] = doc
    return found


def wrong_summaries(shop: BreakableShop) -> dict[str, str]:
    """Orders of which the desk lists something else than their documents say."""
    found = {orderid: summary_problem(docs) for orderid, docs in orders(shop).items()}
    return {orderid: problem for orderid, problem in found.items() if problem}


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
        for doc in shop.documents(shop.ledger())
        if doc["type"] == "charge" and doc["status"] == "paid"
    }
    stored = orders(shop)
    payments = {orderid: docs["payment"]["total"] for orderid, docs in stored.items() if "payment" in docs}
    assert payments == charges
    for orderid, docs in stored.items():
        assert not twice(docs), (orderid, twice(docs))
        assert not written_twice(docs), orderid
        assert not ({"dispatch", "cancellation"} <= docs.keys()), orderid
