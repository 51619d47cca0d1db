"""Gross margin: what was left of the sales of goods over their costs, drawn, as a table and as a file."""

from datetime import UTC, date, datetime

from flask import Response, render_template, request

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token
from services.storefront.rules import charts, periods, prices
from services.storefront.translation import gettext as _
from shared.errors import Invalid
from shared.types import Json

STEPS = ("day", "month", "year")


@desk.get("/margin")
def margin() -> str:
    problem = ""
    try:
        span = _span()
    except Invalid as error:
        problem, span = forms.error_text(error), periods.span("month", None, None, _today())
    report = services().orders.margin(token(), by=span.by, from_=span.start, to=span.end)
    totals = {total["currency"]: total for total in report["totals"]}
    currency = request.args.get("currency", "")
    currency = currency if currency in totals or not totals else next(iter(totals))
    rows = [row for row in report["rows"] if row["sales"]["currency"] == currency]
    drawn = charts.filled(span.periods(), [_drawn(row) for row in rows], currency) if rows else []
    return render_template(
        "desk/margin.html",
        span=span,
        problem=problem,
        by=STEPS,
        rows=rows,
        total=totals.get(currency),
        chart=charts.sales_chart(drawn, currency, _words) if drawn else None,
        currency=currency,
        currencies=list(totals),
        label=periods.label,
        step_label=periods.step_label,
    )


@desk.get("/margin.csv")
def margin_csv() -> Response:
    span, currency = _span(), request.args.get("currency")
    answer = services().orders.csv(
        token(), "margin", by=span.by, from_=span.start, to=span.end, currency=currency
    )
    headers = {"Content-Disposition": f'attachment; filename="margin-{span.first}-{span.last}.csv"'}
    return Response(answer.body, mimetype="text/csv", headers=headers)


def _span() -> periods.Span:
    """Raises Invalid."""
    by = request.args.get("by") or "month"
    if by not in STEPS:
        raise Invalid(errors={"by": [_("Choose one of the list.")]})
    return periods.span(by, request.args.get("from"), request.args.get("to"), _today())


def _drawn(row: Json) -> charts.Row:
    """The margin before the sales that it is of."""
    return charts.Row(row["period"], row["known_units"], row["known_sales"], row["cost"], row["margin"])


def _words(row: charts.Row) -> str:
    return _(
        "%(period)s: %(margin)s of %(sales)s",
        period=periods.label(row.period),
        margin=prices.shown(row.net),
        sales=prices.shown(row.gross),
    )


def _today() -> date:
    return datetime.now(UTC).date()
