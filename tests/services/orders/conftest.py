"""The shop around an order: users, products and orders under gunicorn, an admin, customers, goods."""

import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from services.orders.actions import fulfilment
from services.orders.dependencies import Dependencies, open_dependencies
from services.orders.documents import DESIGN, SANDBOX_LEDGER
from services.orders.settings import Settings
from services.products.actions.maintenance import SETTLE_AFTER, correct_settled
from services.products.documents import DESIGN as PRODUCTS
from services.users.documents import DESIGN as USERS
from shared.clock import now
from shared.couch import Database, Server
from shared.errors import Unavailable
from shared.settings import load
from tests.patience import patient
from tests.people import ADDRESS, PASSWORD, Person, register
from tests.processes import free_port, run_forked
from tests.services.orders.easypost_standin import EasyPostStandIn
from tests.services.orders.stripe_standin import StripeStandIn
from tests.services.products.conftest import open_as_worker
from tests.services.worker.processes import Worker
from tests.waiting import Holds, holding, settles

ADMIN = "admin@example.com"
SETTINGS = {
    "ARGON2_MEMORY_KIB": "64",
    "ARGON2_PASSES": "1",
    "MAILS_PER_HOUR": "1000",
    "ACCESS_LOG": "0",
    "ACCESS_TOKEN_SECONDS": "86400",
    "COURIER_DISPATCH_SECONDS": "0.2",
    "COURIER_DELIVERY_SECONDS": "0.2",
    "ATTEMPT_SECONDS": "3",
    "SWEEP_SECONDS": "2",
    "FOLLOWER_SHARDS": "2",
}


