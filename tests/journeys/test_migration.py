"""The databases of release 0.1.0, whole, migrated while customers read and buy and staff edits: no answer is a 5xx, nothing is lost."""

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from tests.bench.running import ADMIN_EMAIL, Shop, running_shop
from tests.journeys import first_release
from tests.journeys.first_release import COUNT, email, productid, taxonomy
from tests.people import Person
from tests.processes import ROOT, start_minicouch

pytestmark = [pytest.mark.load, pytest.mark.timeout(1800)]

PREFIX = "first-"
TODAYS_NAMES = {
    "item": "orderlineitem",
    "payment": "orderpayment",
    "dispatch": "orderdispatch",
    "delivery": "orderdelivery",
}
CHANGING = ("_rev", "schema", "type", "prices", "stock", "rank", "password", "edited", "reference")
"""What a migration, or those who use the shop meanwhile, may change of a document."""
BUYERS = (1, 8)


@pytest.fixture(scope="module")
def couch_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server on which 0.1.0 made and filled the databases."""
    process, url = start_minicouch(tmp_path_factory.mktemp("database") / "data")
    for name, documents in first_release.DATABASES.items():
        database = f"{url}/{PREFIX}{name}"
        assert requests.put(f"{database}?partitioned=true", timeout=30).status_code == 201
        written = requests.post(f"{database}/_bulk_docs", json={"docs": list(documents())}, timeout=60)
        assert all("error" not in row for row in written.json())
    yield url
    process.stop()


@pytest.fixture(scope="module")
def shop(couch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """This version, started over them."""
    settings = {"COUCH_URL": couch_url, "DATABASE_PREFIX": PREFIX, "COURIER": "manual", "WEB_WORKERS": "1"}
    with running_shop(tmp_path_factory.mktemp("shop") / "state", **settings) as shop:
        yield shop


@pytest.fixture(scope="module")
def admin(shop: Shop) -> Person:
    return Person(shop.urls["users"], ADMIN_EMAIL, shop.admin_password)


def stored(couch_url: str, name: str) -> dict[str, dict[str, Any]]:
    path = f"{couch_url}/{PREFIX}{name}/_all_docs?include_docs=true"
    rows = requests.get(path, timeout=60).json()["rows"]
    return {row["id"]: row["doc"] for row in rows if not row["id"].startswith("_")}


class Traffic:
    """People who go on until they are stopped; each a step at a time, whose answers are kept."""

    def __init__(self) -> None:
        self.statuses: Counter[tuple[str, int]] = Counter()
        self.failures: list[str] = []
        self._stop, self._threads = threading.Event(), list[threading.Thread]()

    def begin(self, step: Callable[[int], Iterator[tuple[str, requests.Response]]]) -> None:
        def go() -> None:
            number = 0
            while not self._stop.is_set():
                for name, answer in step(number % COUNT):
                    self.statuses[name, answer.status_code] += 1
                    if answer.status_code >= 500:
                        self.failures.append(f"{name} {number}: {answer.status_code} {answer.text[:300]}")
                number += 7

        self._threads.append(threading.Thread(target=go))
        self._threads[-1].start()

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def had(self, name: str) -> int:
        return sum(count for (each, _), count in self.statuses.items() if each == name)


def test_everything_is_migrated_while_the_shop_is_used(shop: Shop, couch_url: str, admin: Person) -> None:
    urls, before = shop.urls, {name: stored(couch_url, name) for name in first_release.DATABASES}
    customers = {number: Person(urls["users"], email(number)) for number in BUYERS}
    traffic, placed, anonymous = Traffic(), list[str](), requests.Session()

    def read(number: int) -> Iterator[tuple[str, requests.Response]]:
        shelf = "#".join(taxonomy(number))
        yield "product", anonymous.get(f"{urls['products']}/v1/products/{productid(number)}", timeout=60)
        yield (
            "category",
            anonymous.get(
                f"{urls['products']}/v1/products", params={"category": shelf, "sort": "price"}, timeout=60
            ),
        )
        yield "search", anonymous.get(f"{urls['products']}/v1/products", params={"q": "keepsake"}, timeout=60)
        yield "page", anonymous.get(f"{urls['storefront']}/product/{productid(number)}", timeout=60)
        yield "listing", anonymous.get(f"{urls['storefront']}/search", params={"q": "heirloom"}, timeout=60)

    def buy(number: int) -> Iterator[tuple[str, requests.Response]]:
        owner = BUYERS[number % 2]
        who = customers[owner]
        yield "me", who.get(f"{urls['users']}/v1/users/me", timeout=60)
        yield "addresses", who.get(f"{urls['users']}/v1/users/me/addresses", timeout=60)
        yield "order", who.get(f"{urls['orders']}/v1/orders/first{owner:03}", timeout=60)
        yield "history", who.get(f"{urls['orders']}/v1/orders", timeout=60)
        body = {
            "items": [{"productid": productid(number), "quantity": 1}],
            "address": {"name": "An Heir", "address": first_release.ADDRESS},
            "payment": {"provider": "sandbox", "token": "tok_ok"},
        }
        key = {"Idempotency-Key": f"migrating-{time.monotonic_ns()}"}
        bought = who.post(f"{urls['orders']}/v1/orders", json=body, headers=key, timeout=60)
        if bought.status_code == 201:
            placed.append(bought.json()["orderid"])
        yield "checkout", bought

    def edit(number: int) -> Iterator[tuple[str, requests.Response]]:
        path = f"{urls['products']}/v1/products/{productid(number)}"
        found = admin.get(path, timeout=60)
        yield "staff's product", found
        if found.status_code == 200:
            changed = found.json() | {"description": "Looked after."}
            yield "edit", admin.put(path, json=changed, timeout=60)
        delivery = {"delta": 1, "reason": "found in the loft"}
        yield "stock", admin.post(f"{path}/stock", json=delivery, timeout=60)

    for step in (read, buy, edit):
        traffic.begin(step)
    try:
        command = [sys.executable, "-m", "services.prepare", "--migrate"]
        environment = {**shop.couch_environment, "COUCH_URL": couch_url, "DATABASE_PREFIX": PREFIX}
        migration = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240
        )
        time.sleep(3)
    finally:
        traffic.end()
    assert migration.returncode == 0, migration.stdout + migration.stderr
    assert not traffic.failures, traffic.failures[:5]
    names = ("product", "category", "search", "page", "listing", "order", "checkout", "edit", "stock")
    assert all(traffic.had(name) for name in names), traffic.statuses
    assert {status for (_, status) in traffic.statuses} <= {200, 201}, traffic.statuses
    assert_nothing_is_lost(couch_url, before)
    assert_all_is_readable(shop, admin)
    for orderid in placed:
        found = admin.get(f"{urls['orders']}/v1/orders/{orderid}", timeout=60)
        assert found.status_code == 200, found.text


def assert_nothing_is_lost(couch_url: str, before: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Every document is there under its id, today's in type and schema, and says what it said."""
    for name, documents in before.items():
        now = stored(couch_url, name)
        for docid, doc in documents.items():
            if doc["type"] == "basketline" and doc["userid"] in {f"heir{number:03}" for number in BUYERS}:
                continue  # what they buy meanwhile is no longer in their baskets
            after = now[docid]
            expected = TODAYS_NAMES.get(doc["type"], doc["type"]) if name == "orders" else doc["type"]
            assert after["type"] == expected
            for field in doc.keys() - set(CHANGING) - {"description", "address", "default", "updated"}:
                assert after[field] == doc[field], (docid, field)
            if doc["type"] == "product":
                assert (after["schema"], after["prices"]) == (2, {"GBP": doc["price"]["amount"]})


def assert_all_is_readable(shop: Shop, admin: Person) -> None:
    urls = shop.urls
    for number in range(0, COUNT, 29):
        found = requests.get(f"{urls['products']}/v1/products/{productid(number)}", timeout=60).json()
        assert found["name"] == f"Heirloom number {number}"
        order = admin.get(f"{urls['orders']}/v1/orders/first{number:03}", timeout=60).json()
        assert (order["orderid"], order["status"]) == (f"first{number:03}", "delivered")
        assert [each["productid"] for each in order["items"]] == [productid(number)]
        who = Person(urls["users"], email(number))
        addresses = who.get(f"{urls['users']}/v1/users/me/addresses", timeout=60).json()
        assert len(addresses.get("items", addresses)) == 1
        basket = who.get(f"{urls['users']}/v1/users/me/basket", timeout=60)
        assert productid((number + 1) % COUNT) in basket.text
        page = requests.get(f"{urls['storefront']}/product/{productid(number)}", timeout=60)
        assert (page.status_code, f"Heirloom number {number}" in page.text) == (200, True)
