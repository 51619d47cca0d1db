"""The shop that database calls are counted on, its customers, and the counts."""

import re
import time
from collections import Counter
from pathlib import Path

import requests

from deploy.costs import Calls
from tests.journeys.shop import Shop
from tests.people import PASSWORD, Person, add_address, register
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

AFTERMATH = "confirmation|release|clear|internal/orders"
GOODS = ("p0018", "p0020")


def start_sample_shop(folder: Path, **settings: str) -> Shop:
    """With goods and past orders; couriers wait for the desk, so that nothing moves by itself."""
    shop = Shop(folder / "state", COUCH_URL="", COURIER="manual", **settings).start()
    shop.wait_for("past orders: 300 created")
    shop.wait_for("pictures: 153 stored")
    eventually(lambda: _is_quiet(shop))
    return shop


def _is_quiet(shop: Shop) -> bool:
    """Whether a second passes without a call: what a shop that has just started keeps ready is no request's."""
    before = counted(shop)
    time.sleep(1.0)
    return counted(shop) == before


def new_customer(shop: Shop) -> tuple[Person, str]:
    """Somebody who is logged in at the services, and the id of their address."""
    person = register(shop.url("users"), shop.state / "mail")
    return person, add_address(person, shop.url("users"))


def new_visitor(shop: Shop) -> Visitor:
    """Somebody with an address who is logged in at the pages."""
    person, _ = new_customer(shop)
    visitor = Visitor(shop.url("storefront"))
    visitor.get("/login")
    assert visitor.submit("/login", email=person.email, password=PASSWORD).status == 200
    return visitor


def fill_basket(visitor: Visitor) -> None:
    for productid in GOODS:
        visitor.get(f"/product/{productid}")
        assert visitor.submit("/basket").status == 200


def counted(shop: Shop) -> Counter[str]:
    """Calls so far by class, of all services together, without what the worker asks them for."""
    found: Counter[str] = Counter()
    for service in ("users", "products", "orders"):
        text = requests.get(f"{shop.url(service)}/metrics", timeout=30).text
        for labels, number in re.findall(r"^aisle_database_calls_total\{(.*)\} (\S+)$", text, re.MULTILINE):
            label = dict(re.findall(r'(\w+)="([^"]*)"', labels))
            if not re.search(AFTERMATH, label["route"]):
                found[label["kind"]] += int(float(number))
    return found


def calls_since(shop: Shop, before: Counter[str]) -> Calls:
    calls = counted(shop) - before
    return Calls(calls["partition"] + calls["read"], calls["global"], calls["write"])
