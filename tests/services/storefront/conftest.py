"""The whole shop as `make run` starts it, with a few goods, and two people who walk through it without JavaScript."""

import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest
import requests

from shared.couch import Server
from tests.bench.running import ADMIN_EMAIL, Shop, running_shop
from tests.people import PASSWORD
from tests.processes import start_service
from tests.services.orders.easypost_standin import EasyPostStandIn
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

PREFIX = f"t{secrets.token_hex(4)}-"
PICTURE = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 10 10'><rect width='10' height='10' fill='#ffd84d'/></svg>"


def product(productid: str, name: str, taxonomy: list[str], amount: int, **more: object) -> dict:
    return {
        "productid": productid,
        "name": name,
        "taxonomy": taxonomy,
        "keywords": [],
        "brand": "Oak & Co",
        "colours": ["red"],
        "description": f"{name}, described.",
        "price": {"amount": amount, "currency": "GBP"},
        "delivery": {"amount": 300, "currency": "GBP"},
        "image": f"/media/{productid}.svg",
        "stock": 20,
        **more,
    }


GOODS = [
    product("mug-red", "Red Mug", ["Home", "Kitchen", "Mugs & Cups"], 950),
    product(
        "mug-blue", "Blue Mug", ["Home", "Kitchen", "Mugs & Cups"], 1050, colours=["blue"], brand="Pine's"
    ),
    product("mug-last", "Last Mug", ["Home", "Kitchen", "Mugs & Cups"], 1250, stock=1),
    product("mug-gone", "Sold Mug", ["Home", "Kitchen", "Mugs & Cups"], 1150, stock=0),
    product("lamp-1", "Desk <b>Lamp</b>", ["Home", "Lights/Lamps, indoor"], 4900, image=""),
    *(
        product(f"cup-{number:02d}", f"Cup number {number:02d}", ["Home", "Kitchen", "Cups"], 500 + number)
        for number in range(40)
    ),
    product("deep", "Deep Thing", ["Deep", *"bcdefgh"], 100),
    product("spade", "Garden Spade", ["Garden"], 2500),
    product("rake", "Garden Rake", ["Garden"], 1900),
]


