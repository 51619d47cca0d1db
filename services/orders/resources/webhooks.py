"""Signed, time-stamped events of payment providers and couriers; a replayed one changes nothing."""

from flask import Response, request

from services.orders.actions import webhooks as act
from services.orders.clients.couriers import read_event
from services.orders.resources.context import dependencies
from services.orders.schemas import answers
from shared.errors import NotFound
from shared.web import Blueprint, json_answer

webhooks = Blueprint(
    "webhooks", __name__, url_prefix="/v1/webhooks", description="Signed events from outside"
)

EVENT = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
RECEIVED = {"status": "received"}


@webhooks.post("/payments/<string:provider>")
@webhooks.doc(requestBody=EVENT)
@webhooks.response(200, answers.Accepted)
@webhooks.alt_response(400, "BAD_REQUEST")
@webhooks.alt_response(401, "UNAUTHORIZED")
@webhooks.alt_response(404, "NOT_FOUND")
def payments(provider: str) -> Response:
    """An event of a payment provider, signed as it signs: `Aisle-Signature` (sandbox) or `Stripe-Signature`"""
    deps = dependencies()
    if provider not in deps.providers:
        raise NotFound("No such payment provider is connected.")
    event = deps.providers[provider].event(request.headers, request.get_data())
    if event is not None:
        act.payment_event(deps, provider, event)
    return json_answer(RECEIVED)


@webhooks.post("/couriers/<string:courier>")
@webhooks.doc(requestBody=EVENT)
@webhooks.response(200, answers.Accepted)
@webhooks.alt_response(400, "BAD_REQUEST")
@webhooks.alt_response(401, "UNAUTHORIZED")
@webhooks.alt_response(404, "NOT_FOUND")
@webhooks.alt_response(409, "CONFLICT")
@webhooks.alt_response(422, "UNPROCESSABLE_ENTITY")
def couriers(courier: str) -> Response:
    """{event: dispatched | delivered, orderid, courierid, date}, signed in `Aisle-Signature: t=...,v1=...`"""
    deps = dependencies()
    settings = deps.settings
    event = read_event(
        settings.courier_webhook_secret,
        settings.webhook_tolerance_seconds,
        request.headers,
        request.get_data(),
    )
    act.courier_event(deps, courier, event)
    return json_answer(RECEIVED)
