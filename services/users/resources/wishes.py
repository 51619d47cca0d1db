"""The wish list of the person who asks."""

from typing import Any

from flask import Response

from services.users.actions import wishes as act
from services.users.actions.basket import Prices
from services.users.resources.context import dependencies
from services.users.schemas import answers, requests
from shared.web import (
    Blueprint,
    current_user,
    json_answer,
    nothing,
    require_user,
    short_list_answer,
)

wishes = Blueprint(
    "wishes", __name__, url_prefix="/v1/users/me/wishes", description="What a user keeps in mind"
)


@wishes.get("")
@require_user
@wishes.arguments(requests.WishArgs, location="query")
@wishes.response(200, answers.Wishes)
@wishes.alt_response(400, "BAD_REQUEST")
def show(args: dict[str, Any]) -> Response:
    """The wish list with today's prices and stock, the last added first"""
    user = current_user()
    items = act.wish_list(dependencies(), user.userid, Prices(args["currency"], user.group, args["language"]))
    return json_answer(short_list_answer(items, args, "productid", ["wishes", user.userid]))


@wishes.put("/<string:productid>")
@require_user
@wishes.response(200, answers.Wish)
@wishes.alt_response(404, "NOT_FOUND")
@wishes.alt_response(409, "CONFLICT")
def add(productid: str) -> Response:
    """Keep a product, or by its SKU a variant"""
    return json_answer(act.add(dependencies(), current_user().userid, productid))


@wishes.delete("/<string:productid>")
@require_user
@wishes.response(204)
def remove(productid: str) -> Response:
    """Take a product, or by its SKU a variant, off the list"""
    act.remove(dependencies(), current_user().userid, productid)
    return nothing()


@wishes.post("/<string:productid>/basket")
@require_user
@wishes.response(200, answers.PricedItem)
@wishes.alt_response(404, "NOT_FOUND")
@wishes.alt_response(409, "CONFLICT")
def move_to_basket(productid: str) -> Response:
    """Move it to the basket"""
    return json_answer(act.move_to_basket(dependencies(), current_user().userid, productid))
