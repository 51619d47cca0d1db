"""Mango's pure parts: normal forms, ranges, index choice, names, patterns, text queries."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.local.minicouch import mango
from deploy.local.minicouch.collation import compare
from deploy.local.minicouch.errors import CouchError
from deploy.local.minicouch.mango.fields import parse_field
from deploy.local.minicouch.mango.ranges import field_ranges
from deploy.local.minicouch.mango.selector import normalize, to_json
from deploy.local.minicouch.mango.terms import erlang

scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "B", "b", "é"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=2),
)
comparisons = st.tuples(st.sampled_from(["$lt", "$lte", "$eq", "$gte", "$gt"]), scalars)


def plan(indexes: list[mango.Index], **body: Any) -> mango.Plan:
    return mango.plan(indexes, mango.find_options(body), partitioned=False)


def index(name: str, *fields: str, partial: Any = None) -> mango.Index:
    definition = {"fields": list(fields)} | ({"partial_filter_selector": partial} if partial else {})
    _, stored = mango.design_member("json", definition)
    ddoc = {"_id": f"_design/{name}", "language": "query", "views": {name: stored}}
    return next(found for found in mango.from_design_docs([ddoc], False) if found.kind == "json")


@pytest.mark.parametrize(
    ("selector", "normal"),
    [
        ({"a": 1}, {"a": {"$eq": 1}}),
        ({"a": {"b": {"$gt": 1}}}, {"a.b": {"$gt": 1}}),
        ({"a": 1, "b": 2}, {"$and": [{"a": {"$eq": 1}}, {"b": {"$eq": 2}}]}),
        ({"a": {"$gt": 1, "$lt": 5}}, {"$and": [{"a": {"$gt": 1}}, {"a": {"$lt": 5}}]}),
        ({"$not": {"a": {"$gt": 1}}}, {"a": {"$lte": 1}}),
        ({"$not": {"$or": [{"a": 1}, {"b": 2}]}}, {"$and": [{"a": {"$ne": 1}}, {"b": {"$ne": 2}}]}),
        ({"$nor": [{"a": {"$in": [1]}}]}, {"$and": [{"a": {"$nin": [1]}}]}),
        ({"a": {"$not": {"$size": 1}}}, {"a": {"$not": {"$size": 1}}}),
        ({"a": {}}, {"a": {"$eq": {}}}),
        ({"a": {"$elemMatch": {"$gt": 1}}}, {"a": {"$elemMatch": {"": {"$gt": 1}}}}),
        ({}, {}),
    ],
)
def test_normal_form(selector: Any, normal: Any) -> None:
    assert to_json(normalize(selector)) == normal


@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), values, max_size=3),
    st.lists(comparisons, min_size=1, max_size=3),
)
def test_a_negated_condition_matches_the_other_documents_that_have_the_field(
    document: Any, pairs: Any
) -> None:
    conditions = [{"a": {operator: value}} for operator, value in pairs]
    matches = mango.matcher({"$and": conditions})
    excludes = mango.matcher({"$not": {"$and": conditions}})
    assert matches(document) != excludes(document) or "a" not in document


@given(st.lists(comparisons, min_size=1, max_size=4), scalars)
def test_a_range_holds_exactly_what_the_conditions_allow(pairs: Any, value: Any) -> None:
    selector = {"$and": [{"a": {operator: bound}} for operator, bound in pairs]}
    ((_, found),) = field_ranges(normalize(selector))
    allowed = mango.matcher(selector)({"a": value})
    if found is None:
        assert not allowed
    elif allowed:
        assert found.low.open_ended or compare(value, found.low.value) >= 0
        assert found.high.open_ended or compare(value, found.high.value) <= 0


def test_the_index_with_the_best_fitting_columns_is_chosen() -> None:
    indexes = [
        mango.ALL_DOCS,
        index("a", "a"),
        index("ab", "a", "b"),
        index("abc", "a", "b", "c"),
        index("z", "a", "b"),
    ]
    assert plan(indexes, selector={"a": 1}).index.name == "a"
    assert plan(indexes, selector={"a": 1, "b": 2}).index.name == "ab"  # before z by name
    assert plan(indexes, selector={"a": 1, "b": 2}, use_index="z").index.name == "z"
    assert plan(indexes, selector={"b": 2}).index.kind == "special"
    assert (
        plan(indexes, selector={"a": {"$gt": 1}, "b": {"$gt": 1}, "c": {"$exists": True}}).index.name == "abc"
    )


def test_sort_needs_columns_in_a_row_behind_constants() -> None:
    indexes = [mango.ALL_DOCS, index("abc", "a", "b", "c")]
    assert plan(indexes, selector={"a": 1, "b": {"$gt": 1}, "c": 1}, sort=["b", "c"]).index.name == "abc"
    for selector, sort in itertools.product([{"a": {"$gt": 1}, "b": 1, "c": 1}], [["b"], ["c"], ["b", "c"]]):
        with pytest.raises(CouchError) as refused:
            plan(indexes, selector=selector, sort=sort)
        assert refused.value.error == "no_usable_index"


def test_partial_indexes_are_used_only_by_name() -> None:
    indexes = [mango.ALL_DOCS, index("p", "a", partial={"x": 1})]
    assert plan(indexes, selector={"a": 1}).index.kind == "special"
    assert plan(indexes, selector={"a": 1}, use_index="p").index.name == "p"
    rows = mango.row_maker(indexes[1])
    assert rows({"a": 5, "x": 1}) == [[5]]
    assert rows({"a": 5, "x": 2}) == rows({"x": 1}) == []


def test_names_are_couchdbs() -> None:
    for fields, name in (
        ([], "16d64bc5aa5ac9a0662f02b45a7d70d4a6923ccc"),
        (["n"], "3d4fdc43057b07474cd610d0ad5761ead92400bf"),
    ):
        options = mango.index_options({"index": {"fields": fields}})
        assert mango.generated_name(options["index"], options) == name


def test_values_are_quoted_as_erlang_prints_them() -> None:
    assert (
        erlang({"a": [1, 1.0, 1e20, 0.0001, "x", None, True]})
        == "{[{<<97>>,[1,1.0,1.0e20,0.0001,<<120>>,null,true]}]}"
    )
    assert erlang("a", pretty=True) == '<<"a">>'


def test_field_names_with_escaped_dots() -> None:
    assert parse_field("a.b\\.c.0") == ("a", "b.c", "0")
    assert mango.matcher({"a.b\\.c.0": 1})({"a": {"b.c": [1]}})


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("^a.c$", "abc", True),
        ("(?i)ABC", "xabcx", True),
        ("[[:digit:]]+\\z", "a1", True),
        ("\\Qa.b\\E", "axb", False),
        ("(?<l>.)\\k<l>", "noon", True),
        ("^.$", "é", False),
    ],
)
def test_patterns_are_pcre_over_bytes(pattern: str, text: str, matches: bool) -> None:
    assert mango.matcher({"t": {"$regex": pattern}})({"t": text}) is matches


@pytest.mark.parametrize(
    ("selector", "query"),
    [
        ({"age": 22}, "(age_3anumber:22)"),
        ({"name.first": "Jo hn"}, '(name.first_3astring:"Jo\\ hn")'),
        ({"age": {"$gt": 5, "$lte": 9}}, "((age_3anumber:{5 TO *]) AND (age_3anumber:[* TO 9]))"),
        ({"a": {"$exists": True}}, "(($fieldnames:a_3a*) OR ($fieldnames:a.*))"),
        ({"a": {"$size": 2}}, "(a._5b_5d_3alength:2)"),
        ({"a": {"$in": ["x"]}}, '(((a_3astring:"x") OR (a._5b_5d_3astring:"x")))'),
        ({"$text": "two words"}, '($default:"two\\ words")'),
        ({"a": True}, "(a_3aboolean:true)"),
        ({"a": None}, "(a_3anull:true)"),
    ],
)
def test_selectors_as_text_queries(selector: Any, query: str) -> None:
    assert mango.lucene(normalize(selector)) == query


def test_bookmarks_are_only_our_own() -> None:
    assert mango.unpack(mango.pack("id", [1, "x"]), 2) == ["id", [1, "x"]]
    for foreign in ("nil", "xx", "g1AAAAA0eJzLYWBgYMpgSmHgKy5JLCrJTq2MT8lPzkzJBYmnGINkOGAyULEsAGk2Dec"):
        with pytest.raises(CouchError):
            mango.unpack(foreign, 2)
