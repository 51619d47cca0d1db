"""What the scripts of an installed shop ask (JSON): who is here, the sync of one's own data, the basket's total, and orders that waited for a network.

The session stays in its cookie: PouchDB speaks to the users service's `/v1/users/me/sync` through here.
"""

import base64
import hmac
import re
from typing import Any, Final
from urllib.parse import quote, urlencode

import orjson
from flask import Blueprint, Flask, Response, request
from werkzeug import Response as BaseResponse

from services.storefront.actions import basket as baskets
from services.storefront.actions.sessions import ENDED, SessionExpired
from services.storefront.clients import Requester
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.csrf import SAFE_METHODS, csrf_token
from services.storefront.pages.currency import chosen_currency
from services.storefront.pages.installable import keeps_data
from services.storefront.pages.language import goods_language
from services.storefront.pages.payment import take_out_of_basket
from services.storefront.pages.visitor import customer_group, leave, logged_in, token, was_ended
from services.storefront.rules import messages
from services.storefront.rules.payments import SANDBOX_CARDS, payment_page
from services.storefront.rules.service_texts import service_text
from services.storefront.rules.variants import line_key
from services.storefront.translation import gettext as _
from shared.addresses import PARTS
from shared.errors import AisleError, BadRequest, Unauthorized, Unavailable
from shared.types import Json

device = Blueprint("device", __name__, url_prefix="/device")

WAIT_SECONDS: Final = 20
MAX_BODY: Final = 1_100_000
_KEY = re.compile(r"[A-Za-z0-9_-]{16,64}")
_PASSED_ON: Final = frozenset({"items", "expected_total", "currency", "language", "address_id", "shipping"})


def register_device(app: Flask) -> None:
    app.after_request(wake_devices)
    app.jinja_env.globals["keeps_data"] = keeps_data


def wake_devices(response: Response) -> Response:
    """Whatever a customer changes here their other devices hear of at once."""
    if request.method not in SAFE_METHODS and response.status_code < 400 and request.path not in _QUESTIONS:
        found = logged_in()
        if found is not None:
            dependencies().marks.change([found.userid])
    return response


_QUESTIONS: Final = frozenset({"/device/sync/_revs_diff", "/device/sync/_bulk_get", "/login", "/logout"})
"""Posted, and nothing is changed by them."""


@device.errorhandler(AisleError)
def refuse(error: AisleError) -> BaseResponse:
    """A problem in the customer's words; beside it what CouchDB calls it, for PouchDB."""
    status = 410 if error.code == "account_erased" else error.status
    if error.code in (*ENDED, SessionExpired.code) and logged_in() is not None:
        leave(forget=error.code in ENDED)
    told = {name: error.extra[name] for name in ("total", "items", "error", "reason") if name in error.extra}
    return _json(
        {"error": error.code, "reason": error.detail, "code": error.code, "detail": messages.message(error)}
        | told,
        status,
    )


@device.get("")
def who() -> BaseResponse:
    """Who is here ("" for nobody), what a script sends with what it posts, and how an order can be paid without a page in between.

    `seal` is a key of this customer's alone, for an order that waits when the session runs out; `forget` says that the last session
    was ended on purpose, so that nothing waits. Every page asks this, so it asks no service.
    """
    found = logged_in()
    if found is None:
        return _json({"owner": "", "forget": True} if was_ended() else {"owner": ""})
    settings = dependencies().settings
    page = payment_page(settings.pays_with)
    return _json(
        {
            "owner": found.owner,
            "csrf": csrf_token(),
            "cards": []
            if page
            else [{"token": card.token, "words": _(card.words)} for card in SANDBOX_CARDS],
            "payment_page": page.name if page else "",
            "currency": chosen_currency(),
            "language": goods_language(),
            "picture_bytes": settings.kept_picture_bytes,
            "seal": _seal_of(found.userid),
        }
    )


def _seal_of(userid: str) -> str:
    """32 bytes in base64, the same whenever this customer is logged in."""
    key = dependencies().settings.secret_key.encode()
    return base64.b64encode(hmac.digest(key, f"storefront.seal {userid}".encode(), "sha256")).decode()


@device.get("/quote")
def basket_quote() -> BaseResponse:
    """What the basket costs, and the names and prices of what is in it and on the wish list: asked for when one of them changed."""
    return _json(_quote())


