"""The first page of the desk: sales as a chart and a table, best sellers, the latest orders."""

from datetime import UTC, date, datetime, timedelta

from flask import Response, render_template, request

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token
from services.storefront.rules import charts, periods
from services.storefront.translation import gettext as _
from shared.errors import Invalid
from shared.types import Json


@desk.get("")
def sales() -> str:
    today = datetime.now(UTC).date()
    problem = ""
    try:
        span = periods.span(request.args.get("by"), request.args.get("from"), request.args.get("to"), today)
    except Invalid as error:
        problem = forms.error_text(error)
        span = periods.span(None, None, None, today)
    access, orders = token(), services().orders
    found = services().together(
        sales=lambda: orders.sales(access, by=span.by, from_=span.start, to=span.end),
        best=lambda: orders.best_sellers(access, from_=span.start, to=span.end, limit=8),
        compared=lambda: orders.comparison(access, from_=span.start, to=span.end),
        latest=lambda: orders.all(access, limit=8),
    )
    groups = sales_groups(found["sales"])
    currency = request.args.get("currency", "")
    currency = currency if currency in groups or not groups else next(iter(groups))
    rows, total = groups.get(currency, ([], None))
    chart = charts.sales_chart(charts.filled(span.periods(), rows, currency), currency) if rows else None
    return render_template(
        "desk/sales.html",
        span=span,
        problem=problem,
        by=periods.GRANULARITIES,
        chart=chart,
        rows=rows,
        total=total,
        currency=currency,
        currencies=list(groups),
        compared=next((each for each in found["compared"] if each["currency"] == currency), None),
        best=found["best"]["rows"],
        latest=found["latest"]["items"],
        label=periods.label,
        step_label=periods.step_label,
        quick=quick_ranges(today),
    )


@desk.get("/sales.csv")
def sales_csv() -> Response:
    return _csv("sales", "sales", by=request.args.get("by", "day"), currency=request.args.get("currency"))


@desk.get("/best-sellers.csv")
def best_sellers_csv() -> Response:
    return _csv("best-sellers", "best-sellers", limit=100)


def _csv(report: str, name: str, **more: str | int | None) -> Response:
    span = periods.span(
        request.args.get("by"), request.args.get("from"), request.args.get("to"), datetime.now(UTC).date()
    )
    answer = services().orders.csv(token(), report, from_=span.start, to=span.end, **more)
    headers = {"Content-Disposition": f'attachment; filename="{name}-{span.first}-{span.last}.csv"'}
    return Response(answer.body, mimetype="text/csv", headers=headers)


def sales_groups(answer: Json) -> dict[str, tuple[list[charts.Row], Json]]:
    """A sales report of all currencies as {currency: (rows, total)}."""
    return {
        group["currency"]: ([row_of(row) for row in group["rows"]], group["total"])
        for group in answer["groups"]
        if group["rows"]
    }


def row_of(row: Json) -> charts.Row:
    return charts.Row(row["period"], row["orders"], row["gross"], row["refunds"], row["net"])


def quick_ranges(today: date) -> list[tuple[str, str]]:
    """(words, query) of the ranges people ask for most."""
    month, year = today.replace(day=1), today.replace(month=1, day=1)
    before = (month - timedelta(days=1)).replace(day=1)
    return [
        (_("Today"), f"?by=hour&from={today}&to={today}"),
        (_("Last 30 days"), f"?by=day&from={today - timedelta(days=29)}&to={today}"),
        (_("Last month"), f"?by=day&from={before}&to={month - timedelta(days=1)}"),
        (_("This year"), f"?by=month&from={year}&to={today}"),
    ]
