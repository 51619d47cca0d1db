"""Promotions as a quote needs them: what each takes off, on which goods, for whom and when."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

WHOLE: Final = 10_000
"""Basis points of all of it."""
DAY_LENGTH: Final = len("2026-01-31")
MANUAL: Final = "manual"
"""The id of what staff take off an order by hand."""


@dataclass(frozen=True)
class Percent:
    """So many basis points off what the goods cost."""

    basis_points: int


@dataclass(frozen=True)
class AmountOff:
    """An amount off the goods together; nothing off orders in other currencies."""

    amount: int
    currency: str


@dataclass(frozen=True)
class BuyGet:
    """Of each `buy` + `get` units the `get` cheapest cost so many basis points less; all of it makes them free."""

    buy: int
    get: int
    basis_points: int = WHOLE


@dataclass(frozen=True)
class FreeDelivery:
    """Delivery costs nothing, by these shipping methods or (none named) by all."""

    methods: frozenset[str] = frozenset()

    def frees(self, method: str) -> bool:
        return not self.methods or method in self.methods


Action = Percent | AmountOff | BuyGet | FreeDelivery


@dataclass(frozen=True)
class Promotion:
    """The version of a promotion that holds now. Without `codes` it applies by itself.

    It acts on goods of its `categories` or `products` (none named: on all), if they cost `minimums` or more before any discount.
    `ends` is a day, which is the last, or the time from which on it does not hold. `limit`, `per_customer`: how often it can be used.
    """

    id: str
    version: int
    name: str
    actions: tuple[Action, ...]
    codes: tuple[str, ...] = ()
    active: bool = True
    categories: tuple[tuple[str, ...], ...] = ()
    products: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    minimums: Mapping[str, int] = field(default_factory=dict)
    first_order: bool = False
    starts: str = ""
    ends: str = ""
    limit: int | None = None
    per_customer: int | None = None
    priority: int = 0
    combines: bool = True

    @property
    def is_manual(self) -> bool:
        """Whether it is what staff take off an order."""
        return self.id == MANUAL

    @property
    def is_counted(self) -> bool:
        return bool(self.limit or self.per_customer)

    def includes(self, key: str, productid: str, taxonomy: list[str]) -> bool:
        """Whether it acts on a line: `key` is the SKU, or the productid of what has no variants."""
        if not self.categories and not self.products:
            return True
        return bool({key, productid} & self.products) or any(
            tuple(taxonomy[: len(path)]) == path for path in self.categories
        )

    def has_begun(self, moment: str) -> bool:
        return self.starts <= moment

    def holds_at(self, moment: str) -> bool:
        return self.has_begun(moment) and not self.has_ended(moment)

    def has_ended(self, moment: str) -> bool:
        if not self.active:
            return True
        return bool(self.ends) and (
            moment[:DAY_LENGTH] > self.ends if len(self.ends) == DAY_LENGTH else moment >= self.ends
        )


@dataclass(frozen=True)
class Promotions:
    """All of a shop: those that apply by themselves, the others by their codes (in capital letters)."""

    automatic: tuple[Promotion, ...] = ()
    by_code: Mapping[str, Promotion] = field(default_factory=dict)


def promotions(all: Iterable[Promotion]) -> Promotions:
    """Of two with one code the active one is found; those that ended are found by code only, to say so."""
    found = sorted(all, key=lambda each: (each.active, each.id))
    by_code = {code: promotion for promotion in found for code in promotion.codes}
    return Promotions(tuple(each for each in found if not each.codes and each.active), by_code)


def with_newer(known: Promotions, newer: Sequence[Promotion]) -> Promotions:
    """Those that are known, and in place of what is known of the same ones the newer."""
    before = {each.id: each for each in (*known.automatic, *known.by_code.values())}
    return promotions((before | {each.id: each for each in newer}).values())


def normalized(code: str) -> str:
    """A code as it is compared, however it was typed."""
    return "".join(code.split()).upper()
