"""What customers search for, counted: which queries are counted at all, and how counts add up. Nothing tells who searched."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from shared.couch import Doc, words_of

MAX_QUERIES_A_DAY, DAYS_KEPT = 2000, 30
MAX_COUNTED_LENGTH, MAX_COUNTED_WORDS = 60, 8
FEW: Final = 3
"""So many products are little for a query."""

Counts = Mapping[str, list[int]]
"""{query: [how often it was searched for, how many products it found the last time]}"""

_PERSONAL = re.compile(r"@|://|\d(?:[\s./()-]*\d){6}")
"""An e-mail address, a link, a long number: of a phone, a card, an order."""


def countable(text: str) -> str | None:
    """The query as it is counted, None for what looks like something else than the name of goods."""
    words = words_of(text)
    query = " ".join(words)
    if (
        not query
        or len(query) > MAX_COUNTED_LENGTH
        or len(words) > MAX_COUNTED_WORDS
        or _PERSONAL.search(text)
    ):
        return None
    return query


def added(counts: Counts, more: Counts) -> dict[str, list[int]]:
    """Both together, the later result counting; the most frequent ones when they are too many for a day."""
    together = {query: list(each) for query, each in counts.items()}
    for query, (searches, found) in more.items():
        together[query] = [together.get(query, [0])[0] + searches, found]
    return dict(sorted(together.items(), key=lambda item: (-item[1][0], item[0]))[:MAX_QUERIES_A_DAY])


def summed(days: Iterable[Doc]) -> dict[str, list[int]]:
    """All days together; they come in their order."""
    together: dict[str, list[int]] = {}
    for day in days:
        for query, (searches, found) in day["queries"].items():
            together[query] = [together.get(query, [0])[0] + searches, found]
    return together


def most_frequent(counts: Counts, at_least: int) -> list[tuple[str, int, int]]:
    """(query, searches, found), the most frequent first, of those that were searched for so often: a text that only one person
    typed is shown to nobody."""
    shown = [(query, searches, found) for query, (searches, found) in counts.items() if searches >= at_least]
    return sorted(shown, key=lambda each: (-each[1], each[0]))
