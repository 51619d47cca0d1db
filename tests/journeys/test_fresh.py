"""Who asks a shop at the moment it says that it is ready gets answers: nothing is still missing behind it."""

import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from tests.journeys.shop import SERVICES, STARTING_SECONDS, Shop

STARTS = int(os.environ.get("FRESH_STARTS", "3"))
PASSWORD = "a long quiet evening"
READS = {
    "storefront": ("/", "/departments", "/search?q=knife", "/basket", "/login", "/register"),
    "users": ("/.well-known/jwks.json",),
    "products": (
        "/v1/categories?depth=2",
        "/v1/products",
        "/v1/products?category=Home",
        "/v1/products?category=Home&sort=price",
        "/v1/products?category=Home&sort=rating",
        "/v1/products?category=Home&subcategories=true",
        "/v1/products/best-rated",
        "/v1/products?category=Home&q=knife",
        "/v1/products?q=knife&facets=brand,colour,category,price",
        "/v1/products/suggest?q=kn",
    ),
    "orders": (),
}


@pytest.fixture(params=range(STARTS))
def starting(tmp_path: Path) -> Iterator[Shop]:
    """A shop that is being started for the first time."""
    shop = Shop(tmp_path / "state", SAMPLE_SHOP="false").launch()
    yield shop
    shop.stop()


def wait_until_ready(shop: Shop, service: str) -> None:
    ends = time.monotonic() + STARTING_SECONDS
    while time.monotonic() < ends:
        try:
            if requests.get(f"{shop.url(service)}/health/ready", timeout=10).status_code == 200:
                return
        except requests.ConnectionError:
            time.sleep(0.005)
    raise AssertionError(f"{service} was never ready")


def test_whoever_believes_ready_is_answered(starting: Shop) -> None:
    with ThreadPoolExecutor(len(SERVICES)) as pool:
        refused = [
            line for found in pool.map(lambda name: asked_at_once(starting, name), SERVICES) for line in found
        ]
    assert refused == []


def asked_at_once(shop: Shop, service: str) -> list[str]:
    """What a service refuses of its reads the moment it is ready."""
    wait_until_ready(shop, service)
    answers = [requests.get(shop.url(service) + path, timeout=10) for path in READS[service]]
    if service == "users":
        answers += first_customer(shop)
    if service == "products":
        answers.append(
            requests.post(
                f"{shop.url('products')}/v1/products/lookup", json={"productids": ["p1"]}, timeout=10
            )
        )
    return [
        f"{answer.status_code} {answer.url} {answer.text[:200]}"
        for answer in answers
        if answer.status_code >= 400
    ]


def first_customer(shop: Shop) -> list[requests.Response]:
    """Registers, verifies, logs in, looks at everything a customer has."""
    users, orders = shop.url("users"), shop.url("orders")
    account = {"name": "Ada", "email": f"{secrets.token_hex(4)}@example.com", "password": PASSWORD}
    answers = [requests.post(f"{users}/v1/users", json=account, timeout=10)]
    token = eventual(lambda: email_token(shop.state / "mail" / "new"))
    answers.append(requests.post(f"{users}/v1/users/verify", json={"token": token}, timeout=10))
    credentials = {name: account[name] for name in ("email", "password")}
    answers.append(requests.post(f"{users}/v1/sessions", json=credentials, timeout=10))
    me = {"Authorization": f"Bearer {answers[-1].json()['access_token']}"}
    wait_until_ready(shop, "products")
    wait_until_ready(shop, "orders")
    paths = (
        f"{users}/v1/users/me",
        f"{users}/v1/users/me/addresses",
        f"{users}/v1/users/me/basket",
        f"{orders}/v1/orders",
    )
    return answers + [requests.get(path, headers=me, timeout=10) for path in paths]


def email_token(folder: Path) -> str | None:
    emails = list(folder.iterdir()) if folder.exists() else []
    found = re.search(r"token=([\w.-]+)", emails[0].read_text()) if emails else None
    return found[1] if found else None


def eventual(look: Callable[[], str | None]) -> str:
    ends = time.monotonic() + 30
    while (found := look()) is None:
        assert time.monotonic() < ends
        time.sleep(0.02)
    return found
