"""Where an order goes and how: the address form of a country, the address that is quoted, the shipping chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import request

from services.storefront import address_forms, forms
from services.storefront.pages.codes import REFUSALS
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.language import goods_language
from services.storefront.pages.visitor import logged_in, token
from services.storefront.rules import messages
from shared.addresses import PARTS
from shared.errors import Conflict, Invalid, TooManyRequests, Unavailable
from shared.types import Json

_CREDIT_CODES = ("gift_card_not_valid", "too_many_requests")
_FALLBACK_CODES = ("not_delivered", "shipping_not_available", "tax_location_invalid", "carrier_unavailable")


def delivery_form(values: Mapping[str, Any], *, default: bool = True) -> forms.Form:
    """The form for a new address in the country chosen in `values`; a guest also says who it is, a customer whether it is the `default`."""
    methods = dependencies().shipping_methods.get()
    country = address_forms.country_of(values, methods["country"])
    customer = logged_in() is not None
    return address_forms.address_form(
        country, methods["countries"], email=not customer, default=customer and default
    )


@dataclass(frozen=True)
class Quoted:
    """A quote, and what is wrong with the address, the shipping or the codes that it therefore leaves out."""

    quote: Json
    problem: str = ""
    code_problem: str = ""


def quoted(
    items: list[Json],
    form: forms.Form,
    me: Json | None,
    chosen: str,
    shipping: str,
    currency: str = "",
    codes: Sequence[str] = (),
    credits: Json | None = None,
) -> Quoted:
    """The quote for the address, the shipping, the codes and the `credits` (gift cards, store credit) chosen; of an address that is
    none, the shop's own country's.

    Raises Conflict and Invalid for what cannot be ordered at all.
    """
    address = _address(form, me, chosen)
    bearer = token() if me else ""
    try:
        return Quoted(
            _quote(bearer, items, codes, credits, address=address, shipping=shipping, currency=currency)
        )
    except (Conflict, Invalid, TooManyRequests, Unavailable) as error:
        problem = messages.message(error)
        if error.code in REFUSALS:
            others = quoted(items, form, me, chosen, shipping, currency, (), credits)
            return replace(others, code_problem=problem)
        if credits and error.code in _CREDIT_CODES:
            return replace(quoted(items, form, me, chosen, shipping, currency, codes), problem=problem)
        if error.code not in _FALLBACK_CODES:
            raise
    if shipping:
        found = quoted(items, form, me, chosen, "", currency, codes, credits)
        return replace(found, problem=found.problem or problem)
    return Quoted(_quote(bearer, items, codes, credits, currency=currency), problem)


def _quote(bearer: str, items: list[Json], codes: Sequence[str], credits: Json | None, **place: Any) -> Json:
    """With a gift card goes the visitor's address, so that guesses are counted by browser."""
    visitor = (request.remote_addr or "") if credits else ""
    return services().orders.quote(
        bearer,
        items,
        visitor=visitor,
        codes=list(codes),
        language=goods_language(),
        **place,
        **(credits or {}),
    )


def _address(form: forms.Form, me: Json | None, chosen: str) -> Json | str | None:
    """As far as a quote needs it: what is typed, or the one of the account that is chosen."""
    saved = None
    if me and chosen != "new":
        known = me["addresses"]
        saved = next((each for each in known if each["id"] == chosen or not chosen and each["default"]), None)
    if saved is None:
        typed = {
            name: form.values[name] for name in ("country", "region", "postcode") if form.values.get(name)
        }
        return typed or None
    if saved["country"]:
        return {name: saved[name] for name in PARTS if saved[name]}
    return str(saved["address"])
