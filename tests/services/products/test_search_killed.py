"""Nouveau is killed in the middle of searches and of an import, and comes back: nobody is told a lie, and nobody has to do anything."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
import requests

from services.products.documents import DESIGN
from shared.couch import NotPrepared, SearchIndex, SearchUnavailable, Server, UpdateConflict
from tests.nouveau_away import Nouveau, without_nouveau
from tests.services.products.conftest import Neighbours, Shop, eventually, product

JOB_SECONDS = 20.0
OLD = [product(f"pan{number}", name=f"Copper pan {number}") for number in range(8)]
NEW = [product(f"pot{number}", name=f"Copper pot {number}") for number in range(40)]


@pytest.fixture(scope="module")
def nouveau(couch_url: str, server: Server) -> Iterator[Nouveau]:
    if "nouveau" not in server.features():
        pytest.skip("this server has no Nouveau that could be killed")
    with without_nouveau(couch_url) as nouveau:
        nouveau.away = False
        yield nouveau


@pytest.fixture(scope="module")
def database(nouveau: Nouveau, server: Server) -> Server:
    """As the worker has it."""
    database = Server(nouveau.url, prefix=server.prefix, timeout=JOB_SECONDS)
    database.prepare([DESIGN], progress=lambda line: None)
    return database


@pytest.fixture(scope="module")
def shop(database: Server, nouveau: Nouveau, service: Callable[..., str], neighbours: Neighbours) -> Shop:
    url = service(
        "products",
        COUCH_URL=nouveau.url,
        USERS_URL=neighbours.url,
        ORDERS_URL=neighbours.url,
        ACCESS_LOG="false",
    )
    shop = Shop(url, neighbours)
    assert shop.load(OLD)["created"] == len(OLD)
    eventually(lambda: found(shop) == len(OLD))
    return shop


def found(shop: Shop) -> int:
    """How many pans and pots a search shows, page by page; -1 while it is refused."""
    answer = shop.get("/v1/products", q="copper", limit=100)
    return len(answer.json["items"]) if answer.status == 200 else -1


@pytest.fixture
def meanwhile() -> Iterator[Callable[[Callable[[], None]], None]]:
    """meanwhile(act): again and again, until the test has ended."""
    ended, threads = threading.Event(), list[threading.Thread]()

    def start(act: Callable[[], None]) -> None:
        def repeat() -> None:
            while not ended.is_set():
                act()
                time.sleep(0.05)

        threads.append(threading.Thread(target=repeat))
        threads[-1].start()

    yield start
    ended.set()
    for thread in threads:
        thread.join()


def test_searches_are_refused_by_name_everything_else_goes_on_and_what_was_imported_is_found_in_the_end(
    shop: Shop, database: Server, nouveau: Nouveau, meanwhile: Callable[[Callable[[], None]], None]
) -> None:
    searches, pages = list[requests.Response](), list[tuple[bool, requests.Response]]()

    def search() -> None:
        searches.append(requests.get(f"{shop.url}/v1/products", {"q": "copper"}, timeout=60))

    def look() -> None:
        for path in ("/v1/products?category=Home%23Kitchen", "/v1/products/pan1"):
            pages.append((nouveau.away, requests.get(shop.url + path, timeout=60)))

    def work() -> None:
        try:
            database.restore_indexes(DESIGN)
        except (SearchUnavailable, UpdateConflict, NotPrepared):
            return

    for act in (search, search, look, work):
        meanwhile(act)
    eventually(lambda: any(answer.status_code == 200 for answer in searches))
    nouveau.away = True
    for each in DESIGN.patterns:
        if isinstance(each, SearchIndex):
            index = each.on(["nouveau"])
            nouveau.lose_indexer(database.name_of(DESIGN), index.design_id, index.name)
    assert shop.load(NEW)["created"] == len(NEW), "an import waits for no search engine"
    eventually(lambda: any(answer.status_code == 503 for answer in searches))
    eventually(lambda: any(away and answer.status_code == 200 for away, answer in pages))
    nouveau.away = False
    eventually(lambda: found(shop) == len(OLD) + len(NEW))
    told = [answer for answer in searches if answer.status_code != 200]
    assert {(answer.status_code, answer.json()["code"]) for answer in told} <= {
        (503, "search_unavailable"),
        (503, "database_unavailable"),
    }
    assert all(answer.headers["Retry-After"] for answer in told)
    refused = [answer.text for _, answer in pages if answer.status_code not in (200, 503)]
    assert not refused
    assert not [answer.text for _, answer in pages if "search" in answer.json().get("code", "")]