@pytest.fixture(scope="package")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Couriers wait for an hour, so that orders go by hand."""
    state = tmp_path_factory.mktemp("storefront")
    (state / "media").mkdir()
    (state / "media" / "mug-red.svg").write_text(PICTURE)
    settings = {
        "COURIER_DISPATCH_SECONDS": "3600",
        "WEB_WORKERS": "1",
        "STOREFRONT_MENU_SECONDS": "0.5",
        "SESSION_CHECK_SECONDS": "0.5",
        "DATABASE_PREFIX": PREFIX,
        "CUSTOMER_GROUPS": "farriers",
        "ARGON2_MEMORY_KIB": "64",  # people register and log in for most tests, and what a hash costs is tried in those of users
        "ARGON2_PASSES": "1",
    }
    carriers = EasyPostStandIn()
    settings |= carriers.label_settings
    with running_shop(state, **settings) as running:
        load_goods(running)
        yield running
    carriers.close()
    if url := os.environ.get("COUCH_URL"):
        _drop(Server(url, prefix=PREFIX))


@contextmanager
def second_storefront(shop: Shop, folder: Path, **urls: str) -> Iterator[str]:
    """Another storefront of the same shop, which finds some services elsewhere."""
    env = {
        "AISLE_ENV": "local",
        "SECRET_KEY": _secret_of(shop, "secret-key"),
        "SERVICE_SECRET": _secret_of(shop, "service-secret"),
        "USERS_URL": shop.urls["users"],
        "PRODUCTS_URL": shop.urls["products"],
        "ORDERS_URL": shop.urls["orders"],
        "REDIS_URL": redis_url_of(shop),
        "WEB_WORKERS": "1",
        **urls,
    }
    process, url = start_service("storefront", folder / "storefront.log", {**os.environ, **env})
    try:
        yield url
    finally:
        process.stop()


def _secret_of(shop: Shop, name: str) -> str:
    return next(shop.state.rglob(name)).read_text().strip()


def redis_url_of(shop: Shop) -> str:
    """The Redis that the shop keeps what it need not keep for good in."""
    conf = next(shop.state.rglob("redis.conf")).read_text()
    port = next(line.split()[1] for line in conf.splitlines() if line.startswith("port "))
    return f"redis://:{_secret_of(shop, 'redis-password')}@127.0.0.1:{port}/0"


def database_of(shop: Shop) -> Server:
    """The server that the shop keeps its documents in, as the shop sees it."""
    return Server(couch_url_of(shop), prefix=PREFIX)


def couch_url_of(shop: Shop) -> str:
    """Its address, with its account."""
    if url := os.environ.get("COUCH_URL"):
        return url
    port = int(shop.urls["storefront"].rsplit(":", 1)[1]) + 4
    return f"http://aisle:{_secret_of(shop, 'couch-password')}@127.0.0.1:{port}"


def _drop(server: Server) -> None:
    for name in server.client.call("get_all_dbs"):
        if name.startswith(server.prefix):
            server.client.call("delete_database", db=name)


def load_goods(shop: Shop) -> None:
    lines = b"".join(orjson.dumps(each) + b"\n" for each in GOODS)
    login = requests.post(
        f"{shop.urls['users']}/v1/sessions",
        json={"email": ADMIN_EMAIL, "password": shop.admin_password},
        timeout=30,
    )
    headers = {
        "Authorization": f"Bearer {login.json()['access_token']}",
        "Content-Type": "application/x-ndjson",
    }
    answer = requests.post(f"{shop.urls['products']}/v1/products/import", lines, headers=headers, timeout=60)
    assert answer.json()["created"] == len(GOODS), answer.text


def import_goods(keeper: Visitor, goods: Iterable[dict]) -> None:
    """Goods of a test's own, by the desk's import; each has a page afterwards."""
    lines = b"".join(orjson.dumps(each) + b"\n" for each in goods)
    token = keeper.get("/admin/import").form("/admin/import").values["_csrf"]
    answer = keeper.send("POST", "/admin/import/piece", lines, {"X-CSRF-Token": token})
    assert (answer.status, orjson.loads(answer.body)["failed"]) == (200, []), answer.body


@pytest.fixture
def visitor(shop: Shop) -> Visitor:
    return Visitor(shop.urls["storefront"])


@pytest.fixture(scope="package")
def join(shop: Shop) -> Callable[..., Visitor]:
    """Registers, reads the e-mail in the mailbox page, verifies and logs in; the visitor, at the page after the log-in."""

    def joined(name: str, *, email: str = "", visitor: Visitor | None = None) -> Visitor:
        visitor = visitor or Visitor(shop.urls["storefront"])
        email = email or f"{name.lower().replace(' ', '.')}@example.com"
        visitor.get("/register")
        page = visitor.submit("/register", name=name, email=email, password=PASSWORD)
        assert page.path == "/registered", page.text
        link = link_in_email(visitor, email)
        visitor.get(link)
        page = visitor.submit("/verify")
        assert page.path == "/login", page.text
        log_in(visitor, email, PASSWORD)
        return visitor

    return joined


def link_in_email(visitor: Visitor, email: str) -> str:
    """The path of the link in the newest e-mail (e-mails leave on a thread of their own)."""

    def links() -> list[str]:
        return [href for href, _ in visitor.get(f"/mailbox?to={email}").links if "token=" in href]

    return re.sub(r"^https?://[^/]+", "", eventually(links)[0])


def log_in(visitor: Visitor, email: str, password: str) -> None:
    visitor.get("/login")
    page = visitor.submit("/login", email=email, password=password)
    assert page.path != "/login", page.text


@pytest.fixture(scope="package")
def keeper(shop: Shop) -> Visitor:
    """The shopkeeper, logged in."""
    visitor = Visitor(shop.urls["storefront"])
    log_in(visitor, ADMIN_EMAIL, shop.admin_password)
    return visitor
