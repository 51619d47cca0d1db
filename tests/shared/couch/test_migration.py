"""A document type gets a second schema: old documents stay readable by every way there is, and are written anew in the background."""

import importlib
import threading

import pytest

from shared.couch import (
    Database,
    DatabaseDesign,
    DocumentType,
    FindIndex,
    SearchField,
    SearchIndex,
    Server,
    UpdateConflict,
    View,
    search_for,
)

FIRST = DocumentType("note", ("name", "n"))
SECOND = DocumentType(
    "note",
    ("first", "last", "n"),
    schema=2,
    upgrades={
        1: lambda doc: {
            **{key: value for key, value in doc.items() if key != "name"},
            "first": doc["name"].split()[0],
            "last": doc["name"].split()[1],
        }
    },
)
BY_N = FindIndex("by_n", "which notes, by n?", fields=("n",), partitioned=False)
ALL = View("all", "all notes", map="function (doc) { if (doc.type === 'note') { emit(doc.n); } }")
WORDS = SearchIndex("words", "which notes hold a word?", fields=(SearchField("type"),), partitioned=False)
OTHER = {"_id": "p1:other", "type": "other", "schema": 1, "name": "Left Alone"}
NOTES = 1200


@pytest.fixture
def designs() -> tuple[DatabaseDesign, DatabaseDesign]:
    """The database as the old code knows it, and as the new code does."""
    patterns = BY_N, ALL, WORDS
    return DatabaseDesign("migrating", patterns), DatabaseDesign("migrating", patterns, types=(SECOND,))


@pytest.fixture
def old(server: Server, designs: tuple[DatabaseDesign, DatabaseDesign]) -> Database:
    server.prepare(designs[:1], progress=lambda line: None)
    database = server.open(designs[0])
    present = [row["id"] for row in database.across_partitions.view(ALL)]
    for doc in database.get_many([*present, OTHER["_id"]]).values():
        database.delete(doc["_id"], doc["_rev"])
    database.put_many(
        [FIRST.new(f"p{n % 3}:n{n:03}", name=f"Ann Number{n}", n=n) for n in range(NOTES)] + [OTHER]
    )
    return database


def test_old_documents_are_read_in_todays_shape_by_every_way(
    server: Server, designs: tuple[DatabaseDesign, DatabaseDesign], old: Database
) -> None:
    new = server.open(designs[1])
    across, partition = new.across_partitions, new.partition("p1")
    found = [
        new.get("p1:n001"),
        new.get_many(["p1:n001"])["p1:n001"],
        next(doc for doc in partition.all() if doc["_id"] == "p1:n001"),
        across.find(BY_N, {"n": 1}).items[0],
        across.view(ALL, key=1, include_docs=True)[0]["doc"],
        next(row.doc for row in new.changes(limit=10_000).rows if row.id == "p1:n001"),
        across.search(WORDS, search_for("note")).items[0],
    ]
    assert {(doc["schema"], doc["first"], "name" in doc) for doc in found} == {(2, "Ann", False)}
    assert found[0]["last"] == "Number1"
    assert new.get(OTHER["_id"])["name"] == "Left Alone"


def test_documents_are_written_anew_while_others_write(
    server: Server, designs: tuple[DatabaseDesign, DatabaseDesign], old: Database
) -> None:
    new, stop, counted = server.open(designs[1]), threading.Event(), 0

    def write() -> None:
        nonlocal counted
        while not stop.is_set():
            doc = new.get("p0:n000")
            try:
                new.put({**doc, "n": doc["n"] + 1000})
                counted += 1
            except UpdateConflict:
                continue

    writer = threading.Thread(target=write)
    writer.start()
    try:
        server.migrate(designs[1:], progress=lambda line: None)
    finally:
        stop.set()
        writer.join()
    stored = old.across_partitions.view(ALL, include_docs=True)
    assert {(row["doc"]["schema"], "name" in row["doc"]) for row in stored} == {(2, False)}
    assert len(stored) == NOTES
    assert new.get("p0:n000")["n"] == counted * 1000, "no write was lost"
    assert old.get(OTHER["_id"])["name"] == "Left Alone"
    revisions = {row["id"]: row["doc"]["_rev"] for row in stored}
    server.migrate(designs[1:], progress=lambda line: None)
    assert {
        row["id"]: row["doc"]["_rev"] for row in old.across_partitions.view(ALL, include_docs=True)
    } == revisions


@pytest.mark.parametrize("service", ["users", "products", "orders"])
def test_every_type_with_an_older_schema_is_named_in_its_design(service: str) -> None:
    documents = importlib.import_module(f"services.{service}.documents")
    kinds = [value for value in vars(documents).values() if isinstance(value, DocumentType)]
    assert len(kinds) > 5
    assert [kind.name for kind in kinds if kind.schema > 1 and kind not in documents.DESIGN.types] == []
