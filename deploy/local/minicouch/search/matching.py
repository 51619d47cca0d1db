"""What a request finds: the documents that its query and its filters match."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from math import inf
from typing import Any, Final

import tantivy

from . import patterns
from .compiling import Compiler
from .counting import alternatives, clauses_of, plain, unscored
from .engine import SearchIndex
from .pruning import counted_by_rows, frequencies, without_everywhere
from .syntax import Clauses, Node, parse
from .totals import Sizes, pair_of

TOTAL = "total"
MANY = 100_000
"""An index of so many documents is large: its hits are counted while the best of them are looked for."""
VALUES_A_HIT = 10
"""So many documents of values are read in the time that one hit is counted by its column."""
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
        self._listed: dict[str, Future[dict[str, int]] | None] = {}
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

    def ask_values(self, field: str, column: str) -> bool:
        """Count how many hits have each value of a facet field from the documents of each value, if that takes less: a column of several
        values is dear, so where a good part of all documents are hits. False where it does not."""
        if not self.is_large or self.filters or clauses_of(self.tree) > 1 or not self.index.is_listed(field):
            return False
        values = self.index.generation.several_values(column)
        if not values or values > VALUES_A_HIT * self._at_least:
            return False
        self._listed[column] = None
        return True

    def values(self, column: str) -> dict[str, int]:
        """What `ask_values` asked for, the most frequent first."""
        begun = self._listed[column]
        return self._count_values(column) if begun is None else begun.result()

    @cached_property
    def at_most(self) -> float:
        """No more hits than this, as far as one can tell from how many documents have each word."""
        frequency, tree = frequencies(self.index, self.searcher, self.compiler), plain(self.tree)
        musts = [part for occur, part in tree.parts if occur == "must"] if isinstance(tree, Clauses) else []
        return min(sum(map(frequency, alternatives(part))) for part in musts or [tree])

    @cached_property
    def _at_least(self) -> float:
        """About so many hits there are, or more: those of the most frequent word that will do."""
        frequency = frequencies(self.index, self.searcher, self.compiler)
        some = [frequency(each) for each in alternatives(plain(self.tree))]
        return max((each for each in some if each < inf), default=0)

    @property
    def is_large(self) -> bool:
        """Whether counting takes its time."""
        return self.index.generation.documents >= MANY

    def begin_counting(self) -> None:
        """Count all that was asked for in another thread, if that takes its time."""
        if self._counting is None and self._counted is None and self.is_large:
            for column in self._listed:
                self._listed[column] = _counters.submit(self._count_values, column)
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
        """Of one clause it is counted beside what else was asked for: to find again what matches takes less than to count it in the same pass.
        Not where values are counted beside it as well, which takes longer."""
        return bool(self._asked) and not self._listed and clauses_of(self.tree) == 1

    def _count_values(self, column: str) -> dict[str, int]:
        counted = self.searcher.terms_with_prefix(column, "", self.unscored)
        return {value: count for value, count in counted if count}

    def _count(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked == _TOTAL and not self.filters and self.is_large and self._by_rows is None:
            at = self.index, self.searcher, self.compiler
            frequency = frequencies(*at)
            if pair := pair_of(without_everywhere(*at, self.tree), frequency):
                return {TOTAL: {"value": Sizes(*at, frequency).of_both(*pair)}}
        return self.searcher.aggregate(self.unscored, asked)

    def _filtered(self, query: tantivy.Query) -> tantivy.Query:
        if not self.filters:
            return query
        return self.compiler.joined([("must", query), *(("must", each) for each in self.filters)])
