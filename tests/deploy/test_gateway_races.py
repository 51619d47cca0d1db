"""Buyers who come at once through the gateway, to a shop with two replicas of the storefront and of the orders service: a code of a hundred
uses is used a hundred times, and a gift card never pays more than it holds."""

import contextlib
import re
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
import requests

from deploy.local.layout import Layout
from deploy.local.settings import Settings
from tests.bench.running import ADMIN_EMAIL, Shop, running_shop
from tests.deploy.test_gateway_traffic import gateway_before
from tests.people import ADDRESS, place
from tests.processes import start_service
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

pytestmark = pytest.mark.deployment
CHECKOUTS, USES, CLIENTS = 300, 100, 24
BUYERS, PRICE, VALUE = 20, 2500, 5000
PRODUCT: Final = {
    "productid": "rush",
    "name": "What everybody wants",
    "taxonomy": ["Rush"],
    "price": {"amount": PRICE, "currency": "GBP"},
    "delivery": {"amount": 0, "currency": "GBP"},
    "stock": 2 * CHECKOUTS,
}


@dataclass(frozen=True)
class Gateway:
    """nginx in front of two replicas; `replicas` are the orders services behind it, `admin` says who is the admin."""

    url: str
    replicas: tuple[str, str]
    admin: dict[str, str]

    def post(self, path: str, body: Any, headers: dict[str, str] | None = None) -> requests.Response:
        """Sent again with the same headers while the gateway asks to wait."""
        while True:
            answer = requests.post(f"{self.url}{path}", json=body, headers=headers, timeout=60)
            if answer.status_code != 429:
                return answer
            time.sleep(0.5)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("races")
    settings = {"WEB_WORKERS": "1", "TRUSTED_PROXIES": "1", "PROXY_HOPS": "1"}
    with contextlib.ExitStack() as stack:
        shop = stack.enter_context(running_shop(folder / "shop", **settings))
        twins = {
            name: stack.enter_context(twin(shop, name, folder, settings)) for name in ("orders", "storefront")
        }
        pairs = {name: (shop.urls[name], url) for name, url in twins.items()}
        url = stack.enter_context(gateway_before(shop.urls, folder, **pairs))
        login = {"email": ADMIN_EMAIL, "password": shop.admin_password}
        token = requests.post(f"{url}/v1/sessions", json=login, timeout=30).json()["access_token"]
        admin = {"Authorization": f"Bearer {token}"}
        sent = admin | {"Content-Type": "application/x-ndjson"}
        imported = requests.post(f"{url}/v1/products/import", orjson.dumps(PRODUCT), headers=sent, timeout=60)
        assert imported.json()["created"] == 1, imported.text
        yield Gateway(url, pairs["orders"], admin)


@contextlib.contextmanager
def twin(shop: Shop, name: str, folder: Path, settings: dict[str, str]) -> Iterator[str]:
    """Another process of a service, with the same settings."""
    base = int(shop.urls["storefront"].rpartition(":")[2])
    own = {
        "PORT": str(base),
        "COUCH_PORT": str(base + 4),
        "AISLE_STATE": str(shop.state),
        "SAMPLE_SHOP": "false",
    }
    env = Layout(Settings.read(own)).environment() | settings | {"DATABASE_PREFIX": shop.server.prefix}
    process, url = start_service(name, folder / f"{name}.log", env)
    yield url
    process.stop()


def stock(gateway: Gateway) -> int:
    return int(
        requests.get(f"{gateway.url}/v1/products/rush/stock", headers=gateway.admin, timeout=30).json()[
            "stock"
        ]
    )


