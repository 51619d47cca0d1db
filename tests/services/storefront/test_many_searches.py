"""A database without a search engine, and more people searching at once than it can answer: who looks at goods does not notice."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import orjson
import pytest
import requests

from services.products.documents import DESIGN
from shared.couch import Server
from tests.forwarding import Forward, Response, forwarding
from tests.processes import free_port
from tests.services.products.conftest import Neighbours, Shop, neighbours, product
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

__all__ = ["neighbours"]

GOODS = [
    product("rasp", name="Wood rasp", taxonomy=["Workbench", "Rasps"], image=""),
    product("awl", name="Birdcage awl", taxonomy=["Workbench", "Awls"], image=""),
]
SEARCHES = 24
"""More than the threads of a service."""


@dataclass
class WithoutSearch:
    """A CouchDB without a search engine; while `held` its answers to searches do not come."""

    url: str = ""
    open: threading.Event = field(default_factory=threading.Event)

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        if path == "/":
            return status, headers, orjson.dumps(orjson.loads(content) | {"features": ["partitioned"]})
        if "_by_keyword" in path and method == "POST":
            self.open.wait(60)
        return status, headers, content


@pytest.fixture(scope="module")
def database_without_search(couch_url: str) -> Iterator[WithoutSearch]:
    plain = WithoutSearch()
    plain.open.set()
    with forwarding(couch_url, plain.answer) as url:
        plain.url = url
        yield plain
        plain.open.set()


@pytest.fixture(scope="module")
def url(
    database_without_search: WithoutSearch,
    server: Server,
    environment: dict[str, str],
    service: Callable[..., str],
    neighbours: Neighbours,
) -> str:
    plain = database_without_search.url
    Server(plain, prefix=server.prefix, timeout=60).prepare([DESIGN], progress=lambda line: None)
    environment |= {"USERS_URL": neighbours.url, "ORDERS_URL": f"http://127.0.0.1:{free_port()}"}
    products = service("products", COUCH_URL=plain)
    assert Shop(products, neighbours).load(GOODS)["created"] == len(GOODS)
    url = service("storefront", PRODUCTS_URL=products)
    eventually(lambda: "Wood rasp" in Visitor(url).get("/search?q=rasp").text)
    return url


def ask(paths: Sequence[str]) -> list[requests.Response]:
    """All of them at once."""
    with ThreadPoolExecutor(len(paths)) as pool:
        return list(pool.map(lambda path: requests.get(path, timeout=60), paths))


def test_while_searches_are_slow_goods_and_categories_are_shown(
    url: str, database_without_search: WithoutSearch
) -> None:
    database_without_search.open.clear()
    with ThreadPoolExecutor(1) as pool:
        searches = pool.submit(ask, [f"{url}/search?q=rasp&again={number}" for number in range(SEARCHES)])
        pages = [f"{url}/category/Workbench/Rasps", f"{url}/product/awl", f"{url}/"]
        shown = ask([f"{page}?again={number}" for number in range(3) for page in pages])
        database_without_search.open.set()
        found = searches.result()
    assert [answer.status_code for answer in shown] == [200] * len(shown), [
        a.text[-900:] for a in shown if a.status_code != 200
    ]
    refused = [answer for answer in found if answer.status_code == 503]
    assert refused
    assert all("Too many people search just now" in answer.text for answer in refused)
    assert all(answer.headers["Retry-After"] for answer in refused)
    eventually(lambda: "Wood rasp" in Visitor(url).get("/search?q=rasp&again=later").text)


def test_departments_stay_open_while_searches_are_slow(
    url: str, database_without_search: WithoutSearch
) -> None:
    """Their lists with filters come from the search, too; without it they are listed as they are."""
    database_without_search.open.clear()
    with ThreadPoolExecutor(1) as pool:
        searches = pool.submit(ask, [f"{url}/search?q=awl&again={number}" for number in range(SEARCHES)])
        shown = ask([f"{url}/category/Workbench?department={number}" for number in range(3)])
        database_without_search.open.set()
        searches.result()
    assert [answer.status_code for answer in shown] == [200] * len(shown)
    assert all("Birdcage awl" in answer.text and "Wood rasp" in answer.text for answer in shown)
