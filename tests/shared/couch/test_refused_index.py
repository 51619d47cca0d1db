"""An index that the server does not build: whoever prepares is told which and why, and has all others."""

import secrets
from collections.abc import Iterator

import pytest

from shared.couch import DatabaseDesign, IndexRefused, SearchField, SearchIndex, Server, View
from tests.nouveau_away import skip_where_any_name_is_taken, with_nouveau_alone

PRICES = SearchField("prices", kind="numbers", called="price_")
WORDS = SearchIndex("words", "?", (SearchField("name"), PRICES), only=(("type", "thing"),))
COUNT = View("count", "?", map="function (doc) { emit(doc.name, 1); }", reduce="_sum")
BROKEN = View("broken", "?", map="function (doc) { emit(doc.name")
GOOD = {"_id": "a:1", "type": "thing", "name": "Pan", "prices": {"GBP": 1}}
BAD = {"_id": "a:2", "type": "thing", "name": "Pot", "prices": {"G.P": 1}}


@pytest.fixture
def shop(couch_url: str, server: Server) -> Iterator[Server]:
    """A server that searches with Nouveau alone."""
    with with_nouveau_alone(couch_url, server) as url:
        yield Server(url, prefix=server.prefix, timeout=10)


def design(*patterns: SearchIndex | View) -> DatabaseDesign:
    return DatabaseDesign(f"refused{secrets.token_hex(3)}", patterns)


def prepare(shop: Server, *designs: DatabaseDesign) -> None:
    shop.prepare(designs, progress=lambda line: None)


def test_what_a_document_keeps_from_being_built_is_named_and_all_else_is_there(
    shop: Server, couch_url: str
) -> None:
    skip_where_any_name_is_taken(couch_url)
    with_words, counts = design(WORDS, COUNT), design(COUNT)
    prepare(shop, DatabaseDesign(with_words.name, ()))
    database = shop.open(with_words)
    database.put(GOOD)
    rev = database.put(BAD)
    with pytest.raises(IndexRefused) as told:
        prepare(shop, with_words, counts)
    index, line = WORDS.on(["nouveau"]), told.value.detail
    assert line.startswith(f"{shop.name_of(with_words)}: words ({index.design_id}) cannot be built.")
    assert f"Nouveau) of the server {shop.client.server} refuses it: fields[" in line
    assert "name must match" in line
    assert shop.check([with_words, counts]) == [line]
    assert database.across_partitions.view(COUNT)[0]["value"] == 2
    with pytest.raises(IndexRefused, match="words"):
        shop.wait_for_indexes(with_words)
    database.delete("a:2", rev)
    prepare(shop, with_words, counts)
    assert shop.check([with_words, counts]) == []


def test_a_name_that_nouveau_never_takes_is_told_before_any_document_has_it(shop: Server) -> None:
    dashed = SearchIndex("dashed", "?", (SearchField("name", called="full-name"),))
    with_dashes = design(dashed, COUNT)
    with pytest.raises(IndexRefused, match=r"dashed .* no field can be named full-name"):
        prepare(shop, with_dashes)
    shop.open(with_dashes).put(GOOD)
    assert shop.open(with_dashes).across_partitions.view(COUNT)[0]["value"] == 1


def test_a_view_that_does_not_compile_is_named_with_those_of_other_databases(server: Server) -> None:
    one, other = design(BROKEN, COUNT), design(BROKEN)
    with pytest.raises(IndexRefused) as told:
        prepare(server, one, other)
    lines = told.value.detail.splitlines()
    assert [line.partition(" (")[0] for line in lines] == [
        f"{server.name_of(each)}: broken" for each in (one, other)
    ]
    assert all(f"The server {server.client.server} refuses it: " in line for line in lines)
    assert server.check([one]) == [f"{server.name_of(one)}: broken ({BROKEN.design_id}) is not there"]
