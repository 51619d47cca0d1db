"""The pure half of the client library: ids, document types, content-addressed names, counting, queries as data."""

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from shared.couch import (
    DatabaseDesign,
    DocumentType,
    FindIndex,
    View,
    document_id,
    moment_of,
    split_id,
    time_ordered_id,
)
from shared.couch.design import refused_by_cloudant
from shared.couch.search import SearchField, SearchIndex, quoted, words_of
from shared.couch.tally import Tally, classify


def test_an_id_has_two_parts_and_comes_apart_again():
    assert document_id("Home#Kitchen & Dining", "a:b") == "Home#Kitchen & Dining:a:b"
    assert split_id("order1:item2") == ("order1", "item2")


@pytest.mark.parametrize(("partition", "key"), [("", "k"), ("_users", "k"), ("a:b", "k"), ("a", "")])
def test_ids_that_the_server_refuses_are_refused_here(partition, key):
    with pytest.raises(ValueError, match="partition key"):
        document_id(partition, key)


def test_time_ordered_ids_sort_as_their_moments_do():
    start = datetime(2026, 1, 1, tzinfo=UTC)
    moments = [start + timedelta(milliseconds=n) for n in range(0, 100_000, 777)]
    ids = [time_ordered_id(moment) for moment in moments]
    assert [moment_of(each) for each in ids] == moments
    assert ids == sorted(ids)
    assert {len(each) for each in ids} == {26}


def test_a_document_type_refuses_foreign_and_missing_fields():
    kind = DocumentType("note", ("text",), optional=("mood",))
    assert kind.new("p:1", text="hello") == {"_id": "p:1", "type": "note", "schema": 1, "text": "hello"}
    with pytest.raises(TypeError):
        kind.new("p:1", text="hello", colour="red")
    with pytest.raises(TypeError):
        kind.new("p:1", mood="good")


def test_old_schemas_stay_readable_and_newer_ones_are_refused():
    kind = DocumentType("note", ("text", "lines"), schema=2, upgrades={1: lambda doc: {**doc, "lines": 1}})
    old = {"_id": "p:1", "type": "note", "schema": 1, "text": "hello"}
    assert kind.read(old) == {**old, "schema": 2, "lines": 1}
    with pytest.raises(ValueError, match="schema 3"):
        kind.read({**old, "schema": 3})


def test_a_design_document_is_named_after_its_content():
    index = FindIndex("by-date", "?", ("date",))
    assert index.design_id == dataclasses.replace(index, question="asked otherwise").design_id
    assert index.design_id != dataclasses.replace(index, fields=("date", "total")).design_id
    assert index.design_id != dataclasses.replace(index, partitioned=False).design_id


def test_the_limit_of_partitioned_indexes_is_told_before_cloudant_does():
    views = tuple(View(f"v{n}", "?", "function (doc) {}", partitioned=True) for n in range(11))
    assert refused_by_cloudant(DatabaseDesign("crowded", views[:10])) == []
    assert "11 partitioned" in refused_by_cloudant(DatabaseDesign("crowded", views))[0]


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("POST", "/orders/_partition/a/_find", "partition"),
        ("POST", "/orders/_find", "global"),
        ("POST", "/orders/_design/d/_view/v", "global"),
        ("GET", "/orders/a%3Aorder", "read"),
        ("POST", "/orders/_all_docs", "read"),
        ("PUT", "/orders/a%3Aorder", "write"),
        ("POST", "/orders/_bulk_docs", "write"),
    ],
)
def test_calls_are_classed_as_the_bill_does(method, path, kind):
    assert classify(method, path) == kind


def test_the_tally_is_a_server_timing_header():
    tally = Tally()
    tally.add("partition", 1.94)
    assert tally.as_server_timing() == (
        'partition;dur=1.94;desc="1", global;dur=0;desc="0", read;dur=0;desc="0", write;dur=0;desc="0"'
    )


def test_what_a_person_types_is_data():
    assert words_of('Red* "shoe" OR (name:x) ~2') == ["red", "shoe", "or", "name", "x", "2"]
    assert quoted('a "b" \\') == '"a \\"b\\" \\\\"'


def test_a_search_declaration_writes_its_index_function():
    index = SearchIndex(
        "find",
        "?",
        (SearchField("name", weight=4), SearchField("price.amount", kind="number", facet=True)),
        only=(("type", "product"),),
    )
    source = index.index_function()
    assert 'doc["type"] !== "product"' in source
    assert 'index("price_amount", x, {"facet": true})' in source
    assert 'index("name", terms(x), {})' in source
