"""The payment page of the provider `sandbox`, as a provider's own page would be asked: by whoever has its address."""

from flask import Response

from services.orders.actions import sandbox_payments as act
from services.orders.resources.context import dependencies
from services.orders.schemas import sandbox_payments as schemas
from shared.couch.deadline import time_limit
from shared.web import Blueprint, json_answer

sandbox_payments = Blueprint(
    "sandbox payments",
    __name__,
    url_prefix="/v1/orders",
    description="The payment page of the provider `sandbox`, for trying out",
)


@sandbox_payments.get("/<string:orderid>/sandbox-payment")
@sandbox_payments.arguments(schemas.PageKey, location="query")
@sandbox_payments.response(200, schemas.SandboxPage)
@sandbox_payments.alt_response(404, "NOT_FOUND")
def show(args: dict[str, str], orderid: str) -> Response:
    """What the sandbox's payment page shows: one partition query"""
    return json_answer(act.page_of(dependencies(), orderid, args["key"]))


@sandbox_payments.post("/<string:orderid>/sandbox-payment")
@sandbox_payments.arguments(schemas.SandboxPayment)
@sandbox_payments.response(200, schemas.SandboxPage)
@sandbox_payments.alt_response(402, "PAYMENT_REQUIRED")
@sandbox_payments.alt_response(404, "NOT_FOUND")
@sandbox_payments.alt_response(409, "CONFLICT")
@time_limit(10)
def pay(body: dict[str, str], orderid: str) -> Response:
    """Pay with one of the sandbox's test cards; a second time changes nothing"""
    return json_answer(act.pay(dependencies(), orderid, body["key"], body["token"]))
