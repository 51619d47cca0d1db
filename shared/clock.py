"""Times as the documents hold them: ISO 8601, UTC, milliseconds and `Z`, so that text order is time order."""

from datetime import UTC, datetime

from shared.errors import Invalid


def now() -> datetime:
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    """2026-11-20T23:11:00.000Z"""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def timestamp() -> str:
    """The present moment as text."""
    return iso(now())


def parse(value: str) -> datetime:
    """Reads an ISO 8601 date or time (UTC when no zone is given). Raises Invalid otherwise."""
    try:
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Invalid(f"{value!r} is not a date or time; write 2026-11-20 or 2026-11-20T23:11:00Z.") from None
