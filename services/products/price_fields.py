"""What a product costs in each currency, to everybody and to customer groups, as its indexes hold it; in Python and in JavaScript, which
must say the same."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

PRICES_SCRIPT: Final = """(function (doc) {
    var own = {};
    if (doc.price) own[doc.price.currency] = doc.price.amount;
    return doc.current_prices || doc.prices || own;
  })(doc)"""
"""{currency: amount}; `current_prices` is there while a sale runs."""
OWN_PRICE_SCRIPT: Final = f"doc.price && {PRICES_SCRIPT}[doc.price.currency]"
CURRENCIES_SCRIPT: Final = f"Object.keys({PRICES_SCRIPT})"

_PRICES_OF_GROUPS: Final = """(function (doc, groups, whole) {
    var prices = PRICES, found = {};
    var active = (doc.variants || []).filter(function (variant) { return variant.active !== false; });
    function priced(currency) {
      return (active.length ? active : [doc]).reduce(function (all, each) {
        var own = each === doc || (each.prices && each.prices[currency] !== undefined);
        return all.concat(own ? [each] : [each, doc]);
      }, []);
    }
    function lowest(currency, group) {
      return priced(currency).reduce(function (amount, each) {
        var other = ((each.group_prices || {})[group] || {})[currency];
        return typeof other === "number" && other < amount ? other : amount;
      }, prices[currency]);
    }
    Object.keys(prices).forEach(function (currency) {
      found[currency] = prices[currency];
      Object.keys(groups).forEach(function (group) {
        var amount = lowest(currency, group);
        if (whole || amount < prices[currency]) found[currency + groups[group]] = amount;
        if (whole && doc.price && doc.price.currency === currency) found[groups[group]] = amount;
      });
    });
    return found;
  })""".replace("PRICES", PRICES_SCRIPT)

PRICE_PREFIX: Final = "price_"


def price_name(currency: str | None, group: str = "") -> str:
    """The name of one of a product's prices among those that its indexes hold: `GBP`, `GBP_trade`; `_trade` is the group's price in the
    product's own currency, and "" everybody's."""
    return (currency or "") + (_suffix(group) if group else "")


def price_field(currency: str | None, group: str = "") -> str:
    """The search index's field of prices in this currency; without one, of each product's price in its own."""
    name = price_name(currency, group)
    return PRICE_PREFIX + name if name else "price"


def is_currency(name: str) -> bool:
    """Whether a name among indexed prices is that of a currency alone."""
    return "_" not in name


def prices_script(groups: Sequence[str], *, whole: bool) -> str:
    """JavaScript for {name: amount}: what everybody pays in each currency, and what each group does; unless `whole`, only where that is less."""
    if not groups:
        return PRICES_SCRIPT
    suffixes = json.dumps({group: _suffix(group) for group in groups})
    return f"{_PRICES_OF_GROUPS}(doc, {suffixes}, {json.dumps(whole)})"


@cache
def prices_by_name(groups: tuple[str, ...]) -> "PricesByName":
    return PricesByName(groups)


class PricesByName:
    """The same as the `whole` script."""

    def __init__(self, groups: Sequence[str]) -> None:
        self._groups = groups

    def __call__(self, doc: Mapping[str, Any]) -> Mapping[str, int]:
        prices = indexed_prices(doc)
        found = dict(prices)
        for group in self._groups:
            amounts = {currency: _lowest(doc, group, currency, amount) for currency, amount in prices.items()}
            found |= {price_name(currency, group): amount for currency, amount in amounts.items()}
            found[price_name(None, group)] = amounts[doc["price"]["currency"]]
        return found


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


def _suffix(group: str) -> str:
    """Nouveau takes letters, digits and underscores in a field's name; a group's name has no capital letters."""
    return "_" + group.replace("-", "Dash")


def _lowest(doc: Mapping[str, Any], group: str, currency: str, amount: int) -> int:
    """What a member of the group pays at least, where everybody pays this amount."""
    tables: Iterator[Mapping[str, int]] = (
        each.get("group_prices", {}).get(group, {}) for each in _priced(doc, currency)
    )
    return min(amount, *(table.get(currency, amount) for table in tables))


def _priced(doc: Mapping[str, Any], currency: str) -> Iterator[Mapping[str, Any]]:
    """Whose group prices count: each active variant's, and the product's for those that cost what it does."""
    active = [each for each in doc.get("variants", ()) if each.get("active", True)]
    yield from active
    if not active or any(currency not in each.get("prices", {}) for each in active):
        yield doc
