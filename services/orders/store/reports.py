"""Reads of what was sold (O5, O6, O8) and the report documents. Each report is one global query, however many orders there are."""

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar, cast

from services.orders.declarations.reports import (
    Closing,
    DailyFigures,
    ReportPart,
    ReportRequest,
    ReportResult,
)
from services.orders.documents import (
    BEST_SELLERS,
    COMPARISON,
    DAILY_FIGURES,
    DESIGN,
    FULFILMENT,
    REPORTS,
    SALES,
    TAX,
    report_key,
    report_partition,
)
from services.orders.rules.periods import LEVELS, Span
from services.orders.rules.report_documents import ReportDocuments
from shared.couch import HIGHEST_KEY, Database, Page, UpdateConflict, View, quorum
from shared.tracing import outgoing

Rows = list[dict[str, Any]]
D = TypeVar("D", ReportRequest, ReportPart, ReportResult, Closing, DailyFigures)


class ReportStore:
    """The orders database as sales."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sales(self, by: str, span: Span, *, allow_stale: bool = False) -> Rows:
        """O5: key [y, m, d, h] cut to `by`, value {currency: [orders, units, gross, refunds]}. 1 global query."""
        start, end = span.first_key(), span.last_key()
        return self._database.across_partitions.view(
            SALES, start=start, end=end, group_level=LEVELS[by], allow_stale=allow_stale
        )

    def catch_up(self, *views: View) -> None:
        """Has the server bring all views up to date, one after the other, so that no reader waits for it; or the named ones, for which the
        caller waits: they are asked at the same time, and minicouch builds them before the others."""
        if not views:
            for each in DESIGN.patterns:
                if isinstance(each, View) and not each.partitioned:
                    self._read_one(each)
            return
        with ThreadPoolExecutor(len(views)) as pool:
            for answer in [pool.submit(copy_context().run, self._read_one, view) for view in views]:
                answer.result()

    def _read_one(self, view: View) -> None:
        self._database.across_partitions.view(view, limit=1, reduce=False if view.reduce else None)

    def best_sellers(self, level: str, span: Span, *, allow_stale: bool = False) -> Rows:
        """O6: key [level, ...period, currency, productid, name, sku or ""], value [units, amount]. 1 global query."""
        return self._by_level(BEST_SELLERS, level, span, allow_stale)

    def tax(self, level: str, span: Span, *, allow_stale: bool = False) -> Rows:
        """O9: key [level, ...period, country, region, name, rate, currency], value [base, amount]. 1 global query."""
        return self._by_level(TAX, level, span, allow_stale)

    def _by_level(self, view: View, level: str, span: Span, allow_stale: bool) -> Rows:
        """Rows of a view that counts each row by all time, year, month and day."""
        depth = {"all": 0, "year": 1, "month": 2, "day": 3}[level]
        first = [level, *span.first_key()[:depth]]
        last = [level, *span.last_key()[:depth], HIGHEST_KEY]
        return self._database.across_partitions.view(
            view, start=first, end=last, group=True, allow_stale=allow_stale
        )

    def fulfilment(self, span: Span, *, allow_stale: bool = False) -> Rows:
        """Key [y, m, d, stage], value {sum, count, min, max}. 1 global query."""
        first, last = span.first_key()[:3], [*span.last_key()[:3], HIGHEST_KEY]
        return self._database.across_partitions.view(
            FULFILMENT, start=first, end=last, group=True, allow_stale=allow_stale
        )

    def comparison(self, span: Span, *, allow_stale: bool = False) -> Rows:
        """O16: key [y, m, d, currency], value as views/comparison.js adds it up. 1 global query."""
        first, last = span.first_key()[:3], [*span.last_key()[:3], HIGHEST_KEY]
        return self._database.across_partitions.view(
            COMPARISON, start=first, end=last, group=True, allow_stale=allow_stale
        )

    def reports(self, *, limit: int, cursor: str | None = None) -> Page:
        """O8: reports asked for and closings made, newest first. 1 global query."""
        return self._database.across_partitions.view_page(
            REPORTS, limit=limit, cursor=cursor, descending=True, allow_stale=True
        )

    def report(self, reportid: str) -> ReportDocuments:
        """O8: a report's documents. 1 partition query; on a cluster 1 read where there are none, for a list is one node's, which may lack what
        was just asked for or closed."""
        docs = self._database.partition(report_partition(reportid)).all()
        if not docs and not self._database.has_one_copy:
            first = [report_key(reportid, key) for key in ("request", "closing1")]
            docs = list(self._database.get_many(first).values())
        return ReportDocuments(docs)

    def daily_figures(self, day: str) -> list[DailyFigures]:
        """What was done to send the figures of a day. 1 partition query."""
        return DAILY_FIGURES.among(self._database.partition(report_partition(f"daily-{day}")).all())

    def claim(self, doc: DailyFigures) -> None:
        """1 write. Raises UpdateConflict when somebody else has it, Unavailable when too few nodes took it."""
        quorum.put(self._database, doc)

    def add(self, doc: D) -> D:
        """Writes a report document once; what is stored."""
        try:
            self._database.put({**doc, **outgoing()})
        except UpdateConflict:
            return cast(D, self._database.get(doc["_id"]))
        return doc
