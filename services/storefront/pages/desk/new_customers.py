"""What customers brought with their first order, and those who came back: by month, beside the time before, and as a file."""

from datetime import UTC, date, datetime

from flask import Response, render_template, request

from services.storefront import forms
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token
from services.storefront.rules import periods
from shared.errors import Invalid


@desk.get("/new-customers")
def new_customers() -> str:
    problem = ""
    try:
        span = _span()
    except Invalid as error:
        problem, span = forms.error_text(error), periods.span("month", None, None, _today())
    report = services().orders.customers_report(token(), from_=span.start, to=span.end)
    return render_template(
        "desk/new_customers.html", report=report, span=span, problem=problem, label=periods.label
    )


@desk.get("/new-customers.csv")
def new_customers_csv() -> Response:
    span = _span()
    answer = services().orders.csv(token(), "customers", from_=span.start, to=span.end)
    name = f"customers-{span.first}-{span.last}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(answer.body, mimetype="text/csv", headers=headers)


def _span() -> periods.Span:
    """Raises Invalid."""
    return periods.span("month", request.args.get("from"), request.args.get("to"), _today())


def _today() -> date:
    return datetime.now(UTC).date()
