"""Deliveries of suppliers, for staff."""

from typing import Any

from flask import Response

from services.products.actions import supplier_deliveries as act
from services.products.resources.context import dependencies
from services.products.schemas import supplier_deliveries as schemas
from shared.clock import timestamp
from shared.couch.deadline import time_limit
from shared.web import (
    Blueprint,
    PageArgs,
    audited,
    idempotent,
    json_answer,
    kept_id,
    list_answer,
    require_role,
    unsign,
)

SECONDS = 60

supplier_deliveries = Blueprint(
    "supplier deliveries",
    __name__,
    url_prefix="/v1/admin/supplier-deliveries",
    description="Goods that suppliers are to bring, and what came",
)


@supplier_deliveries.get("")
@require_role("admin", "staff")
@supplier_deliveries.arguments(PageArgs, location="query")
@supplier_deliveries.response(200, schemas.Deliveries)
@supplier_deliveries.alt_response(400, "BAD_REQUEST")
def deliveries(args: dict[str, Any]) -> Response:
    """All deliveries, the newest first"""
    bound = "supplier-deliveries"
    page = dependencies().supplier_deliveries.page(args["limit"], unsign(args["cursor"], bound))
    return json_answer(list_answer([each.answer() for each in page.items], page.next, bound))


@supplier_deliveries.post("")
@require_role("admin", "staff")
@idempotent
@supplier_deliveries.arguments(schemas.DeliveryContent)
@supplier_deliveries.response(201, schemas.Delivery)
@audited("expect delivery", "", "items")
def expect(content: dict[str, Any]) -> Response:
    """Write down what is to come"""
    found = act.expect(dependencies(), kept_id(), content, timestamp())
    headers = {"Location": f"/v1/admin/supplier-deliveries/{found.deliveryid}"}
    return json_answer(found.answer(), 201, headers=headers)


@supplier_deliveries.get("/<deliveryid>")
@require_role("admin", "staff")
@supplier_deliveries.response(200, schemas.Delivery)
@supplier_deliveries.alt_response(404, "NOT_FOUND")
def read(deliveryid: str) -> Response:
    """A delivery and what came of it"""
    return json_answer(act.get(dependencies(), deliveryid).answer())


@supplier_deliveries.post("/<deliveryid>/receipts")
@require_role("admin", "staff")
@idempotent
@supplier_deliveries.arguments(schemas.ReceiptContent)
@supplier_deliveries.response(201, schemas.Delivery)
@supplier_deliveries.alt_response(404, "NOT_FOUND")
@supplier_deliveries.alt_response(409, "CONFLICT")
@time_limit(SECONDS)
@audited("receive delivery", "deliveryid", "number", "items", "complete")
def receive(content: dict[str, Any], deliveryid: str) -> Response:
    """What came goes into stock; `number` is the receipt's, so that two people do not receive the same goods"""
    found = act.receive(
        dependencies().bulk,
        deliveryid,
        content["number"],
        content["items"],
        timestamp(),
        complete=content["complete"],
    )
    return json_answer(found.answer(), 201)
