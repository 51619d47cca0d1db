"""What a request finds: the documents that its query and its filters match."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any, Final

import tantivy

from . import patterns
from .compiling import Compiler
from .counting import clauses_of, unscored
from .engine import SearchIndex
from .pruning import counted_by_rows, frequencies
from .syntax import Node, parse
from .totals import Sizes, pair_of

TOTAL = "total"
MANY = 100_000
"""An index of so many documents is large: its hits are counted while the best of them are looked for."""
_TOTAL: Final = {TOTAL: {"value_count": {"field": "seq"}}}
_counters = ThreadPoolExecutor(4, "count")


class Matching:
    """A query with `filters`, which do not score, over one state of an index; `tree` is what `text` says, where it is not as `parse` has it."""

    def __init__(
        self,
        index: SearchIndex,
        searcher: tantivy.Searcher,
        compiler: Compiler,
        text: str,
        filters: Sequence[tantivy.Query] = (),
        tree: Node | None = None,
    ) -> None:
        self.index, self.searcher, self.compiler = index, searcher, compiler
        self.text, self.filters = text, [tantivy.Query.const_score_query(each, 0.0) for each in filters]
        self.tree: Node = parse(text) if tree is None else tree
        if self.is_large:
            patterns.learn(index, searcher, compiler, self.tree)
        self._asked: dict[str, Any] = {}
        self._counting: Future[dict[str, Any]] | None = None
        self._counted: dict[str, Any] | None = None
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
        return self.compiler.query(self._by_rows or unscored(self.tree))

    @cached_property
    def _by_rows(self) -> Node | None:
        return counted_by_rows(self.index, self.searcher, self.compiler, self.tree)

    def ask(self, aggregations: dict[str, Any]) -> None:
        """Count these as well, in the same pass; so what is asked for before anything is counted costs least."""
        if aggregations:
            self._asked |= aggregations
            self._counting = self._counted = None

    @property
    def is_large(self) -> bool:
        """Whether counting takes its time."""
        return self.index.generation.documents >= MANY

    def begin_counting(self) -> None:
        """Count all that was asked for in another thread, if that takes its time."""
        if self._counting is None and self._counted is None and self.is_large:
            asked = self._asked if self._is_total_apart else self._asked | _TOTAL
            self._counting = _counters.submit(self._count, asked)

    @property
    def is_counted(self) -> bool:
        """Whether all hits are counted, or will be, whatever is done to find the best."""
        return bool(self._asked) or self._counting is not None or self._counted is not None

    @property
    def counted(self) -> dict[str, Any]:
        """What all that was asked for comes to among the hits, and their TOTAL: in one pass, without scores."""
        if self._counted is None:
            begun = self._counting
            self._counted = self._count(self._asked | _TOTAL) if begun is None else begun.result()
        return self._counted

    def total(self) -> int:
        """How many documents match."""
        if self._counting is None or not self._is_total_apart:
            return int(self.counted[TOTAL]["value"])
        if self._total is None:
            self._total = int(self._count(_TOTAL)[TOTAL]["value"])
        return self._total

    @property
    def _is_total_apart(self) -> bool:
        """Of one clause it is counted beside what else was asked for: to find again what matches takes less than to count it in the same pass."""
        return bool(self._asked) and clauses_of(self.tree) == 1

    def _count(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked == _TOTAL and not self.filters and self.is_large and self._by_rows is None:
            at = self.index, self.searcher, self.compiler
            frequency = frequencies(*at)
            if pair := pair_of(self.tree, frequency):
                return {TOTAL: {"value": Sizes(*at, frequency).of_both(*pair)}}
        return self.searcher.aggregate(self.unscored, asked)

    def _filtered(self, query: tantivy.Query) -> tantivy.Query:
        if not self.filters:
            return query
        return self.compiler.joined([("must", query), *(("must", each) for each in self.filters)])
