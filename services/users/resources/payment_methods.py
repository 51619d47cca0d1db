"""References to payment methods of the user who asks."""

from typing import Any

from flask import Response

from services.users.actions import payment_methods as act
from services.users.resources.context import dependencies
from services.users.schemas import answers, requests
from shared.web import (
    Blueprint,
    PageArgs,
    current_user,
    idempotent,
    idempotent_id,
    json_answer,
    nothing,
    require_user,
    short_list_answer,
)

payment_methods = Blueprint(
    "payment-methods",
    __name__,
    url_prefix="/v1/users/me/payment-methods",
    description="References to payment methods",
)


@payment_methods.get("")
@require_user
@payment_methods.arguments(PageArgs, location="query")
@payment_methods.response(200, answers.PaymentMethods)
def list_payment_methods(args: dict[str, Any]) -> Response:
    """References to payment methods that a provider keeps, oldest first"""
    userid = current_user().userid
    items = act.list_payment_methods(dependencies(), userid)
    return json_answer(short_list_answer(items, args, "id", ["payment methods", userid]))


@payment_methods.post("")
@require_user
@idempotent
@payment_methods.arguments(requests.PaymentMethod)
@payment_methods.response(201, answers.PaymentMethod)
def add_payment_method(values: dict[str, str]) -> Response:
    """Keep a provider's reference; anything that looks like a card number is refused"""
    return json_answer(
        act.add_payment_method(dependencies(), current_user().userid, values, idempotent_id(26)), 201
    )


@payment_methods.delete("/<string:key>")
@require_user
@payment_methods.response(204)
def remove_payment_method(key: str) -> Response:
    """Forget a payment method"""
    act.remove_payment_method(dependencies(), current_user().userid, key)
    return nothing()
