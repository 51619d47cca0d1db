"""Reports: read from `_sum` views in one query each, or computed by the worker and stored as immutable documents."""

from datetime import datetime
from typing import Any

from services.orders.declarations.reports import Closing, ReportRequest
from services.orders.dependencies import Dependencies
from services.orders.documents import CLOSING, REPORT_PART, REPORT_REQUEST, REPORT_RESULT, report_key
from services.orders.rules import reports as shape
from services.orders.rules.comparison import comparison_report, customers_report, margin_report
from services.orders.rules.periods import (
    MAX_MONTHS,
    Span,
    closed_period,
    coarsest,
    months_between,
    recently_ended,
    span,
)
from services.orders.rules.report_documents import ReportDocuments
from shared.clock import iso, now, parse, timestamp
from shared.couch import Document, Page, time_ordered_id
from shared.errors import Invalid, NotFound
from shared.idempotency import check_same, fingerprint_of

MAX_BEST_SELLERS = 1000


class NoSuchReport(NotFound):
    code, title = "no_such_report", "There is no such report"


def sales(
    deps: Dependencies, by: str, within: Span, currency: str | None = None, *, allow_stale: bool = True
) -> dict[str, Any]:
    """O5. 1 global query, whatever the number of orders. What is stored of it must not be stale."""
    return shape.sales_report(deps.reports.sales(by, within, allow_stale=allow_stale), currency)


def best_sellers(
    deps: Dependencies, within: Span, limit: int, by: str = "product", *, allow_stale: bool = True
) -> list[dict[str, Any]]:
    """O6, by product or by SKU. 1 global query."""
    rows = deps.reports.best_sellers(coarsest(within), within, allow_stale=allow_stale)
    return shape.best_sellers(rows, limit, by)


def tax(deps: Dependencies, within: Span) -> list[dict[str, Any]]:
    """O9: what was taken for whom, payments less refunds. 1 global query."""
    return shape.tax_report(deps.reports.tax(coarsest(within), within, allow_stale=True))


def comparison(deps: Dependencies, within: Span) -> dict[str, Any]:
    """O16: whole days and as many before them, by currency. 1 global query for both."""
    rows, start, end = _compared(deps, within)
    return {"from": iso(start), "to": iso(end), "rows": comparison_report(rows, start.date())}


def customers(deps: Dependencies, within: Span) -> dict[str, Any]:
    """O16: what new and returning customers brought, by month, beside as many days before. 1 global query."""
    rows, start, end = _compared(deps, within)
    return {"from": iso(start), "to": iso(end), **customers_report(rows, start.date())}


def margin(deps: Dependencies, by: str, within: Span, currency: str | None = None) -> dict[str, Any]:
    """O16: what was left of the sales of goods over their costs, by whole days. 1 global query. Raises Invalid."""
    coarsest(within)
    return margin_report(deps.reports.comparison(within, allow_stale=True), by, currency)


def _compared(deps: Dependencies, within: Span) -> tuple[list[dict[str, Any]], datetime, datetime]:
    """By day from as many days before the span on, and its edges. Raises Invalid."""
    start, end = within.closed()
    if any((edge.hour, edge.minute, edge.second) != (0, 0, 0) for edge in (start, end)):
        raise Invalid("Whole days are compared.", errors={"from": ["A day."], "to": ["A day."]})
    try:
        days_before = start - (end - start)
    except OverflowError:
        words = "There are not as many days before."
        raise Invalid(words, errors={"from": [words]}) from None
    return deps.reports.comparison(Span(days_before, end), allow_stale=True), start, end


def fulfilment(deps: Dependencies, within: Span, *, allow_stale: bool = True) -> list[dict[str, Any]]:
    """Average times from payment to dispatch and from there to delivery. 1 global query."""
    return shape.fulfilment_report(deps.reports.fulfilment(within, allow_stale=allow_stale))


def list_reports(deps: Dependencies, limit: int, cursor: str | None) -> Page:
    """O8: what was requested and what was closed, newest first."""
    page = deps.reports.reports(limit=limit, cursor=cursor)
    return Page([{**_listed(row["value"]), "date": row["key"]} for row in page.items], page.next)


def _listed(report: dict[str, Any]) -> dict[str, Any]:
    closed = report["type"] == "closing"
    return report | {"kind": f"closing-{report['kind']}"} if closed else report


def request_report(deps: Dependencies, requested: dict[str, Any], key: str | None) -> str:
    """Writes the request; the changes feed carries it to the worker. The report's id."""
    within = _closed_span(requested)
    reportid = f"asked-{key or time_ordered_id()}"
    start, end = within.as_text()
    request = REPORT_REQUEST.build(
        report_key(reportid, "request"),
        reportid=reportid,
        kind=requested["kind"],
        by=requested["by"],
        start=start,
        end=end,
        currency=requested.get("currency"),
        date=timestamp(),
    )
    stored = deps.reports.add(request)
    check_same(fingerprint_of(_request_fields(stored)), fingerprint_of(_request_fields(request)))
    return reportid


def compute_report(deps: Dependencies, reportid: str) -> None:
    """The job: part by part, each part a document, so that a killed worker goes on where it was."""
    found = deps.reports.report(reportid)
    request = found.request
    if request is None or found.result is not None:
        return
    rows = _computed_parts(deps, request, found)
    result = (
        shape.sales_from_rows(shape.add_reports(rows)) if request["kind"] == "sales" else {"rows": rows[0]}
    )
    doc = REPORT_RESULT.build(
        report_key(reportid, "result"), reportid=reportid, status="done", result=result, date=timestamp()
    )
    deps.reports.add(doc)


