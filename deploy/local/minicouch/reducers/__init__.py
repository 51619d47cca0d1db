"""The built-in reduces as pure functions over stored rows and stored partial results, refusals included.

A reducer works on many groups at once: `reduce` turns rows into states, `rereduce` joins states (given in key order),
`finish` makes the answers of states. A state is plain JSON, so that indexes can keep it. A row is
`(key JSON, document id, value JSON)`, as bytes, str, bytes.
"""

from collections.abc import Callable
from typing import Any

from ..errors import CouchError
from .base import OVERFLOW, BuiltIn, Reducer, Row, State
from .distinct import Distinct
from .ranks import Count, Edge, Ranked
from .stats import Stats
from .sums import SUM_ERROR, Sum

__all__ = ["OVERFLOW", "SUM_ERROR", "BuiltIn", "Reducer", "Row", "State", "built_in"]

MAX_RANK = 100


def built_in(source: str, order: Callable[[Any], bytes]) -> BuiltIn:
    """The reducer a `_name` stands for; `order` gives a value's collation key. Errors: 400 invalid_design_doc."""
    for prefix, make in (
        ("_sum", Sum),
        ("_count", Count),
        ("_stats", Stats),
        ("_approx_count_distinct", Distinct),
        ("_first", lambda: Edge(0)),
        ("_last", lambda: Edge(-1)),
    ):
        if source.startswith(prefix):
            return make()
    for prefix, largest in (("_top_", True), ("_bottom_", False)):
        if source.startswith(prefix):
            return Ranked(rank_of(source, prefix), largest, order)
    raise CouchError(400, "invalid_design_doc", f"`{source}` is not a supported reduce function.")


def rank_of(source: str, prefix: str) -> int:
    text = source[len(prefix) :]
    if not text.isdigit():
        raise CouchError(400, "invalid_design_doc", "invalid rank reducer")
    if not 1 <= int(text) <= MAX_RANK:
        raise CouchError(400, "invalid_design_doc", f"rank value must be between 1 and {MAX_RANK}")
    return int(text)
