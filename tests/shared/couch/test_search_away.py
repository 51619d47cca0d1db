"""A Nouveau that is missing: whoever waits for indexes is told so soon, searches fail at once, and nothing else does."""

import secrets
import time
from collections.abc import Iterator

import pytest

from shared.couch import (
    DatabaseDesign,
    FindIndex,
    IndexCatchUp,
    SearchField,
    SearchIndex,
    SearchUnavailable,
    Server,
    View,
    search_for,
)
from shared.couch import design as designs
from tests.nouveau_away import Nouveau, without_nouveau

BY_NAME = FindIndex("by_name", "?", fields=("name",))
SEARCH = SearchIndex("words", "?", (SearchField("name"),), only=(("type", "thing"),))
COUNT = View("count", "?", map="function (doc) { emit(doc.name, 1); }", reduce="_sum")
DOC = {"_id": "a:1", "type": "thing", "name": "Pan"}
SOON = 60
"""Seconds: on a busy machine, and far less than for ever."""


@pytest.fixture
def design() -> DatabaseDesign:
    return DatabaseDesign(f"away{secrets.token_hex(3)}", (BY_NAME, SEARCH, COUNT))


@pytest.fixture
def nouveau(couch_url: str) -> Iterator[Nouveau]:
    with without_nouveau(couch_url) as nouveau:
        yield nouveau


@pytest.fixture
def shop(nouveau: Nouveau, server: Server) -> Server:
    """The same databases, as code sees them that asks the server without Nouveau."""
    return Server(nouveau.url, prefix=server.prefix, timeout=2.5)


def test_prepare_makes_everything_but_search_and_says_what_is_missing(
    shop: Server, design: DatabaseDesign
) -> None:
    lines: list[str] = []
    began = time.monotonic()
    shop.prepare([design], progress=lines.append)
    assert time.monotonic() - began < SOON
    assert [line for line in lines if "words" in line and "Nouveau" in line]
    assert "Nouveau" in shop.check_search()
    assert shop.check([design]) == []
    shop.readiness(design)()
    database = shop.open(design)
    database.put(DOC)
    assert database.across_partitions.view(COUNT)[0]["value"] == 1
    assert database.partition("a").find(BY_NAME, {"name": {"$gt": None}}).items


def test_searches_fail_at_once_while_it_is_away_and_work_when_it_is_back(
    shop: Server, design: DatabaseDesign, nouveau: Nouveau
) -> None:
    shop.prepare([design], progress=lambda line: None)
    across = shop.open(design).across_partitions
    with pytest.raises(SearchUnavailable) as told:
        across.search(SEARCH, search_for("pan"))
    assert (told.value.status, told.value.code) == (503, "search_unavailable")
    asked = nouveau.searches
    for _ in range(20):
        with pytest.raises(SearchUnavailable):
            across.search(SEARCH, search_for("pan"))
    assert nouveau.searches == asked, "nobody else waits for it"


def test_it_is_found_out_when_it_is_back(
    shop: Server, server: Server, design: DatabaseDesign, nouveau: Nouveau
) -> None:
    if "nouveau" not in server.features():
        pytest.skip("this server has no Nouveau that could come back")
    shop.prepare([design], progress=lambda line: None)
    database = shop.open(design)
    database.put(DOC)
    with pytest.raises(SearchUnavailable):
        database.across_partitions.search(SEARCH, search_for("pan"))
    nouveau.away = False
    ends = time.monotonic() + SOON
    while True:
        try:
            found = database.across_partitions.search(SEARCH, search_for("pan"))
        except SearchUnavailable:
            assert time.monotonic() < ends
            time.sleep(0.1)
            continue
        if found.items or time.monotonic() > ends:
            break
    assert [doc["_id"] for doc in found.items] == ["a:1"]
    assert shop.check_search() == ""


def test_an_import_does_not_wait_for_it(shop: Server, design: DatabaseDesign) -> None:
    """The indexes that are asked next have caught up all the same, those behind the search index too."""
    shop.prepare([design], progress=lambda line: None)
    database = shop.open(design)
    catch_up = IndexCatchUp(lambda: shop.wait_for_indexes(design), 1)
    began = time.monotonic()
    database.put(DOC)
    catch_up.catch_up()
    assert time.monotonic() - began < SOON
    with pytest.raises(SearchUnavailable):
        shop.wait_for_indexes(design)


def test_who_waits_for_an_index_is_told_that_it_is_stuck(
    shop: Server, design: DatabaseDesign, nouveau: Nouveau, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it is built it is waited for, however long each change takes; what stands is said, and left to the server."""
    monkeypatch.setattr(designs, "STUCK_SECONDS", 1.5)
    nouveau.away, nouveau.stuck, nouveau.indexed = False, 2, SEARCH.on(["nouveau"]).design_id
    lines: list[str] = []
    shop.prepare([design], progress=lines.append)
    assert [line for line in lines if "words is not built: Nothing was added" in line], lines
    assert nouveau.stuck == 0