def test_three_hundred_guests_at_once_use_a_code_of_a_hundred_a_hundred_times(gateway: Gateway) -> None:
    content = {
        "name": "Rush",
        "codes": ["RUSH"],
        "limit": USES,
        "actions": [{"kind": "percent", "basis_points": 1000}],
    }
    made = gateway.post("/v1/admin/promotions", content, gateway.admin).json()
    body = {"items": [{"productid": "rush", "quantity": 1}], "codes": ["RUSH"]}
    for url in gateway.replicas:
        eventually(lambda url=url: requests.post(f"{url}/v1/orders/quote", json=body, timeout=30).ok)
    before = stock(gateway)

    def buy(number: int) -> str:
        order = body | {
            "email": f"rush{number}@example.com",
            "address": ADDRESS,
            "payment": {"provider": "sandbox", "token": "tok_ok"},
        }
        answer = gateway.post("/v1/orders", order, {"Idempotency-Key": secrets.token_hex(8)})
        return "sold" if answer.status_code == 201 else str(answer.json()["code"])

    with ThreadPoolExecutor(CLIENTS) as pool:
        outcomes = Counter(pool.map(buy, range(CHECKOUTS)))
    assert outcomes == {"sold": USES, "code_used_up": CHECKOUTS - USES}
    uses = requests.get(
        f"{gateway.url}/v1/admin/promotions/{made['id']}/uses", headers=gateway.admin, timeout=30
    )
    assert uses.json() == {"used": USES, "limit": USES}
    assert stock(gateway) == before - USES


def test_twenty_on_the_pages_spend_one_gift_card_and_never_more_than_it_holds(gateway: Gateway) -> None:
    """Who finds that others were quicker looks at what is left to pay, and pays the rest by card."""
    value = {"value": {"amount": VALUE, "currency": "GBP"}}
    card = gateway.post("/v1/admin/gift-cards", value, gateway.admin).json()
    ready = threading.Barrier(BUYERS)
    with ThreadPoolExecutor(BUYERS) as pool:
        paid = list(pool.map(lambda number: bought(gateway, card["code"], number, ready), range(BUYERS)))
    found = requests.get(
        f"{gateway.url}/v1/admin/gift-cards/{card['id']}", headers=gateway.admin, timeout=30
    ).json()
    balances = [entry["balance"]["amount"] for entry in found["entries"]]
    assert min(balances) >= 0
    assert found["balance"]["amount"] == VALUE - sum(paid)
    spent = {entry["orderid"] for entry in found["entries"] if entry["reason"] == "spent"}
    back = {entry["orderid"] for entry in found["entries"] if entry["reason"] == "given_back"}
    assert sum(paid) == VALUE or back, "what is left came back, when the others had paid by card"
    assert len(spent - back) == sum(amount > 0 for amount in paid)


def bought(gateway: Gateway, code: str, number: int, ready: threading.Barrier) -> int:
    """What the gift card has paid of the order of one visitor, as the order's page says."""
    visitor = Visitor(gateway.url)
    at_last(visitor.get("/product/rush"), visitor)
    at_last(visitor.submit("/basket", quantity="1"), visitor)
    page = shown_again(at_last(visitor.get("/checkout"), visitor), visitor, code)
    ready.wait(120)
    while not page.path.startswith("/orders/"):
        values = {"name": "Rusher", "email": f"rusher{number}@example.com", **place()}
        if "card" in page.form("/checkout").names:
            values["card"] = "tok_ok"
        page = at_last(visitor.submit("/checkout", **values), visitor)
        if "Nothing is left on gift card" in page.text:
            page = shown_again(page, visitor, "")
    paid = re.search(r"Gift card ending \w{4} −£(\d+)\.(\d\d)", page.text)
    return int(paid[1]) * 100 + int(paid[2]) if paid else 0


def shown_again(page: Page, visitor: Visitor, code: str) -> Page:
    """The checkout with what is left to pay with a gift card, or without one."""
    form = page.form("/checkout")
    form.action = "/checkout/update"
    return at_last(visitor.send_form(form, {**form.values, "update": "1", "gift_code": code}), visitor)


def at_last(page: Page, visitor: Visitor) -> Page:
    """The page after all: one that has no time is loaded again, as it says."""
    while page.status in (429, 503):
        time.sleep(0.5)
        page = visitor.get(page.path)
    return page
