"""A list page's filters: read from the query, turned into the API's parameters and back into links."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from services.storefront.rules import prices
from services.storefront.translation import Language, active_language, gettext, gettext_noop
from shared.errors import Invalid
from shared.money import CURRENCIES, money

PER_PAGE = 24
USUAL_CURRENCY = "GBP"
SORTS = {
    "relevance": gettext_noop("Best match"),
    "rating": gettext_noop("Best rated"),
    "price": gettext_noop("Price, lowest first"),
    "-price": gettext_noop("Price, highest first"),
    "name": gettext_noop("Name"),
}
FACETS = {
    "brand": gettext_noop("Brand"),
    "colour": gettext_noop("Colour"),
    "currency": gettext_noop("Currency"),
}
MEMBERS = ("options", "attributes")
"""Facets of which a list's products decide what they are: `options` is `options.Size` and others."""
MAX_CHOICES = 20


@dataclass(frozen=True)
class Filters:
    """What the visitor asked for: `choices` are the values of each facet, any of which will do; prices as typed, in major
    units: of `currency`, else of `priced_in`, the page's usual one. `shop_currency` is that of all pages, where the shop names its currencies."""

    q: str = ""
    category: str = ""
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    min_price: str = ""
    max_price: str = ""
    currency: str = ""
    priced_in: str = ""
    shop_currency: str = ""
    sort: str = ""
    cursor: str = ""

    @property
    def chosen(self) -> bool:
        return bool(self.choices or self.min_price or self.max_price or self.currency)

    def chosen_of(self, facet: str) -> tuple[str, ...]:
        if facet == "currency":
            return (self.currency,) if self.currency else ()
        return self.choices.get(facet, ())

    @property
    def verbatim(self) -> str:
        """The words in quotes, each taken as it was typed."""
        return " ".join(f'"{word}"' for word in self.q.replace('"', " ").split())

    @property
    def compares_prices(self) -> bool:
        """Whether prices are held against each other, which needs one currency."""
        return bool(self.min_price or self.max_price or self.sort in ("price", "-price"))

    @property
    def in_one_currency(self) -> str:
        """The currency that is asked for, by itself or since prices were typed in it."""
        return (
            self.currency
            or self.shop_currency
            or (self.priced_in if self.min_price or self.max_price else "")
        )

    def params(self, *, subtree: bool = False) -> dict[str, Any]:
        """The products API's query. Raises Invalid for a price that is no number."""
        found: dict[str, Any] = {
            "limit": PER_PAGE,
            "facets": ",".join([*self._facets(), "price", *MEMBERS]),
            "stale_facets": "true",
            "collapse": "true",
            **self.choices,
        }
        found |= {
            name: value for name in ("q", "category", "sort", "cursor") if (value := getattr(self, name))
        }
        for name in ("min_price", "max_price"):
            if text := getattr(self, name):
                found[name] = prices.parse(text, self.in_one_currency or USUAL_CURRENCY, name)["amount"]
        if self.in_one_currency:
            found["currency"] = self.in_one_currency
        if subtree:
            found["subcategories"] = "true"
        return found

    def _facets(self) -> list[str]:
        """A list in the currency of all pages is not filtered by one."""
        return [name for name in FACETS if name != "currency" or not self.shop_currency]

    def query(self, **changes: Any) -> str:
        """This page's query string with `changes` made; a changed filter begins at the first page again."""
        other = replace(self, **({"cursor": ""} | changes))
        priced = other.min_price or other.max_price
        kept = {
            name: value
            for name in self._own()
            if (value := getattr(other, name)) and (priced or name != "priced_in")
        }
        kept = {"q": kept.pop("q", ""), **other.choices, **kept}
        pairs = urlencode({name: value for name, value in kept.items() if value}, doseq=True)
        return f"?{pairs}"

    def without_filters(self) -> str:
        """The same page's query string with nothing chosen."""
        return self.query(choices={}, min_price="", max_price="", currency="")

    def hidden_inputs(self) -> list[tuple[str, str]]:
        """(name, value) of all that a form which only sorts has to keep."""
        kept = [(name, getattr(self, name)) for name in self._own() if name not in ("sort", "cursor")]
        chosen = [(name, value) for name, values in self.choices.items() for value in values]
        return [(name, value) for name, value in (*kept, *chosen) if value]

    @staticmethod
    def _own() -> tuple[str, ...]:
        return ("q", "min_price", "max_price", "currency", "priced_in", "sort", "cursor")


