"""What a request finds: the documents that its query and its filters match."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import tantivy

from .compiling import Compiler
from .counting import unscored
from .engine import SearchIndex
from .pruning import counted_by_rows
from .syntax import Node, parse

TOTAL = "total"


class Matching:
    """A query with `filters`, which do not score, over one state of an index."""

    def __init__(
        self,
        index: SearchIndex,
        searcher: tantivy.Searcher,
        compiler: Compiler,
        text: str,
        filters: Sequence[tantivy.Query] = (),
    ) -> None:
        self.index, self.searcher, self.compiler = index, searcher, compiler
        self.text, self.filters = text, [tantivy.Query.const_score_query(each, 0.0) for each in filters]
        self.tree: Node = parse(text)
        self._total: int | None = None

    @cached_property
    def query(self) -> tantivy.Query:
        """With the scores of the hits."""
        return self._filtered(self.index.compiled(self.text, lambda: self.compiler.query(self.tree)))

    @cached_property
    def unscored(self) -> tantivy.Query:
        """The same documents."""
        return self._filtered(self.index.compiled(f"unscored {self.text}", self._make_unscored))

    def _make_unscored(self) -> tantivy.Query:
        rows = counted_by_rows(self.index, self.searcher, self.compiler, self.tree)
        return self.compiler.query(unscored(self.tree) if rows is None else rows)

    def aggregate(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What is counted among all hits, in one pass without scores, and how many there are."""
        found = self.searcher.aggregate(self.unscored, asked | {TOTAL: {"value_count": {"field": "seq"}}})
        self._total = int(found[TOTAL]["value"])
        return found

    def total(self) -> int:
        """How many documents match."""
        if self._total is None:
            self.aggregate({})
        return self._total or 0

    def _filtered(self, query: tantivy.Query) -> tantivy.Query:
        if not self.filters:
            return query
        return self.compiler.joined([("must", query), *(("must", each) for each in self.filters)])
