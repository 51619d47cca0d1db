"""The client library against a real server: minicouch, or the CouchDB named by COUCH_URL."""

import threading

import pytest

from shared.couch import (
    HIGHEST_KEY,
    DatabaseDesign,
    DocumentType,
    FindIndex,
    NoSuchDocument,
    NotPrepared,
    SearchField,
    SearchIndex,
    Server,
    UpdateConflict,
    View,
    counting,
    document_id,
)
from shared.couch.design import create_database
from shared.errors import Unavailable

BOOK = DocumentType("book", ("title", "year", "price"))
LEAFLET = DocumentType("leaflet", ("title",))

BY_YEAR = FindIndex(
    "books-by-year", "the books of an author, oldest first", ("year",), partial={"type": "book"}
)
BY_PRICE = FindIndex(
    "books-by-price",
    "the cheapest books of all",
    ("price.amount",),
    partitioned=False,
    partial={"type": "book"},
)
PER_YEAR = View(
    "books-per-year",
    "how much was spent by year",
    "function (doc) { if (doc.type === 'book') emit([doc.year, doc.title], doc.price.amount); }",
    "_sum",
)
IN_SHELF = View(
    "shelf",
    "the titles of one author",
    "function (doc) { emit(doc.title, null); }",
    "_count",
    partitioned=True,
)
UNBUILT = FindIndex("unbuilt", "nobody asks this", ("title",))
LIBRARY = DatabaseDesign("library", (BY_YEAR, BY_PRICE, PER_YEAR, IN_SHELF))


def book(author: str, number: int) -> dict:
    return BOOK.new(
        document_id(author, f"book{number:03d}"),
        title=f"Volume {number}",
        year=1990 + number % 5,
        price={"amount": 100 * number, "currency": "GBP"},
    )


@pytest.fixture(scope="module")
def library(server, prepared):
    prepared(LIBRARY)
    database = server.open(LIBRARY)
    database.put_many([book(author, number) for author in ("Le Guin", "A&B/C#D") for number in range(1, 26)])
    return database


def test_a_document_is_written_read_and_protected_by_its_revision(library):
    doc = LEAFLET.new("Single:leaflet", title="One sheet")
    rev = library.put(doc)
    assert library.get(doc["_id"]) == {**doc, "_rev": rev}
    with pytest.raises(UpdateConflict):
        library.put(doc)
    library.delete(doc["_id"], rev)
    with pytest.raises(NoSuchDocument):
        library.get(doc["_id"])


def test_immutable_documents_may_be_added_twice_but_not_changed(library):
    docs = [LEAFLET.new(f"Twice:{number}", title="Folded") for number in (1, 2)]
    first = library.add_many(docs)
    assert library.add_many([*docs, LEAFLET.new("Twice:3", title="Folded")]).items() >= first.items()
    with pytest.raises(UpdateConflict):
        library.add_many([{**docs[0], "title": "Another"}])


@pytest.mark.parametrize("author", ["Le Guin", "A&B/C#D"])
def test_a_partition_is_one_call_whatever_its_name_holds(library, author):
    with counting() as tally:
        docs = library.partition(author).all()
    assert [doc["_id"] for doc in docs] == [f"{author}:book{number:03d}" for number in range(1, 26)]
    assert tally.calls == {"partition": 1, "global": 0, "read": 0, "write": 0}


def test_all_takes_a_prefix_of_the_key(library):
    assert len(library.partition("Le Guin").all("book00")) == 9
    backwards = library.partition("Le Guin").all("book", limit=2, descending=True)
    assert [doc["title"] for doc in backwards] == ["Volume 25", "Volume 24"]


def test_pages_of_a_partition_walk_without_gap_or_repeat(library):
    partition, seen, bookmark = library.partition("Le Guin"), [], None
    while True:
        page = partition.find(
            BY_YEAR, {"year": {"$gt": None}}, sort=[{"year": "asc"}], limit=10, bookmark=bookmark
        )
        seen += [(doc["year"], doc["_id"]) for doc in page.items]
        bookmark = page.next
        if not bookmark:
            break
    assert len(seen) == 25
    assert seen == sorted(set(seen))


def test_a_global_find_reads_across_partitions_in_key_order(library):
    with counting() as tally:
        page = library.across_partitions.find(BY_PRICE, {"price.amount": {"$lte": 200}})
    assert sorted(doc["price"]["amount"] for doc in page.items) == [100, 100, 200, 200]
    assert tally.calls["global"] == 1


def test_a_query_without_its_index_is_refused_not_scanned(library):
    with pytest.raises(NotPrepared):
        library.partition("Le Guin").find(UNBUILT, {"title": {"$gt": None}})


def test_a_view_is_reduced_by_the_database(library):
    rows = library.across_partitions.view(PER_YEAR, group_level=1, start=[1991], end=[1992, HIGHEST_KEY])
    expected = {year: 2 * sum(100 * n for n in range(1, 26) if 1990 + n % 5 == year) for year in (1991, 1992)}
    assert {row["key"][0]: row["value"] for row in rows} == expected


