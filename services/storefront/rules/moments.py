"""Days and times as the desk's forms have them, in UTC."""

from datetime import UTC, datetime
from typing import Final

from services.storefront.translation import gettext as _
from shared.clock import iso
from shared.errors import Invalid

_MINUTES: Final = "%Y-%m-%dT%H:%M"


def moment_of(typed: str, field: str) -> str:
    """What a datetime-local field holds, as the API writes it; "" for nothing. Raises Invalid on `field`."""
    try:
        return iso(datetime.strptime(typed, _MINUTES).replace(tzinfo=UTC)) if typed else ""
    except ValueError:
        words = _("Write a day and a time, such as 2026-12-01T09:00.")
        raise Invalid(words, errors={field: [words]}) from None
