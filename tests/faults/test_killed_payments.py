"""Orders on the provider's payment page while any process is killed, and webhooks are lost, late, doubled and out of order.

In the end the stand-in's books and ours agree: whoever paid has one order, whoever did not has none, and nothing stays claimed.
"""

import json
import os
import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests

from services.orders.clients.signatures import sign
from tests.faults.codes import code_with_limit, wrong_uses
from tests.faults.reckoning import written_twice
from tests.faults.shop import ADMIN, BreakableShop
from tests.faults.test_killed import (
    KILLS,
    kill_at_random,
    orders,
    stock_of,
    stocked,
    twice,
)
from tests.people import ADDRESS, Person, register
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn

CHECKOUTS = int(os.environ.get("FAULTS_PAYMENTS", "150"))
CLIENTS = 6
HEALING_SECONDS = 60
STOCK_SECONDS = 240
"""A kill in the middle of giving goods back is mended when their reservation's time is up, by the second sweep of reservations after it."""
GIVE_UP_SECONDS = 120
PAGE_SECONDS = 6.0
WEBHOOK_SECRET = "whsec_faults"
BEHAVIOURS = (
    "returns",
    "returns",
    "closes the browser",
    "pays by debit",
    "goes back",
    "forgets it",
    "is declined",
)

pytestmark = [pytest.mark.faults, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def stripe() -> Iterator[StripeStandIn]:
    standin = StripeStandIn(shortest_session=1)
    yield standin
    standin.close()


@pytest.fixture(scope="module")
def shop_settings(stripe: StripeStandIn) -> dict[str, str]:
    return {
        "PAYMENT_PROVIDERS": "stripe",
        "STRIPE_URL": stripe.url,
        "STRIPE_API_KEY": API_KEY,
        "STRIPE_WEBHOOK_SECRET": WEBHOOK_SECRET,
        "PAYMENT_PAGE_SECONDS": str(PAGE_SECONDS),
    }


@dataclass
class Mail:
    """Carries the stand-in's events to the webhook as badly as a network can: some never, some twice, most of them late.

    What became of a bank debit comes at least once: of one that waits for days the sweep asks once an hour only.
    """

    shop: BreakableShop
    stripe: StripeStandIn
    chance: random.Random
    stopping: threading.Event = field(default_factory=threading.Event)
    sent: Counter[str] = field(default_factory=Counter)

    def run(self) -> None:
        seen, waiting = 0, list[tuple[float, dict[str, Any]]]()
        stopping = False
        while not stopping or waiting:
            stopping = self.stopping.is_set()
            events = self.stripe.checkout.events
            for event in events[seen:]:
                times = (1, 1, 2) if "async_payment" in event["type"] else (0, 0, 1, 1, 2)
                for _ in range(self.chance.choice(times)):
                    waiting.append((time.monotonic() + self.chance.uniform(0, 3), event))
            seen = len(events)
            due = [each for each in waiting if each[0] <= time.monotonic()]
            waiting = [each for each in waiting if each not in due]
            self.chance.shuffle(due)
            waiting += [(time.monotonic() + 1, event) for _, event in due if not self._delivered(event)]
            time.sleep(0.05)

    def _delivered(self, event: dict[str, Any]) -> bool:
        body = json.dumps(event).encode()
        headers = {"Stripe-Signature": sign(WEBHOOK_SECRET, body), "Content-Type": "application/json"}
        url = f"{self.shop.url('orders')}/v1/webhooks/payments/stripe"
        try:
            done = requests.post(url, data=body, headers=headers, timeout=15).status_code < 500
        except requests.RequestException:
            done = False
        self.sent["taken" if done else "refused"] += 1
        return done


def test_whoever_paid_has_one_order(
    shop: BreakableShop, stripe: StripeStandIn, show: Callable[[str], None]
) -> None:
    admin = Person(shop.url("users"), ADMIN)
    product, code = stocked(shop, admin, CHECKOUTS), code_with_limit(shop, admin, CHECKOUTS, per_customer=100)
    customers = [register(shop.url("users"), Path(shop.environment["MAIL_DIR"])) for _ in range(CLIENTS)]
    killed, done = Counter[str](), Counter[str]()
    killer = threading.Thread(target=kill_at_random, args=(shop, random.Random(20261122), killed))
    mail = Mail(shop, stripe, random.Random(18))
    carrier = threading.Thread(target=mail.run)
    killer.start()
    carrier.start()

    def buy_in_turn(number: int) -> None:
        while killer.is_alive() and killed.total() < number * KILLS // CHECKOUTS:
            time.sleep(0.05)
        behaviour = BEHAVIOURS[number % len(BEHAVIOURS)]
        done[buy(shop, stripe, customers[number % CLIENTS], product, behaviour, code)] += 1

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(buy_in_turn, range(CHECKOUTS)))
    killer.join()
    settle_debits(stripe)
    mail.stopping.set()
    carrier.join()
    ended = time.monotonic()
    while (
        wrong := disagreements(shop, stripe) | uses_of(shop)
    ) and time.monotonic() < ended + HEALING_SECONDS:
        time.sleep(1)
    agreed_after = time.monotonic() - ended
    stored = orders(shop)
    sold = sum("payment" in docs and "cancellation" not in docs for docs in stored.values())
    while stock_of(shop, admin, product) != CHECKOUTS - sold and time.monotonic() < ended + STOCK_SECONDS:
        time.sleep(1)
    show(
        f"{CHECKOUTS} checkouts ({dict(done)}), {killed.total()} kills, webhooks {dict(mail.sent)}: {len(stored)} orders,"
        f" {sold} paid, {len(wrong)} disagree;"
        f" books agree after {agreed_after:.0f} s, stock after {time.monotonic() - ended:.0f} s"
    )
    assert not wrong, list(wrong.items())[:5]
    assert stock_of(shop, admin, product) == CHECKOUTS - sold
    assert done["paid"] <= sold
    assert done["paid"] > CHECKOUTS / 4


