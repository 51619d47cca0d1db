"""For staff: what the shop does not show, and many products changed at once."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from flask import Response

from services.products.actions import bulk_edit as edits
from services.products.actions import publishing, stock_changes
from services.products.actions.stock_changes import StockChange
from services.products.resources.context import dependencies, price_context
from services.products.rules.bulk_edit import BulkEdit
from services.products.rules.product import listed
from services.products.rules.publishing import status_of
from services.products.schemas import answers, requests
from shared.clock import timestamp
from shared.couch import time_ordered_id
from shared.couch.deadline import time_limit
from shared.errors import Invalid
from shared.web import (
    Blueprint,
    audited,
    current_user,
    idempotent,
    idempotent_id,
    json_answer,
    list_answer,
    require_role,
    unsign,
)

bulk = Blueprint("products for staff", __name__, url_prefix="/v1/admin/products", description="For staff")

SECONDS = 60
_EDITED = ("status", "publish_from", "taxonomy", "price_percent", "stock_delta")


def _skus(sent: Mapping[str, Any]) -> list[str]:
    return [str(change["sku"]) for change in sent["changes"]]


@bulk.get("")
@require_role("admin", "staff")
@bulk.arguments(requests.UnpublishedArgs, location="query")
@bulk.response(200, answers.ProductList)
@bulk.alt_response(400, "BAD_REQUEST")
def unpublished(args: dict[str, Any]) -> Response:
    """Products that the shop does not show, by name; `q`: beginnings of words of name, brand, productid or SKU"""
    bound = ["unpublished", args["status"], args["q"]]
    page = publishing.unpublished(
        dependencies(), args["status"], args["q"], args["limit"], unsign(args["cursor"], bound)
    )
    items = [listed(doc, price_context()) | {"status": status_of(doc)} for doc in page.items]
    return json_answer(list_answer(items, page.next, bound))


@bulk.post("/bulk-edit")
@require_role("admin")
@idempotent
@bulk.arguments(requests.BulkEditContent)
@bulk.response(200, answers.BulkEditReport)
@time_limit(SECONDS)
@audited("change products", itemgetter("productids"), *_EDITED)
def edit(body: dict[str, Any]) -> Response:
    """One change to many products, each as a whole or not at all; with an Idempotency-Key it is sent again after a break, and changes nothing twice"""
    edit = BulkEdit(
        key=idempotent_id() or time_ordered_id(),
        status=body["status"],
        publish_from=body["publish_from"],
        taxonomy=body["taxonomy"],
        price_change=_basis_points(body["price_percent"]),
        stock_delta=body["stock_delta"],
        reason=body["reason"],
        by=current_user().userid,
    )
    if edit.changes_content == bool(edit.stock_delta):
        raise Invalid("Say what to change: either the stock, or something else of the products.")
    report = edits.bulk_edit(dependencies().bulk, body["productids"], edit, timestamp())
    return json_answer(report.answer())


@bulk.post("/stock")
@require_role("admin", "staff")
@idempotent
@bulk.arguments(requests.StockChanges)
@bulk.response(200, answers.StockReport)
@time_limit(SECONDS)
@audited("change stock", _skus, "changes")
def change_stocks(body: dict[str, Any]) -> Response:
    """The stock of many products and variants by SKU: what came in or went out, or how many were counted"""
    changes = [StockChange(**each) for each in body["changes"]]
    key = idempotent_id() or time_ordered_id()
    report = stock_changes.change_stocks(dependencies(), changes, body["reason"], key, timestamp())
    return json_answer(report.answer())


def _basis_points(percent: float | None) -> int | None:
    if percent is None:
        return None
    points = round(percent * 100)
    if abs(points - percent * 100) > 1e-6:
        raise Invalid("Two decimals at most.", errors={"price_percent": ["Two decimals at most."]})
    return points
