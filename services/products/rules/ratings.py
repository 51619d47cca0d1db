"""From stars to a rating and a rank."""

from math import sqrt
from typing import Any

from services.products.rules.product import NO_RATING

MIN_STARS, MAX_STARS = 1, 5
CONFIDENCE = 1.96


def rating(stats: dict[str, Any] | None) -> dict[str, Any]:
    """{average, count} from the `_stats` of the reviews' stars; no average without a review."""
    if not stats or not stats["count"]:
        return dict(NO_RATING)
    return {"average": round(stats["sum"] / stats["count"], 2), "count": stats["count"]}


def rank(stats: dict[str, Any] | None) -> float:
    """The average that is very likely exceeded: Wilson's lower bound on the share of stars won, on the scale of stars.

    One review of five stars gives 1.83, a hundred that average 4.5 give 4.18; without reviews it is 0.
    """
    if not stats or not stats["count"]:
        return 0
    span, count = MAX_STARS - MIN_STARS, stats["count"]
    share, z = (stats["sum"] / count - MIN_STARS) / span, CONFIDENCE
    spread = z * sqrt(max(share * (1 - share), 0) / count + z * z / (4 * count * count))
    bound: float = (share + z * z / (2 * count) - spread) / (1 + z * z / count)
    return round(MIN_STARS + span * max(bound, 0), 4)
