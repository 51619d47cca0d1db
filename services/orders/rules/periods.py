"""Spans of time as view keys: [from, to) to the second, and the labels of years, months, days and hours."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from shared.clock import iso, parse
from shared.errors import Invalid

LEVELS: Final = {"total": 0, "year": 1, "month": 2, "day": 3, "hour": 4}
"""`by` to the group level of a key [y, m, d, h, minute, second]."""

HIGHEST: dict[str, str] = {}


@dataclass(frozen=True)
class Span:
    """From `start` up to, not including, `end`; None is open."""

    start: datetime | None = None
    end: datetime | None = None

    def first_key(self) -> list[int]:
        return moment_key(self.start) if self.start else []

    def last_key(self) -> list[Any]:
        """The end of the key range; `end` itself is outside, because a moment's key sorts after its own seconds."""
        if self.end is None:
            return [HIGHEST]
        before = self.end - timedelta(seconds=1)
        return [*moment_key(before), HIGHEST]

    def closed(self) -> tuple[datetime, datetime]:
        """Both edges. Raises Invalid for an open span."""
        if self.start is None or self.end is None:
            raise Invalid("Give both `from` and `to`.", errors={"from": ["Give both edges."]})
        return self.start, self.end

    def as_text(self) -> tuple[str | None, str | None]:
        return (iso(self.start) if self.start else None, iso(self.end) if self.end else None)

    def holds(self, date: str) -> bool:
        moment = parse(date)
        return (self.start is None or moment >= self.start) and (self.end is None or moment < self.end)


def moment_key(moment: datetime) -> list[int]:
    """[2026, 11, 20, 23, 11, 0]"""
    return [moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second]


def span(start: str | None, end: str | None) -> Span:
    """Reads `from` and `to`: years, months, days or times. Raises Invalid for anything else or an empty span."""
    found = Span(_edge(start, "from"), _edge(end, "to"))
    if found.start and found.end and found.start >= found.end:
        raise Invalid(
            "`from` must be before `to` (which is not included).", errors={"from": ["Must be before to."]}
        )
    return found


def label(key: list[int]) -> str:
    """The name of a group key: [] `total`, [2026] `2026`, [2026, 1] `2026-01`, ... `2026-01-31T13`."""
    if not key:
        return "total"
    parts = [f"{key[0]:04d}", *(f"{part:02d}" for part in key[1:])]
    return "-".join(parts[:3]) + (f"T{parts[3]}" if len(parts) > 3 else "")


def month_of(year: int, month: int) -> Span:
    following = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return Span(datetime(year, month, 1, tzinfo=UTC), following)


def day_of(moment: datetime) -> Span:
    start = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return Span(start, start + timedelta(days=1))


def closed_period(kind: str, period: str) -> Span:
    """The span of `day` 2026-11-20 or `month` 2026-11. Raises Invalid."""
    start = _edge(period, "period")
    if start is None or (kind == "day") != (len(period) == 10) or (kind == "month") != (len(period) == 7):
        raise Invalid("A closing is of a day (2026-11-20) or of a month (2026-11).")
    return day_of(start) if kind == "day" else month_of(start.year, start.month)


def recently_ended(moment: datetime, days: int = 7) -> list[tuple[str, str]]:
    """The days before `moment`, oldest first, and the month before it, as closings name them."""
    today, _ = day_of(moment).closed()
    past = [today - timedelta(days=back) for back in range(days, 0, -1)]
    last_month = today.replace(day=1) - timedelta(days=1)
    return [*(("day", f"{day:%Y-%m-%d}") for day in past), ("month", f"{last_month:%Y-%m}")]


MAX_MONTHS = 1200
"""That one computed report is made of."""


def months_between(found: Span) -> list[Span]:
    """A closed span cut at the first of each month, so that a long report is computed in parts."""
    parts: list[Span] = []
    start, last = found.closed()
    while start < last:
        end = min(month_of(start.year, start.month).closed()[1], last)
        parts.append(Span(start, end))
        start = end
    return parts


def coarsest(found: Span) -> str:
    """The level at which the span is made of whole periods: `all`, `year`, `month` or `day`. Raises Invalid for less than days."""
    edges = [edge for edge in (found.start, found.end) if edge]
    if not edges:
        return "all"
    if any(edge != day_of(edge).start for edge in edges):
        raise Invalid("This is counted by whole days (UTC).", errors={"from": ["Give whole days."]})
    if all(edge.day == 1 and edge.month == 1 for edge in edges):
        return "year"
    return "month" if all(edge.day == 1 for edge in edges) else "day"


def _edge(text: str | None, name: str) -> datetime | None:
    if text is None or text == "":
        return None
    whole = {4: f"{text}-01-01", 7: f"{text}-01"}.get(len(text), text)
    try:
        moment = parse(whole)
        moment + timedelta(days=366), moment - timedelta(days=1)
    except (Invalid, OverflowError):
        raise Invalid(
            f"{name} is {text!r}; write 2026, 2026-11, 2026-11-20 or 2026-11-20T23:11:00Z.",
            errors={name: ["Not a date or time."]},
        ) from None
    return moment.replace(microsecond=0)
