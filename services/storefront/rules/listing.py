"""A list page's filters: read from the query, turned into the API's parameters and back into links."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from services.storefront.rules import prices
from shared.errors import Invalid
from shared.money import CURRENCIES, money

PER_PAGE = 24
USUAL_CURRENCY = "GBP"
SORTS = {
    "relevance": "Best match",
    "rating": "Best rated",
    "price": "Price, lowest first",
    "-price": "Price, highest first",
    "name": "Name",
}
FACETS = {"brand": "Brand", "colour": "Colour", "currency": "Currency"}


@dataclass(frozen=True)
class Filters:
    """What the visitor asked for; prices as typed, in major units: of `currency`, else of `priced_in`, the page's usual one."""

    q: str = ""
    category: str = ""
    brand: str = ""
    colour: str = ""
    min_price: str = ""
    max_price: str = ""
    currency: str = ""
    priced_in: str = ""
    sort: str = ""
    cursor: str = ""

    @property
    def chosen(self) -> bool:
        return bool(self.brand or self.colour or self.min_price or self.max_price or self.currency)

    @property
    def compares_prices(self) -> bool:
        """Whether prices are held against each other, which needs one currency."""
        return bool(self.min_price or self.max_price or self.sort in ("price", "-price"))

    @property
    def in_one_currency(self) -> str:
        """The currency that is asked for, by itself or since prices were typed in it."""
        return self.currency or (self.priced_in if self.min_price or self.max_price else "")

    def params(self, *, subtree: bool = False) -> dict[str, Any]:
        """The products API's query. Raises Invalid for a price that is no number."""
        found: dict[str, Any] = {
            "limit": PER_PAGE,
            "facets": "brand,colour,currency,price",
            "stale_facets": "true",
        }
        found |= {
            name: value
            for name in ("q", "category", "brand", "colour", "sort", "cursor")
            if (value := getattr(self, name))
        }
        for name in ("min_price", "max_price"):
            if text := getattr(self, name):
                found[name] = prices.parse(text, self.in_one_currency or USUAL_CURRENCY, name)["amount"]
        if self.in_one_currency:
            found["currency"] = self.in_one_currency
        if subtree:
            found["subcategories"] = "true"
        return found

    def query(self, **changes: Any) -> str:
        """This page's query string with `changes` made; a changed filter begins at the first page again."""
        other = replace(self, **({"cursor": ""} | changes))
        priced = other.min_price or other.max_price
        kept = {
            name: value
            for name in self._own()
            if (value := getattr(other, name)) and (priced or name != "priced_in")
        }
        return f"?{urlencode(kept)}" if kept else "?"

    @staticmethod
    def _own() -> tuple[str, ...]:
        return ("q", "brand", "colour", "min_price", "max_price", "currency", "priced_in", "sort", "cursor")


def band_links(
    filters: Filters, bands: Iterable[Mapping[str, Any]], currency: str
) -> list[tuple[str, str, int]]:
    """(href, words, how many) of each price band."""
    rest = filters.query(min_price="", max_price="", currency="", priced_in="")
    start = f"{rest}&" if rest != "?" else rest
    return [
        (f"{start}{_band_query(band['from'], band['to'], currency)}", *_band_words(band, currency))
        for band in bands
    ]


@lru_cache(512)
def _band_query(low: int, high: int | None, currency: str) -> str:
    edges = {"min_price": low, "max_price": high}
    typed = {name: prices.plain(money(edge, currency)) for name, edge in edges.items() if edge is not None}
    return urlencode({**typed, "currency": currency})


def _band_words(band: Mapping[str, Any], currency: str) -> tuple[str, int]:
    return _edges(band["from"], band["to"], currency), band["count"]


@lru_cache(512)
def _edges(low: int, high: int | None, currency: str) -> str:
    first = prices.shown(money(low, currency))
    return f"{first} and more" if high is None else f"{first} – {prices.shown(money(high, currency))}"


def most_frequent(currencies: Iterable[Mapping[str, Any]]) -> str:
    """The currency that most things of a list are priced in; "" for none."""
    ordered = sorted(currencies, key=lambda each: -each["count"])
    return ordered[0]["value"] if ordered else ""


def read(args: Mapping[str, str], category: str = "") -> Filters:
    """Filters from a query string; raises Invalid for a sort or a currency there is not."""
    known = {name: args.get(name, "").strip()[:200] for name in Filters._own() if name != "cursor"}
    if known["sort"] and known["sort"] not in SORTS:
        raise Invalid(errors={"sort": [f"Choose one of {', '.join(SORTS)}."]})
    for name in ("currency", "priced_in"):
        if known[name] and known[name] not in CURRENCIES:
            raise Invalid(errors={name: ["Choose a currency such as GBP."]})
    return Filters(**known, category=category or args.get("category", ""), cursor=args.get("cursor", ""))