@dataclass(frozen=True)
class FacetGroup:
    """The values of one facet to choose from: all that are chosen, then the others; one of them, or several."""

    name: str
    title: str
    values: Sequence[Mapping[str, Any]]
    chosen: frozenset[str]
    single: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether there is something to choose, or was."""
        return bool(self.chosen) or len(self.values) > int(self.single)

    @property
    def coverage(self) -> int:
        """How many times the list's products have one of the values."""
        return sum(each["count"] or 0 for each in self.values)

    @property
    def id(self) -> str:
        """For the page's elements, whatever signs are in the name."""
        return "facet-" + re.sub("[^a-z0-9]+", "-", self.name.lower())


def facet_groups(
    filters: Filters,
    counted: Mapping[str, Sequence[Mapping[str, Any]]],
    titles: Mapping[str, str] | None = None,
) -> list[FacetGroup]:
    """What a list can be filtered by; `titles` are what the shop calls its attributes. Of two facets of one title, as where goods
    have colours and an option Colour, one is shown."""
    titles = {**(titles or {}), **{name: gettext(title) for name, title in FACETS.items()}}
    names = dict.fromkeys([*FACETS, *(name for name in counted if "." in name), *filters.choices])
    groups = [
        _group(name, titles.get(name, ""), counted.get(name, ()), filters.chosen_of(name)) for name in names
    ]
    most: dict[str, FacetGroup] = {}
    for group in groups:
        title = group.title.casefold()
        if title not in most or group.coverage >= most[title].coverage:
            most[title] = group
    return [group for group in groups if group.chosen or group is most[group.title.casefold()]]


def _group(
    name: str, title: str, counted: Sequence[Mapping[str, Any]], chosen: tuple[str, ...]
) -> FacetGroup:
    there = [each for each in counted if each["value"]]
    missing = [
        {"value": each, "count": None} for each in chosen if each not in {one["value"] for one in there}
    ]
    ordered = sorted([*missing, *there], key=lambda each: each["value"] not in chosen)
    title = title or name.partition(".")[2].replace("_", " ").capitalize()
    return FacetGroup(name, title, ordered, frozenset(chosen), single=name == "currency")


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
    typed = {
        name: prices.in_address(money(edge, currency)) for name, edge in edges.items() if edge is not None
    }
    return urlencode({**typed, "currency": currency})


def _band_words(band: Mapping[str, Any], currency: str) -> tuple[str, int]:
    return _edges(active_language(), band["from"], band["to"], currency), band["count"]


@lru_cache(512)
def _edges(language: Language, low: int, high: int | None, currency: str) -> str:
    """`language` is the active one."""
    first = prices.shown(money(low, currency))
    return (
        gettext("%(price)s and more", price=first)
        if high is None
        else f"{first} – {prices.shown(money(high, currency))}"
    )


def most_frequent(currencies: Iterable[Mapping[str, Any]]) -> str:
    """The currency that most things of a list are priced in; "" for none."""
    ordered = sorted(currencies, key=lambda each: -each["count"])
    return ordered[0]["value"] if ordered else ""


def read(query: Mapping[str, Sequence[str]], category: str = "") -> Filters:
    """Filters from a query string's values by name; raises Invalid for a sort or a currency there is not."""
    args = {name: values[0] for name, values in query.items() if values}
    known: dict[str, Any] = {
        name: args.get(name, "").strip()[:200] for name in Filters._own() if name != "cursor"
    }
    if known["sort"] and known["sort"] not in SORTS:
        raise Invalid(errors={"sort": [gettext("Choose one of %(choices)s.", choices=", ".join(SORTS))]})
    for name in ("currency", "priced_in"):
        if known[name] and known[name] not in CURRENCIES:
            raise Invalid(errors={name: [gettext("Choose a currency such as GBP.")]})
    chosen = {name: _chosen(values) for name, values in query.items() if _is_choice(name)}
    known["choices"] = {name: values for name, values in chosen.items() if values}
    return Filters(**known, category=category or args.get("category", ""), cursor=args.get("cursor", ""))


def _is_choice(name: str) -> bool:
    return name in ("brand", "colour") or name.partition(".")[0] in MEMBERS


def _chosen(values: Sequence[str]) -> tuple[str, ...]:
    stripped = (each.strip()[:200] for each in values)
    return tuple(dict.fromkeys(each for each in stripped if each))[:MAX_CHOICES]
