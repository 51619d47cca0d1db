"""Stripe Tax as a tax provider: one calculation for each quote (`POST /v1/tax/calculations`), amounts in minor units.

Of the buyer Stripe gets the country, region and postcode alone.
"""

import logging
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Final
from urllib.parse import quote

from services.orders.clients.stripe_api import Json, StripeApi, StripeRefused
from services.orders.rules.pricing.tax_question import (
    TaxedItem,
    TaxItem,
    TaxLocationInvalid,
    TaxQuestion,
    TaxUnavailable,
)
from services.orders.settings import STRIPE
from shared.errors import AisleError

log = logging.getLogger(__name__)

CALCULATIONS: Final = "/v1/tax/calculations"
TIMEOUT_SECONDS: Final = 1.5
SHIPPING_CODE: Final = "txcd_92010001"
_PAGE: Final = 100
_WRONG_PLACE: Final = frozenset({"customer_tax_location_invalid", "shipping_address_invalid"})


class StripeTax:
    """A `TaxProvider`. `codes`: Stripe's tax code by tax class; goods of another class have the account's own."""

    name = STRIPE

    def __init__(self, url: str, api_key: str, codes: Mapping[str, str]) -> None:
        self._api = StripeApi(url, api_key, TIMEOUT_SECONDS, probe_url=f"{url.rstrip('/')}/")
        self._codes = codes

    def taxes(self, question: TaxQuestion) -> tuple[TaxedItem, ...]:
        """What costs nothing is not asked about: there is no tax on it."""
        if not any(item.amount for item in question.items):
            return tuple(TaxedItem(0) for _ in question.items)
        try:
            calculation = self._api.post(CALCULATIONS, dict(self._parameters(question)))
            found = {str(line["reference"]): _taxed(line) for line in self._lines(calculation)}
            if calculation.get("shipping_cost"):
                found[str(len(question.items) - 1)] = _taxed(calculation["shipping_cost"])
            taxed = tuple(
                found[str(place)] if item.amount else TaxedItem(0)
                for place, item in enumerate(question.items)
            )
        except StripeRefused as refusal:
            if refusal.extra.get("provider_code") in _WRONG_PLACE:
                raise TaxLocationInvalid(
                    "Check the postcode and the region.",
                    errors={"address": ["Check the postcode and the region."]},
                ) from refusal
            log.error("Stripe Tax refused: %s", refusal.detail)
            raise _away() from refusal
        except (AisleError, KeyError, TypeError, ValueError, InvalidOperation) as error:
            raise _away() from error
        _check(question, taxed, calculation)
        return taxed

    def _parameters(self, question: TaxQuestion) -> Iterator[tuple[str, str]]:
        place, origin = question.place, question.origin
        yield "currency", question.currency.lower()
        yield "tax_date", str(int(datetime.fromisoformat(f"{question.date}T12:00:00+00:00").timestamp()))
        yield "expand[0]", "line_items.data.tax_breakdown"
        yield "expand[1]", "shipping_cost.tax_breakdown"
        yield "customer_details[address_source]", "shipping"
        for prefix, each in (("customer_details", place), ("ship_from_details", origin)):
            parts = {"country": each.country, "state": each.region, "postal_code": each.postcode}
            yield from ((f"{prefix}[address][{name}]", value) for name, value in parts.items() if value)
        *goods, shipping = question.items
        asked = [(number, line) for number, line in enumerate(goods) if line.amount]
        for index, (number, line) in enumerate(asked):
            prefix = f"line_items[{index}]"
            yield f"{prefix}[reference]", str(number)
            yield f"{prefix}[quantity]", str(line.quantity)
            yield from self._item(prefix, line)
        if shipping.amount and asked:
            yield from self._item("shipping_cost", shipping)
        elif shipping.amount:  # a calculation needs a line
            yield "line_items[0][reference]", str(len(goods))
            yield from self._item("line_items[0]", shipping, SHIPPING_CODE)

    def _item(self, prefix: str, item: TaxItem, code: str = "") -> Iterator[tuple[str, str]]:
        """`code`: instead of the one of the tax class."""
        yield f"{prefix}[amount]", str(item.amount)
        yield f"{prefix}[tax_behavior]", "inclusive" if item.included else "exclusive"
        if found := code or self._codes.get(item.tax_class):
            yield f"{prefix}[tax_code]", found

    def _lines(self, calculation: Json) -> Iterator[Json]:
        """All of them; a calculation holds the first page."""
        page = calculation["line_items"]
        yield from page["data"]
        path = f"{CALCULATIONS}/{quote(str(calculation['id']), safe='')}/line_items"
        while page.get("has_more"):
            last = page["data"][-1]["id"]
            page = self._api.get(path, limit=_PAGE, starting_after=last, **{"expand[]": "data.tax_breakdown"})
            yield from page["data"]


def _taxed(line: Json) -> TaxedItem:
    """The taxes of a country, a state, a county and a city are one rate."""
    details = [each["tax_rate_details"] for each in line["tax_breakdown"] if each.get("tax_rate_details")]
    percent = sum((Decimal(str(each["percentage_decimal"])) for each in details), Decimal(0))
    names = dict.fromkeys(str(each.get("display_name") or each.get("tax_type") or "Tax") for each in details)
    amount = int(line["amount_tax"])
    name = ", ".join(names)[:60] if percent or amount else ""
    return TaxedItem(amount, name or ("Tax" if amount else ""), round(percent * 10_000))


def _check(question: TaxQuestion, taxed: tuple[TaxedItem, ...], calculation: Json) -> None:
    """Raises TaxUnavailable for an answer that does not add up: nobody is charged by it."""
    amounts = [
        (item.included, item.amount, each.amount) for item, each in zip(question.items, taxed, strict=True)
    ]
    total = sum(amount + (0 if included else tax) for included, amount, tax in amounts)
    if total != calculation.get("amount_total") or any(tax < 0 or tax > amount for _, amount, tax in amounts):
        log.error("calculation %s of Stripe Tax does not add up", calculation.get("id"))
        raise _away()


def _away() -> TaxUnavailable:
    return TaxUnavailable("The tax of this order cannot be found out just now.", retry_after=5)
