"""The time axis of a report: which periods lie in a range, what they are called, how long a range may be."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from babel.dates import format_skeleton

from services.storefront.translation import SOURCE_LANGUAGE, active_language, gettext_noop
from services.storefront.translation import gettext as _
from shared.errors import Invalid

GRANULARITIES = ("hour", "day", "month", "year")
_STEPS = {
    "hour": gettext_noop("hour"),
    "day": gettext_noop("day"),
    "month": gettext_noop("month"),
    "year": gettext_noop("year"),
}
MAX_RANGES = {
    "hour": timedelta(days=4),
    "day": timedelta(days=92),
    "month": timedelta(days=3660),
    "year": timedelta(days=36600),
}
DEFAULT_RANGES = {
    "hour": timedelta(days=1),
    "day": timedelta(days=29),
    "month": timedelta(days=335),
    "year": timedelta(days=1500),
}
PREFIX_LENGTHS = {"hour": 13, "day": 10, "month": 7, "year": 4}


@dataclass(frozen=True)
class Span:
    """A report's choice: `by`, and its first and last day, both included, UTC."""

    by: str
    first: date
    last: date

    @property
    def start(self) -> str:
        return f"{self.first.isoformat()}T00:00:00.000Z"

    @property
    def end(self) -> str:
        """The moment after the last day: ranges in the API end before it."""
        return f"{(self.last + timedelta(days=1)).isoformat()}T00:00:00.000Z"

    def periods(self) -> list[str]:
        """Every period of the range, also those without sales: 2026-11-20T13, 2026-11-20, 2026-11, 2026."""
        moment = datetime.combine(self.first, datetime.min.time(), UTC)
        ends = datetime.combine(self.last, datetime.max.time(), UTC)
        step = timedelta(hours=1) if self.by == "hour" else timedelta(days=1)
        found: dict[str, None] = {}
        while moment <= ends:
            found[moment.isoformat()[: PREFIX_LENGTHS[self.by]]] = None
            moment += step
        return list(found)


def span(by: str | None, first: str | None, last: str | None, today: date) -> Span:
    """Reads what the form sent; what is left out gets the usual range up to `today`. Raises Invalid, by field."""
    by = by or "day"
    if by not in GRANULARITIES:
        raise Invalid(errors={"by": [_("Choose one of the list.")]})
    end = day(last, "to") if last else today
    begin = day(first, "from") if first else end - DEFAULT_RANGES[by]
    if begin > end:
        raise Invalid(errors={"from": [_("The first day comes after the last.")]})
    if end - begin > MAX_RANGES[by]:
        days = MAX_RANGES[by].days
        raise Invalid(
            errors={
                "from": [
                    _(
                        "By %(step)s, a range is at most %(days)s days: choose a shorter one or a longer step.",
                        step=step_label(by),
                        days=days,
                    )
                ]
            }
        )
    return Span(by, begin, end)


def day(text: str, field: str) -> date:
    """Raises Invalid on `field`, also for a day so far off that the calendar ends beside it."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        raise Invalid(errors={field: [_("Write a day as 2026-11-20.")]}) from None
    if not 1900 <= found.year < 9999:
        raise Invalid(errors={field: [_("Choose a year from 1900 to 9998.")]})
    return found


def step_label(by: str) -> str:
    """What a report is divided by, within a sentence."""
    return _(_STEPS[by])


def label(period: str) -> str:
    """2026-11-20T13 -> 20 Nov 13:00; 2026-11-20 -> 20 Nov 2026; 2026-11 -> Nov 2026; as the active language writes it."""
    match len(period):
        case 4:
            return period
        case 7:
            return _date_text(f"{period}-01", "%b %Y", "yMMM")
        case 10:
            return _date_text(period, "%-d %b %Y", "yMMMd")
    return f"{_date_text(period, '%-d %b', 'MMMd')} {period[11:13]}:00"


def tick(period: str) -> str:
    """The short form under the axis."""
    match len(period):
        case 4:
            return period
        case 7:
            return _date_text(f"{period}-01", "%b %y", "yMMM")
        case 10:
            return _date_text(period, "%-d %b", "MMMd")
    return f"{period[11:13]}:00"


def _date_text(day: str, source_pattern: str, skeleton: str) -> str:
    language, found = active_language(), date.fromisoformat(day[:10])
    if language.code == SOURCE_LANGUAGE:
        return found.strftime(source_pattern)
    return format_skeleton(skeleton, found, locale=language.locale)
