"""The basket of the person who asks, shared by all their devices."""

from typing import Any

from flask import Response

from services.users.actions import basket as act
from services.users.resources.context import dependencies
from services.users.schemas import answers, requests
from shared.web import Blueprint, current_user, json_answer, nothing, require_user

basket = Blueprint(
    "basket", __name__, url_prefix="/v1/users/me/basket", description="What a user is about to buy"
)


def _prices(args: dict[str, Any]) -> act.Prices:
    return act.Prices(args["currency"], current_user().group, args["language"])


@basket.get("")
@require_user
@basket.arguments(requests.CurrencyArgs, location="query")
@basket.response(200, answers.Basket)
def show(args: dict[str, Any]) -> Response:
    """The basket with today's prices and stock, all in one currency"""
    return json_answer(act.priced_basket(dependencies(), current_user().userid, _prices(args)))


@basket.post("")
@require_user
@basket.arguments(requests.CurrencyArgs, location="query")
@basket.arguments(requests.GuestBasket)
@basket.response(200, answers.Basket)
def merge(args: dict[str, Any], guest: dict[str, Any]) -> Response:
    """Merge a guest's basket at login: the larger quantity of each product wins"""
    userid = current_user().userid
    act.merge_guest_basket(dependencies(), userid, guest["items"])
    return json_answer(act.priced_basket(dependencies(), userid, _prices(args)))


@basket.delete("")
@require_user
@basket.response(204)
def clear() -> Response:
    """Empty the basket"""
    act.clear(dependencies(), current_user().userid)
    return nothing()


@basket.put("/<string:productid>")
@require_user
@basket.arguments(requests.CurrencyArgs, location="query")
@basket.arguments(requests.Quantity)
@basket.response(200, answers.PricedItem)
def put_item(args: dict[str, Any], body: dict[str, int], productid: str) -> Response:
    """Put a product, or by its SKU a variant, into the basket, or change its quantity"""
    return json_answer(
        act.put_item(dependencies(), current_user().userid, productid, body["quantity"], _prices(args))
    )


@basket.delete("/<string:productid>")
@require_user
@basket.response(204)
def remove_item(productid: str) -> Response:
    """Take a product, or by its SKU a variant, out of the basket"""
    act.remove_item(dependencies(), current_user().userid, productid)
    return nothing()
