"""The database is configured for a Nouveau that does not answer: the shop says so, and sells on."""

import time
from collections.abc import Callable, Iterator

import pytest
import requests

from services.products.documents import DESIGN
from shared.couch import Server
from tests.nouveau_away import Nouveau, without_nouveau
from tests.services.products.conftest import Neighbours, Shop, eventually, product

SOON = 60
"""Seconds: on a busy machine, and far less than for ever."""
PANS = [product(f"pan{number}", name=f"Copper pan {number}") for number in range(5)]
SPOON = product("spoon", name="Wooden spoon", taxonomy=["Home", "Tools"])


@pytest.fixture(scope="module")
def nouveau(couch_url: str) -> Iterator[Nouveau]:
    with without_nouveau(couch_url) as nouveau:
        yield nouveau


@pytest.fixture(scope="module")
def shop(nouveau: Nouveau, server: Server, service: Callable[..., str], neighbours: Neighbours) -> Shop:
    there = Server(nouveau.url, prefix=server.prefix, timeout=60)
    there.prepare([DESIGN], progress=lambda line: None)
    url = service(
        "products",
        COUCH_URL=nouveau.url,
        USERS_URL=neighbours.url,
        ORDERS_URL=neighbours.url,
        ACCESS_LOG="false",
    )
    shop = Shop(url, neighbours)
    began = time.monotonic()
    assert shop.load([*PANS, SPOON])["created"] == len(PANS) + 1
    assert time.monotonic() - began < SOON, "an import waits for no search index that nobody builds"
    return shop


def ids(answer: dict) -> list[str]:
    return [each["productid"] for each in answer["items"]]


def refused(shop: Shop, path: str, **asked: str) -> None:
    """Asked once: `shop.get` would come back as often as Retry-After says."""
    answer = requests.get(shop.url + path, asked, timeout=60)
    assert (answer.status_code, answer.json()["code"]) == (503, "search_unavailable")
    assert "Nouveau" in answer.json()["detail"]
    assert answer.headers["Retry-After"]


def test_the_service_is_ready_and_shows_its_goods(shop: Shop) -> None:
    assert shop.get("/health/ready").status == 200
    pans = [each["productid"] for each in PANS]
    eventually(lambda: ids(shop.ok("/v1/products", category="Home#Kitchen")) == pans)
    assert ids(shop.ok("/v1/products", category="Home#Kitchen", sort="-price")) != []
    eventually(
        lambda: (
            shop.ok("/v1/products", category="Home#Kitchen", facets="brand,price")["facets"]["brand"] != []
        )
    )
    assert shop.ok("/v1/products/pan1")["name"] == "Copper pan 1"
    assert shop.ok("/v1/categories")["count"] == len(PANS) + 1


def test_a_department_is_listed_without_its_filters_and_says_so(shop: Shop) -> None:
    asked = {"category": "Home", "subcategories": "true", "facets": "brand,price", "limit": 4}
    eventually(lambda: len(ids(shop.ok("/v1/products", category="Home", subcategories="true"))) == 6)
    first = shop.ok("/v1/products", **asked)
    assert (len(first["items"]), first["facets"]) == (4, {})
    assert first["unsupported"] == ["filter or sort this list while the search engine does not answer"]
    second = shop.ok("/v1/products", **asked, cursor=first["next"])
    assert sorted(ids(first) + ids(second)) == sorted(each["productid"] for each in [*PANS, SPOON])
    assert second["next"] is None


@pytest.mark.parametrize(
    "asked",
    [
        {"q": "copper"},
        {"q": "copper", "facets": "brand"},
        {"category": "Home", "subcategories": "true", "brand": "Acme", "facets": "brand"},
    ],
    ids=["words", "words with filters", "a filtered department"],
)
def test_what_only_a_search_finds_is_refused_by_name(shop: Shop, asked: dict[str, str]) -> None:
    refused(shop, "/v1/products", **asked)


def test_suggestions_are_refused_by_name(shop: Shop) -> None:
    refused(shop, "/v1/products/suggest", q="cop")


def test_it_searches_again_when_nouveau_is_back(shop: Shop, server: Server, nouveau: Nouveau) -> None:
    if "nouveau" not in server.features():
        pytest.skip("this server has no Nouveau that could come back")
    nouveau.away = False
    try:
        eventually(lambda: shop.get("/v1/products", q="copper").status == 200)
        eventually(lambda: len(ids(shop.ok("/v1/products", q="copper"))) == len(PANS))
        asked = {"category": "Home", "subcategories": "true", "facets": "brand", "limit": 4}
        eventually(lambda: "unsupported" not in shop.ok("/v1/products", **asked))
    finally:
        nouveau.away = True
