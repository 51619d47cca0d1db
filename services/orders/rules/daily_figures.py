"""The figures of a day in the shop: which day is due, to whom, who may send it, and what they are beside the day before."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from services.orders.declarations.reports import DailyFigures
from services.orders.documents import DAILY_FIGURES, report_key
from services.orders.rules.periods import Span
from shared.clock import iso
from shared.couch import time_ordered_id
from shared.emails import normalised_email
from shared.errors import Invalid

HOUR: Final = 6
MAX_ADDRESSES: Final = 20
TAKEN_OVER_AFTER: Final = timedelta(minutes=15)
"""A claim behind which nothing was sent is somebody's who was killed."""
CLAIM, SENT = "claim", "sent"


@dataclass(frozen=True)
class Day:
    """A day by the shop's clock: its name, and the times in UTC between which it lies."""

    name: str
    local: datetime
    span: Span
    before: Span


def day_due(zone: ZoneInfo, now: datetime) -> Day | None:
    """Yesterday, from HOUR in the morning on."""
    today = now.astimezone(zone)
    if today.hour < HOUR:
        return None
    midnights = [
        datetime.combine(today.date() - timedelta(days=back), time(), zone).astimezone(UTC)
        for back in (2, 1, 0)
    ]
    yesterday = midnights[1].astimezone(zone)
    return Day(
        f"{yesterday:%Y-%m-%d}", yesterday, Span(midnights[1], midnights[2]), Span(midnights[0], midnights[1])
    )


def addresses_of(text: str) -> list[str]:
    """Of a setting with addresses in lines, or with commas or semicolons; each once. Raises Invalid."""
    found = [each for each in re.split(r"[\s,;]+", text) if each]
    return list(dict.fromkeys(normalised_email(each) for each in found))


def zone_of(name: str) -> ZoneInfo:
    """Raises Invalid for a name that is none."""
    try:
        return ZoneInfo(name or "UTC")
    except (OSError, ValueError, LookupError):
        raise Invalid(
            f"{name!r} is no time zone.", errors={"time_zone": ["Write it like Europe/Berlin."]}
        ) from None


def recipient_of(address: str) -> str:
    """What is kept of an address."""
    return hashlib.sha256(address.encode()).hexdigest()[:32]


def next_claim(docs: Sequence[DailyFigures], day: Day, address: str, now: datetime) -> DailyFigures | None:
    """The document that gives one worker the sending to an address; None when it is sent, or somebody is at it."""
    own = [each for each in docs if each["recipient"] == recipient_of(address)]
    if any(each["step"] == SENT or each["date"] > iso(now - TAKEN_OVER_AFTER) for each in own):
        return None
    return step(CLAIM, day, address, len(own) + 1, now)


def step(name: str, day: Day, address: str, number: int, now: datetime) -> DailyFigures:
    reportid, recipient = f"daily-{day.name}", recipient_of(address)
    return DAILY_FIGURES.build(
        report_key(reportid, f"{name}-{recipient}-{number}"),
        reportid=reportid,
        step=name,
        recipient=recipient,
        number=number,
        date=iso(now),
        mark=time_ordered_id(),
    )


def beside(
    present: dict[str, Any], before: dict[str, Any]
) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Two sales reports by total, to (currency, totals of the day, totals of the day before) of each currency of either."""
    days = [{group["currency"]: group["total"] for group in each["groups"]} for each in (present, before)]
    return [(name, days[0].get(name, {}), days[1].get(name, {})) for name in sorted({**days[0], **days[1]})]
