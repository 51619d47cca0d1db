"""Gift cards and store credit on the checkout page: which are chosen, and what the page showed of them."""

import re
from collections.abc import Mapping
from typing import Any

from services.storefront.translation import gettext
from shared.types import Json

MAX_CODES = 5
_BETWEEN_CODES = re.compile(r"[,;\n]+")


def chosen(typed: Mapping[str, str]) -> dict[str, Any]:
    """What a quote and an order are asked with: nothing where nothing is chosen."""
    codes = [code.strip() for code in _BETWEEN_CODES.split(typed.get("gift_code", "")) if code.strip()]
    found: dict[str, Any] = {"gift_cards": codes[:MAX_CODES]} if codes else {}
    return found | ({"store_credit": True} if typed.get("store_credit") else {})


def guarded(typed: Mapping[str, str], quote: Json) -> dict[str, Any]:
    """The part of an order that says what the page showed: an order that would charge something else is refused."""
    found = chosen(typed)
    return found | {"expected_to_pay": quote["to_pay"]} if found else {}


def shown(order: Json) -> dict[str, Any]:
    """What was chosen when the page was shown."""
    return {name: order[name] for name in ("gift_cards", "store_credit") if name in order}


def problem(typed: Mapping[str, str], quote: Json) -> str:
    """Store credit was chosen by somebody who has none."""
    asked = bool(typed.get("store_credit")) and bool(quote["to_pay"]["amount"])
    has = any(credit["kind"] == "store_credit" for credit in quote["credits"])
    return gettext("You have no store credit in this currency.") if asked and not has else ""


def recipient(typed: Mapping[str, str]) -> dict[str, str]:
    """Who gets the gift cards that are bought; nothing: who buys them."""
    names = {name: typed.get(f"gift_{name}", "").strip() for name in ("email", "name", "message")}
    return {name: text for name, text in names.items() if text} if names["email"] else {}
