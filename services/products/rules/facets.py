"""Counts beside a list's filters: values of one facet are alternatives, so a facet counts what all filters but its own leave."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, Final

from services.products.option_values import combination
from services.products.price_fields import is_currency, price_name
from services.products.search_indexes import COMBINATIONS, PAIR_FIELDS
from shared.couch import NUMBER_BANDS, Band, Doc

FACET_FIELDS: Final = {
    "brand": "brand_is",
    "colour": "colour",
    "category": "category",
    "currency": "currency",
    "price": "price",
}
"""The search index's field of each facet; `options.Size` is the member `Size` of the field `options`."""
MAX_VALUES, MAX_MEMBERS, MAX_COMBINATIONS = 50, 8, 100
MAX_NUMBERS: Final = 8
"""So many different numbers are shown one by one."""
BAND_LABELS: Final = ("..0", *(label for _, label in NUMBER_BANDS))
OPTIONS: Final = "options."
IN_CATEGORY: Final = frozenset({"brand", "colour", "currency", "price"})

_STEPS = [step * 10**power for power in range(3, 9) for step in (1, 2, 5)]
_EDGES = [0, *_STEPS]
PRICE_BANDS: Final = (
    *(Band(f"{low}-{high - 1}", low, high - 1) for low, high in zip(_EDGES, _EDGES[1:], strict=False)),
    Band(f"{_EDGES[-1]}-", _EDGES[-1], 10**15),
)
"""1-2-5 steps in minor units: up to 10.00, 20.00, 50.00, 100.00 and so on; a price is in exactly one of them."""

Row = Sequence[Any]
"""[brand, colours, prices {`price_fields.price_name`: minor units}, its own currency, members of its pair fields, how many products are alike in these]"""
Counts = Mapping[str, int]


def is_facet(name: str) -> bool:
    return name in FACET_FIELDS or name in PAIR_FIELDS or is_pair(name)


def is_pair(name: str) -> bool:
    """Whether it is a member of an object, such as `options.Size`."""
    group, dot, member = name.partition(".")
    return bool(dot and member) and group in PAIR_FIELDS


def counted_field(facet: str) -> str:
    """The search index's field whose counts hold those of the facet."""
    return FACET_FIELDS.get(facet) or facet.partition(".")[0]


def expanded(facets: Iterable[str], counted: Mapping[str, Counts], chosen: Iterable[str]) -> list[str]:
    """The facets by name: one that is an object (`options`) stands for those of its members that most products have, and those chosen."""
    found: dict[str, None] = {}
    for facet in facets:
        found |= dict.fromkeys(
            _members(facet, counted.get(facet, {}), chosen) if facet in PAIR_FIELDS else [facet]
        )
    return list(found)


def combined(choices: Mapping[str, Sequence[str]]) -> list[str]:
    """What variants have of which one must be in stock, when values of several options are chosen."""
    options = {
        name.removeprefix(OPTIONS): values for name, values in choices.items() if name.startswith(OPTIONS)
    }
    if len(options) < 2 or prod(map(len, options.values())) > MAX_COMBINATIONS:
        return []
    return [combination(dict(zip(options, values, strict=True))) for values in product(*options.values())]


def _members(group: str, counts: Counts, chosen: Iterable[str]) -> list[str]:
    sums: Counter[str] = Counter()
    for value, count in counts.items():
        member, _, text = value.partition("=")
        if text not in BAND_LABELS:
            sums[f"{group}.{member}"] += count
    ordered = sorted(sums, key=lambda name: (-sums[name], name))[:MAX_MEMBERS]
    return ordered + [name for name in chosen if name.startswith(f"{group}.") and name not in ordered]


def counts_in_category(facets: Iterable[str]) -> bool:
    """Whether these can be counted from the kept values of one category."""
    return all(facet in IN_CATEGORY or facet in PAIR_FIELDS or is_pair(facet) for facet in facets)


def shown(facet: str, counts: Counts) -> list[Doc]:
    """[{value, count}] of a field's counts, the most frequent first; numbers in their order, many of them by bands."""
    _, dot, member = facet.partition(".")
    prefix = f"{member}=" if dot else ""
    found = {
        value.removeprefix(prefix): count
        for value, count in counts.items()
        if count and value.startswith(prefix)
    }
    bands = {value: count for value, count in found.items() if value in BAND_LABELS}
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    shown_values = _numbers(found, bands) if bands else ordered
    return [{"value": value, "count": count} for value, count in shown_values[:MAX_VALUES]]


