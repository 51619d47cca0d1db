"""Patterns, and beginnings of many words, find the same by what is known of their words as by themselves."""

import random
from typing import Any

import pytest

from deploy.local.minicouch.search import engine, pruning, totals
from deploy.local.minicouch.search import matching as matching_module
from deploy.local.minicouch.search.compiling import Compiler
from deploy.local.minicouch.search.engine import SearchIndex, entry
from deploy.local.minicouch.search.matching import Matching
from deploy.local.minicouch.search.sorting import by_relevance
from tests.deploy.local.minicouch.search_indexes import two_segments

NOUNS, ADJECTIVES = "lamp lantern vase rug chair".split(), "red old soft tall".split()
SHORT = "short:/{b}([^0-9]?[0-9].*|[^0-9]*)/"
QUERIES = [
    f'(text:"{{a}}"^2 OR short:"{{a}}"^8) AND (text:{{b}}* OR (+(short:"{{b}}"^8 OR {SHORT}^1) name:{{b}}*^8))',
    '(text:"{a}"^2 OR short:"{a}"^8) AND (text:{b}*^3 OR short:/{b}[^0-9]*/^2)',
    '(text:"{a}" OR short:"{a}" OR short:"{a}lamp") AND (text:"lamp" OR short:"lamp" OR short:"{a}lamp")',
    '(text:"{a}"^2 OR short:"{a}"^8) AND (short:/{b}[^0-9]*/ OR code:n1*^2 OR (+(short:n*^1) code:"n7"^9))',
    '(text:"{a}" OR short:"{a}" OR short:"n7") AND (text:"lamp" OR short:"lamp" OR short:"ladder" OR short:"n3")',
    "short:/{b}[^0-9]*/",
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    dice = random.Random(11)
    entries = []
    for seq in range(1, 601):
        adjective, noun = dice.choice(ADJECTIVES), dice.choice(NOUNS)
        short = f"{adjective} {noun} {adjective}{noun} {noun}{seq} n{seq % 40}"
        short += " ladder" if seq % 100 == 0 else ""
        text = " ".join(dice.choices(NOUNS + ADJECTIVES, k=dice.randrange(3, 9)))
        fields = [["name", noun, {}], ["short", short, {}], ["text", text, {}], ["code", f"n{seq % 40}", {}]]
        entries.append(entry(f"d{seq}", seq, None, fields))
    return two_segments(tmp_path_factory.mktemp("index"), entries, 400, [entries[7].docid])


def asked() -> list[str]:
    words = [(a, b) for a in ADJECTIVES for b in ("la", "lam", "lantern", "v", "ru", "xy")]
    return [query.format(a=a, b=b) for query in QUERIES for a, b in words]


def found(index: SearchIndex, query: str) -> tuple[int, list[float], list[str]]:
    matching = Matching(index, index.searcher, Compiler(index), query)
    page = by_relevance(matching, 9, None)
    scores = [round(hit.order[0], 3) for hit in page.hits]
    return page.total, scores, [hit.docid for hit in page.hits if hit.order[0] > page.hits[-1].order[0]]


@pytest.mark.parametrize(
    "most", [{}, {"MAX_PREFIX_TERMS": 1}, {"MAX_PREFIX_TERMS": 1, "MAX_COUNTED_TERMS": 1}]
)
def test_a_large_index_finds_the_same_as_a_small_one(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch, most: dict[str, int]
) -> None:
    index._refresh()
    small = [found(index, each) for each in asked()]
    assert any(total for total, _, _ in small)
    monkeypatch.setattr(matching_module, "MANY", 1)
    monkeypatch.setattr(pruning, "COMMON", 30)
    monkeypatch.setattr(totals, "FEW", 0.3)
    for name, number in most.items():
        monkeypatch.setattr(engine, name, number)
    index._refresh()
    assert [found(index, each) for each in asked()] == small


def learnt(index: SearchIndex, monkeypatch: pytest.MonkeyPatch, query: str) -> dict[str, Any]:
    monkeypatch.setattr(matching_module, "MANY", 1)
    index._refresh()
    Matching(index, index.searcher, Compiler(index), query)
    return {pattern: terms for (_, pattern), terms in index.generation.patterns.items()}


def test_a_pattern_is_looked_for_by_the_words_that_another_field_is_asked_for(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = learnt(index, monkeypatch, "text:lam* OR short:/lam[^0-9]*/")
    assert words == {"lam[^0-9]*": ("lamp",)}, "and not by numbers behind them"


@pytest.mark.parametrize("query", ["text:la* OR short:/la[^0-9]*/", "name:rug OR short:/la[^0-9]*/"])
def test_a_pattern_that_finds_more_than_the_words_is_looked_for_itself(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    assert learnt(index, monkeypatch, query) == {"la[^0-9]*": None}


def test_what_all_documents_have_that_have_a_word_does_not_have_the_word_counted_again(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[Any] = []
    count = totals.Sizes._count
    monkeypatch.setattr(matching_module, "MANY", 1)
    monkeypatch.setattr(totals, "FEW", 0.1)
    monkeypatch.setattr(
        totals.Sizes, "_count", lambda self, leaves: counted.append(leaves) or count(self, leaves)
    )
    index._refresh()
    for noun in ("lamp", "vase"):
        both = f'short:"red{noun}"'
        query = f'(text:"red" OR short:"red" OR {both}) AND (text:"{noun}" OR short:"{noun}" OR {both})'
        matching = Matching(index, index.searcher, Compiler(index), query)
        plain = Matching(index, index.searcher, Compiler(index), f"+({query})")
        assert matching.total() == index.searcher.search(plain.query, limit=1).count > 0
    red = [leaves for leaves in counted if {leaf.text for leaf in leaves if hasattr(leaf, "text")} == {"red"}]
    assert len(red) == 1, "the word is counted once, whatever stands beside it"


def test_a_rare_word_that_only_adds_is_ranked_where_it_adds(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[Any] = []
    hits = pruning._Ranking.hits
    monkeypatch.setattr(pruning, "COMMON", 30)
    monkeypatch.setattr(pruning, "FEW", 0.0)
    monkeypatch.setattr(
        pruning._Ranking, "hits", lambda self, *at: pages.append((at[1], hits(self, *at))) or pages[-1][1]
    )
    index._refresh()
    query = '(text:"red"^2 OR (+(text:"lamp"^8) code:"n7"^30)) AND (short:"lamp"^2 OR short:"vase"^8)'
    matching = Matching(index, index.searcher, Compiler(index), query)
    page = by_relevance(matching, 9, None)
    rare = [found for needed, found in pages if {node.text for node in needed} == {"n7"}]
    assert [0 < len(found) < 9 for found in rare] == [True], "only what has the rare word is ranked for it"
    full = matching.searcher.search(matching.query, limit=9, count=False).hits
    assert [round(hit.order[0], 3) for hit in page.hits] == [round(score, 3) for score, _ in full]


def test_a_beginning_of_many_words_does_not_have_every_hit_scored(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "COMMON", 30)
    monkeypatch.setattr(engine, "MAX_PREFIX_TERMS", 2)
    index._refresh()
    query = '(text:"red"^2 OR (+(short:"red"^8) name:"lamp"^16)) AND (text:"lamp"^2 OR (+(short:"lamp"^8 OR short:lamp*) name:"lamp"^16))'
    matching = Matching(index, index.searcher, Compiler(index), query)
    page = by_relevance(matching, 3, None)
    assert len(page.hits) == 3
    assert "query" not in vars(matching), "the query that scores every hit was not asked"
