"""What the filters of one category count, from values that are kept: no database call, or 1 partition query."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from services.products.dependencies import Dependencies
from services.products.rules.facets import Filters, count_facets, rows_of
from services.products.store.answer_cache import CachedAnswer, Computed
from services.products.store.catalogue import MAX_FILTER_ROWS
from shared.couch import StaleRows


class Counts(NamedTuple):
    """{"facets", "total"} of a list, and whether something has changed since they were counted."""

    values: dict[str, Any]
    outdated: bool


def counts_of_category(
    deps: Dependencies,
    category: Sequence[str],
    filters: Filters,
    facets: tuple[str, ...],
    *,
    allow_stale: bool,
) -> Counts | None:
    """As far as the filters leave the category; None when it has too many different products to count here."""

    def make() -> Computed:
        rows = deps.catalogue.filter_values(category)
        kept = rows_of(rows) if len(rows) <= MAX_FILTER_ROWS else None
        return Computed(orjson.dumps(kept), up_to_date=not isinstance(rows, StaleRows), empty=not rows)

    name = " ".join(["filters by currency", *deps.catalogue.groups])
    kept = deps.answer_cache.get(category, name, make, allow_stale=allow_stale)
    if filters.narrows:
        found = _counted(kept, filters, facets)
    else:
        question = facets, filters.currency, filters.group
        if question not in kept.results:
            kept.results[question] = _counted(kept, filters, facets)
        found = kept.results[question]
    return None if found is None else Counts(found, kept.outdated)


def _counted(kept: CachedAnswer, filters: Filters, facets: tuple[str, ...]) -> dict[str, Any] | None:
    rows = orjson.loads(kept.body)
    return None if rows is None else count_facets(rows, filters, facets)
