"""Gift cards while any process is killed between claim, charge and payment: nothing is lost, doubled or left claimed.

Half of the buyers spend one card together, which is enough for some of them; each of the others has a card that pays a part, or all.
"""

import os
import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from services.orders.declarations.credits import GIFT_CARD
from services.orders.rules.credits import CreditKey
from services.orders.store.credits import CreditStore
from tests.faults.reckoning import written_twice
from tests.faults.shop import ADMIN, BreakableShop
from tests.faults.test_killed import KILLS, kill_at_random, orders, stocked, twice
from tests.people import ADDRESS, Person, register

CHECKOUTS = int(os.environ.get("FAULTS_GIFT_CARDS", "200"))
CLIENTS = 8
HEALING_SECONDS = 60
GIVE_UP_SECONDS = 120
PRICE, SHARED = 1250, 20_000
VALUES = (500, 2000)
REFUSALS = ("attempt_closed", "gift_card_not_valid", "balance_spent")

pytestmark = [pytest.mark.faults, pytest.mark.timeout(3600)]


def test_every_card_and_every_order_agree(shop: BreakableShop, show: Callable[[str], None]) -> None:
    admin = Person(shop.url("users"), ADMIN)
    product = stocked(shop, admin, CHECKOUTS * 2)
    customers = [register(shop.url("users"), Path(shop.environment["MAIL_DIR"])) for _ in range(CLIENTS)]
    shared = issued(shop, admin, SHARED)
    own = [issued(shop, admin, VALUES[number % 2]) for number in range(CHECKOUTS // 2)]
    told, killed = Counter[str](), Counter[str]()
    killer = threading.Thread(target=kill_at_random, args=(shop, random.Random(20261123), killed))
    killer.start()

    def buy_in_turn(number: int) -> None:
        while killer.is_alive() and killed.total() < number * KILLS // CHECKOUTS:
            time.sleep(0.05)
        card = shared if number % 2 else own[number // 2]
        told[buy(shop, customers[number % CLIENTS], product, card["code"])] += 1

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(buy_in_turn, range(CHECKOUTS)))
    killer.join()
    ended = time.monotonic()
    while (wrong := disagreements(shop, [shared, *own])) and time.monotonic() < ended + HEALING_SECONDS:
        time.sleep(1)
    show(
        f"{CHECKOUTS} checkouts with gift cards, {killed.total()} kills: {dict(told)};"
        f" all agree after {time.monotonic() - ended:.0f} s"
    )
    assert not wrong, list(wrong.items())[:5]
    assert told["placed"] > CHECKOUTS / 4


def issued(shop: BreakableShop, admin: Person, value: int) -> dict[str, Any]:
    body = {"value": {"amount": value, "currency": "GBP"}}
    answer = admin.post(f"{shop.url('orders')}/v1/admin/gift-cards", json=body, timeout=30)
    answer.raise_for_status()
    return answer.json()


def buy(shop: BreakableShop, person: Person, product: str, code: str) -> str:
    """A customer who presses the button again, with the same key, until there is an answer."""
    body = {
        "items": [{"productid": product, "quantity": 1}],
        "address": ADDRESS,
        "payment": {"provider": "sandbox", "token": "tok_ok"},
        "gift_cards": [code],
    }
    headers = {"Idempotency-Key": secrets.token_hex(8), "Authorization": person.headers["Authorization"]}
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while time.monotonic() < deadline:
        try:
            answer = requests.post(f"{shop.url('orders')}/v1/orders", json=body, headers=headers, timeout=25)
        except requests.RequestException:
            time.sleep(0.2)
            continue
        if answer.status_code == 201:
            return "placed"
        if answer.status_code < 500:
            assert answer.json()["code"] in REFUSALS, answer.text
            return str(answer.json()["code"])
        time.sleep(0.2)
    return "unanswered"


def disagreements(shop: BreakableShop, cards: list[dict[str, Any]]) -> dict[str, str]:
    """Orders and cards of which our documents, the provider's books and the chains say different things."""
    found: dict[str, str] = {}
    charges = {
        doc["orderid"]: doc["total"]["amount"]
        for doc in shop.documents(shop.ledger())
        if doc["type"] == "charge" and doc["status"] == "paid"
    }
    spent = Counter[str]()
    for orderid, docs in orders(shop).items():
        payment = docs.get("payment")
        if payment is None and "cancellation" not in docs:
            found[orderid] = "no outcome"
        elif payment is None and orderid in charges:
            found[orderid] = "charged and not paid"
        elif payment and payment.get("charged", payment["total"])["amount"] != charges.get(orderid, 0):
            found[orderid] = "the provider took something else"
        elif payment and payment["total"] != docs["order"]["total"]:
            found[orderid] = "not all is paid"
        elif twice(docs) or written_twice(docs):
            found[orderid] = "written twice"
        if payment and "cancellation" not in docs:
            for credit in payment["credits"]:
                spent[credit["id"]] += credit["amount"]["amount"]
    store = CreditStore(shop.orders())
    for card in cards:
        chain, total = store.chain(CreditKey(GIFT_CARD, card["id"])), 0
        for entry in chain.entries:
            total += entry["delta"]
            if entry["balance"] != total or total < 0:
                found[card["id"]] = f"entry {entry['number']} says {entry['balance']}, they add up to {total}"
        if chain.balance != card["value"]["amount"] - spent[card["id"]]:
            found[card["id"]] = f"{chain.balance} are left, its orders have paid {spent[card['id']]} with it"
    return found
