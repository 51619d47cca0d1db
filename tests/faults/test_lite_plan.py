"""Customers of a shop on Cloudant's Lite plan (20 reads, 10 writes, 5 global queries a second), more of them at once than it answers: who
waits as a 503 asks, and sends the same again, has got all they wanted in the end. A checkout that the shop closed meanwhile says so, has
charged nothing, and is sent under a new key."""

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.faults.shop import ADMIN, COUCH_URL, BreakableShop
from tests.faults.test_killed import books_agree, incomplete, orders, stock_of, stocked, twice
from tests.people import ADDRESS, Person, register
from tests.throttled import pause_after
from tests.waiting import eventually

CUSTOMERS, ORDERS_EACH = 10, 3
PATIENCE_SECONDS = 240
DELIVERY_SECONDS = 400

pytestmark = [
    pytest.mark.faults,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(bool(COUCH_URL), reason="only minicouch keeps the limits of a plan of Cloudant's"),
]


@dataclass
class Book:
    """What the customers met: statuses of all answers, orders by customer, and who gave up with what."""

    statuses: Counter[int] = field(default_factory=Counter)
    placed: dict[str, list[str]] = field(default_factory=dict)
    given_up: list[str] = field(default_factory=list)
    closed: int = 0
    """Checkouts that the shop ended before they were paid."""

    def insist(self, send: Callable[[], requests.Response]) -> requests.Response:
        """The answer that holds. Raises `throttled.DishonestRefusal` for a refusal that does not say when to come back."""
        ends = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = send()
            self.statuses[answer.status_code] += 1
            pause = pause_after(answer)
            if pause is None or time.monotonic() > ends:
                return answer
            time.sleep(pause)


@pytest.fixture(scope="module")
def lite(tmp_path_factory: pytest.TempPathFactory, signing_key_file: Path) -> Iterator[BreakableShop]:
    shop = BreakableShop(tmp_path_factory.mktemp("lite"), signing_key_file, {"ATTEMPT_SECONDS": "30"})
    try:
        yield shop.open()
    finally:
        shop.close()


def test_all_that_customers_of_a_lite_plan_want_they_get(
    lite: BreakableShop, show: Callable[[str], None]
) -> None:
    admin = Person(lite.url("users"), ADMIN)
    product = stocked(lite, admin, CUSTOMERS * ORDERS_EACH * 2)
    eventually(lambda: found(lite, requests.Session()).json()["total"] == 1)
    customers = [register(lite.url("users"), Path(lite.environment["MAIL_DIR"])) for _ in range(CUSTOMERS)]
    limited(lite, "lite")
    began, book = time.monotonic(), Book()
    with ThreadPoolExecutor(CUSTOMERS) as pool:
        list(pool.map(lambda person: a_visit(lite, person, product, book), customers))
    answered = time.monotonic() - began
    placed = [orderid for each in book.placed.values() for orderid in each]
    all_delivered = _until(lambda: not incomplete(lite, placed))
    delivered = time.monotonic() - began
    refused = _too_many(lite)
    limited(lite, "")
    show(
        f"{len(placed)} orders, answers {dict(book.statuses)}, {book.closed} checkouts closed, database refused {refused} times; "
        f"all answered after {answered:.0f} s, all delivered after {delivered:.0f} s"
    )
    assert refused > 0, "the plan was never used up: this says nothing"
    assert all_delivered, list(incomplete(lite, placed).items())[:3]
    assert not book.given_up
    assert len(set(placed)) == CUSTOMERS * ORDERS_EACH
    assert set(book.statuses) <= {200, 201, 409, 503}, book.statuses
    assert book.statuses[409] == book.closed < CUSTOMERS
    assert not {orderid: kinds for orderid, docs in orders(lite).items() if (kinds := twice(docs))}
    books_agree(lite)
    eventually(lambda: stock_of(lite, admin, product) == CUSTOMERS * ORDERS_EACH)


def a_visit(shop: BreakableShop, person: Person, product: str, book: Book) -> None:
    """Search, product, checkout, order, three times; the history at the end."""
    mine = book.placed.setdefault(person.userid, [])
    for _ in range(ORDERS_EACH):
        hits = book.insist(lambda: found(shop, person))
        shown = book.insist(lambda: person.get(f"{shop.url('products')}/v1/products/{product}", timeout=30))
        bought = checkout(shop, person, product, book)
        if {hits.status_code, shown.status_code, bought.status_code} != {200, 201}:
            book.given_up.append(f"{hits.text[:200]} {shown.text[:200]} {bought.text[:200]}")
            return
        assert hits.json()["total"] == 1
        mine.append(bought.json()["orderid"])
        order = book.insist(lambda: person.get(f"{shop.url('orders')}/v1/orders/{mine[-1]}", timeout=30))
        assert order.json()["orderid"] == mine[-1], order.text
    history = book.insist(lambda: person.get(f"{shop.url('orders')}/v1/orders", timeout=30))
    assert {each["orderid"] for each in _orders(history)} <= set(mine)


def checkout(shop: BreakableShop, person: Person, product: str, book: Book) -> requests.Response:
    key = secrets.token_hex(8)
    bought = book.insist(lambda: buy(shop, person, product, key))
    if bought.status_code == 409 and bought.json()["code"] == "attempt_closed":
        book.closed += 1
        return checkout(shop, person, product, book)
    return bought


def found(shop: BreakableShop, person: requests.Session) -> requests.Response:
    return person.get(f"{shop.url('products')}/v1/products", params={"q": "kettle"}, timeout=30)


def buy(shop: BreakableShop, person: Person, product: str, key: str) -> requests.Response:
    body = {
        "items": [{"productid": product, "quantity": 1}],
        "address": ADDRESS,
        "payment": {"provider": "sandbox", "token": "tok_ok"},
    }
    headers = {"Idempotency-Key": key}
    return person.post(f"{shop.url('orders')}/v1/orders", json=body, headers=headers, timeout=30)


def limited(shop: BreakableShop, plan: str) -> None:
    """The same database with the limits of this plan, or with none."""
    shop.kill("couch")
    shop.plan = plan
    shop.start("couch")


def _orders(history: requests.Response) -> list[dict[str, Any]]:
    assert history.status_code == 200, history.text
    return list(history.json()["items"])


def _until(look: Callable[[], bool]) -> bool:
    """Whether it came in time."""
    ends = time.monotonic() + DELIVERY_SECONDS
    while not (came := look()) and time.monotonic() < ends:
        time.sleep(5)
    return came


def _too_many(shop: BreakableShop) -> int:
    answer = requests.get(f"{shop.environment['COUCH_URL']}/_node/_local/_stats", timeout=30)
    codes = answer.json()["couchdb"]["httpd_status_codes"]
    return int(codes.get("429", {"value": 0})["value"])
