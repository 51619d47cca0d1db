"""The stall: a page that works without a network and holds nothing of anybody, and what its scripts ask (JSON, staff alone).

The page is the same for everybody, so the service worker keeps it; goods, sales and counts lie on the device (`static/stall-device.js`).
"""

import re
from typing import Any, Final

import orjson
from flask import Blueprint, Response, render_template, request
from werkzeug import Response as BaseResponse

from services.storefront.pages.context import services
from services.storefront.pages.csrf import csrf_token
from services.storefront.pages.currency import chosen_currency
from services.storefront.pages.kept_categories import places_of
from services.storefront.pages.language import goods_language, shown_menu
from services.storefront.pages.picture_tags import shown_first
from services.storefront.pages.visitor import logged_in, needs_staff, token
from services.storefront.rules import messages
from services.storefront.rules.taxonomy import Category
from services.storefront.translation import gettext as _
from shared.errors import AisleError, BadRequest, Invalid
from shared.types import Json

stall = Blueprint("stall", __name__)
stall_device = Blueprint("stall_device", __name__, url_prefix="/admin/stall/device")

MAX_GOODS: Final = 2000
MAX_OF_CATEGORY: Final = 500
"""Products that the products service names of one category: of one with so many there may be more."""
_KEY = re.compile(r"[A-Za-z0-9-]{16,64}")


@stall.get("/stall")
def page() -> Response:
    """The stall's page: its scripts fill it from the device."""
    return Response(render_template("stall.html"), headers={"Cache-Control": "no-cache"})


@stall_device.errorhandler(AisleError)
def refuse(error: AisleError) -> BaseResponse:
    """A problem in the words of whoever sells: a device keeps what it has, whatever this is."""
    errors = error.errors if isinstance(error, Invalid) else {}
    told = {"code": error.code, "detail": messages.message(error), "errors": errors}
    return _json(told, error.status)


@stall_device.before_request
def check_staff() -> None:
    needs_staff()


@stall_device.get("")
def who() -> BaseResponse:
    """Who sells, what a script sends with what it posts, and the categories that a device can keep."""
    found = logged_in()
    return _json(
        {
            "userid": found.userid if found else "",
            "name": found.name if found else "",
            "csrf": csrf_token(),
            "categories": [each for place in shown_menu().departments for each in _within(place, 0)],
        }
    )


@stall_device.get("/goods")
def goods() -> BaseResponse:
    """What is sold of a category and all below it, each variant by itself: {"items": [...]}, prices with the tax. Not `complete`: there are more."""
    category = request.args.get("category", "")
    currency, language = chosen_currency(), goods_language()
    found: list[Json] = []
    complete = True
    for place in places_of(category):
        sold = services().orders.stall_goods(token(), place["category"], currency, language)
        found += sold
        complete = complete and len({each["productid"] for each in sold}) < MAX_OF_CATEGORY
        if len(found) > MAX_GOODS:
            break
    items = [_with_picture(each) for each in found[:MAX_GOODS]]
    return _json({"items": items, "complete": complete and len(found) <= MAX_GOODS})


@stall_device.post("/sales")
def sell() -> BaseResponse:
    """A sale that a device kept: once for each key, however often it is sent. Answers what became of it."""
    sent = _sent()
    order = services().orders.record_sale(token(), sent["body"], f"stall-{sent['key']}")
    lacking = order.get("oversold") or {"lines": []}
    return _json(
        {
            "orderid": order["orderid"],
            "number": order["number"],
            "oversold": [{"name": line["name"], "quantity": line["quantity"]} for line in lacking["lines"]],
        },
        201,
    )


@stall_device.post("/counts")
def count() -> BaseResponse:
    """What was counted on a device: booked once for each key."""
    sent = _sent()
    return _json(services().products.count_at_stall(token(), {**sent["body"], "id": sent["key"]}))


def _within(place: Category, depth: int) -> list[Json]:
    own = [{"path": place.path, "label": place.label, "depth": depth}]
    return own + [each for child in place.children for each in _within(child, depth + 1)]


def _with_picture(goods: Json) -> Json:
    """The goods with the picture's address on this site."""
    picture = shown_first(goods)
    return goods | {"image": picture.src if picture else ""}


def _sent() -> dict[str, Any]:
    """{key, body} of a script. Raises BadRequest."""
    try:
        found = orjson.loads(request.get_data())
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("body"), dict):
        raise BadRequest(_("Load the page again, please."))
    if not isinstance(found.get("key"), str) or not _KEY.fullmatch(found["key"]):
        raise BadRequest(_("Load the page again, please."))
    return found


def _json(content: Json, status: int = 200) -> BaseResponse:
    headers = {"Cache-Control": "no-store"}
    return Response(orjson.dumps(content), status, mimetype="application/json", headers=headers)