def _numbers(found: Counts, bands: Counts) -> list[tuple[str, int]]:
    """Each number while they are few, else the bands in which they are."""
    numbers = [(value, count) for value, count in found.items() if value not in bands]
    if len(numbers) <= MAX_NUMBERS:
        return sorted(numbers, key=lambda item: _least(item[0]))
    return sorted(bands.items(), key=lambda item: BAND_LABELS.index(item[0]))


def _least(value: str) -> float:
    """A number as it stands in a filter; a text among numbers, of a type that changed, is behind them."""
    try:
        return float(value)
    except ValueError:
        return float("inf")


def shown_bands(counted: Counts) -> list[Doc]:
    """Price bands in their order, {value, from, to, count}."""
    return [
        {
            "value": band.label,
            "from": band.min,
            "to": band.max if band.max < 10**15 else None,
            "count": counted[band.label],
        }
        for band in PRICE_BANDS
        if counted.get(band.label)
    ]


@dataclass(frozen=True)
class Filters:
    """For each facet values of which one must be there, a price in between, as members of `group` pay it, a currency; empty and None are no
    filter."""

    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    min_price: int | None = None
    max_price: int | None = None
    currency: str | None = None
    group: str = ""

    @property
    def narrows(self) -> bool:
        """Whether more than the currency is asked."""
        return bool(self.choices) or self.min_price is not None or self.max_price is not None

    def price(self, row: Row) -> int | None:
        """What the products of a row cost; None for what is not sold in the currency."""
        currency = self.currency or row[3]
        price: int | None = row[2].get(price_name(currency, self.group), row[2].get(currency))
        return price

    def failed(self, row: Row) -> set[str]:
        """The facets whose filters do not let it pass."""
        price = self.price(row)
        failed = {
            facet for facet, values in self.choices.items() if set(values).isdisjoint(_values(facet, row))
        }
        if price is None:
            failed.add("currency")
        elif (self.min_price is not None and price < self.min_price) or (
            self.max_price is not None and price > self.max_price
        ):
            failed.add("price")
        together = combined(self.choices)
        if together and not failed and {f"{COMBINATIONS}.{each}" for each in together}.isdisjoint(row[4]):
            failed.add(COMBINATIONS)
        return failed


def count_facets(rows: Iterable[Row], filters: Filters, wanted: Iterable[str]) -> dict[str, Any]:
    """{"facets": as a search counts them, "total"} of the products that the filters leave."""
    rows = list(rows)
    wanted = expanded(wanted, _pair_counts(rows, filters), filters.choices)
    counters: dict[str, Counter[str]] = {name: Counter() for name in wanted if name != "price"}
    prices: dict[str, Counter[int]] = {}
    total = 0
    for row in rows:
        failed, count = filters.failed(row), row[-1]
        total += 0 if failed else count
        if failed <= {"price"}:
            price = filters.price(row)
            if price is not None:
                prices.setdefault(filters.currency or row[3], Counter())[price] += count
        for name, counter in counters.items():
            if failed <= {name} or (name.startswith(OPTIONS) and failed <= {name, COMBINATIONS}):
                for value in set(_values(name, row)):
                    counter[value] += count
    found = {name: shown("", counter) for name, counter in counters.items()}
    if "price" in wanted:
        found["price"] = shown_bands(_in_bands(next(iter(prices.values())))) if len(prices) == 1 else []
    return {"total": total, "facets": {name: found[name] for name in wanted}}


def _pair_counts(rows: Iterable[Row], filters: Filters) -> dict[str, Counter[str]]:
    """{field: {member=value: products}} of those that pass."""
    counted: dict[str, Counter[str]] = {name: Counter() for name in PAIR_FIELDS}
    for row in rows if counted else ():
        if row[4] and not filters.failed(row):
            for each in row[4]:
                group, _, member = each.partition(".")
                if group in counted:
                    counted[group][member] += row[-1]
    return counted


def _values(facet: str, row: Row) -> list[str]:
    if facet == "brand":
        return [row[0]] if row[0] else []
    if facet == "colour":
        return list(row[1])
    if facet == "currency":
        return [name for name in row[2] if is_currency(name)]
    return [each.removeprefix(f"{facet}=") for each in row[4] if each.startswith(f"{facet}=")]


def _in_bands(prices: Counter[int]) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for price, count in prices.items():
        label = next(band.label for band in PRICE_BANDS if band.min <= price <= band.max)
        counted[label] += count
    return dict(counted)


def rows_of(answer: Iterable[Doc]) -> list[Row]:
    """The rows of a grouped view as they are kept."""
    return [[*row["key"], row["value"]] for row in answer]
