"""The partition of a category that has all the bytes that a partition may have (10 GB; 403 `partition_overflow`): nothing of it is sold, in
words that say so, nothing of it counts as done that was not written, and other categories sell on."""

import os
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
import requests

from services.products.actions.maintenance import sweep
from services.products.dependencies import Dependencies
from services.products.documents import settlement_id
from shared.clock import now
from tests.services.products.conftest import Shop, product
from tests.services.products.reserving import end, level, reservation, reserve

pytestmark = pytest.mark.skipif(bool(os.environ.get("COUCH_URL")), reason="the setting is of each node")

FULL, OTHER = ["Home", "Full"], ["Home", "Empty"]
LARGE = "A word about these goods. " * 100


@pytest.fixture
def filled(couch_url: str, shop: Shop) -> Iterator[Callable[[bool], None]]:
    """Goods `kettle` and `cup` in a category that filled(True) leaves no room in, `spoon` in another one."""
    address = f"{couch_url}/_node/_local/_config/couchdb/max_partition_size"
    before = requests.get(address, timeout=10).json()
    large = [product(f"large{number}", taxonomy=FULL, description=LARGE) for number in range(20)]
    goods = [product("kettle", taxonomy=FULL, stock=10), product("cup", taxonomy=FULL, stock=10)]
    shop.load([*large, *goods, product("spoon", taxonomy=OTHER, stock=10)])

    def filled(is_full: bool) -> None:
        requests.put(address, json="40000" if is_full else before, timeout=10).raise_for_status()

    yield filled
    filled(False)


def test_a_full_partition_sells_nothing_and_loses_nothing(
    shop: Shop, deps: Dependencies, filled: Callable[[bool], None]
) -> None:
    assert reserve(shop, "sold", ("kettle", 2), taxonomy=FULL) == 201
    assert reserve(shop, "returned", ("cup", 3), taxonomy=FULL) == 201
    assert end(shop, "returned", "confirmation", ("cup", 3), taxonomy=FULL) == 200
    filled(True)

    refused = shop.service("/v1/internal/reservations", reservation("new", ("kettle", 1), taxonomy=FULL))
    assert (refused.status, refused.json["code"]) == (503, "partition_overflow")
    assert "kettle" not in refused.json["detail"]
    assert reserve(shop, "elsewhere", ("spoon", 1), taxonomy=OTHER) == 201

    assert end(shop, "sold", "confirmation", ("kettle", 2), taxonomy=FULL) == 503
    assert end(shop, "returned", "release", ("cup", 3), taxonomy=FULL, reference="return1") == 503
    moved = shop.admin("POST", "/v1/products/kettle/stock", {"delta": 5, "reason": "came in"})
    assert (moved.status, moved.json["code"]) == (503, "partition_overflow")
    assert level(shop, "kettle") == 8
    assert level(shop, "cup") == 7

    filled(False)
    assert end(shop, "sold", "confirmation", ("kettle", 2), taxonomy=FULL) == 200
    assert end(shop, "returned", "release", ("cup", 3), taxonomy=FULL, reference="return1") == 200
    assert level(shop, "kettle") == 8
    assert level(shop, "cup") == 10
    ended = settlement_id(tuple(FULL), "kettle", "sold")
    assert deps.reservations.settlements([ended])[ended]["outcome"] == "sold"


def test_an_order_over_two_categories_gives_back_what_it_got_of_the_other(
    shop: Shop, deps: Dependencies, filled: Callable[[bool], None]
) -> None:
    before = level(shop, "spoon")
    filled(True)
    items = [
        {"productid": productid, "taxonomy": taxonomy, "quantity": 1}
        for productid, taxonomy in (("kettle", FULL), ("spoon", OTHER))
    ]
    body = reservation("both") | {"items": items}
    refused = shop.service("/v1/internal/reservations", body)
    assert (refused.status, refused.json["code"]) == (503, "partition_overflow")
    released = shop.service("/v1/internal/reservations/both/release", {"items": items})
    assert released.status == 503
    filled(False)
    assert shop.service("/v1/internal/reservations/both/release", {"items": items}).status == 200
    sweep(deps, now() + timedelta(hours=1))  # the first release ended the spoon's, and came no further
    assert level(shop, "spoon") == before
