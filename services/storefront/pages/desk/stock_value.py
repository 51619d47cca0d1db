"""What the goods in stock cost to buy: by department, or by each category, and as a file."""

from typing import Final

from flask import Response, render_template, request

from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token

DEPARTMENTS: Final = "1"


@desk.get("/stock-value")
def stock_value() -> str:
    """With `by=category` a row for each category, else one for each department."""
    report = services().products.stock_value(token(), depth=_depth())
    return render_template("desk/stock_value.html", report=report, by_department=bool(_depth()))


@desk.get("/stock-value.csv")
def stock_value_csv() -> Response:
    answer = services().products.stock_value_csv(token(), depth=_depth())
    headers = {"Content-Disposition": 'attachment; filename="stock-value.csv"'}
    return Response(answer.body, mimetype="text/csv", headers=headers)


def _depth() -> str:
    """As the API takes it; empty: all levels."""
    return "" if request.args.get("by") == "category" else DEPARTMENTS