def uses_of(shop: BreakableShop) -> dict[str, str]:
    """Orders whose uses of the code are not what became of them."""
    return wrong_uses(shop.documents(shop.orders()), orders(shop))


def buy(
    shop: BreakableShop, stripe: StripeStandIn, person: Person, product: str, behaviour: str, code: str
) -> str:
    """A customer who orders, again and again until there is an answer, and then does on the page what `behaviour` says."""
    body = {
        "items": [{"productid": product, "quantity": 1}],
        "address": ADDRESS,
        "codes": [code],
        "payment": {"provider": "stripe"},
    }
    key, login = secrets.token_hex(8), person.headers["Authorization"]
    url = f"{shop.url('orders')}/v1/orders"
    order = asked(url, body, {"Idempotency-Key": key, "Authorization": login})
    if order is None or order.get("code"):
        return "nothing ordered"
    if order["payment_page"] is None:
        return str(order["status"])
    sessionid = order["payment_page"]["url"].rpartition("/")[2]
    how = {"pays by debit": "processing", "is declined": "declined"}.get(behaviour, "card")
    if behaviour not in ("goes back", "forgets it"):
        stripe.checkout.pay(sessionid, how)
    if behaviour in ("returns", "pays by debit"):
        asked(f"{url}/{order['orderid']}/payment", {}, {"Authorization": login})
    if behaviour in ("goes back", "is declined"):
        asked(f"{url}/{order['orderid']}/payment/cancellation", {}, {"Authorization": login})
    intent = stripe.intents.get(stripe.checkout.sessions[sessionid]["payment_intent"] or "", {})
    return "paid" if intent.get("status") == "succeeded" else behaviour


def asked(url: str, body: dict[str, Any], headers: dict[str, str]) -> dict[str, Any] | None:
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while time.monotonic() < deadline:
        try:
            answer = requests.post(url, json=body, headers=headers, timeout=25)
        except requests.RequestException:
            time.sleep(0.2)
            continue
        if answer.status_code < 500:
            said: dict[str, Any] = answer.json()
            assert answer.status_code < 400 or said["code"] in ("attempt_closed", "payment_declined"), (
                answer.text
            )
            return said
        time.sleep(0.2)
    return None


def settle_debits(stripe: StripeStandIn) -> None:
    """Every second bank debit arrives."""
    waiting = [
        sessionid
        for sessionid, session in stripe.checkout.sessions.items()
        if stripe.intents.get(session["payment_intent"] or "", {}).get("status") == "processing"
    ]
    for number, sessionid in enumerate(waiting):
        stripe.checkout.settle(sessionid, arrived=number % 2 == 0)


def disagreements(shop: BreakableShop, stripe: StripeStandIn) -> dict[str, str]:
    """Orders of which our documents and the stand-in's books say different things, or that are not at an end."""
    found: dict[str, str] = {}
    for orderid, docs in orders(shop).items():
        charged = kept_of(stripe, orderid)
        paid = docs["payment"]["total"]["amount"] if "payment" in docs else 0
        refunded = sum(doc["total"]["amount"] for name, doc in docs.items() if name.endswith("settled"))
        if "payment" not in docs and "cancellation" not in docs:
            found[orderid] = "no outcome"
        elif charged != paid - refunded:
            found[orderid] = f"{charged} are kept at the provider, {paid - refunded} here"
        elif "cancellation" in docs and charged:
            found[orderid] = "cancelled and not paid back"
        elif len(stripe.checkout.of(orderid)) > 1:
            found[orderid] = "two pages"
        elif any(each["status"] == "open" for each in stripe.checkout.of(orderid)):
            found[orderid] = "a page that can still be paid"
        elif twice(docs) or written_twice(docs):
            found[orderid] = "written twice"
        elif "payment" in docs and "cancellation" not in docs and "delivery" not in docs:
            found[orderid] = "not delivered"
    return found


def kept_of(stripe: StripeStandIn, orderid: str) -> int:
    """What the stand-in took for an order and did not pay back."""
    intents = [
        each
        for each in list(stripe.intents.values())
        if each["metadata"]["orderid"] == orderid and each["status"] == "succeeded"
    ]
    refs = {each["id"] for each in intents}
    back = sum(each["amount"] for each in list(stripe.refunds) if each["payment_intent"] in refs)
    return sum(each["amount"] for each in intents) - back