@device.route("/sync/", defaults={"path": ""})
@device.route("/sync/<path:path>", methods=["GET", "POST", "PUT", "DELETE"])
def sync(path: str) -> BaseResponse:
    """The users service's database of this customer. A longpoll waits here for their next change, without a thread."""
    found = logged_in()
    if found is None:
        raise Unauthorized(_("Log in first."))
    asked = request.args.to_dict()
    waits = asked.get("feed") == "longpoll"
    if waits:
        asked = {name: value for name, value in asked.items() if name not in ("feed", "timeout", "heartbeat")}
    deps = dependencies()
    mark = deps.waiting.mark(found.userid) if waits else None
    answer = services().users.sync(token(), request.method, _target(path, asked), _sent())
    if waits and not orjson.loads(answer.body).get("results"):
        parked = deps.waiting.park(request.environ, found.userid, mark, WAIT_SECONDS)
        if not parked and deps.waiting.is_full():
            raise Unavailable(_("Too many devices wait for changes just now."), retry_after=10)
    return Response(answer.body, answer.status, mimetype="application/json")


@device.post("/orders")
def place() -> BaseResponse:
    """An order that was made on the device: once for each key, however often it is sent."""
    sent = _parsed()
    key, card = sent.get("key"), sent.get("card")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise BadRequest(_("Load the page again, please."))
    provider = dependencies().settings.pays_with
    card = {"token": card} if isinstance(card, str) and card and payment_page(provider) is None else {}
    body = {name: value for name, value in sent.items() if name in _PASSED_ON and value not in ("", None)}
    body["payment"] = {"provider": provider, **card}
    order = services().orders.place(token(), body, f"device-{key}", request.remote_addr or "")
    page = order["payment_page"]
    if not page:
        take_out_of_basket(order)
    return _json(
        {"orderid": order["orderid"], "total": order["total"], "payment_page": page["url"] if page else ""},
        201,
    )


@device.get("/orders/<orderid>")
def outcome(orderid: str) -> BaseResponse:
    """What became of an order that was to be paid on the provider's page: where it still can be, else why it was not ("": it was)."""
    order = services().orders.order(Requester(token()), orderid)
    page = order["payment_page"]
    unpaid = page is None and not order["payment"] and not order["payment_processing"]
    why = service_text((order["cancellation"] or {}).get("detail", "")) if unpaid else ""
    detail = " ".join([_("Nothing was charged and nothing was ordered."), why]).strip() if unpaid else ""
    return _json({"payment_page": page["url"] if page else "", "detail": detail})


def _quote() -> Json:
    """What is in the basket, with names and prices, and its total at the default address: what an order without a network expects to cost."""
    me = services().users.me(token())
    found = baskets.priced(
        services().products, baskets.quantities_of(me), chosen_currency(), customer_group(), goods_language()
    )
    lines = [
        {
            "key": line.key,
            "name": line.name,
            "quantity": line.quantity,
            "price": line.product["price"],
        }
        for line in found.lines
        if line.product
    ]
    shown: Json = {
        "lines": lines,
        "wishes": _wishes(),
        "language": goods_language(),
        "currency": chosen_currency(),
    }
    part = found.parts[0] if len(found.parts) == 1 else None
    address = next((each for each in me["addresses"] if each["default"]), None)
    if part is None or not part.buyable or address is None:
        return shown
    place = (
        {name: address[name] for name in PARTS if address[name]} if address["country"] else address["address"]
    )
    try:
        total = services().orders.quote(
            token(), part.items, address=place, currency=chosen_currency(), language=goods_language()
        )
    except AisleError:
        return shown  # what cannot be ordered now has no total
    return {
        **shown,
        "address_id": address["id"],
        "items": part.items,
        "goods": total["goods"],
        "shipping": total["shipping"]["id"],
        "total": total["total"],
    }


def _wishes() -> list[Json]:
    """The newest page of the wish list; what is no longer sold has no price."""
    try:
        found = services().users.wishes(token(), "", chosen_currency(), goods_language())
    except AisleError:
        return []  # the products cannot be asked just now
    return [
        {"key": line_key(each), "name": each["name"], "price": each["price"]}
        for each in found["items"]
        if each["price"]
    ]


def _target(path: str, asked: dict[str, str]) -> str:
    return quote(path, safe="/") + (f"?{urlencode(asked)}" if asked else "")


def _sent() -> bytes | None:
    if request.method in SAFE_METHODS:
        return None
    body = request.get_data()
    if len(body) > MAX_BODY:
        raise BadRequest(_("That is more than we take at once."))
    return body


def _parsed() -> dict[str, Any]:
    try:
        found = orjson.loads(request.get_data())
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise BadRequest(_("Load the page again, please."))
    return found


def _json(content: Json, status: int = 200) -> BaseResponse:
    return Response(orjson.dumps(content), status, mimetype="application/json")
