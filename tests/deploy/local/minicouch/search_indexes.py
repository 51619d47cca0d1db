"""Search indexes that tests of minicouch fill themselves."""

from collections.abc import Collection, Sequence
from pathlib import Path

from deploy.local.minicouch.search.analysis import Analyzers
from deploy.local.minicouch.search.engine import Entry, SearchIndex


def two_segments(
    folder: Path, entries: Sequence[Entry], first: int, gone: Collection[str] = ()
) -> SearchIndex:
    """An index that was given the `first` entries, and then the others and that some documents are `gone`."""
    made = SearchIndex(folder, Analyzers("standard"))
    made.apply(entries[:first], (), first)
    made.apply(entries[first:], gone, len(entries))
    return made
