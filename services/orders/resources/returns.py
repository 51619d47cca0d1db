"""Staff and returns: approve or refuse what customers want to send back, receive the goods."""

from typing import Any

from flask import Response

from services.orders.actions import reading, return_labels, return_requests
from services.orders.declarations.labels import label_fields
from services.orders.resources.context import dependencies
from services.orders.resources.requester import actor, return_response
from services.orders.schemas import answers, requests
from shared.couch.deadline import time_limit
from shared.web import Blueprint, audited, json_answer, require_role
from shared.web.idempotency import OPTIONAL_KEY

returns = Blueprint("returns", __name__, url_prefix="/v1/admin/orders", description="Goods that come back")

LABEL_SECONDS = 20.0
"""Carriers take seconds to sell a label."""
RETURN = "/<string:orderid>/returns/<string:number>"


@returns.post(f"{RETURN}/approval")
@require_role("admin", "staff")
@returns.doc(parameters=[OPTIONAL_KEY])
@returns.arguments(requests.ReturnApproval, required=False)
@returns.response(201, answers.OrderReturn)
@returns.alt_response(404, "NOT_FOUND")
@returns.alt_response(409, "CONFLICT")
@audited("approve return", "orderid", "number", "exchange")
def approve(body: dict[str, Any], orderid: str, number: str) -> Response:
    """Let the customer send the goods; what is sent instead is kept in stock from now on. Nothing is paid back yet, unless the shop's settings say so"""
    deps, items = dependencies(), body.get("exchange")
    found = reading.any_order(deps, orderid)
    back = return_requests.approve_return(deps, found, number, actor(), items)
    return return_response(*back)


@returns.post(f"{RETURN}/refusal")
@require_role("admin", "staff")
@returns.doc(parameters=[OPTIONAL_KEY])
@returns.arguments(requests.ReturnRefusal)
@returns.response(201, answers.OrderReturn)
@returns.alt_response(404, "NOT_FOUND")
@returns.alt_response(409, "CONFLICT")
@audited("refuse return", "orderid", "number")
def refuse(body: dict[str, str], orderid: str, number: str) -> Response:
    """Do not take the goods back, or no longer: they never came"""
    deps, found = dependencies(), reading.any_order(dependencies(), orderid)
    return return_response(*return_requests.refuse_return(deps, found, number, body["reason"], actor()))


@returns.post(f"{RETURN}/receipt")
@require_role("admin", "staff")
@returns.doc(parameters=[OPTIONAL_KEY])
@returns.arguments(requests.ReturnReceipt)
@returns.response(201, answers.OrderReturn)
@returns.alt_response(404, "NOT_FOUND")
@returns.alt_response(409, "CONFLICT")
@audited("receive return", "orderid", "number", "items")
def receive(body: dict[str, Any], orderid: str, number: str) -> Response:
    """The goods are here: they are paid back, and those that can be sold go into stock; received twice it is done once"""
    deps, found = dependencies(), reading.any_order(dependencies(), orderid)
    return return_response(*return_requests.receive_return(deps, found, number, body["items"], actor()))


@returns.post(f"{RETURN}/label")
@require_role("admin", "staff")
@returns.doc(parameters=[OPTIONAL_KEY])
@returns.arguments(requests.ReturnLabelRequest, required=False)
@returns.response(201, answers.BoughtLabel)
@returns.alt_response(404, "NOT_FOUND")
@returns.alt_response(409, "CONFLICT")
@audited("buy return label", "orderid", "number")
@time_limit(LABEL_SECONDS)
def buy_label(body: dict[str, Any], orderid: str, number: str) -> Response:
    """Buy the label for the parcel of an approved return, by the cheapest service; bought once, however often it is asked for"""
    deps = dependencies()
    found = reading.any_order(deps, orderid)
    _, label = return_labels.buy_label(deps, found, number, body.get("weight_grams"), actor())
    return json_answer({**label_fields(label), "cost": label["cost"]}, 201)
