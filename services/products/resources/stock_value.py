"""What the stock is worth, for staff: as JSON and as CSV."""

import csv
import io
from typing import Any

from flask import Response, request

from services.products.resources.context import dependencies
from services.products.rules.stock_value import Row, stock_value
from services.products.schemas import stock_value as schemas
from shared.csv_cells import escape_formula
from shared.money import major
from shared.web import Blueprint, json_answer, require_role, text_content

stock_values = Blueprint("stock value", __name__, description="For staff")

JSON, CSV = "application/json", "text/csv"
_COLUMNS = ("category", "units", "units_valued", "value", "currency")


@stock_values.get("/v1/products/stock-value")
@require_role("admin", "staff")
@stock_values.arguments(schemas.StockValueArgs, location="query")
@stock_values.doc(responses={200: {"content": text_content(CSV)}})
@stock_values.response(200, schemas.StockValue)
def value(args: dict[str, Any]) -> Response:
    """What the goods in stock cost to buy, by category, as far as their cost prices are known: one global query"""
    report = stock_value(dependencies().catalogue.stock_value(args["depth"]), args["currency"])
    if request.accept_mimetypes.best_match([JSON, CSV], JSON) == CSV:
        headers = {"Content-Disposition": "attachment; filename=stock-value.csv"}
        return Response(_as_csv(report["rows"]), mimetype=CSV, headers=headers)
    return json_answer(report)


def _as_csv(rows: list[Row]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for row in rows:
        cells = (escape_formula(row["category"]), row["units"], row["units_valued"])
        writer.writerow([*cells, major(row["value"]), row["value"]["currency"]])
    return out.getvalue()
