"""Indexes that are behind, as they are after an import: what a search counted in one is not kept, and no export is made of one."""

from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import orjson
import pytest

from services.products.actions import importing
from services.products.actions.importing import Line
from services.products.dependencies import open_dependencies
from services.products.documents import BY_PRODUCTID, DESIGN
from services.products.settings import Settings
from shared.couch import Server
from shared.settings import load
from tests.forwarding import Forward, Response, forwarding
from tests.services.products.conftest import ADMIN, Neighbours, Shop, eventually, product, token

HELD_UP = ("/_search/", "/_nouveau/", "/_view/search", "/_view/categories", "/_view/unpublished")
NOT_TO_WAIT = ("stale", "update", "include_docs")
"""What says whether to wait; of a Nouveau index that may be behind the documents are read as well."""
PAGE = {"q": "kettle", "facets": "brand"}


@pytest.fixture(scope="module")
def indexes(couch_url: str) -> Iterator[tuple[str, Event]]:
    """A database server's address, and what holds some of its indexes up: who asks for what is fresh waits for longer than anybody does, who takes
    what is old is told what the same question found before."""
    slow, over, found = Event(), Event(), dict[tuple[str, bytes], Response]()

    def answer(_: str, path: str, body: bytes, forward: Forward) -> Response:
        if not any(each in path for each in HELD_UP):
            return forward()
        asked = orjson.loads(body)
        waits = asked.get("update", True) is True and "stale" not in asked
        question = (
            path,
            orjson.dumps({name: value for name, value in asked.items() if name not in NOT_TO_WAIT}),
        )
        if slow.is_set() and waits:
            over.wait(60)
        if slow.is_set():
            return found[question]
        found[question] = forward()
        return found[question]

    with forwarding(couch_url, answer) as url:
        yield url, slow
        over.set()


@pytest.fixture(scope="module")
def shop(
    indexes: tuple[str, Event], prepared: Callable, service: Callable, neighbours: Neighbours, server: Any
) -> Shop:
    prepared(DESIGN)
    urls = {"USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url, "COUCH_URL": indexes[0]}
    found = Shop(service("products", **urls, ACCESS_LOG="false"), neighbours)
    assert found.load([product("old", name="Old kettle", brand="Acme")])["created"] == 1
    server.wait_for_indexes(DESIGN)
    return found


def brands(shop: Shop, **filters: str) -> dict[str, int]:
    found = shop.ok("/v1/products", **PAGE, **filters)["facets"]["brand"]
    return {each["value"]: each["count"] for each in found}


def searches_behind(server: Server) -> bool:
    """Whether a search answers with what its index holds; up to CouchDB 3.5.0 Nouveau does not."""
    features = server.client.features()
    return "search" in features or "nouveau" not in features or server.client.reads_nouveau_behind()


def test_alternatives_are_those_of_the_index_that_has_caught_up(
    shop: Shop, indexes: tuple[str, Event], server: Server
) -> None:
    slow = indexes[1]
    assert brands(shop) == brands(shop, brand="Acme") == {"Acme": 1}
    slow.set()
    assert shop.load([product("new", name="New kettle", brand="Fresh")])["created"] == 1
    if searches_behind(server):
        assert brands(shop) == {"Acme": 1}, "as long as the index is behind"
    else:
        assert shop.get("/v1/products", **PAGE).json["code"] == "search_unavailable"
    slow.clear()
    eventually(lambda: brands(shop) == {"Acme": 1, "Fresh": 1})
    assert brands(shop, brand="Acme") == {"Acme": 1, "Fresh": 1}


def test_an_export_is_whole_or_refused(shop: Shop, indexes: tuple[str, Event]) -> None:
    slow = indexes[1]

    def exported() -> set[str] | int:
        answer = shop.get("/v1/products/export", token(*ADMIN))
        if answer.status != 200:
            return answer.status
        return {orjson.loads(line)["productid"] for line in answer.body.splitlines()}

    there = exported()
    assert isinstance(there, set)
    slow.set()
    assert shop.load([product("late", name="Late kettle")])["created"] == 1
    assert exported() == 503, "and nothing of it"
    slow.clear()
    eventually(lambda: exported() == there | {"late"})


def test_an_import_is_not_refused_while_the_index_of_ids_is_long_in_catching_up(
    shop: Shop, couch_url: str, environment: dict[str, str]
) -> None:
    """All of it is written, and who sent it again would be refused again."""
    written, over = Event(), Event()

    def held_up(_: str, path: str, body: bytes, forward: Forward) -> Response:
        if path.endswith("/_bulk_docs"):
            written.set()
        elif written.is_set() and f"/_view/{BY_PRODUCTID.name}" in path:
            over.wait(60)
        return forward()

    told: list[dict[str, Any]] = []
    with forwarding(couch_url, held_up) as url:
        deps = open_dependencies(load(Settings, environment | {"COUCH_URL": url}), timeout=1)
        outcome = importing.run(deps, [Line(1, product("unfound"))], told.append, importing.write)
        over.set()
    assert outcome.answer() == {"created": 1, "updated": 0, "unchanged": 0, "failed": [], "indexed": False}
    assert told[-1]["done"]
    assert "indexed" not in shop.load([product("found")])
    assert shop.ok("/v1/products/unfound")["productid"] == "unfound"
