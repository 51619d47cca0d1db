"""What the tests of the shop without a network share: windows with a service worker, goods of their own, what is on the device."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import pytest
import requests
from playwright.sync_api import Page, expect

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.browser.conftest import register, write_address
from tests.waiting import eventually

Visit = Callable[..., Page]
NO_PICTURES = ("/media/",)
"""What is expected of the console where goods of `load_goods` are shown: they name pictures that are nowhere."""


@pytest.fixture
def visit(visit: Visit) -> Visit:
    """Windows with a service worker; what a cut network is to the console is expected."""
    return lambda **options: _with_worker(visit(worker=True, **options))


def _with_worker(page: Page) -> Page:
    page.goto("/")
    wait_for_worker(page)
    return page


def wait_for_worker(page: Page) -> None:
    page.evaluate(
        "() => navigator.serviceWorker.controller || new Promise((done) => navigator.serviceWorker.addEventListener('controllerchange', done, { once: true })).then(() => null)"
    )


@contextmanager
def without_network(page: Page) -> Iterator[None]:
    page.context.set_offline(True)
    try:
        yield
    finally:
        page.context.set_offline(False)


WHOLE = "The shop cannot be reached. Are you online?"


@pytest.fixture(scope="module")
def admin(shop: Shop) -> dict[str, str]:
    """The headers of the admin's requests."""
    answer = requests.post(
        f"{shop.urls['users']}/v1/sessions",
        json={"email": ADMIN_EMAIL, "password": shop.admin_password},
        timeout=30,
    )
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


@pytest.fixture(scope="module")
def sell(shop: Shop, admin: dict[str, str]) -> Callable[[str, int], None]:
    """sell(name, pence): a product of this file's at this price, or at this price from now on."""
    headers = {**admin, "Content-Type": "application/x-ndjson"}

    def sell(name: str, pence: int) -> None:
        product = {
            "productid": name,
            "name": f"Tent peg {name}",
            "taxonomy": ["Garden", "Tent pegs"],
            "keywords": [],
            "brand": "Oak & Co",
            "colours": ["red"],
            "description": "Holds a tent without a network.",
            "price": {"amount": pence, "currency": "GBP"},
            "delivery": {"amount": 300, "currency": "GBP"},
            "image": "",
            "stock": 50,
        }
        url = f"{shop.urls['products']}/v1/products/import"
        answer = requests.post(url, orjson.dumps(product) + b"\n", headers=headers, timeout=60)
        assert answer.json()["failed"] == [], answer.text

    return sell


@pytest.fixture(scope="module")
def count(shop: Shop, admin: dict[str, str]) -> Callable[[str, int], None]:
    """count(name, 0): so many were counted on the shelf."""

    def count(name: str, left: int) -> None:
        counted: dict[str, Any] = {"changes": [{"sku": name, "level": left}], "reason": "counted"}
        url = f"{shop.urls['products']}/v1/admin/products/stock"
        answer = requests.post(url, json=counted, headers=admin, timeout=60)
        assert answer.json()["changed"] == 1, answer.text

    return count


@pytest.fixture
def peg(sell: Callable[[str, int], None]) -> str:
    name = f"peg-{secrets.token_hex(4)}"
    sell(name, 700)
    return name


def join(page: Page) -> str:
    """A customer with an address; their e-mail address."""
    email = register(page, "Nora Tunnel")
    page.goto("/account")
    write_address(page, "Nora Tunnel", "1 High Street")
    page.get_by_role("button", name="Add it").click()
    page.get_by_text("Address added.").wait_for()
    return email


def kept(page: Page, prefix: str) -> list[dict[str, Any]]:
    """Documents of the customer's database on this device."""
    return page.evaluate(
        "prefix => globalThis.shopDevice?.open() ? shopDevice.documents(prefix) : []", prefix
    )


def basket_on(page: Page) -> dict[str, int]:
    return {doc["productid"]: doc["quantity"] for doc in kept(page, "basket-")}


def orders_of(page: Page) -> int:
    page.goto("/orders")
    return page.locator(".order-row").count()


def prepare(page: Page, peg: str) -> None:
    """The customer's data is on the device, and the product's page was seen."""
    page.goto(f"/product/{peg}")
    eventually(lambda: kept(page, "delivery"))


def put_in(page: Page) -> None:
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_text("Added to the basket on this device.").wait_for()


def with_basket(page: Page, peg: str) -> str:
    """A customer (their e-mail address) who looks at what can be ordered offline, of 1 `peg` at a known price."""
    email = join(page)
    page.goto(f"/product/{peg}")
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="Go to the basket").click()
    eventually(lambda: basket_on(page) == {peg: 1})
    page.goto("/offline")
    expect(page.locator("[data-total]")).to_have_text("Expected total: £10.00")
    return email


BASKET_OF_THE_SHOP = "async () => (await (await fetch('/device/quote')).json()).lines.map(({ key }) => key)"
NAMES_OF_DATABASES = "async () => (await indexedDB.databases()).map(({ name }) => name)"
ORDER = "Order when the shop can be reached"
WAITS = "An order of yours waits. Log in to send it."


def queue(page: Page) -> None:
    """Orders without a network, on the page that `with_basket` leads to."""
    page.get_by_role("button", name=ORDER).click()
    expect(page.locator("#waiting li")).to_have_count(1)
