"""Preferences, payment methods, recently viewed products, export and erasure of one's own account."""

from typing import Any

from flask import Response

from services.users import schemas
from services.users.actions import extras as act
from services.users.actions import privacy
from services.users.actions.reauthentication import check_current_password, require_password
from shared.deadline import time_limit
from shared.web import (
    Blueprint,
    PageArgs,
    current_user,
    idempotent,
    idempotent_id,
    json_answer,
    nothing,
    provided,
    require_user,
    short_list_answer,
)

extras = Blueprint("extras", __name__, url_prefix="/v1/users/me", description="What belongs to an account")


@extras.get("/preferences")
@require_user
@extras.response(200, schemas.Preferences)
def preferences() -> Response:
    """Preferences"""
    return json_answer(act.preferences(provided(), current_user().userid))


@extras.patch("/preferences")
@require_user
@extras.arguments(schemas.Preferences)
@extras.response(200, schemas.Preferences)
def change_preferences(changes: dict[str, Any]) -> Response:
    """Change some preferences"""
    return json_answer(act.change_preferences(provided(), current_user().userid, changes))


@extras.get("/payment-methods")
@require_user
@extras.arguments(PageArgs, location="query")
@extras.response(200, schemas.PaymentMethods)
def payment_methods(args: dict[str, Any]) -> Response:
    """References to payment methods that a provider keeps"""
    userid = current_user().userid
    items = act.payment_methods(provided(), userid)
    return json_answer(short_list_answer(items, args, "id", ["payment methods", userid]))


@extras.post("/payment-methods")
@require_user
@idempotent
@extras.arguments(schemas.PaymentMethod)
@extras.response(201, schemas.PaymentMethod)
def add_payment_method(values: dict[str, str]) -> Response:
    """Keep a provider's reference; anything that looks like a card number is refused"""
    return json_answer(
        act.add_payment_method(provided(), current_user().userid, values, idempotent_id(26)), 201
    )


@extras.delete("/payment-methods/<string:key>")
@require_user
@extras.response(204)
def remove_payment_method(key: str) -> Response:
    """Forget a payment method"""
    act.remove_payment_method(provided(), current_user().userid, key)
    return nothing()


@extras.get("/viewed")
@require_user
@extras.arguments(PageArgs, location="query")
@extras.response(200, schemas.Viewed)
def viewed(args: dict[str, Any]) -> Response:
    """Products looked at lately, newest first"""
    userid = current_user().userid
    items = act.viewed(provided(), userid)
    return json_answer(short_list_answer(items, args, "productid", ["viewed", userid]))


@extras.put("/viewed/<string:productid>")
@require_user
@extras.response(204)
def view(productid: str) -> Response:
    """Note that a product was looked at"""
    act.view_product(provided(), current_user().userid, productid[:100])
    return nothing()


@extras.get("/export")
@require_user
@extras.response(200, schemas.Export)
@time_limit(30)
def export() -> Response:
    """Everything the shop holds of oneself"""
    headers = {"Content-Disposition": 'attachment; filename="my-data.json"'}
    return json_answer(privacy.export(provided(), current_user().userid), headers=headers)


@extras.delete("")
@require_user
@extras.arguments(schemas.Erasure, required=False)
@extras.response(204)
@extras.alt_response(403, "FORBIDDEN")
@extras.alt_response(409, "CONFLICT")
@extras.alt_response(429, "TOO_MANY_REQUESTS")
@time_limit(30)
def erase(body: dict[str, str]) -> Response:
    """Erase oneself; orders stay without a name, the e-mail is free again. Staff and admins send their password"""
    tools, user = provided(), current_user()
    if user.is_privileged:
        require_password(tools, user, body.get("current_password"))
    elif "current_password" in body:
        check_current_password(tools, user, body["current_password"])
    privacy.erase(tools, user.userid)
    return nothing()
