"""Staff and labels: buy them for parcels that go out, hand these over, cancel what is not used."""

from typing import Any

from flask import Response

from services.orders.actions import parcel_labels, reading
from services.orders.resources.context import dependencies
from services.orders.resources.requester import actor, order_response
from services.orders.rules.parcel_labels import label_answer
from services.orders.schemas import answers, requests
from shared.couch.deadline import time_limit
from shared.web import Blueprint, audited, json_answer, require_role
from shared.web.idempotency import OPTIONAL_KEY, keyed_request

labels = Blueprint(
    "labels", __name__, url_prefix="/v1/admin/orders", description="Labels for parcels that go out"
)

LABEL_SECONDS = 20.0
"""Carriers take seconds to sell a label."""
LABEL = "/<string:orderid>/labels/<string:number>"


@labels.post("/<string:orderid>/labels")
@require_role("admin", "staff")
@labels.doc(parameters=[OPTIONAL_KEY])
@labels.arguments(requests.ParcelLabelRequest, required=False)
@labels.response(201, answers.ParcelLabel)
@labels.alt_response(404, "NOT_FOUND")
@labels.alt_response(409, "CONFLICT")
@audited("buy parcel label", "orderid", "items", "weight_grams", "cheapest")
@time_limit(LABEL_SECONDS)
def buy_parcel_label(body: dict[str, Any], orderid: str) -> Response:
    """Buy a label for a parcel, by the service that the customer has chosen, else the cheapest; bought once for the same key"""
    deps = dependencies()
    found = reading.any_order(deps, orderid)
    request = keyed_request([orderid, body])
    _, label = parcel_labels.buy_parcel_label(deps, found, body, request, actor())
    return json_answer(label_answer(label), 201)


@labels.post(f"{LABEL}/dispatch")
@require_role("admin", "staff")
@labels.doc(parameters=[OPTIONAL_KEY])
@labels.response(201, answers.Order)
@labels.alt_response(404, "NOT_FOUND")
@labels.alt_response(409, "CONFLICT")
@audited("dispatch order", "orderid", "number")
def dispatch_label(orderid: str, number: str) -> Response:
    """Hand over the parcel of a label: courier, tracking number and link are the label's; twice is once"""
    deps = dependencies()
    found = reading.any_order(deps, orderid)
    return order_response(parcel_labels.dispatch_label(deps, found, number, actor()), 201)


@labels.post(f"{LABEL}/cancellation")
@require_role("admin", "staff")
@labels.doc(parameters=[OPTIONAL_KEY])
@labels.response(201, answers.ParcelLabel)
@labels.alt_response(404, "NOT_FOUND")
@labels.alt_response(409, "CONFLICT")
@audited("cancel parcel label", "orderid", "number")
def cancel_label(orderid: str, number: str) -> Response:
    """No parcel leaves with it: its goods can have another label, and its money is asked back a minute later"""
    deps = dependencies()
    found = reading.any_order(deps, orderid)
    return json_answer(label_answer(parcel_labels.cancel_label(deps, found, number, actor())[1]), 201)
