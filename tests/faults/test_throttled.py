"""More checkouts at once than a Lite plan of Cloudant's has writes for: each is answered, and nothing is lost, doubled or left claimed."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from tests.faults.shop import ADMIN, COUCH_URL, BreakableShop
from tests.faults.test_killed import Told, books_agree, buy, incomplete, orders, stock_of, stocked
from tests.people import Person, register

CHECKOUTS, CLIENTS = 20, 4
HEALING_SECONDS = 300

pytestmark = [
    pytest.mark.faults,
    pytest.mark.timeout(900),
    pytest.mark.skipif(bool(COUCH_URL), reason="only minicouch keeps the limits of a plan of Cloudant's"),
]


@pytest.fixture(scope="module")
def shop_settings() -> dict[str, str]:
    return {"RESERVATION_SECONDS": "60"}


def test_a_lite_plan_slows_the_shop_and_loses_nothing(
    shop: BreakableShop, show: Callable[[str], None]
) -> None:
    admin = Person(shop.url("users"), ADMIN)
    product = stocked(shop, admin, CHECKOUTS * 2)
    customers = [register(shop.url("users"), Path(shop.environment["MAIL_DIR"])) for _ in range(CLIENTS)]
    shop.kill("couch")
    shop.plan = "lite"
    shop.start("couch")
    began, told = time.monotonic(), Told()
    with ThreadPoolExecutor(CHECKOUTS) as pool:
        list(pool.map(lambda number: buy(shop, customers[number % CLIENTS], product, told), range(CHECKOUTS)))
    answered = time.monotonic() - began
    refused = requests.get(f"{shop.environment['COUCH_URL']}/_node/_local/_stats", timeout=30)
    shop.kill("couch")
    shop.plan = ""
    shop.start("couch")
    deadline = time.monotonic() + HEALING_SECONDS
    while (incomplete(shop, told.placed) or claimed(shop, admin, product)) and time.monotonic() < deadline:
        time.sleep(1)
    healed = HEALING_SECONDS - (deadline - time.monotonic())
    show(
        f"{len(told.placed)} of {CHECKOUTS} orders placed in {answered:.0f} s, {told.refused.total()} closed, "
        f"all delivered and nothing claimed {healed:.0f} s after the limits"
    )
    assert _too_many(refused) > 0
    assert not incomplete(shop, told.placed)
    assert told.unanswered == 0
    assert len(told.placed) + told.refused.total() == CHECKOUTS
    assert told.placed
    books_agree(shop)
    assert claimed(shop, admin, product) == 0


def claimed(shop: BreakableShop, admin: Person, product: str) -> int:
    """Units that are neither in stock nor sold."""
    sold = sum(1 for docs in orders(shop).values() if "payment" in docs and "cancellation" not in docs)
    return CHECKOUTS * 2 - sold - stock_of(shop, admin, product)


def _too_many(answer: requests.Response) -> int:
    codes = answer.json()["couchdb"]["httpd_status_codes"]
    return int(codes.get("429", {"value": 0})["value"])
