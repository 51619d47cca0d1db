"""A change of a price in words."""

from shared.types import Json

_KINDS = {"compare_at": "Compared with", "sale": "Sale", "group": "Group"}


def price_label(change: Json) -> str:
    """Which price it was: "Price", "Group trade", "Sale from 2026-12-01 09:00 until 2026-12-24 00:00"."""
    words = [_KINDS.get(change.get("kind", ""), "Price")]
    words += [change["group"]] if "group" in change else []
    times = (("from", "sale_from"), ("until", "sale_until"))
    words += [f"{word} {_minute(change[name])}" for word, name in times if name in change]
    return " ".join(words)


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")
