"""What was sold: live reports as JSON, CSV and charts; computed reports and closings as documents."""

from collections.abc import Callable
from typing import Any

from flask import Response, request

from services.orders.actions import reports as act
from services.orders.resources.context import dependencies
from services.orders.rules.charts import Bar, bar_chart
from services.orders.rules.periods import span
from services.orders.rules.reports import as_csv
from services.orders.schemas import reports as schemas
from shared.couch.deadline import time_limit
from shared.money import Money, major
from shared.web import (
    Blueprint,
    PageArgs,
    Shape,
    audited,
    current_user,
    json_answer,
    list_answer,
    require_role,
    sent_again,
    text_content,
    unsign,
)
from shared.web.idempotency import OPTIONAL_KEY, request_key

reports = Blueprint("reports", __name__, url_prefix="/v1/admin/reports", description="What was sold")

JSON, CSV, SVG = "application/json", "text/csv", "image/svg+xml"
Handler = Callable[[dict[str, Any]], Response]
EXPORT_FORMATS = {200: {"content": text_content(CSV, SVG)}}


def _live_report(path: str, arguments: type[Shape], answer: type[Shape]) -> Callable[[Handler], Handler]:
    """A report that is computed as it is asked for: as JSON, CSV or a chart."""

    def decorate(handler: Handler) -> Handler:
        described = reports.response(200, answer)(
            reports.doc(responses=EXPORT_FORMATS)(time_limit(10)(handler))
        )
        checked = reports.arguments(arguments, location="query")(described)
        again = sent_again(lambda: (current_user(), request.headers.get("Accept")))(checked)
        return reports.get(path)(require_role("admin", "staff")(again))

    return decorate


def _money_bar(label: str, amount: Money, said: str = "") -> Bar:
    """`said`: what a reader of the picture is told in place of the label."""
    return Bar(label, float(major(amount)), f"{said or label}: {major(amount)} {amount['currency']}")


@_live_report("/sales", schemas.SalesArgs, schemas.SalesReport)
def sales(args: dict[str, Any]) -> Response:
    """Orders, units, gross, refunds and net by period and currency: one global query"""
    report = act.sales(dependencies(), args["by"], span(args["start"], args["end"]), args["currency"])
    bars = [_money_bar(row["period"], row["net"]) for row in report["rows"]]
    return _answered(report, report["rows"], f"Net sales by {args['by']}", bars)


@_live_report("/best-sellers", schemas.BestSellersArgs, schemas.BestSellers)
def best_sellers(args: dict[str, Any]) -> Response:
    """Products by units sold less returned: one global query"""
    rows = act.best_sellers(dependencies(), span(args["start"], args["end"]), args["limit"], args["by"])
    bars = [Bar(row["name"], row["units"], f"{row['name']}: {row['units']}") for row in rows]
    return _answered({"rows": rows}, rows, "Best sellers by units", bars)


@_live_report("/tax", schemas.SpanArgs, schemas.TaxReport)
def tax(args: dict[str, Any]) -> Response:
    """Tax by country, region and rate, payments less refunds, by whole days: one global query"""
    rows = act.tax(dependencies(), span(args["start"], args["end"]))
    bars = [
        _money_bar(f"{row['country']} {row['region']} {row['name']} {row['rate']:g} %", row["amount"])
        for row in rows
    ]
    return _answered({"rows": rows}, rows, "Tax", bars)


@reports.get("/comparison")
@require_role("admin", "staff")
@reports.arguments(schemas.SpanArgs, location="query")
@reports.response(200, schemas.Comparison)
def comparison(args: dict[str, Any]) -> Response:
    """Orders, discounts, tax, refunds and returns of whole days, beside as many days before them: one global query"""
    return json_answer(act.comparison(dependencies(), span(args["start"], args["end"])))


