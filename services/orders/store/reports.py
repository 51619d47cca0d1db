"""Reads of what was sold (O5, O6, O8) and the report documents. Each report is one global query, however many orders there are."""

from typing import Any

from services.orders.documents import (
    BEST_SELLERS,
    DESIGN,
    FULFILMENT,
    REPORTS,
    SALES,
    report_key,
    report_partition,
)
from services.orders.rules.periods import LEVELS, Span
from shared.couch import AFTER_EVERYTHING, Database, Doc, Page, UpdateConflict, View
from shared.tracing import outgoing

Rows = list[dict[str, Any]]


class ReportStore:
    """The orders database as sales."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sales(self, by: str, span: Span, *, allow_stale: bool = False) -> Rows:
        """O5: key [y, m, d, h] cut to `by`, value {currency: [orders, units, gross, refunds]}. 1 global query."""
        bounds = {"start": span.first_key(), "end": span.last_key()}
        return self._database.across_partitions.view(
            SALES, **bounds, group_level=LEVELS[by], allow_stale=allow_stale
        )

    def catch_up(self, *views: View) -> None:
        """Has the server bring these views (all, unless named) up to date, so that no reader waits for it."""
        for view in views or tuple(pattern for pattern in DESIGN.patterns if isinstance(pattern, View)):
            self._database.across_partitions.view(view, limit=1, reduce=False if view.reduce else None)

    def best_sellers(self, level: str, span: Span, *, allow_stale: bool = False) -> Rows:
        """O6: key [level, ...period, currency, productid, name], value [units, amount]. 1 global query."""
        depth = {"all": 0, "year": 1, "month": 2, "day": 3}[level]
        first = [level, *span.first_key()[:depth]]
        last = [level, *span.last_key()[:depth], AFTER_EVERYTHING]
        return self._database.across_partitions.view(
            BEST_SELLERS, start=first, end=last, group=True, allow_stale=allow_stale
        )

    def fulfilment(self, span: Span, *, allow_stale: bool = False) -> Rows:
        """Key [y, m, d, stage], value {sum, count, min, max}. 1 global query."""
        first, last = span.first_key()[:3], [*span.last_key()[:3], AFTER_EVERYTHING]
        return self._database.across_partitions.view(
            FULFILMENT, start=first, end=last, group=True, allow_stale=allow_stale
        )

    def reports(self, *, limit: int, cursor: str | None = None) -> Page:
        """O8: reports asked for and closings made, newest first. 1 global query."""
        return self._database.across_partitions.view_page(
            REPORTS, limit=limit, cursor=cursor, descending=True, allow_stale=True
        )

    def report(self, reportid: str) -> dict[str, Doc]:
        """O8: a report's documents by their key in the partition. 1 partition query."""
        docs = self._database.partition(report_partition(reportid)).all()
        return {doc["_id"].partition(":")[2]: doc for doc in docs}

    def add(self, reportid: str, key: str, doc: Doc) -> Doc:
        """Writes a report document once; what is stored."""
        try:
            self._database.put({**doc, "_id": report_key(reportid, key)} | outgoing())
        except UpdateConflict:
            return self._database.get(report_key(reportid, key))
        return doc
