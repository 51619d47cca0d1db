"""What Cloudant counts of a request, in units: the figures of the cost page's table. No worker runs here, so that nobody else is counted."""

import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import requests

from deploy.costs import UNITS, Calls
from tests.people import PASSWORD, add_address
from tests.processes import running_minicouch
from tests.services.orders.conftest import Shop

pytestmark = pytest.mark.skipif(bool(os.environ.get("COUCH_URL")), reason="only minicouch counts units")

PLAN = "1000000,1000000,1000000"
TRIES = 5
TAXONOMY = ["Home", "Kitchen", "Knives"]

Ask = Callable[[], requests.Response]


@pytest.fixture(scope="module")
def couch_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of this module's own, with a plan that nobody uses up."""
    with running_minicouch(tmp_path_factory.mktemp("units") / "data", "--plan", PLAN) as url:
        yield url


@pytest.fixture(scope="module")
def requests_of(shop: Shop) -> dict[str, Ask]:
    """By somebody who is logged in, has an address and has ordered before; two lines an order."""
    person = shop.customer()
    address = add_address(person, shop.users)
    goods = [shop.product(taxonomy=TAXONOMY, cost_prices={"GBP": 500}) for _ in range(5)][:2]
    credentials = {"email": person.email, "password": PASSWORD}
    products = f"{shop.products}/v1/products"

    def check_out() -> requests.Response:
        lines = dict.fromkeys(goods, 1)
        return shop.order(person, lines, secrets.token_hex(8), address=None, address_id=address)

    orderid = check_out().json()["orderid"]
    return {
        "category page": lambda: requests.get(products, {"category": "#".join(TAXONOMY)}, timeout=30),
        "menu": lambda: requests.get(f"{shop.products}/v1/categories", timeout=30),
        "search": lambda: requests.get(products, {"q": "kettle"}, timeout=30),
        "product": lambda: requests.get(f"{products}/{goods[0]}", timeout=30),
        "log in": lambda: requests.post(f"{shop.users}/v1/sessions", json=credentials, timeout=30),
        "profile with addresses and basket": lambda: person.get(f"{shop.users}/v1/users/me", timeout=30),
        "checkout": check_out,
        "order": lambda: shop.get(person, f"/v1/orders/{orderid}"),
        "order history": lambda: shop.get(person, "/v1/orders"),
    }


@pytest.mark.parametrize("name", UNITS)
def test_a_request_uses_as_many_units_as_the_cost_page_says(
    couch_url: str, requests_of: dict[str, Ask], name: str
) -> None:
    """Asked again where a service has looked at something in the background meanwhile."""
    ask = requests_of[name]
    assert ask().ok  # what the service keeps is there
    for _ in range(TRIES):
        before = used(couch_url)
        answer = ask()
        found = used(couch_url) + before.times(-1)
        assert answer.ok, answer.text
        units = UNITS[name]
        if name == "category page":
            units = replace(units, reads=1 + len(answer.json()["items"]))
        if found == units:
            break
    assert found == units


def used(couch_url: str) -> Calls:
    plan = requests.get(f"{couch_url}/_node/_local/_stats", timeout=30).json()["plan"]
    return Calls(*(plan[name]["value"] for name in ("read", "query", "write")))