def test_a_partitioned_view_counts_its_partition_only(library):
    assert library.partition("A&B/C#D").view(IN_SHELF)[0]["value"] == 25


def test_view_pages_begin_where_the_last_ended(library):
    first = library.across_partitions.view_page(PER_YEAR, limit=30)
    second = library.across_partitions.view_page(PER_YEAR, limit=30, cursor=first.next)
    assert second.next is None
    keys = [(row["key"], row["id"]) for row in first.items + second.items]
    assert len(keys) == 50
    assert keys == sorted(keys)


def test_changes_are_followed_from_a_place_and_waited_for(library):
    place = library.changes("now").last_seq
    timer = threading.Timer(0.3, lambda: library.put(LEAFLET.new("Later:leaflet", title="Late")))
    timer.start()
    changes = library.changes(place, wait=10)
    assert [row.id for row in changes.rows] == ["Later:leaflet"]
    assert changes.rows[0].doc["title"] == "Late"
    assert library.changes(changes.last_seq).rows == []


def test_a_checkpoint_is_kept_beside_the_data(library):
    assert library.get_local("checkpoint") is None
    library.put_local("checkpoint", {"seq": "1"})
    stored = library.get_local("checkpoint")
    library.put_local("checkpoint", {**stored, "seq": "2"})
    assert library.get_local("checkpoint")["seq"] == "2"


def test_many_documents_come_in_one_call(library):
    with counting() as tally:
        found = library.get_many(["Le Guin:book001", "Le Guin:nothing", "A&B/C#D:book002"])
    assert set(found) == {"Le Guin:book001", "A&B/C#D:book002"}
    assert sum(tally.calls.values()) == 1


def test_a_database_that_nobody_prepared_is_not_a_missing_document(server):
    with pytest.raises(Unavailable, match="does not exist"):
        server.open(DatabaseDesign("nowhere", ())).get("a:b")


def test_prepare_again_changes_nothing_and_check_is_content(library, server):
    lines: list[str] = []
    server.prepare([LIBRARY], progress=lines.append)
    assert lines == []
    assert server.check([LIBRARY]) == []
    assert server.check([DatabaseDesign("nowhere", ())]) == [
        f"{server.prefix}nowhere: there is no such database"
    ]


def test_a_changed_declaration_is_another_design_document_and_the_old_one_goes_last(library, server):
    changed = DatabaseDesign(
        "library",
        (
            BY_YEAR,
            View("shelf", "by year now", "function (doc) { emit(doc.year); }", "_count", partitioned=True),
        ),
    )
    problems = server.check([changed])
    assert len(problems) == 1
    assert "shelf" in problems[0]
    server.prepare([changed], progress=lambda line: None)
    assert library.partition("A&B/C#D").view(IN_SHELF)[0]["value"] == 25
    server.clean_up([LIBRARY], progress=lambda line: None)
    assert server.check([LIBRARY]) == []
    assert len(server.check([changed])) == 1


@pytest.mark.parametrize("feature", ["nouveau", "search", "keywords"])
def test_a_database_that_nouveau_searches_has_one_shard(server: Server, feature: str) -> None:
    """CouchDB 3.5.0 merges what several shards found with the least relevant first."""
    design = DatabaseDesign(f"shards-{feature}", (SearchIndex("find", "?", (SearchField("name"),)),))
    name, client = server.name_of(design), server.client
    try:
        create_database(client, name, design, {feature})
        cluster = client.call("get_database_information", db=name)["cluster"]
        assert (cluster["q"] == 1) is (feature == "nouveau")
    finally:
        client.call("delete_database", db=name)


def test_revisions_are_the_winner_and_what_lies_beside_it(library):
    doc = LEAFLET.new("Beside:leaflet", title="One sheet")
    assert library.revisions(doc["_id"]) == []
    rev = library.put(doc)
    other = {**doc, "title": "Another", "_rev": "1-00000000000000000000000000000000"}
    library._client.call("post_bulk_docs", db=library.name, bulk_docs={"docs": [other], "new_edits": False})
    found = library.revisions(doc["_id"])
    assert [leaf["title"] for leaf in found] == ["One sheet", "Another"]
    library.delete(doc["_id"], rev)
    assert [leaf["title"] for leaf in library.revisions(doc["_id"])] == ["Another"]


def test_the_latest_of_many_are_what_each_read_alone_says(library):
    gone, contested = LEAFLET.new("Single:gone", title="Gone"), LEAFLET.new("Single:contested", title="Ours")
    library.delete(gone["_id"], library.put(gone))
    library.put(contested)
    theirs = {**contested, "title": "Theirs", "_rev": f"1-{'f' * 32}"}
    library._client.call("post_bulk_docs", db=library.name, bulk_docs={"docs": [theirs], "new_edits": False})
    asked = ["Le Guin:book001", "Le Guin:nothing", "A&B/C#D:book002", gone["_id"], contested["_id"]]
    found = library.latest_many(asked)
    assert found == library.get_many(asked)
    assert set(found) == {"Le Guin:book001", "A&B/C#D:book002", contested["_id"]}
    assert library.latest_many([]) == {}
