"""What is counted of a large index is the same as of a small one, though it is counted beside the ranking and from what is known of each word."""

import random
from pathlib import Path
from typing import Any

import pytest

from deploy.local.minicouch.search import matching as matching_module
from deploy.local.minicouch.search import pruning, totals
from deploy.local.minicouch.search.analysis import Analyzers
from deploy.local.minicouch.search.compiling import Compiler
from deploy.local.minicouch.search.engine import SearchIndex, entry
from deploy.local.minicouch.search.facets import Facets
from deploy.local.minicouch.search.matching import Matching
from deploy.local.minicouch.search.sorting import by_fields, by_relevance, parse_sort
from tests.deploy.local.minicouch.search_indexes import two_segments

WORDS = "lamp chair vase rug mirror red old soft tall".split()
QUERIES = [
    '(text:"{a}"^2 OR (+(short:"{a}"^8) short:"{b}"^3)) AND (text:"{b}"^2 OR code:"none"^9 OR short:"{b}"^8)',
    '(text:"{a}"^2 OR short:{a}*) AND (text:{b}* OR short:/{b}[^0-9]*/^2 OR short:"{b}")',
    '(text:"{a}" OR short:"{a}") AND (text:"{b}" OR short:"{b}") AND NOT nowhere:"{c} {a}"',
    '(text:"{a}" OR short:"{a}") AND (text:"{b}" OR short:"{b}") AND NOT short:"{c}"',
    '(text:"{a}" OR short:"{a}") AND (text:"{b}" OR short:"{b}") AND (short:"{c}" OR text:"{c}")',
    '(text:"{a}" OR short:"{a}") AND (text:"{b}" OR short:"{b}") AND (currency:"gbp") AND NOT nowhere:"{c} {a}"',
    '(text:"{a}" OR short:"{a}") AND number:[3 TO 9]',
    'text:"{a}"',
    "*:*",
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    dice = random.Random(7)
    entries = []
    for seq in range(1, 601):
        text = " ".join(dice.choices(WORDS, k=dice.randrange(2, 9)))
        fields = [["short", dice.choice(WORDS), {}], ["text", text, {}], ["price", seq // 2, {}]]
        fields += [["currency", "gbp", {}]]
        fields += [["mark", each, {"facet": True}] for each in dice.sample(WORDS, dice.randrange(1, 4))]
        fields += [["colour", each, {"facet": True}] for each in dice.sample(WORDS[:4], dice.randrange(3))]
        fields += [["number", dice.randrange(12), {}]] if seq % 3 else []
        entries.append(entry(f"d{dice.random()}", seq, None, fields))
    return two_segments(tmp_path_factory.mktemp("index"), entries, 400, [entries[7].docid])


def asked() -> list[str]:
    words = [dict(zip("abc", random.Random(n).sample(WORDS, 3), strict=True)) for n in range(6)]
    return [query.format(**some) for query in QUERIES for some in words]


def answered(index: SearchIndex, query: str, sort: str | None) -> dict[str, Any]:
    index.generation.queries.clear()
    matching = Matching(index, index.searcher, Compiler(index), query)
    facets = Facets(
        matching, ["colour", "mark"], {"price": {"low": "[0 TO 100]", "high": "{100 TO Infinity]"}}
    )
    plain = Matching(index, index.searcher, Compiler(index), query)
    keys = parse_sort(sort)
    pages = [
        by_fields(each, keys, 7, None) if keys else by_relevance(each, 7, None) for each in (matching, plain)
    ]
    return {
        "ids": [[hit.docid for hit in page.hits] for page in pages],
        "totals": [page.total for page in pages],
        "counts": facets.counts(),
        "ranges": facets.ranges(),
    }


@pytest.mark.parametrize("sort", [None, "price", "-number", "price<string>"])
def test_a_large_index_is_counted_like_a_small_one(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch, sort: str | None
) -> None:
    small = [answered(index, each, sort) for each in asked()]
    monkeypatch.setattr(matching_module, "MANY", 1)
    monkeypatch.setattr(pruning, "FEW", 0.0)
    assert [answered(index, each, sort) for each in asked()] == small


def test_two_common_words_are_counted_from_what_each_of_them_has(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[Any] = []
    count = totals.Sizes._count
    monkeypatch.setattr(matching_module, "MANY", 1)
    monkeypatch.setattr(
        totals.Sizes, "_count", lambda self, leaves: counted.append(leaves) or count(self, leaves)
    )
    index._refresh()
    query = '(text:"{}" OR short:"{}") AND (text:"{}" OR short:"{}") AND (currency:"gbp")'
    for one, other in (("lamp", "chair"), ("lamp", "vase"), ("chair", "vase")):
        matching = Matching(index, index.searcher, Compiler(index), query.format(one, one, other, other))
        both = Matching(index, index.searcher, Compiler(index), f"+({query.format(one, one, other, other)})")
        assert matching.total() == index.searcher.search(both.query, limit=1).count > 0
    assert len(counted) == 3 + 3, "each word once, and each two of them together"


def test_what_matches_is_counted_while_the_best_are_looked_for(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[bool] = []
    matching = Matching(index, index.searcher, Compiler(index), asked()[0])
    best = pruning.best
    monkeypatch.setattr(matching_module, "MANY", 1)
    monkeypatch.setattr(pruning, "best", lambda *at: begun.append(matching.is_counted) or best(*at))
    by_relevance(matching, 5, None)
    assert begun == [True]


def test_a_column_that_every_document_has_is_not_counted_for_each_search(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    matching = Matching(index, index.searcher, Compiler(index), asked()[0])
    by_fields(matching, parse_sort("price"), 5, None)
    assert "there" not in matching.counted
    by_fields(matching, parse_sort("number"), 5, None)
    assert "there" in matching.counted, "one that some do not have is"


def test_hits_of_one_word_are_counted_beside_their_facets(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching_module, "MANY", 1)
    for query, is_apart in (('text:"lamp"', True), ('text:"lamp" AND short:"rug"', False)):
        matching = Matching(index, index.searcher, Compiler(index), query)
        facets = Facets(matching, ["colour"], None)
        page = by_relevance(matching, 5, None)
        assert page.total == index.searcher.search(matching.query, limit=1).count
        assert facets.counts()
        assert (matching_module.TOTAL not in matching.counted) is is_apart


def test_values_are_counted_from_their_documents_where_many_hits_have_several(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []
    count = Matching._count_values
    monkeypatch.setattr(
        Matching, "_count_values", lambda self, column: counted.append(column) or count(self, column)
    )
    for query, is_listed in (
        ('text:"lamp" OR short:"lamp"', True),
        ("*:*", False),
        ('text:"lamp" AND short:"rug"', False),
        ('text:"none"', False),
    ):
        small = counts_of(index, query)
        assert not counted
        monkeypatch.setattr(matching_module, "MANY", 1)
        assert counts_of(index, query) == small
        assert counted == ([index.field("facet", "mark")] if is_listed else []), query
        monkeypatch.undo()
        monkeypatch.setattr(
            Matching, "_count_values", lambda self, column: counted.append(column) or count(self, column)
        )
        counted.clear()


def test_a_value_too_long_for_a_list_of_documents_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "x" * 70_000
    entries = [
        entry(
            f"d{seq}", seq, None, [["text", "lamp", {}], *(["mark", each, {"facet": True}] for each in some)]
        )
        for seq, some in enumerate((["a", "b"], ["b", long, "b"], ["a", "c"]), 1)
    ]
    made = two_segments(tmp_path, entries, 2)
    matching = Matching(made, made.searcher, Compiler(made), "text:lamp")
    small = Facets(matching, ["mark"], None).counts()
    assert small is not None
    assert sorted(small["mark"].values()) == [1, 1, 2, 2]
    monkeypatch.setattr(matching_module, "MANY", 1)
    for index in (made, SearchIndex(tmp_path, Analyzers("standard"))):
        matching = Matching(index, index.searcher, Compiler(index), "text:lamp")
        assert Facets(matching, ["mark"], None).counts() == small


def counts_of(index: SearchIndex, query: str) -> dict[str, dict[str, float]]:
    matching = Matching(index, index.searcher, Compiler(index), query)
    facets = Facets(matching, ["colour", "mark"], None)
    by_relevance(matching, 5, None)
    counts = facets.counts()
    assert counts is not None
    return counts