def read_report(deps: Dependencies, reportid: str) -> dict[str, Any]:
    """A report and how far it is; of a closing also what the live view says today. Raises NoSuchReport."""
    found = deps.reports.report(reportid)
    if found.request is not None:
        return _requested(found.request, found)
    if not found.closings:
        raise NoSuchReport("No report has this id.")
    return closed_report(deps, found.closings)


def close_period(deps: Dependencies, kind: str, period: str) -> list[Closing]:
    """Closes a day or month that is over; all its closings. Closed before: a new closing only if the sales have changed since."""
    within = closed_period(kind, period)
    if within.closed()[1] > now():
        raise Invalid(f"{period} is not over yet.", errors={"period": ["Not over yet."]})
    reportid = f"{kind}-{period}"
    groups = sales(deps, "day" if kind == "month" else "hour", within, allow_stale=False)["groups"]
    closings = deps.reports.report(reportid).closings
    if closings and closings[-1]["groups"] == groups:
        return closings
    number, (start, end) = len(closings) + 1, within.as_text()
    doc = CLOSING.build(
        report_key(reportid, f"closing{number}"),
        reportid=reportid,
        kind=kind,
        period=period,
        number=number,
        start=start,
        end=end,
        groups=groups,
        date=timestamp(),
    )
    return [*closings, deps.reports.add(doc)]


def close_ended_periods(deps: Dependencies) -> None:
    """Closes the last days and month, also those that a worker was not there for; what is closed already and has not changed stays."""
    for kind, period in recently_ended(now()):
        close_period(deps, kind, period)


def _request_fields(request: ReportRequest) -> dict[str, Any]:
    stored: Document = request
    return {name: stored[name] for name in ("kind", "by", "start", "end", "currency")}


def _closed_span(requested: dict[str, Any]) -> Span:
    within = span(requested["start"], requested["end"])
    if within.start is None or within.end is None:
        raise Invalid("Say from when to when.", errors={"from": ["Needed."], "to": ["Needed."]})
    if requested["kind"] == "best-sellers":
        coarsest(within)
    if len(_parts_of(requested, within)) > MAX_MONTHS:
        raise Invalid(
            f"By {requested['by']} a report covers {MAX_MONTHS // 12} years at most; ask for it by year, or for less.",
            errors={"from": ["Too long before to."]},
        )
    return within


def _parts_of(requested: Document, within: Span) -> list[Span]:
    """Sales by the month and finer are computed month by month."""
    by_month = requested["kind"] == "sales" and requested["by"] not in ("total", "year")
    return months_between(within) if by_month else [within]


def _computed_parts(
    deps: Dependencies, request: ReportRequest, found: ReportDocuments
) -> list[list[dict[str, Any]]]:
    """The rows of each part; those that are not stored yet are computed and stored."""
    spans = _parts_of(request, Span(parse(request["start"]), parse(request["end"])))
    rows = []
    for number, part in enumerate(spans, 1):
        stored = found.parts.get(number) or deps.reports.add(
            REPORT_PART.build(
                report_key(request["reportid"], f"part{number:04d}"),
                reportid=request["reportid"],
                number=number,
                parts=len(spans),
                rows=_rows(deps, request, part),
                date=timestamp(),
            )
        )
        rows.append(stored["rows"])
    return rows


def _rows(deps: Dependencies, request: ReportRequest, part: Span) -> list[dict[str, Any]]:
    if request["kind"] == "sales":
        rows: list[dict[str, Any]] = sales(deps, request["by"], part, request["currency"], allow_stale=False)[
            "rows"
        ]
        return rows
    if request["kind"] == "best-sellers":
        return best_sellers(deps, part, MAX_BEST_SELLERS, allow_stale=False)
    return fulfilment(deps, part, allow_stale=False)


def _requested(request: ReportRequest, found: ReportDocuments) -> dict[str, Any]:
    result, parts = found.result, list(found.parts.values())
    share = 1.0 if result else (len(parts) / (parts[0]["parts"] + 1) if parts else 0.0)
    return {
        "id": request["reportid"],
        "kind": request["kind"],
        "by": request["by"],
        "from": request["start"],
        "to": request["end"],
        "status": "done" if result else ("running" if parts else "queued"),
        "progress": round(share, 3),
        "date": request["date"],
        "result": result["result"] if result else None,
    }


def closed_report(deps: Dependencies, closings: list[Closing]) -> dict[str, Any]:
    """What the last of a period's closings says, and what the live view says today."""
    last = closings[-1]
    within = Span(parse(last["start"]), parse(last["end"]))
    live = sales(deps, "total", within)["groups"]
    changed = shape.difference(last["groups"], live)
    reason = "Payments or refunds dated in this period were written after it was closed." if changed else None
    return {
        "id": last["reportid"],
        "kind": f"closing-{last['kind']}",
        "by": "day" if last["kind"] == "month" else "hour",
        "from": last["start"],
        "to": last["end"],
        "status": "done",
        "progress": 1.0,
        "date": last["date"],
        "result": {
            **shape.sales_from_rows([row for group in last["groups"] for row in group["rows"]]),
            "closings": len(closings),
            "equals_live": not changed,
            "difference": changed,
            "reason": reason,
        },
    }