@dataclass(frozen=True)
class Shop:
    """Where everything is, and how to be somebody."""

    users: str
    products: str
    orders: str
    mail: Path
    admin: Person

    def customer(self) -> Person:
        return register(self.users, self.mail)

    def product(
        self, price: int = 1250, stock: int = 100, delivery: int = 250, currency: str = "GBP", **more: Any
    ) -> str:
        """A new product's id; `more` are other fields of it."""
        productid = f"p{secrets.token_hex(5)}"
        body = {
            "productid": productid,
            "taxonomy": ["Home", "Kitchen", "Kettles"],
            "keywords": ["kettle"],
            "brand": "Acme",
            "name": f"Kettle {productid}",
            "description": "Boils water.",
            "colours": ["red"],
            "image": "",
            "price": {"amount": price, "currency": currency},
            "delivery": {"amount": delivery, "currency": currency},
            "stock": stock,
            **more,
        }
        url, key = f"{self.products}/v1/products", {"Idempotency-Key": secrets.token_hex(8)}
        answer = patient(lambda: self.admin.post(url, json=body, headers=key, timeout=30))
        assert answer.status_code == 201, answer.text
        return productid

    def made(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """What the admin makes with a POST, under one key however busy the database is."""
        key = {"Idempotency-Key": secrets.token_hex(8)}
        answer = patient(lambda: self.post(self.admin, path, body, headers=key))
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    def stock(self, productid: str) -> int:
        """The exact level, out of the stock's ledger."""
        path = f"{self.products}/v1/products/{productid}/stock"
        return patient(lambda: self.admin.get(path, timeout=30)).json()["stock"]

    def order(
        self, person: requests.Session, items: dict[str, int], key: str = "", **more: Any
    ) -> requests.Response:
        """POST /v1/orders for these products; `more` replaces or adds fields of the body."""
        return person.post(
            f"{self.orders}/v1/orders",
            json=checkout(items, **more),
            timeout=60,
            headers={"Idempotency-Key": key or secrets.token_hex(8)},
        )

    def placed(self, person: requests.Session, items: dict[str, int], **more: Any) -> dict[str, Any]:
        answer = insisting(self, person, items, **more)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def sent_back(
        self, person: requests.Session, orderid: str, items: dict[str, int], condition: str = "resaleable"
    ) -> dict[str, Any]:
        """A return that was requested, approved and received: the order after it."""
        wanted = [{"productid": productid, "quantity": quantity} for productid, quantity in items.items()]
        asked = self.post(person, f"/v1/orders/{orderid}/returns", {"items": wanted})
        assert asked.status_code == 201, asked.text
        path = f"/v1/admin/orders/{orderid}/returns/{asked.json()['number']}"
        received = {"items": [{**item, "condition": condition} for item in wanted]}
        for verb, body in (("approval", None), ("receipt", received)):
            done = self.post(self.admin, f"{path}/{verb}", body)
            assert done.status_code == 201, done.text
        return dict(self.get(self.admin, f"/v1/orders/{orderid}").json())

    def get(self, person: requests.Session, path: str, **options: Any) -> requests.Response:
        return person.get(f"{self.orders}{path}", timeout=60, **options)

    def post(
        self, person: requests.Session, path: str, body: Any = None, **options: Any
    ) -> requests.Response:
        return person.post(f"{self.orders}{path}", json=body, timeout=60, **options)


def checkout(items: dict[str, int], token: str = "tok_ok", **more: Any) -> dict[str, Any]:
    body = {
        "items": [{"productid": productid, "quantity": quantity} for productid, quantity in items.items()],
        "address": {"name": "Ada Lovelace", "address": ADDRESS},
        "payment": {"provider": "sandbox", "token": token},
    }
    return {name: value for name, value in {**body, **more}.items() if value is not None}


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    """Settings that a module's services differ in; override it in a module."""
    return {}


@pytest.fixture(scope="module")
def stripe() -> Iterator[StripeStandIn]:
    """Stripe; `orders_settings` of a module may lead its orders there."""
    standin = StripeStandIn()
    yield standin
    standin.close()


@pytest.fixture(scope="module")
def easypost() -> Iterator[EasyPostStandIn]:
    """EasyPost; `orders_settings` of a module may lead its orders there."""
    standin = EasyPostStandIn()
    yield standin
    standin.close()


@pytest.fixture
def healed(easypost: EasyPostStandIn) -> Iterator[None]:
    """Takes what a test did to EasyPost away behind it."""
    yield
    easypost.heal()


@pytest.fixture(scope="module")
def shop(
    prepared: Callable,
    service: Callable,
    environment: dict[str, str],
    orders_settings: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Shop:
    prepared(USERS, PRODUCTS, DESIGN, SANDBOX_LEDGER)
    environment.update({**SETTINGS, **orders_settings})
    folder = tmp_path_factory.mktemp("admin")
    password = folder / "password"
    password.write_text(PASSWORD)
    environment.update({"ADMIN_EMAIL": ADMIN, "ADMIN_PASSWORD_FILE": str(password)})
    ports = {name: free_port() for name in ("users", "products", "orders")}
    environment.update({f"{name.upper()}_URL": f"http://127.0.0.1:{port}" for name, port in ports.items()})
    users, products, orders = (service(name) for name in ports)
    command = [sys.executable, "-m", "services.users", "create-admin"]
    run_forked(command, folder / "log", environment)
    return Shop(users, products, orders, Path(environment["MAIL_DIR"]), Person(users, ADMIN))


@pytest.fixture
def deps(shop: Shop, environment: dict[str, str]) -> Dependencies:
    """What the orders service acts with, in this process."""
    return open_dependencies(load(Settings, environment))


@pytest.fixture(scope="module")
def replica(shop: Shop, service: Callable[..., str]) -> str:
    """Another orders service over the same database and Redis."""
    return service("orders")


@pytest.fixture(scope="module")
def customer(shop: Shop) -> Person:
    return shop.customer()


@pytest.fixture(scope="module")
def staff(shop: Shop) -> Person:
    """Somebody of the shop's who is no admin."""
    person = shop.customer()
    path = f"{shop.users}/v1/admin/staff/{person.userid}"
    given = shop.admin.put(path, json={"roles": ["customer", "staff"]}, timeout=30)
    assert given.status_code == 200, given.text
    return Person(shop.users, person.email)


@pytest.fixture
def advance(deps: Dependencies) -> Callable[[str], Any]:
    """What the worker does for an order now, where no worker runs."""
    return lambda orderid: fulfilment.advance_order(deps, orderid)


@pytest.fixture(scope="module")
def database(server: Server, shop: Shop) -> Database:
    """The orders database itself, to see which documents were written."""
    return server.open(DESIGN)


@pytest.fixture(scope="module")
def refusals(database: Database) -> set[int]:
    """What those are answered who come second at the same moment; on a cluster also 503, where too few nodes took what they sent."""
    return {409} if database.has_one_copy else {409, 503}


@pytest.fixture(scope="module")
def holds(database: Database) -> Holds:
    """holds(look) checks: at once where each document has one copy; on a cluster, where a list is one node's copy, within a minute."""
    return holding(at_once=database.has_one_copy)


@pytest.fixture(scope="module")
def stock_comes_to(shop: Shop, environment: dict[str, str]) -> Callable[[str, int], None]:
    """stock_comes_to(productid, level): at once on minicouch. On CouchDB a checkout that was refused in a crowd may leave its goods to the
    worker: it stays open where the goods did not go back in time, or they did not get their turn in the chain. Here the worker looks at both,
    as if half a minute had passed.
    """
    goods, orders = open_as_worker(environment), open_dependencies(load(Settings, environment))

    def do_what_the_worker_does() -> None:
        found = patient(lambda: shop.get(shop.admin, "/v1/admin/attempts", params={"limit": 100}))
        for attempt in found.json()["items"]:
            fulfilment.advance_order(orders, attempt["orderid"])
        correct_settled(goods, now() + SETTLE_AFTER)

    def check(productid: str, level: int) -> None:
        def is_there() -> bool:
            if "COUCH_URL" in os.environ:
                with suppress(Unavailable):
                    do_what_the_worker_does()
            return shop.stock(productid) == level

        settles(is_there)

    return check


@pytest.fixture(scope="module")
def ledger(server: Server, shop: Shop) -> Database:
    """The sandbox provider's books."""
    return server.open(SANDBOX_LEDGER)


def calls(answer: requests.Response) -> dict[str, int]:
    """The database calls of a request, as its Server-Timing says."""
    parts = re.findall(r'(\w+);dur=[^;]+;desc="(\d+)"', answer.headers["Server-Timing"])
    return {kind: int(number) for kind, number in parts}


@pytest.fixture(scope="module")
def worker(
    shop: Shop, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Worker]:
    """The Celery worker with its timetable and one follower, as they are deployed."""
    running = Worker(environment, tmp_path_factory.mktemp("worker"))
    yield running
    running.stop()


def until(met: Callable[[], Any], seconds: float = 60) -> Any:
    """What `met` gives as soon as it is something; fails after a generous while."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := met():
            return found
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s")


def clone(person: Person) -> requests.Session:
    """The same person in a session of its own, for a thread."""
    session = requests.Session()
    session.headers["Authorization"] = person.headers["Authorization"]
    return session


def insisting(shop: Shop, person: requests.Session, items: dict[str, int], **more: Any) -> requests.Response:
    """An order by somebody who presses the button again, with the same key, as long as a busy database has the answer be 503."""
    key = more.pop("key", "") or secrets.token_hex(8)
    return patient(lambda: shop.order(person, items, key, **more))
