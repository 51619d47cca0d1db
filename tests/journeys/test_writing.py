"""While a shopkeeper imports tens of thousands of products, and right after, everybody else's pages and reads are answered."""

import os
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import orjson
import pytest
import requests

from tests.journeys.shop import Shop
from tests.people import Person, register

pytestmark = [pytest.mark.load, pytest.mark.timeout(3600)]

PRODUCTS = int(os.environ.get("WRITING_PRODUCTS", "20000"))
CATEGORIES = 300
READERS = 4
RIGHT_AFTER_SECONDS = 10
WORDS = [f"word{number}" for number in range(3000)]
IN_THE_SHOP = "Home#Kitchen#Cook's Knives"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    state = tmp_path_factory.mktemp("writing") / "state"
    shop = Shop(state, ACCESS_TOKEN_SECONDS="86400").start()
    shop.wait_for("past orders: 300 created")
    shop.wait_for("pictures: 153 stored")
    yield shop
    shop.stop()


@dataclass
class Reading:
    """What the readers were answered."""

    answered: int = 0
    refused: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def p99(self) -> float:
        return statistics.quantiles(self.seconds, n=100)[98]


def goods() -> Iterator[bytes]:
    """Import lines, with stock, in new categories and in one that the shop has already."""
    dice = random.Random(5)
    for number in range(PRODUCTS):
        category = number % CATEGORIES
        line = {
            "productid": f"w{number:06d}",
            "taxonomy": IN_THE_SHOP.split("#")
            if category == 0
            else ["Bulk", f"Row {category % 20}", f"Shelf {category}"],
            "name": " ".join(dice.choices(WORDS, k=4)),
            "brand": f"Brand {number % 50}",
            "description": " ".join(dice.choices(WORDS, k=20)),
            "keywords": [],
            "colours": ["red"],
            "price": {"amount": dice.randint(100, 90_000), "currency": "GBP"},
            "delivery": {"amount": 0, "currency": "GBP"},
            "image": "",
            "stock": dice.randint(1, 50),
        }
        yield orjson.dumps(line) + b"\n"


def pages(shop: Shop) -> list[str]:
    storefront, products = shop.url("storefront"), shop.url("products")
    category = requests.utils.quote(IN_THE_SHOP, safe="")
    return [
        f"{storefront}/",
        f"{storefront}/departments",
        f"{storefront}/category/Home/Kitchen/Cook's%20Knives",
        f"{storefront}/search?q=knife",
        f"{storefront}/product/p0018",
        f"{products}/v1/products?category={category}",
        f"{products}/v1/products?category={category}&sort=price",
        f"{products}/v1/products?category=Home&subcategories=true",
        f"{products}/v1/products",
        f"{products}/v1/products/p0018",
        f"{products}/v1/products/p0018/reviews",
        f"{products}/v1/products/best-rated",
        f"{products}/v1/products?q=knife&facets=brand,colour,category,price",
        f"{products}/v1/products/suggest?q=kn",
        f"{products}/v1/categories?depth=2",
    ]


def read(shop: Shop, people: list[Person], seen: Reading, seed: int) -> None:
    dice, session, orders = random.Random(seed), requests.Session(), shop.url("orders")
    customer, admin = people
    asks = [lambda url=url: session.get(url, timeout=30) for url in pages(shop)]
    asks.append(
        lambda: session.post(
            f"{shop.url('products')}/v1/products/lookup", json={"productids": ["p0018", "p0020"]}, timeout=30
        )
    )
    asks.append(lambda: customer.get(f"{orders}/v1/orders", timeout=30))
    asks.append(lambda: admin.get(f"{orders}/v1/admin/orders", timeout=30))
    asks.append(lambda: admin.get(f"{orders}/v1/admin/reports/sales?by=month&from=2020-01", timeout=30))
    asks.append(lambda: admin.get(f"{shop.url('products')}/v1/products/low-stock?most=3", timeout=30))
    while not seen.stop.is_set():
        ask, began = dice.choice(asks), time.monotonic()
        answer = ask()
        seen.seconds.append(time.monotonic() - began)
        seen.answered += 1
        if answer.status_code >= 400:
            seen.refused.append(
                f"{answer.status_code} {answer.request.method} {answer.url} {answer.text[:200]}"
            )
        time.sleep(0.02)


def test_readers_are_answered_during_an_import_and_right_after(
    shop: Shop, show: Callable[[str], None]
) -> None:
    password = (shop.state / "admin-password").read_text().strip()
    admin = Person(shop.url("users"), "admin@example.com", password)
    people = [register(shop.url("users"), shop.state / "mail"), admin]
    seen = Reading()
    readers = [threading.Thread(target=read, args=(shop, people, seen, seed)) for seed in range(READERS)]
    for reader in readers:
        reader.start()
    began = time.monotonic()
    answer = requests.post(
        f"{shop.url('products')}/v1/products/import",
        data=goods(),
        headers={"Content-Type": "application/x-ndjson", "Authorization": admin.headers["Authorization"]},
        timeout=1800,
    )
    seconds = time.monotonic() - began
    found = requests.get(f"{shop.url('products')}/v1/products/w{PRODUCTS - 1:06d}", timeout=30)
    time.sleep(RIGHT_AFTER_SECONDS)
    seen.stop.set()
    for reader in readers:
        reader.join()
    show(
        f"{PRODUCTS} products in {seconds:.0f} s; {seen.answered} reads meanwhile, p99 {seen.p99():.2f} s, longest {max(seen.seconds):.2f} s"
    )
    assert answer.status_code == 200, answer.text
    assert (answer.json()["created"], answer.json()["failed"]) == (PRODUCTS, [])
    assert found.status_code == 200, "the import answered before its products could be found"
    assert not seen.refused, "\n".join(seen.refused)
    assert seen.answered > PRODUCTS / 100
