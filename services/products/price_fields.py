"""What a product costs in each currency, as its indexes hold it; in Python and in JavaScript, which must say the same."""

from collections.abc import Mapping
from typing import Any, Final

PRICES_SCRIPT: Final = """(function (doc) {
    var own = {};
    if (doc.price) own[doc.price.currency] = doc.price.amount;
    return doc.current_prices || doc.prices || own;
  })(doc)"""
"""{currency: amount}; `current_prices` is there while a sale runs."""
OWN_PRICE_SCRIPT: Final = f"doc.price && {PRICES_SCRIPT}[doc.price.currency]"
CURRENCIES_SCRIPT: Final = f"Object.keys({PRICES_SCRIPT})"

PRICE_PREFIX: Final = "price_"


def price_field(currency: str | None) -> str:
    """The search index's field of prices in this currency; without one, of each product's price in its own."""
    return f"{PRICE_PREFIX}{currency}" if currency else "price"


def regular_prices(doc: Mapping[str, Any]) -> Mapping[str, int]:
    """What a product costs in each currency while no sale runs."""
    prices: Mapping[str, int] | None = doc.get("prices")
    return prices or {doc["price"]["currency"]: doc["price"]["amount"]}


def indexed_prices(doc: Mapping[str, Any]) -> Mapping[str, int]:
    """What lists sort and filter by, {currency: amount}."""
    prices: Mapping[str, int] | None = doc.get("current_prices")
    return prices or regular_prices(doc)


def own_indexed_price(doc: Mapping[str, Any]) -> int:
    return indexed_prices(doc)[doc["price"]["currency"]]


def indexed_currencies(doc: Mapping[str, Any]) -> list[str]:
    return list(indexed_prices(doc))
