"""Counts beside a category's filters, from what its products are filtered by."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from services.products.rules.searching import FACET_FIELDS, facets, price_bands
from shared.couch import Doc

COUNTABLE = frozenset({"brand", "colour", "currency", "price"})
Row = Sequence[Any]
"""[brand, colours, price in minor units, its currency, how many products are alike in these]"""


@dataclass(frozen=True)
class Filters:
    """Any of these brands, any of these colours, a price in between, a currency; empty and None are no filter."""

    brands: Sequence[str] = ()
    colours: Sequence[str] = ()
    min_price: int | None = None
    max_price: int | None = None
    currency: str | None = None

    def accept(self, row: Row) -> bool:
        brand, colours, price, currency, _ = row
        return (
            (not self.brands or brand in self.brands)
            and (not self.colours or any(colour in self.colours for colour in colours))
            and (self.min_price is None or price >= self.min_price)
            and (self.max_price is None or price <= self.max_price)
            and (self.currency is None or currency == self.currency)
        )


def count_facets(rows: Iterable[Row], filters: Filters, wanted: Iterable[str]) -> dict[str, Any]:
    """{"facets": as a search counts them, "total"} of the products that the filters leave."""
    brands: Counter[str] = Counter()
    colours: Counter[str] = Counter()
    prices: Counter[int] = Counter()
    currencies: Counter[str] = Counter()
    for row in filter(filters.accept, rows):
        brand, its_colours, price, currency, count = row
        if brand:
            brands[brand] += count
        for colour in set(its_colours):
            colours[colour] += count
        prices[price] += count
        currencies[currency] += count
    counts = {
        FACET_FIELDS["brand"]: dict(brands),
        FACET_FIELDS["colour"]: dict(colours),
        FACET_FIELDS["currency"]: dict(currencies),
    }
    return {
        "total": sum(prices.values()),
        "facets": facets(wanted, counts, {"price": _in_bands(prices)}),
    }


def _in_bands(prices: Counter[int]) -> dict[str, int]:
    counted: Counter[str] = Counter()
    bands = price_bands()
    for price, count in prices.items():
        label = next(band.label for band in bands if band.least <= price <= band.most)
        counted[label] += count
    return dict(counted)


def rows_of(answer: Iterable[Doc]) -> list[Row]:
    """The rows of a grouped view as they are kept."""
    return [[*row["key"], row["value"]] for row in answer]
