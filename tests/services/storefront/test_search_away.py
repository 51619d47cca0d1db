"""The search engine behind the database is away: the search page says that it is the search, and the departments stay open."""

from collections.abc import Callable, Iterator

import pytest

from services.products.documents import DESIGN
from shared.couch import Server
from tests.nouveau_away import without_nouveau
from tests.processes import free_port
from tests.services.products.conftest import Neighbours, Shop, neighbours, product
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

__all__ = ["neighbours"]

GOODS = [
    product("saw", name="Fret saw", taxonomy=["Workshop", "Saws"], image=""),
    product("file", name="Flat file", taxonomy=["Workshop", "Files"], image=""),
]


@pytest.fixture(scope="module")
def url(
    couch_url: str,
    server: Server,
    environment: dict[str, str],
    service: Callable[..., str],
    neighbours: Neighbours,
) -> Iterator[str]:
    """A storefront whose products service has no Nouveau, though its database names one."""
    with without_nouveau(couch_url) as nouveau:
        Server(nouveau.url, prefix=server.prefix, timeout=60).prepare([DESIGN], progress=lambda line: None)
        environment |= {"USERS_URL": neighbours.url, "ORDERS_URL": f"http://127.0.0.1:{free_port()}"}
        products = service("products", COUCH_URL=nouveau.url)
        assert Shop(products, neighbours).load(GOODS)["created"] == len(GOODS)
        yield service("storefront")


def test_departments_and_products_are_open(url: str) -> None:
    visitor = Visitor(url)
    eventually(lambda: visitor.get("/category/Workshop/Saws").status == 200)
    assert "Fret saw" in visitor.get("/category/Workshop/Saws").text
    assert visitor.get("/product/saw").status == 200
    page = visitor.get("/category/Workshop")
    assert page.status == 200
    assert "Fret saw" in page.text
    assert "Flat file" in page.text
    assert "while the search engine does not answer" in page.text


def test_the_search_page_says_that_search_does_not_answer(url: str) -> None:
    page = Visitor(url).get("/search?q=saw")
    assert page.status == 503
    assert "Search does not answer just now" in page.text
    assert page.headers["Retry-After"]
