"""Products that the user who asks looked at lately."""

from typing import Any

from flask import Response

from services.users.actions import recently_viewed as act
from services.users.resources.context import dependencies
from services.users.schemas import answers
from shared.web import (
    Blueprint,
    PageArgs,
    current_user,
    json_answer,
    nothing,
    require_user,
    short_list_answer,
)

recently_viewed = Blueprint(
    "recently-viewed", __name__, url_prefix="/v1/users/me/viewed", description="Products looked at lately"
)


@recently_viewed.get("")
@require_user
@recently_viewed.arguments(PageArgs, location="query")
@recently_viewed.response(200, answers.Viewed)
def list_viewed(args: dict[str, Any]) -> Response:
    """Products looked at lately, newest first"""
    userid = current_user().userid
    items = act.viewed_products(dependencies(), userid)
    return json_answer(short_list_answer(items, args, "productid", ["viewed", userid]))


@recently_viewed.put("/<string:productid>")
@require_user
@recently_viewed.response(204)
def add_viewed(productid: str) -> Response:
    """Note that a product was looked at"""
    act.add(dependencies(), current_user().userid, productid[:100])
    return nothing()
