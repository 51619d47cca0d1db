"""Counts of number ranges: in one pass where a document has one number, and right where it has several."""

from pathlib import Path

import pytest

from deploy.local.minicouch.search.analysis import Analyzers
from deploy.local.minicouch.search.compiling import Compiler
from deploy.local.minicouch.search.engine import SearchIndex, entry
from deploy.local.minicouch.search.facets import Facets
from deploy.local.minicouch.search.matching import Matching

SIZES = {"a": [1, 2], "b": [2], "c": [9, 1], "d": []}
LABELS = {"small": "[1 TO 2]", "two": "[2 TO 2]", "above two": "{2 TO Infinity]"}


@pytest.fixture
def index(tmp_path: Path) -> SearchIndex:
    made = SearchIndex(tmp_path, Analyzers("standard"))
    made.apply(
        [
            entry(docid, seq, None, [["name", docid, {}], *(["size", size, {}] for size in sizes)])
            for seq, (docid, sizes) in enumerate(SIZES.items(), start=1)
        ],
        (),
        len(SIZES),
    )
    return made


def test_a_document_with_several_numbers_counts_once_in_a_range(index: SearchIndex, tmp_path: Path) -> None:
    for opened in (index, SearchIndex(tmp_path, Analyzers("standard"))):  # also after a restart
        everything = Matching(opened, opened.searcher, Compiler(opened), "*:*")
        counted = Facets(everything, None, {"size": LABELS})
        assert counted.ranges() == {"size": {"small": 3, "two": 2, "above two": 1}}
        assert counted.counts() is None
