"""The prices of a product as the desk's form has them: one in its own currency, the others as "EUR 17.90; USD 19.99"."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from services.storefront.rules import prices
from services.storefront.rules.terms import amounts, amounts_text
from services.storefront.translation import gettext as _
from shared.clock import iso
from shared.errors import Invalid
from shared.money import Money, card_step, money
from shared.types import Json

SALE_FIELDS: Final = ("sale", "sale_from", "sale_until")
_MINUTES: Final = "%Y-%m-%dT%H:%M"


def regular_price(product: Json) -> Money:
    """While no sale runs, in the currency that the product was answered in, else in the first that it has."""
    price = product["price"]
    regular = product.get("prices") or {price["currency"]: price["amount"]}
    currency = price["currency"] if price else next(iter(regular))
    return money(regular[currency], currency)


def not_payable_by_card(product: Json) -> list[Money]:
    """Prices of a product and its variants that are no multiple of what card payments take in their currency, such as 1.234 dinars."""
    offers = (product, *product.get("variants", ()))
    tables = [
        *(each.get(name) or {} for each in offers for name in ("prices", "delivery_prices")),
        *(table for each in offers for table in (each.get("group_prices") or {}).values()),
        *(sale.get("prices", {}) for each in offers for sale in each.get("sales") or ()),
    ]
    found = {each for table in tables for each in table.items()}
    return [money(amount, currency) for currency, amount in sorted(found) if amount % card_step(currency)]


def values_of(product: Json) -> dict[str, str]:
    """The fields of the product's form; of several sales the first."""
    own = regular_price(product)
    others = _others(product.get("prices", {}), own["currency"])
    sale: Json = next(iter(product.get("sales", ())), {})
    return {
        "price": prices.plain(own),
        "currency": own["currency"],
        "prices": amounts_text(others),
        "delivery_prices": amounts_text(_others(product.get("delivery_prices", {}), own["currency"])),
        "compare_at_prices": amounts_text(product.get("compare_at_prices", {})),
        "group_prices": group_prices_text(product.get("group_prices", {})),
        "cost_prices": amounts_text(product.get("cost_prices", {})),
        "sale": amounts_text(sale.get("prices", {})),
        "sale_from": sale.get("from", "")[:16],
        "sale_until": sale.get("until", "")[:16],
    }


def _others(amounts: Mapping[str, int], own: str) -> dict[str, int]:
    return {currency: amount for currency, amount in amounts.items() if currency != own}


def body_of(values: dict[str, str], price: Money, delivery: Money) -> Json:
    """The same fields as the API's. Raises Invalid by field."""
    others = amounts(values.get("prices", ""), "prices")
    body: Json = {
        "price": price,
        "compare_at_prices": amounts(values.get("compare_at_prices", ""), "compare_at_prices"),
        "group_prices": group_prices(values.get("group_prices", ""), "group_prices"),
        "cost_prices": amounts(values.get("cost_prices", ""), "cost_prices"),
        "sales": _sales(values),
        "prices": {price["currency"]: price["amount"]} | others,
    }
    charges = amounts(values.get("delivery_prices", ""), "delivery_prices")
    body["delivery_prices"] = {delivery["currency"]: delivery["amount"]} | charges if charges else {}
    return body


def edited_sales(product: Json, typed: list[Json]) -> list[Json]:
    """The sales of a product with the first as it was typed."""
    return [*typed, *product.get("sales", [])[1:]]


def group_prices(text: str, field: str) -> dict[str, dict[str, int]]:
    """ "trade GBP 12.00; trade EUR 13.90" in minor units by group and currency. Raises Invalid on `field`."""
    found: dict[str, dict[str, int]] = {}
    for part in filter(None, map(str.strip, re.split(r"[;\n]", text))):
        group, _space, amount = part.partition(" ")
        if not amount.strip():
            raise Invalid(
                errors={field: [_("Write the group, the currency and the amount: trade GBP 12.00.")]}
            )
        found.setdefault(group, {}).update(amounts(amount, field))
    return found


def group_prices_text(found: Mapping[str, Mapping[str, int]]) -> str:
    return "; ".join(
        f"{group} {currency} {prices.plain(money(amount, currency))}"
        for group, table in found.items()
        for currency, amount in table.items()
    )


def _sales(values: dict[str, str]) -> list[Json]:
    reduced = amounts(values.get("sale", ""), "sale")
    times = {name: _moment(values, f"sale_{name}") for name in ("from", "until")}
    if not reduced:
        return []
    if times["from"] and times["until"] and times["from"] >= times["until"]:
        words = _("Must be after its beginning.")
        raise Invalid(words, errors={"sale_until": [words]})
    return [{"prices": reduced} | {name: moment for name, moment in times.items() if moment}]


def _moment(values: dict[str, str], field: str) -> str:
    typed = values.get(field, "")
    try:
        return iso(datetime.strptime(typed, _MINUTES).replace(tzinfo=UTC)) if typed else ""
    except ValueError:
        words = _("Write a day and a time, such as 2026-12-01T09:00.")
        raise Invalid(words, errors={field: [words]}) from None