@_live_report("/customers", schemas.SpanArgs, schemas.CustomersReport)
def customers(args: dict[str, Any]) -> Response:
    """What new and returning customers brought by month, and in all beside as many days before; whole days: one global query"""
    report = act.customers(dependencies(), span(args["start"], args["end"]))
    bars = [
        _money_bar(f"{row['period']} {name}", row[gross], f"{row['period']}, {name} customers")
        for row in report["rows"]
        for name, gross in (("new", "new_gross"), ("returning", "returning_gross"))
    ]
    return _answered(report, report["rows"], "Gross by new and returning customers", bars)


@_live_report("/margin", schemas.MarginArgs, schemas.MarginReport)
def margin(args: dict[str, Any]) -> Response:
    """What was left of the sales of goods, without tax, over what these cost, as far as that is known; whole days: one global query"""
    report = act.margin(dependencies(), args["by"], span(args["start"], args["end"]), args["currency"])
    bars = [_money_bar(row["period"], row["margin"]) for row in report["rows"]]
    return _answered(report, report["rows"], f"Gross margin by {args['by']}", bars)


@_live_report("/fulfilment", schemas.SpanArgs, schemas.Fulfilment)
def fulfilment(args: dict[str, Any]) -> Response:
    """Average times from payment to dispatch to delivery, by days: one global query"""
    rows = act.fulfilment(dependencies(), span(args["start"], args["end"]))
    bars = [
        Bar(row["stage"], row["average_seconds"] or 0, f"{row['stage']}: {row['average_seconds']} seconds")
        for row in rows
    ]
    return _answered({"rows": rows}, rows, "Average seconds", bars)


@reports.get("")
@require_role("admin", "staff")
@reports.arguments(PageArgs, location="query")
@reports.response(200, schemas.ReportPage)
@reports.alt_response(400, "BAD_REQUEST")
def list_reports(args: dict[str, Any]) -> Response:
    """Reports requested and periods closed, newest first"""
    page = act.list_reports(dependencies(), args["limit"], unsign(args["cursor"], ["reports"]))
    return json_answer(list_answer(page.items, page.next, ["reports"]))


@reports.post("")
@require_role("admin", "staff")
@reports.doc(parameters=[OPTIONAL_KEY])
@reports.arguments(schemas.ReportRequest)
@reports.response(202, schemas.ReportCreated)
@audited("request report", "kind", "from", "to")
def request_report(body: dict[str, Any]) -> Response:
    """Have a report computed and stored by the worker"""
    reportid = act.request_report(dependencies(), body, request_key())
    return json_answer({"id": reportid}, 202, headers={"Location": f"/v1/admin/reports/{reportid}"})


@reports.post("/closings")
@require_role("admin")
@reports.doc(parameters=[OPTIONAL_KEY])
@reports.arguments(schemas.ClosingRequest)
@reports.response(201, schemas.Report)
@audited("close period", "period", "kind")
def close(body: dict[str, str]) -> Response:
    """Close a day or month now; the worker does it every night by itself"""
    deps = dependencies()
    closings = act.close_period(deps, body["kind"], body["period"])
    return json_answer(act.closed_report(deps, closings), 201)


@reports.get("/<string:reportid>")
@require_role("admin", "staff")
@reports.response(200, schemas.Report)
@reports.alt_response(404, "NOT_FOUND")
def get_report(reportid: str) -> Response:
    """A computed report with its progress, or a closing (`month-2026-11`) with how it compares to the sales as they are now"""
    return json_answer(act.read_report(dependencies(), reportid))


def _answered(body: dict[str, Any], rows: list[dict[str, Any]], title: str, bars: list[Bar]) -> Response:
    """JSON, CSV or a chart, whichever `Accept` prefers."""
    form = request.accept_mimetypes.best_match([JSON, CSV, SVG], JSON)
    if form == CSV:
        return Response(
            as_csv(rows), mimetype=CSV, headers={"Content-Disposition": "attachment; filename=report.csv"}
        )
    if form == SVG:
        return Response(bar_chart(title, bars), mimetype=SVG)
    return json_answer(body)
