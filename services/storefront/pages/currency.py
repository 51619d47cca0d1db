"""The currency of the pages: named by the address, else chosen by the visitor and kept in a cookie, else the shop's first."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, redirect, request, url_for
from werkzeug import Response as BaseResponse
from werkzeug.http import parse_cookie

from services.storefront.pages.context import dependencies
from services.storefront.pages.visitor import own_path
from services.storefront.translation import gettext as _
from shared.errors import Invalid

CURRENCY_COOKIE = "aisle_currency"
COOKIE_DAYS = 365

currency = Blueprint("currency", __name__)


def chosen_currency() -> str:
    """Of this request; "" for a shop that names no currencies: each of its prices is in its own."""
    known = dependencies().settings.currencies
    asked = request.args.get("currency", "") if request.endpoint != "currency.choose" else ""
    return asked if asked in known else currency_of_cookie(request.environ, known)


def currency_of_cookie(environ: Mapping[str, Any], known: Sequence[str]) -> str:
    """What the visitor chose, if the shop sells in it."""
    if not known:
        return ""
    cookies = environ.get("HTTP_COOKIE", "")
    chosen = parse_cookie(cookies).get(CURRENCY_COOKIE, "") if CURRENCY_COOKIE in cookies else ""
    return chosen if chosen in known else known[0]


@currency.post("/currency")
def choose() -> BaseResponse:
    """The same page again with prices in this currency; a basket is shown in it, too."""
    settings = dependencies().settings
    chosen = request.form.get("currency", "")
    if chosen not in settings.currencies:
        raise Invalid(_("The shop does not sell in this currency."))
    response = redirect(own_path(request.form.get("back", ""), url_for("shop.home")), 303)
    response.set_cookie(
        CURRENCY_COOKIE,
        chosen,
        max_age=COOKIE_DAYS * 86400,
        secure=settings.secure_cookies,
        httponly=True,
        samesite="Lax",
    )
    return response
