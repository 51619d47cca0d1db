"""A database without a search engine, and more goods than a search there looks at: the home page shows the best of all of them."""

from collections.abc import Callable

import pytest

from services.products.documents import DESIGN, product_id
from shared.couch import Server
from shared.couch.search.keywords import MAX_DOCUMENTS
from tests.processes import free_port
from tests.services.products.conftest import Neighbours, Shop, neighbours, product
from tests.services.storefront.test_many_searches import WithoutSearch, database_without_search
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

__all__ = ["database_without_search", "neighbours"]

PLACE = ["Zinc", "Buckets"]
BEST = [
    product(
        f"bucket-{n}",
        name=f"Zinc bucket {n}",
        taxonomy=PLACE,
        image="",
        price={"amount": 10 + n, "currency": "GBP"},
    )
    for n in range(3)
]
OTHERS = [
    product(
        f"nail-{n}",
        name=f"Nail {n}",
        taxonomy=["Aisles", f"Nails {n % 5}"],
        image="",
        price={"amount": 5000 - n, "currency": "GBP"},
    )
    for n in range(MAX_DOCUMENTS + 100)
]


@pytest.fixture(scope="module")
def url(
    database_without_search: WithoutSearch,
    server: Server,
    environment: dict[str, str],
    service: Callable[..., str],
    neighbours: Neighbours,
) -> str:
    """The goods that stand last in the database are the best rated."""
    plain = Server(database_without_search.url, prefix=server.prefix, timeout=60)
    plain.prepare([DESIGN], progress=lambda line: None)
    environment |= {"USERS_URL": neighbours.url, "ORDERS_URL": f"http://127.0.0.1:{free_port()}"}
    products = service("products", COUCH_URL=database_without_search.url)
    assert Shop(products, neighbours).load(OTHERS + BEST)["created"] == len(OTHERS + BEST)
    database = plain.open(DESIGN)
    for rank, each in enumerate(BEST, 1):
        doc = database.get(product_id(PLACE, each["productid"]))
        database.put(doc | {"rank": float(rank), "rating": {"average": 5.0, "count": rank}})
    return service("storefront", PRODUCTS_URL=products)


def test_home_shows_the_best_of_more_goods_than_a_search_looks_at(url: str) -> None:
    def shown() -> list[str]:
        links = [href for href, _ in Visitor(url).get("/").links]
        return [href for href in dict.fromkeys(links) if href.startswith("/product/bucket")]

    assert eventually(shown) == [f"/product/{each['productid']}" for each in reversed(BEST)]


def test_a_search_page_without_words_begins_with_the_cheapest_of_all_and_says_what_it_cannot(
    url: str,
) -> None:
    cheapest = [f"/product/{each['productid']}" for each in (*BEST, OTHERS[-1])]

    def shown() -> Page | None:
        """The page, once the index that it was read from holds them all."""
        page = Visitor(url).get("/search?sort=price")
        links = [href for href, _ in page.links if href.startswith("/product/")]
        return page if list(dict.fromkeys(links))[: len(cheapest)] == cheapest else None

    page = eventually(shown)
    assert f"filter, count or sort more than {MAX_DOCUMENTS} matches" in page.text
