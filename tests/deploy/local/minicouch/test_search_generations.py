"""What a search index knows of itself: kept while the index stays as it is, whoever brings it up to date."""

from pathlib import Path

from deploy.local.minicouch.search.analysis import Analyzers
from deploy.local.minicouch.search.engine import SearchIndex, entry


def opened(directory: Path) -> SearchIndex:
    return SearchIndex(directory, Analyzers("standard"))


def lamp(seq: int, name: str = "lamp"):
    return entry("lamp", seq, None, [["name", name, {}]])


def test_a_build_that_changes_nothing_leaves_what_is_known(tmp_path: Path) -> None:
    """Goods are sold: their documents change, but nothing that a search reads of them."""
    opened(tmp_path).apply([lamp(1)], (), 1)
    server = opened(tmp_path)
    known = server.generation
    for seq in (2, 3):
        opened(tmp_path).apply([lamp(seq)], ["never there"], seq)
        server.reload()
        assert (server.seq, server.generation) == (seq, known)


def test_a_build_that_changes_something_is_seen(tmp_path: Path) -> None:
    opened(tmp_path).apply([lamp(1)], (), 1)
    server = opened(tmp_path)
    known = server.generation
    opened(tmp_path).apply([lamp(2, "lantern")], (), 2)
    server.reload()
    assert server.generation is not known
    assert server.searcher.num_docs == 1
    assert server.field("text", "name") is not None
    opened(tmp_path).apply([], ["lamp"], 3)
    server.reload()
    assert (server.seq, server.searcher.num_docs) == (3, 0)
