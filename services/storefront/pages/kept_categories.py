"""Categories that a customer keeps on a device: the products service's database of each, and which ones lie in a department."""

import base64
import binascii
from urllib.parse import quote, urlencode

import orjson
from flask import Blueprint, Response, request
from werkzeug import Response as BaseResponse

from services.storefront.pages.context import dependencies, services
from services.storefront.pages.csrf import SAFE_METHODS
from services.storefront.pages.device import WAIT_SECONDS, refuse
from services.storefront.pages.language import shown_menu
from services.storefront.rules.taxonomy import SEPARATOR, Category
from services.storefront.translation import gettext as _
from shared.cache_tags import category_tags
from shared.errors import AisleError, NotFound, Unavailable

kept_categories = Blueprint("kept_categories", __name__, url_prefix="/device/kept")
kept_categories.register_error_handler(AisleError, refuse)

MAX_PLACES = 40
"""Categories of one department that a device keeps."""


@kept_categories.get("")
def places() -> BaseResponse:
    """What customers read for `category`, and where in it there are goods, as far as a device keeps it: {"label", "places": [{"category", "label"}]}"""
    category = request.args.get("category", "")
    found = {"label": shown_menu().label(category), "places": places_of(category)}
    return Response(orjson.dumps(found), mimetype="application/json")


def places_of(asked: str) -> list[dict[str, str]]:
    """The categories with goods of their own in a category, itself included, as far as a device keeps them. Those that only hold others
    have no database; of one that the menu does not know yet the shop is asked."""
    found = shown_menu().find(asked)
    listed = [{"category": asked, "label": shown_menu().label(asked)}] if found is None else _within(found)
    return listed[:MAX_PLACES]


@kept_categories.route("/<key>/", defaults={"path": ""})
@kept_categories.route("/<key>/<path:path>", methods=["GET", "POST", "PUT"])
def database(key: str, path: str) -> BaseResponse:
    """The database of one category; `key` is its path in URL-safe base64, for its names may hold what addresses do not.

    A longpoll waits here for the category's next change, without a thread.
    """
    try:
        category = base64.urlsafe_b64decode(key + "=" * (-len(key) % 4)).decode()
    except (binascii.Error, ValueError):
        raise NotFound("There is no such category.") from None
    asked = request.args.to_dict()
    waits = asked.get("feed") == "longpoll"
    if waits:
        asked = {name: value for name, value in asked.items() if name not in ("feed", "timeout", "heartbeat")}
    waiting, tag = dependencies().waiting_for_categories, category_tags(category.split(SEPARATOR))[-1]
    mark = waiting.mark(tag) if waits else None
    query = f"?{urlencode(asked)}" if asked else ""
    target = f"{quote(quote(category, safe=''), safe='')}/{quote(path, safe='/')}{query}"
    body = None if request.method in SAFE_METHODS else request.get_data()
    answer = services().products.category_database(request.method, target, body)
    if waits and not orjson.loads(answer.body).get("results"):
        parked = waiting.park(request.environ, tag, mark, WAIT_SECONDS)
        if not parked and waiting.is_full():
            raise Unavailable(_("Too many devices wait for changes just now."), retry_after=10)
    return Response(answer.body, answer.status, mimetype="application/json")


def _within(place: Category) -> list[dict[str, str]]:
    has_goods = place.count > sum(child.count for child in place.children)
    own = [{"category": place.path, "label": place.label}] if has_goods else []
    return own + [each for child in place.children for each in _within(child)]
