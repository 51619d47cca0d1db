"""What the handlers of the running service act with."""

import re
from typing import Any

from flask import request

from services.products.dependencies import Dependencies
from services.products.rules.prices import PriceContext
from shared.clock import timestamp
from shared.errors import Invalid, Unauthorized
from shared.language_codes import LANGUAGE, LANGUAGE_MESSAGE
from shared.money import CURRENCIES
from shared.user import User
from shared.web import current_dependencies, is_service_call, optional_user

PRIVATE_PRICES = {"Cache-Control": "private, no-cache", "Vary": "Authorization"}
"""Of an answer with prices that not everybody is shown."""


_LANGUAGE = re.compile(LANGUAGE)


def dependencies() -> Dependencies:
    return current_dependencies(Dependencies)


def price_context(currency: str | None = None, group: str = "") -> PriceContext:
    """In which currency this request is answered, and for which customer group: that of its token, which another service, being asked for
    somebody, names. No database call."""
    settings = dependencies().settings
    default, backorders = settings.currencies[:1], settings.backorders
    asked = currency or (default[0] if default else "")
    user = user_at_hand()
    staff = user is not None and user.has_role("admin", "staff")
    return PriceContext(timestamp(), asked, _group_of(user, group), staff=staff, backorders=backorders)


def listing_group(named: str) -> str:
    """The customer group by whose prices lists are sorted, filtered and counted: that of who asks, where CUSTOMER_GROUPS has it; `named` is
    that of somebody whom another service asks for. No database call."""
    group = _group_of(user_at_hand(), named)
    return group if group in dependencies().settings.priced_groups else ""


def asked_currency() -> str | None:
    """The query's `currency`. Raises Invalid for one that the shop does not know."""
    text = request.args.get("currency") or None
    if text is not None and text not in CURRENCIES:
        raise Invalid("See `errors`.", errors={"currency": ["A currency the shop takes, such as GBP."]})
    return text


def reading(language: str) -> Dependencies:
    """What reads products in the language that was asked for: the shop's own where it is that, or none. No database call."""
    deps = dependencies()
    return deps.in_language(_translation(language, deps.settings.spoken))


def asked_language(text: str | None = None) -> str:
    """The query's `language`, or that of a body. Raises Invalid for what is none."""
    language = request.args.get("language", "") if text is None else text
    if language and not _LANGUAGE.fullmatch(language):
        raise Invalid("See `errors`.", errors={"language": [LANGUAGE_MESSAGE]})
    return language


def language_headers(language: str) -> dict[str, str]:
    """In which of the shop's languages an answer is, whatever was asked for."""
    spoken = dependencies().settings.spoken
    asked = _translation(language, spoken)
    return {"Content-Language": asked if asked in spoken else spoken[0]}


def _translation(language: str, spoken: tuple[str, ...]) -> str:
    """The language of products' translations that is meant: de for de-AT, unless the shop has that; "" for its own."""
    found = language if language in spoken else language.partition("-")[0]
    return "" if found == spoken[0] else found if found in spoken else language


def price_headers(context: PriceContext) -> dict[str, Any] | None:
    return PRIVATE_PRICES if context.group or context.staff else None


def _group_of(user: User | None, named: str) -> str:
    if user is None:
        return named if named and is_service_call() else ""
    return user.group


def user_at_hand() -> User | None:
    """Who is shown own prices; what is public is also answered to a token that is over."""
    sent: str = request.environ.get("HTTP_AUTHORIZATION", "")
    if sent.partition(" ")[0].lower() != "bearer":
        return None
    try:
        return optional_user()
    except Unauthorized:
        return None
