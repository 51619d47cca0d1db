"""What admins do to products, prices and stock."""

from collections.abc import Sequence
from typing import Any

from flask import Response, request

from services.products.actions import catalogue, maintenance
from services.products.actions import stock as stock_acts
from services.products.actions.invalidation import invalidate_pages
from services.products.declarations.stock import Movement
from services.products.resources.context import dependencies, price_context
from services.products.rules.ledger import Line
from services.products.rules.product import Checked, listed, public_json
from services.products.schemas import answers, requests
from shared.clock import timestamp
from shared.couch import Document, time_ordered_id
from shared.web import (
    Blueprint,
    audited,
    current_user,
    idempotent,
    idempotent_id,
    if_match_header,
    json_answer,
    json_bytes,
    list_answer,
    nothing,
    require_role,
    unsign,
)

admin = Blueprint("admin", __name__, description="For admins and staff")

_PRICE_CHANGE = ("date", "before", "after", "sku", "kind", "group", "sale_from", "sale_until", "by")
_CONTENT = ("status", "price", "prices", "taxonomy")
_IF_MATCH = if_match_header("the ETag that was read; stock and rating do not count")


@admin.post("/v1/products")
@require_role("admin")
@idempotent
@admin.arguments(requests.ProductContent)
@admin.response(201, answers.Product)
@admin.alt_response(409, "CONFLICT")
@audited("create product", "productid", *_CONTENT)
def create(product: Checked) -> Response:
    """A new product"""
    doc = catalogue.create(dependencies(), product, timestamp(), idempotent_id())
    body, tag = public_json(doc, price_context())
    return json_bytes(body, 201, etag=tag, headers={"Location": f"/v1/products/{doc['productid']}"})


@admin.put("/v1/products/<productid>")
@require_role("admin")
@admin.arguments(requests.ProductContent)
@admin.response(200, answers.Product)
@admin.alt_response(404, "NOT_FOUND")
@admin.alt_response(409, "CONFLICT")
@admin.alt_response(412, "PRECONDITION_FAILED")
@admin.doc(parameters=[_IF_MATCH])
@audited("change product", "productid", *_CONTENT)
def replace(product: Checked, productid: str) -> Response:
    """New content; another taxonomy moves the product"""
    if_match = request.headers.get("If-Match")
    doc = catalogue.replace(dependencies(), productid, product, if_match, timestamp(), current_user().userid)
    body, tag = public_json(doc, price_context())
    return json_bytes(body, etag=tag)


@admin.delete("/v1/products/<productid>")
@require_role("admin")
@admin.response(204)
@admin.alt_response(404, "NOT_FOUND")
@admin.alt_response(412, "PRECONDITION_FAILED")
@admin.doc(parameters=[_IF_MATCH])
@audited("delete product", "productid")
def delete(productid: str) -> Response:
    """Delete a product"""
    catalogue.remove(dependencies(), productid, request.headers.get("If-Match"), timestamp())
    return nothing()


@admin.post("/v1/products/<productid>/stock")
@require_role("admin", "staff")
@idempotent
@admin.arguments(requests.StockChange)
@admin.response(201, answers.Stock)
@admin.alt_response(404, "NOT_FOUND")
@admin.alt_response(409, "CONFLICT")
@audited("change stock", "productid", "sku", "delta")
def change_stock(change: dict[str, Any], productid: str) -> Response:
    """Goods come in or are written off; `sku` says of which variant, unless the path does"""
    product = catalogue.current_one(dependencies(), productid)
    line = stock_acts.line_for(product, productid, change["sku"])
    mark = idempotent_id() or time_ordered_id()
    movement = stock_acts.adjust(dependencies(), line, change["delta"], change["reason"], mark, timestamp())
    maintenance.refresh_stock(dependencies(), {product["_id"]: [line]})
    invalidate_pages(dependencies(), [product])
    return json_answer(_counted(line, movement["level"], [movement]), 201)


@admin.get("/v1/products/<productid>/stock")
@require_role("admin", "staff")
@admin.arguments(requests.StockArgs, location="query")
@admin.response(200, answers.Stock)
@admin.alt_response(404, "NOT_FOUND")
def stock(args: dict[str, Any], productid: str) -> Response:
    """The exact level and the last hundred movements; `sku` says of which variant, unless the path does"""
    product = catalogue.current_one(dependencies(), productid)
    line = stock_acts.line_for(product, productid, args["sku"])
    line, head = dependencies().ledger.known_end(line)
    return json_answer(_counted(line, head.level, dependencies().ledger.movements(line, 100)))


@admin.get("/v1/products/<productid>/prices")
@require_role("admin", "staff")
@admin.response(200, answers.PriceHistory)
@admin.alt_response(404, "NOT_FOUND")
def prices(productid: str) -> Response:
    """The price changes of a product and its variants, the newest first, and who made them"""
    product = catalogue.finish_moves(dependencies(), productid, timestamp())
    changes = dependencies().catalogue.price_history(product["taxonomy"], product["productid"])
    items = [_picked(each, *_PRICE_CHANGE) for each in changes]
    return json_answer({"items": items, "next": None})


@admin.get("/v1/products/low-stock")
@require_role("admin", "staff")
@admin.arguments(requests.LowStockArgs, location="query")
@admin.response(200, answers.ProductList)
@admin.alt_response(400, "BAD_REQUEST")
def low_stock(args: dict[str, Any]) -> Response:
    """Products of which few are left, the fewest first"""
    most = dependencies().settings.low_stock if args["most"] is None else args["most"]
    bound = ["low-stock", most]
    page = dependencies().catalogue.low_stock(most, args["limit"], unsign(args["cursor"], bound))
    context = price_context()
    return json_answer(list_answer([listed(doc, context) for doc in page.items], page.next, bound))


def _counted(line: Line, level: int, movements: Sequence[Movement]) -> dict[str, Any]:
    variant = {"sku": line.sku} if line.sku else {}
    names = ("slot", "delta", "level", "reason", "note", "orderid", "date")
    shown = [_picked(each, *names) for each in movements]
    return {"productid": line.productid, **variant, "stock": max(level, 0), "movements": shown}


def _picked(doc: Document, *names: str) -> dict[str, Any]:
    return {name: doc[name] for name in names if name in doc}
