"""The prices of a product as the desk's form has them: one in its own currency, the others as "EUR 17.90; USD 19.99"."""

from datetime import UTC, datetime
from typing import Final

from services.storefront.rules import prices
from services.storefront.rules.terms import amounts
from shared.clock import iso
from shared.errors import Invalid
from shared.money import Money, money
from shared.types import Json

SALE_FIELDS: Final = ("sale", "sale_from", "sale_until")
_MINUTES: Final = "%Y-%m-%dT%H:%M"


def regular_price(product: Json) -> Money:
    """While no sale runs, in the currency that the product was answered in, else in the first that it has."""
    price = product["price"]
    regular = product.get("prices") or {price["currency"]: price["amount"]}
    currency = price["currency"] if price else next(iter(regular))
    return money(regular[currency], currency)


def values_of(product: Json) -> dict[str, str]:
    """The fields of the product's form; of several sales the first."""
    own = regular_price(product)
    others = {each: amount for each, amount in product.get("prices", {}).items() if each != own["currency"]}
    sale: Json = next(iter(product.get("sales", ())), {})
    return {
        "price": prices.plain(own),
        "currency": own["currency"],
        "prices": _text(others),
        "compare_at_prices": _text(product.get("compare_at_prices", {})),
        "sale": _text(sale.get("prices", {})),
        "sale_from": sale.get("from", "")[:16],
        "sale_until": sale.get("until", "")[:16],
    }


def body_of(values: dict[str, str], price: Money) -> Json:
    """The same fields as the API's. Raises Invalid by field."""
    others = amounts(values.get("prices", ""), "prices")
    body: Json = {
        "price": price,
        "compare_at_prices": amounts(values.get("compare_at_prices", ""), "compare_at_prices"),
        "sales": _sales(values),
        "prices": {price["currency"]: price["amount"]} | others,
    }
    return body


def edited_sales(product: Json, typed: list[Json]) -> list[Json]:
    """The sales of a product with the first as it was typed."""
    return [*typed, *product.get("sales", [])[1:]]


def _sales(values: dict[str, str]) -> list[Json]:
    reduced = amounts(values.get("sale", ""), "sale")
    times = {name: _moment(values, f"sale_{name}") for name in ("from", "until")}
    if not reduced:
        return []
    if times["from"] and times["until"] and times["from"] >= times["until"]:
        words = "Must be after its beginning."
        raise Invalid(words, errors={"sale_until": [words]})
    return [{"prices": reduced} | {name: moment for name, moment in times.items() if moment}]


def _moment(values: dict[str, str], field: str) -> str:
    typed = values.get(field, "")
    try:
        return iso(datetime.strptime(typed, _MINUTES).replace(tzinfo=UTC)) if typed else ""
    except ValueError:
        words = "Write a day and a time, such as 2026-12-01T09:00."
        raise Invalid(words, errors={field: [words]}) from None


def _text(found: dict[str, int]) -> str:
    return "; ".join(
        f"{currency} {prices.plain(money(amount, currency))}" for currency, amount in found.items()
    )
