"""The best hits are the same ones, with the same scores, whether all hits are scored or only those that may be among them."""

import random

import pytest

from deploy.local.minicouch.search import engine, pruning
from deploy.local.minicouch.search.compiling import Compiler
from deploy.local.minicouch.search.engine import Generation, SearchIndex, entry
from deploy.local.minicouch.search.matching import Matching
from deploy.local.minicouch.search.ordering import Ordering
from deploy.local.minicouch.search.sorting import by_fields, by_relevance, parse_sort
from tests.deploy.local.minicouch.search_indexes import two_segments

NOUNS, ADJECTIVES = "lamp chair vase rug mirror".split(), "red old soft tall".split()
QUERIES = [
    '(text:"{a}"^2 OR (+(short:"{a}"^8 OR short:{a}*^1) name:"{a}"^16))',
    '(text:"{a}"^2 OR text:{a}*^1 OR (+(short:"{a}"^8) name:"{a}"^16)) AND (text:"{b}"^2 OR (+(short:"{b}"^8) name:"{b}"^16))',
    '(text:"{a}"^2 OR name:"{a}"^16) AND (text:"{b}"^2 OR name:"{b}"^16) AND NOT short:"{c}"',
    '+(text:"{a}"^2 OR name:"{a}"^16) (name:"{b}"^100)',
    '(name:"{a}" AND text:"{b}")^3 OR text:"{c}"',
    '(text:"{a}"^2 OR (+(short:"{a}"^8 OR short:{b}*^1) name:"{a}"^16)) AND (text:la*^1 OR (+(short:l*^1) name:l*^16)^3)',
    '+(text:"{a}"^0 OR (+(short:"{a}"^8) name:"{a}"^16)) (name:"{b}"^2 OR text:xyl*^3)^100 -short:"{c}"',
    '(text:"{a}"^2 OR (+(short:"{a}"^8) name:"{a}"^16)) AND (code:"n7"^9 OR code:n1*^2 OR short:"{b}"^8) AND NOT text:"{c}"',
    'code:"n7"^9 AND (text:"{a}"^2 OR (+(short:"{b}"^3) code:"n7"^9 all:"here"^2 name:"{c}"^5))',
    'name:"{a}"^9 AND (text:"{b}"^2 OR (+(short:"{c}"^3) name:"{a}"^9 all:"here"))',
    '(text:"{a}"^2 OR (+(short:"{a}"^8) name:"{a}"^16)) AND (code:"n7"^9 OR code:n8*^2) AND (all:"here" OR text:"{b}"^3)',
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    dice = random.Random(5)
    entries = []
    for seq in range(1, 1201):
        name = f"{dice.choice(ADJECTIVES)} {dice.choice(NOUNS)}"
        text = " ".join(dice.choices(NOUNS + ADJECTIVES, k=dice.randrange(3, 12)))
        fields = [
            ["name", name, {}],
            ["short", name, {}],
            ["text", text, {}],
            ["size", seq % 2, {}],
            ["price", seq // 2, {}],
        ]
        fields += [["code", f"n{seq % 60}", {}], ["all", "here", {}]]
        entries.append(entry(f"d{dice.random()}", seq, None, fields))
    return two_segments(tmp_path_factory.mktemp("index"), entries, 700)


def found(index: SearchIndex, query: str, limit: int) -> tuple[int, list[float]]:
    matching = Matching(index, index.searcher, Compiler(index), query)
    page = by_relevance(matching, limit, None)
    return page.total, [round(hit.order[0], 3) for hit in page.hits]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("limit", [1, 10, 400])
@pytest.mark.parametrize("few", [0.0, 1.0])
def test_leaving_common_words_out_changes_nothing(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch, query: str, limit: int, few: float
) -> None:
    words = [dict(zip("abc", random.Random(n).sample(NOUNS + ADJECTIVES, 3), strict=True)) for n in range(8)]
    asked = [query.format(**some) for some in words]
    index._refresh()
    scored = [found(index, each, limit) for each in asked]
    index._refresh()
    monkeypatch.setattr(pruning, "COMMON", 30)
    monkeypatch.setattr(pruning, "FEW", few)
    assert [found(index, each, limit) for each in asked] == scored


def test_a_common_word_is_not_scored_for_the_first_page(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "COMMON", 10)
    matching = Matching(index, index.searcher, Compiler(index), QUERIES[1].format(a="red", b="lamp"))
    by_relevance(matching, 3, None)
    assert "query" not in vars(matching), "the query that scores every hit was not asked"


@pytest.mark.parametrize("query", [QUERIES[3], QUERIES[6]])
def test_words_that_need_not_match_do_not_have_every_hit_scored(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(pruning, "COMMON", 10)
    matching = Matching(index, index.searcher, Compiler(index), query.format(a="red", b="lamp", c="vase"))
    page = by_relevance(matching, 3, None)
    assert len(page.hits) == 3
    assert "query" not in vars(matching), "the query that scores every hit was not asked"


def test_a_word_that_few_have_leads_the_count(index: SearchIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "COMMON", 30)
    monkeypatch.setattr(pruning, "FEW", 0.05)
    query = QUERIES[10].format(a="red", b="lamp", c="vase")
    matching = Matching(index, index.searcher, Compiler(index), query)
    page = by_relevance(matching, 3, None)
    assert "query" not in vars(matching), "the query that scores every hit was not asked"
    led = pruning.counted_by_rows(index, index.searcher, matching.compiler, matching.tree)
    assert led is not None, "the rare word is not one of many alternatives"
    monkeypatch.setattr(pruning, "FEW", 0.0)
    index._refresh()
    assert found(index, query, 3) == (page.total, [round(hit.order[0], 3) for hit in page.hits])


def test_beginnings_find_the_same_by_their_terms_as_by_their_pattern(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["name:l*", "text:r*^3 AND name:lamp", "name:lamp*", "name:x*", "text:m* OR name:v*^2"]
    index._refresh()
    by_terms = [found(index, each, 40) for each in asked]
    assert index.generation.beginnings(str(index.field("text", "text")), "r")[0] == ("red", "rug")
    monkeypatch.setattr(engine, "MAX_PREFIX_TERMS", -1)
    index._refresh()
    assert [found(index, each, 40) for each in asked] == by_terms
    assert index.generation.beginnings(str(index.field("text", "text")), "r")[0] is None


def test_few_equal_numbers_are_sorted_with_one_search(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches: list[int] = []
    best = Ordering._best
    monkeypatch.setattr(
        Ordering,
        "_best",
        lambda self, query, limit, *column: searches.append(limit) or best(self, query, limit, *column),
    )
    matching = Matching(index, index.searcher, Compiler(index), "*:*")
    page = by_fields(matching, parse_sort("price"), 10, None)
    assert [hit.seq for hit in page.hits] == list(range(1, 11))
    assert len(searches) == 1, "hits are not read again for the order of equal ones"


def test_numbers_are_sorted_by_without_reading_what_is_kept_of_each_hit(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    read = Generation._record
    index._refresh()
    monkeypatch.setattr(Generation, "_record", lambda self, *place: reads.append(1) or read(self, *place))
    index._refresh()
    matching = Matching(index, index.searcher, Compiler(index), "*:*")
    seen, after = [], None
    for _ in range(4):
        page = by_fields(matching, parse_sort("-size"), 10, after)
        seen += [hit.seq for hit in page.hits]
        after = page.bookmark
    assert seen == list(range(1, 80, 2)), "of equal ones that comes first which was written first"
    assert len(reads) == len(seen)
