"""An account of Cloudant's that has stored all that its plan sells (402): what is there is shown, what is new is refused in words, and what
was accepted is finished once there is room."""

import os
from collections.abc import Callable, Iterator

import pytest
import requests

from tests.people import Person
from tests.processes import start_minicouch
from tests.services.orders.conftest import Shop, Worker, until
from tests.services.worker.test_fulfilment import finished

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(bool(os.environ.get("COUCH_URL")), reason="only minicouch keeps Cloudant's limits"),
]

PLAN = "100000,100000,100000"


@pytest.fixture(scope="module")
def couch_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of this module's own."""
    process, url = start_minicouch(tmp_path_factory.mktemp("account") / "data", "--plan", PLAN)
    yield url
    process.kill()


@pytest.fixture
def full(couch_url: str) -> Iterator[Callable[[bool], None]]:
    """full(True) leaves no room in the account, full(False) gives it back, as does the end of the test."""
    address = f"{couch_url}/_node/_local/_config/cloudant/storage"

    def full(is_full: bool) -> None:
        answer = requests.put(address, json="1" if is_full else str(10**9), timeout=10)
        assert answer.ok, answer.text

    yield full
    full(False)


def test_a_full_account_refuses_what_is_new_and_finishes_what_was_accepted(
    shop: Shop, worker: Worker, customer: Person, full: Callable[[bool], None]
) -> None:
    product = shop.product(stock=10)
    accepted = [shop.placed(customer, {product: 1})["orderid"] for _ in range(5)]
    full(True)
    refused = shop.order(customer, {product: 1}, "the same")
    assert (refused.status_code, refused.json()["code"]) == (503, "database_full"), refused.text
    assert int(refused.headers["Retry-After"]) >= 1
    assert "quota" not in refused.text
    for path in (f"/v1/orders/{accepted[0]}", "/v1/orders"):
        assert shop.get(customer, path).status_code == 200
    listed = requests.get(f"{shop.products}/v1/products/{product}", timeout=30)
    assert listed.status_code == 200
    for _ in range(3):  # the jobs come again meanwhile
        assert shop.order(customer, {product: 1}, "the same").status_code == 503
    full(False)
    placed = until(lambda: (answer := shop.order(customer, {product: 1}, "the same")).ok and answer)
    for orderid in (*accepted, placed.json()["orderid"]):
        finished(shop, customer, orderid)
    assert shop.get(shop.admin, "/v1/admin/dead-letters").json()["items"] == []
    until(lambda: shop.stock(product) == 4)
