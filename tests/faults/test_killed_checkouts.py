"""Orders that take a code, stock, a gift card, store credit and a charge, while processes are killed between any two of these steps.

`FAULTS_KILLS=500` is what the shop promises: nothing lost, nothing doubled, nothing left claimed 60 s after the last restart.
"""

import os
import secrets
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, Final

import pytest
import requests

from services.orders.rules.identity import orderid_for
from tests.faults.aimed_kills import KILLS, SEED, kill_between_steps
from tests.faults.codes import code_with_limit
from tests.faults.reckoning import Books, books_of, problems
from tests.faults.shop import ADMIN, BreakableShop
from tests.faults.test_killed import stocked
from tests.faults.walks import UNDER_WAY
from tests.people import ADDRESS, Person, register

ORDERS_PER_KILL: Final = 6
ORDERS: Final = KILLS * ORDERS_PER_KILL
CLIENTS, CUSTOMERS = 8, max(16, ORDERS // 50)
HEALING_SECONDS: Final = float(os.environ.get("FAULTS_HEALING_SECONDS", "60"))
GIVE_UP_SECONDS: Final = 120
CARD, CREDIT = 700, 150
UNSPENDABLE: Final = ("gift_card_not_valid", "balance_spent")
CARD_BODY: Final = {"value": {"amount": CARD, "currency": "GBP"}}
CREDIT_BODY: Final = {"amount": {"amount": CREDIT, "currency": "GBP"}, "reason": "For being patient."}
REFUSED: Final = ("attempt_closed", "payment_declined", *UNSPENDABLE)

pytestmark = [pytest.mark.faults, pytest.mark.timeout(7200)]


@dataclass
class Told:
    """What the clients were answered in the end, by the id that follows from their key; "" without an answer."""

    answers: dict[str, str] = field(default_factory=dict)

    def of(self, answer: str) -> set[str]:
        return {orderid for orderid, told in self.answers.items() if told == answer}


@dataclass
class Buyers:
    """Customers who press the button again, with the same key, until there is an answer."""

    shop: BreakableShop
    admin: Person
    customers: list[Person]
    product: str
    code: str
    told: Told = field(default_factory=Told)

    def buy(self, number: int) -> None:
        """Two after each other have one gift card: who comes too late pays without it. Every eighth has a card that is declined."""
        person = self.customers[number % CUSTOMERS]
        self._answered("/v1/admin/store-credit/" + person.userid, f"credit-{SEED}-{number}", CREDIT_BODY)
        card = self._answered("/v1/admin/gift-cards", f"card-{SEED}-{number // 2}", CARD_BODY)
        token = "tok_declined" if number % 8 == 7 else "tok_ok"
        if self._ordered(person, token, [card["code"]]) in UNSPENDABLE:
            self._ordered(person, token, [])

    def _ordered(self, person: Person, token: str, cards: list[str]) -> str:
        body = {
            "items": [{"productid": self.product, "quantity": 1}],
            "codes": [self.code],
            "gift_cards": cards,
            "store_credit": True,
            "address": ADDRESS,
            "payment": {"provider": "sandbox", "token": token},
        }
        key = secrets.token_hex(8)
        said = self._asked("/v1/orders", key, body, person)
        answer = "placed" if "orderid" in said and "status" in said else said.get("code", "")
        assert answer in ("placed", "", *REFUSED), said
        self.told.answers[orderid_for(person.userid, key)] = answer
        return answer

    def _answered(self, path: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
        said = self._asked(path, key, body, self.admin)
        assert "code" not in said or "balance" in said, said
        return said

    def _asked(self, path: str, key: str, body: dict[str, Any], by: Person) -> dict[str, Any]:
        headers = {"Idempotency-Key": key, "Authorization": by.headers["Authorization"]}
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < deadline:
            try:
                answer = requests.post(
                    f"{self.shop.url('orders')}{path}", json=body, headers=headers, timeout=25
                )
            except requests.RequestException:
                time.sleep(0.2)
                continue
            said: dict[str, Any] = answer.json() if answer.status_code < 500 else {}
            if said and said.get("code") not in UNDER_WAY:
                return said
            time.sleep(0.2)
        return {}


def test_nothing_is_lost_doubled_or_left_claimed(shop: BreakableShop, show: Callable[[str], None]) -> None:
    admin = Person(shop.url("users"), ADMIN)
    product = stocked(shop, admin, ORDERS * 2)
    code = code_with_limit(shop, admin, ORDERS * 2, per_customer=100)
    people = [register(shop.url("users"), Path(shop.environment["MAIL_DIR"])) for _ in range(CUSTOMERS)]
    buyers, killed, aimed = Buyers(shop, admin, people, product, code), Counter[str](), Counter[str]()
    stopping = Event()
    with ThreadPoolExecutor(CLIENTS + 1) as pool:
        killing = pool.submit(kill_between_steps, shop, killed, aimed, stopping)
        try:
            list(pool.map(_in_turn(buyers, killing, killed), range(ORDERS)))
            killing.result()
        finally:
            stopping.set()
    ended = time.monotonic()
    while wrong := all_problems(books := books_of(shop), buyers, admin):
        if time.monotonic() > ended + HEALING_SECONDS:
            break
        time.sleep(1)
    show(
        f"{killed.total()} kills ({dict(killed)}) after {dict(aimed)}: {len(books.orders)} orders, {len(books.sold)} sold,"
        f" told {dict(Counter(buyers.told.answers.values()))}; {len(wrong)} wrong, all agrees after {time.monotonic() - ended:.0f} s"
    )
    assert killed.total() == KILLS
    assert not wrong, list(wrong.items())[:5]
    assert len(buyers.told.of("placed")) > ORDERS / 2
    assert sum(took_all(books, orderid) for orderid in books.sold) > ORDERS / 4
    assert aimed["any time"] < KILLS / 2


def _in_turn(buyers: Buyers, killing: Future[None], killed: Counter[str]) -> Callable[[int], None]:
    """So many orders for each kill, so that there are some under way at the last one, too."""

    def buy(number: int) -> None:
        while not killing.done() and killed.total() < number // ORDERS_PER_KILL - 1:
            time.sleep(0.02)
        buyers.buy(number)

    return buy


def took_all(books: Books, orderid: str) -> bool:
    """Whether an order has taken all there is: a code, a gift card, store credit and a charge."""
    order = books.orders[orderid]["order"]
    kinds = {credit["kind"] for credit in order.get("credits", [])}
    return bool(order.get("uses")) and kinds == {"gift_card", "store_credit"} and books.charged[orderid] > 0


def all_problems(books: Books, buyers: Buyers, admin: Person) -> dict[str, str]:
    """Of the books, of what the clients were told, and of the stock."""
    found = problems(books)
    told = buyers.told
    for orderid in told.of("placed") - books.sold:
        found[orderid] = "the customer was told of it, and it is not sold"
    for orderid in books.sold - told.of("placed") - told.of(""):
        found[orderid] = f"the customer was told {told.answers.get(orderid)}, and it is sold"
    for orderid in books.orders.keys() - told.answers.keys():
        found[orderid] = "an order that nobody asked for"
    left, expected = _left(buyers, admin), ORDERS * 2 - len(books.sold)
    if left != expected:
        found["stock"] = f"{left} are left, not {expected}"
    return found


def _left(buyers: Buyers, admin: Person) -> int | str:
    """In stock, or what a service says that has just been started and cannot tell yet."""
    try:
        answer = admin.get(f"{buyers.shop.url('products')}/v1/products/{buyers.product}/stock", timeout=30)
    except requests.RequestException as error:
        return type(error).__name__
    return int(answer.json()["stock"]) if answer.status_code == 200 else str(answer.json()["code"])
