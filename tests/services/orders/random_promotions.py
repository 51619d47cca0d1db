"""Promotions of any kind for property tests, and what they take off, reckoned again unit by unit in fractions."""

from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

from hypothesis import strategies as st

from services.orders.rules.pricing.promotions import (
    AmountOff,
    BuyGet,
    FreeDelivery,
    Percent,
    Promotion,
)
from shared.money import CURRENCIES

DISCOUNTED = ("EUR", "JPY", "KWD")
"""Two digits, none, three."""

actions = st.one_of(
    st.builds(Percent, st.integers(1, 10_000)),
    st.builds(AmountOff, st.integers(1, 10**8), st.sampled_from(sorted(CURRENCIES))),
    st.builds(BuyGet, st.integers(1, 3), st.integers(1, 3), st.sampled_from((10_000, 5_000, 3_333))),
    st.just(FreeDelivery()),
)


@st.composite
def some_promotions(draw: st.DrawFn) -> list[Promotion]:
    """Automatic ones, so that those that take nothing off are no errors."""
    found = draw(
        st.lists(
            st.builds(
                Promotion,
                id=st.just(""),
                version=st.just(1),
                name=st.just("Offer"),
                actions=st.lists(actions, min_size=1, max_size=2).map(tuple),
                products=st.frozensets(st.sampled_from([f"p{number}" for number in range(6)])),
                priority=st.integers(0, 3),
                combines=st.booleans(),
            ),
            max_size=4,
        )
    )
    return [replace(each, id=f"promotion{number}") for number, each in enumerate(found)]


def reckoned(lines: list[dict[str, Any]], promotions: list[Promotion], currency: str) -> list[int]:
    """What each promotion takes off altogether, in the order in which they act; those that take nothing and free nothing left out.
    Dinars that are whole tens of fils stay so.

    `lines` {productid, quantity, price} hold what is left to pay; the shares of a promotion are spread as their amounts are, in proportion.
    """
    taken: list[int] = []
    applied: list[Promotion] = []
    for promotion in sorted(promotions, key=lambda each: (-each.priority, each.id)):
        before = [line["price"] for line in lines]
        for action in promotion.actions:
            _act(lines, promotion, action, currency)
        off = sum(before) - sum(line["price"] for line in lines)
        frees = any(isinstance(action, FreeDelivery) for action in promotion.actions)
        goods = [line for line in lines if not promotion.products or line["productid"] in promotion.products]
        alone = not applied or promotion.combines and all(other.combines for other in applied)
        if goods and alone and (off or frees):
            applied.append(promotion)
            taken.append(off)
        else:
            for line, price in zip(lines, before, strict=True):
                line["price"] = price
    return taken


def _act(lines: list[dict[str, Any]], promotion: Promotion, action: Any, currency: str) -> None:
    goods = [line for line in lines if not promotion.products or line["productid"] in promotion.products]
    whole = sum(line["price"] for line in goods)
    ten = 10 if currency == "KWD" and all(line["price"] % 10 == 0 for line in goods) else 1
    if isinstance(action, Percent):
        _spread(goods, _half_up(Fraction(whole * action.basis_points, 10_000), ten), ten)
    elif isinstance(action, AmountOff) and action.currency == currency:
        taken = min(whole, action.amount)
        _spread(goods, taken, 1 if taken % 10 else ten)
    elif isinstance(action, BuyGet):
        units = sorted(
            (Fraction(line["price"], line["quantity"]), index)
            for index, line in enumerate(goods)
            for _ in range(line["quantity"])
        )
        free = [index for _, index in units[: len(units) // (action.buy + action.get) * action.get]]
        for index, line in enumerate(goods):
            worth = floor(Fraction(line["price"] * free.count(index), line["quantity"] * ten)) * ten
            line["price"] -= _half_up(Fraction(worth * action.basis_points, 10_000), ten)


def _spread(goods: list[dict[str, Any]], amount: int, unit: int) -> None:
    """Whole units first, then one more each to the largest remainders, the first line first."""
    whole = sum(line["price"] for line in goods)
    if not whole:
        return
    exact = [Fraction(amount * line["price"], whole * unit) for line in goods]
    parts = [floor(each) for each in exact]
    by_remainder = sorted(range(len(goods)), key=lambda index: (parts[index] - exact[index], index))
    for index in by_remainder[: amount // unit - sum(parts)]:
        parts[index] += 1
    for line, part in zip(goods, parts, strict=True):
        line["price"] -= part * unit


def _half_up(exact: Fraction, unit: int) -> int:
    """To a multiple of `unit`."""
    return floor(exact / unit + Fraction(1, 2)) * unit
