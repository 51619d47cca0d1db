"""Bar charts as numbers: where bars, grid lines and labels go. The template draws them.

Across in percent of the plot, so that it fits any width without scaling its text; down in pixels of a fixed height.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from services.storefront.rules import periods, prices
from services.storefront.translation import ngettext
from shared.money import MINOR_UNITS, Money, money

TOP, BASE = 40, 268
LABELS = 8


@dataclass(frozen=True)
class Bar:
    """One period. `x` and `width` in percent; `gross_y`, `net_y` in pixels from the top; `anchor` keeps the tip inside."""

    x: float
    width: float
    middle: float
    gross_y: float
    net_y: float
    tip: str
    anchor: str
    tip_x: float
    slot_x: float
    slot: float


@dataclass(frozen=True)
class Tick:
    at: float
    label: str
    minor: bool = False


@dataclass(frozen=True)
class Chart:
    bars: list[Bar]
    values: list[Tick]
    times: list[Tick]
    top: int = TOP
    base: int = BASE


@dataclass(frozen=True)
class Row:
    """A period of a sales report; money in minor units of the report's currency."""

    period: str
    orders: int
    gross: Money
    refunds: Money
    net: Money


Words = Callable[[Row], str]
"""What is said of a bar as it is pointed at."""


def filled(axis: list[str], found: list[Row], currency: str) -> list[Row]:
    """One row for each period of the axis, zero where nothing was sold."""
    known = {row.period: row for row in found}
    none = money(0, currency)
    return [known.get(period) or Row(period, 0, none, none, none) for period in axis]


def sales_words(row: Row) -> str:
    return ngettext(
        "%(period)s: %(net)s net, %(num)s order",
        "%(period)s: %(net)s net, %(num)s orders",
        row.orders,
        period=periods.label(row.period),
        net=prices.shown(row.net),
    )


def sales_chart(rows: list[Row], currency: str, words: Words = sales_words) -> Chart:
    """Bars of gross with net in front, a value axis in round steps, at most eight labels along the time axis."""
    unit = 10 ** MINOR_UNITS.get(currency, 2)
    ceiling, step = round_steps(max((row.gross["amount"] for row in rows), default=0) / unit)

    def y_of(amount: float) -> float:
        return round(BASE - max(0.0, amount) / ceiling * (BASE - TOP), 1)

    slot = 100 / max(1, len(rows))
    bars = [
        _bar(index, slot, words(row), y_of(row.gross["amount"] / unit), y_of(row.net["amount"] / unit))
        for index, row in enumerate(rows)
    ]
    count = round(ceiling / step)
    values = [
        Tick(y_of(step * number), prices.compact(round(step * number, 6), currency))
        for number in range(count + 1)
    ]
    return Chart(bars, values, _time_ticks(rows, slot))


def _bar(index: int, slot: float, tip: str, gross_y: float, net_y: float) -> Bar:
    middle = slot * (index + 0.5)
    width = min(slot * 0.72, 8.0)
    anchor = "start" if middle < 30 else "end" if middle > 70 else "middle"
    tip_x = {"start": 0.0, "end": 100.0}.get(anchor, middle)
    left, wide, centre = (round(number, 3) for number in (middle - width / 2, width, middle))
    return Bar(
        left,
        wide,
        centre,
        gross_y,
        net_y,
        tip,
        anchor,
        round(tip_x, 3),
        round(slot * index, 3),
        round(slot, 3),
    )


def _time_ticks(rows: list[Row], slot: float) -> list[Tick]:
    every = max(1, math.ceil(len(rows) / LABELS))
    chosen = range(0, len(rows), every)
    return [
        Tick(round(slot * (index + 0.5), 3), periods.tick(rows[index].period), minor=number % 2 == 1)
        for number, index in enumerate(chosen)
    ]


def round_steps(highest: float) -> tuple[float, float]:
    """(ceiling, step) of an axis with three to six round steps that holds `highest`."""
    if highest <= 0:
        return 4.0, 1.0
    magnitude = 10.0 ** math.floor(math.log10(highest / 4))
    for factor in (1, 2, 2.5, 5, 10):
        step = factor * magnitude
        if highest / step <= 5:
            return math.ceil(highest / step) * step, step
    raise AssertionError("ten times the magnitude always suffices")
