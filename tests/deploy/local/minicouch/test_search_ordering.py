"""Hits are sorted by columns: a page is the same as when all hits are sorted, and no more is read than can be on it."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deploy.local.minicouch.search import engine, ordering, sorting
from deploy.local.minicouch.search import matching as matching_module
from deploy.local.minicouch.search.analysis import Analyzers
from deploy.local.minicouch.search.compiling import Compiler
from deploy.local.minicouch.search.engine import Generation, SearchIndex, entry
from deploy.local.minicouch.search.matching import Matching
from deploy.local.minicouch.search.ordering import Ordering
from deploy.local.minicouch.search.sorting import by_fields, parse_sort

SORTS = ["size", "-size", "title<string>", "-title<string>", "label<string>", ["size", "title<string>"]]
SIZES = (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0)
DEFINITION = {"name": "perfield", "default": "standard", "fields": {"title": "keyword"}}


def built(folder: Any, *, lacking: bool = False, sizes: Sequence[float] = SIZES) -> SearchIndex:
    dice = random.Random(7)
    index = SearchIndex(folder, Analyzers(DEFINITION))
    entries = []
    for seq in range(1, 901):
        title = dice.choice(["Ab", "Abundant blue", "Abundant blue and bright, Ébène", "Zoë"])
        fields: list[list[Any]] = [
            ["title", f"{title} {dice.randrange(200)}", {}],
            ["label", dice.choice(["one", "two", "twofold and more"]), {}],
            ["size", dice.choice(sizes), {}],
        ]
        kept = fields[: 2 if lacking and seq % 5 == 0 else 3]
        entries.append(entry(f"d{dice.random()}", seq, None, kept))
    index.apply(entries[:500], (), 500)
    index.apply(entries[500:], (), 900)
    return index


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    return built(tmp_path_factory.mktemp("index"))


@pytest.fixture(scope="module")
def lacking(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    """Some documents have no size."""
    return built(tmp_path_factory.mktemp("lacking"), lacking=True)


def walked(index: SearchIndex, sort: Any, limit: int, query: str = "*:*") -> list[int]:
    seen: list[int] = []
    after = None
    while True:
        page = by_fields(
            Matching(index, index.searcher, Compiler(index), query), parse_sort(sort), limit, after
        )
        if not page.hits:
            return seen
        seen += [hit.seq for hit in page.hits]
        after = page.bookmark


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("limit", [1, 7, 400, 1000])
def test_a_page_is_the_same_as_when_all_hits_are_sorted(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch, sort: Any, limit: int
) -> None:
    query = "label:two" if limit < 7 else "*:*"
    by_columns = walked(index, sort, limit, query)
    monkeypatch.setattr(sorting, "_by_columns", lambda *asked: None)
    assert by_columns == walked(index, sort, 10_000, query)
    assert len(by_columns) == len(set(by_columns)) > 100


@pytest.mark.parametrize("sort", ["size", "-size", ["size", "title<string>"]])
@pytest.mark.parametrize(
    "sizes", [SIZES, (-1.0, -0.0, 0.0, 1.0), tuple(range(400))], ids=["few", "zeros", "many"]
)
def test_the_first_numbers_of_a_large_index_lead_to_the_same_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sort: Any, sizes: Sequence[float]
) -> None:
    index = built(tmp_path, sizes=sizes)
    with monkeypatch.context() as by_all:
        by_all.setattr(sorting, "_by_columns", lambda *asked: None)
        expected = walked(index, sort, 10_000, "label:two")
    near_end, found = Ordering._near_end, []
    monkeypatch.setattr(Ordering, "_near_end", lambda *at: found.append(near_end(*at)) or found[-1])
    monkeypatch.setattr(matching_module, "MANY", 1)
    for module in (engine, ordering):
        monkeypatch.setattr(module, "NEAR_END", 150)
    assert walked(index, sort, 7, "label:two") == expected
    assert any(found), "the first pages come from them"
    assert not all(found), "the last ones do not"


@pytest.mark.parametrize("sort", ["size", "-size"])
def test_what_has_no_number_stands_where_zero_does(
    lacking: SearchIndex, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    seen = walked(lacking, sort, 50)
    monkeypatch.setattr(sorting, "_by_columns", lambda *asked: None)
    assert seen == walked(lacking, sort, 10_000)
    assert len(seen) == 900


@pytest.mark.parametrize("sort", ["title<string>", "-title<string>"])
def test_texts_are_read_only_where_their_beginnings_are_equal(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    reads: list[int] = []
    read = Generation._record
    monkeypatch.setattr(Generation, "_record", lambda self, *place: reads.append(1) or read(self, *place))
    index._refresh()
    page = by_fields(Matching(index, index.searcher, Compiler(index), "*:*"), parse_sort(sort), 20, None)
    assert len(page.hits) == 20
    assert page.total == 900
    assert len(reads) < 40
