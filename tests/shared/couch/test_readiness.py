"""A missing index is 503 `not_prepared`, never a 404 about a document; a service is ready only while all of its indexes are there."""

import secrets
from collections.abc import Callable

import pytest

from shared.couch import (
    DatabaseDesign,
    FindIndex,
    NotPrepared,
    QueryRefused,
    SearchField,
    SearchIndex,
    Server,
    View,
    search_for,
)

BY_NAME = FindIndex("by_name", "?", fields=("name",))
BY_NAME_EVERYWHERE = FindIndex("by_name_everywhere", "?", fields=("name",), partitioned=False)
COUNT = View("count", "?", map="function (doc) { emit(doc.name, 1); }", reduce="_sum")
INSIDE = View("inside", "?", map="function (doc) { emit(doc.name, 1); }", partitioned=True)
SEARCH = SearchIndex("words", "?", (SearchField("name"),), only=(("type", "thing"),))
SORTED = {"selector": {"name": {"$gt": None}}, "sort": [{"name": "asc"}]}


@pytest.fixture
def design() -> DatabaseDesign:
    patterns = (BY_NAME, BY_NAME_EVERYWHERE, COUNT, INSIDE, SEARCH)
    return DatabaseDesign(f"ready{secrets.token_hex(3)}", patterns)


def prepare(server: Server, design: DatabaseDesign) -> None:
    server.prepare([design], progress=lambda line: None)


def drop_index(server: Server, design: DatabaseDesign, design_id: str) -> None:
    name = server.name_of(design)
    doc = server.client.call("get_design_document", db=name, ddoc=design_id)
    server.client.call("delete_design_document", db=name, ddoc=design_id, rev=doc["_rev"])


def questions(server: Server, design: DatabaseDesign) -> list[Callable[[], object]]:
    database = server.open(design)
    inside, across = database.partition("a"), database.across_partitions
    return [
        lambda: inside.find(BY_NAME, **SORTED),
        lambda: inside.find(BY_NAME, {"name": {"$gt": None}}, allow_stale=True),
        lambda: across.find(BY_NAME_EVERYWHERE, **SORTED),
        lambda: across.view(COUNT),
        lambda: across.view(COUNT, allow_stale=True),
        lambda: inside.view(INSIDE),
        lambda: across.search(SEARCH, search_for("thing")),
    ]


def test_every_question_to_a_missing_index_says_not_prepared(server: Server, design: DatabaseDesign) -> None:
    """Before the database is there, while it has no index, and after an index was dropped."""
    for ask in questions(server, design):
        with pytest.raises(NotPrepared) as told:
            ask()
        assert (told.value.status, told.value.code) == (503, "not_prepared")
    server.client.call("put_database", db=server.name_of(design), partitioned=True)
    for ask in questions(server, design):
        with pytest.raises(NotPrepared):
            ask()
    prepare(server, design)
    for ask in questions(server, design):
        ask()
    for pattern in (BY_NAME, BY_NAME_EVERYWHERE, COUNT, INSIDE, SEARCH.on(server.features())):
        drop_index(server, design, pattern.design_id)
    for ask in questions(server, design):
        with pytest.raises(NotPrepared):
            ask()


def test_an_index_that_does_not_serve_a_question_is_a_fault_of_ours(
    server: Server, design: DatabaseDesign
) -> None:
    prepare(server, design)
    with pytest.raises(QueryRefused):
        server.open(design).partition("a").find(BY_NAME, {"colour": "red"})


def test_ready_is_told_only_once_every_index_answers(server: Server, design: DatabaseDesign) -> None:
    ready = server.readiness(design)
    with pytest.raises(NotPrepared):
        ready()
    half = DatabaseDesign(design.name, design.patterns[:2])
    prepare(server, half)
    with pytest.raises(NotPrepared) as told:
        ready()
    assert "count" in told.value.detail
    prepare(server, design)
    ready()


def test_a_dropped_index_is_noticed_by_whoever_asks_it_and_ready_comes_back_with_it(
    server: Server, design: DatabaseDesign
) -> None:
    prepare(server, design)
    ready = server.readiness(design)
    ready()
    drop_index(server, design, COUNT.design_id)
    with pytest.raises(NotPrepared):
        server.open(design).across_partitions.view(COUNT)
    with pytest.raises(NotPrepared):
        ready()
    prepare(server, design)
    ready()


def test_ready_is_cheap_once_it_was_true(
    server: Server, design: DatabaseDesign, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(server, design)
    ready = server.readiness(design)
    ready()
    asked: list[str] = []
    call = server.client.call
    monkeypatch.setattr(
        server.client, "call", lambda operation, **rest: asked.append(operation) or call(operation, **rest)
    )
    ready()
    assert asked == ["get_up_information"]
