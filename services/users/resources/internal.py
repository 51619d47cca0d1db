"""What the other services ask; they show the service secret."""

from typing import Any

from flask import Response

from services.users import schemas
from services.users.actions import basket as baskets
from services.users.actions.profile import checkout_of
from services.users.actions.tools import Tools
from shared.web import Blueprint, json_answer, nothing, provided, require_service

internal = Blueprint(
    "internal", __name__, url_prefix="/v1/internal/users", description="For the other services"
)


@internal.get("/<string:userid>/checkout")
@require_service
@internal.response(200, schemas.Checkout)
def checkout(userid: str) -> Response:
    """Who buys and where to: one partition query"""
    tools: Tools = provided()
    return json_answer(checkout_of(tools.store.everything_of(userid)))


@internal.post("/<string:userid>/basket/clear")
@require_service
@internal.arguments(schemas.Bought)
@internal.response(204)
def clear_basket(body: dict[str, Any], userid: str) -> Response:
    """Take products bought at that moment out of the basket; may be repeated"""
    baskets.take_out_bought(provided(), userid, body["productids"], body["date"])
    return nothing()
