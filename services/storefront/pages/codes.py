"""Codes of promotions as the visitor typed them: kept in the visit, so that basket and checkout show the same."""

import re
from typing import Final

from flask import Blueprint, redirect, request, session, url_for
from werkzeug import Response as BaseResponse

from services.storefront.clients import ANONYMOUS
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.visitor import logged_in, own_path, token
from services.storefront.rules import messages
from shared.errors import AisleError, Conflict, Invalid
from shared.types import Json

codes = Blueprint("codes", __name__)

MAX_LENGTH, MAX_CODES = 200, 5
REFUSALS: Final = ("code_not_valid", "code_used_up")


@codes.post("/checkout/codes")
def keep() -> BaseResponse:
    """What was typed into the basket's field, also nothing: then no code is used."""
    keep_codes(request.form.get("codes", ""))
    return redirect(own_path(request.form.get("back", ""), url_for("basket.show")), 303)


def keep_codes(typed: str) -> None:
    text = typed.strip()[:MAX_LENGTH]
    if text:
        session["codes"] = text
    else:
        session.pop("codes", None)


def typed_codes() -> str:
    return str(session.get("codes", ""))


def split(typed: str) -> list[str]:
    """The codes in a field: between spaces, commas or line ends."""
    return [code for code in re.split(r"[\s,;]+", typed) if code][:MAX_CODES]


def discounts_of(items: list[Json], typed: str, currency: str) -> tuple[Json | None, str]:
    """What promotions take off these goods, as a quote, and what is wrong with the codes; None where nothing is taken off.

    Orders is asked only where there is a code, or something that applies by itself.
    """
    automatic = dependencies().automatic_promotions.exist()
    if not split(typed) and not automatic:
        return None, ""
    try:
        return _quote(items, split(typed), currency), ""
    except (Conflict, Invalid) as error:
        if error.code not in REFUSALS:
            return None, ""  # what cannot be ordered is told at the checkout
        problem = messages.message(error)
    except AisleError as error:
        return None, messages.message(error) if typed else ""
    return (discounts_of(items, "", currency)[0] if automatic else None), problem


def _quote(items: list[Json], codes: list[str], currency: str) -> Json | None:
    bearer = token() if logged_in() else ANONYMOUS
    found = services().orders.quote(bearer, items, currency=currency, codes=codes)
    return found if found["discounts"] else None
