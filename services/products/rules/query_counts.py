"""What customers search for, counted: which queries are counted at all, and how counts add up. Nothing tells who searched."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from shared.couch import words_of

MAX_QUERIES_A_DAY, DAYS_KEPT = 2000, 30
MAX_COUNTED_LENGTH, MAX_COUNTED_WORDS = 60, 8
FEW: Final = 3
"""So many products are little for a query."""

Counts = Mapping[str, Sequence[int | None]]
"""{query: [how often it was searched for, how many products it found the last time (None: as before), by how many people]}; people are
told apart within a day, and not across days"""


COMMON_FROM: Final = 3
"""A query of so many people is about nobody."""


class Frequent(NamedTuple):
    query: str
    searches: int
    found: int
    people: int


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


def added(counts: Counts, more: Counts) -> dict[str, list[int | None]]:
    """Both together, the later result counting; the most frequent ones when they are too many for a day."""
    together = {query: _sum(counts.get(query), more.get(query)) for query in {**counts, **more}}
    return dict(sorted(together.items(), key=lambda item: (-(item[1][0] or 0), item[0]))[:MAX_QUERIES_A_DAY])


def summed(days: Iterable[Counts]) -> dict[str, list[int | None]]:
    """All days together; they come in their order."""
    together: dict[str, list[int | None]] = {}
    for day in days:
        for query, count in day.items():
            together[query] = _sum(together.get(query), count)
    return together


def most_frequent(counts: Counts, at_least: int) -> list[Frequent]:
    """The most frequent first, of those that so many people searched for: a text that only one person typed is shown to nobody."""
    found = (Frequent(query, *_complete(count)) for query, count in counts.items())
    shown = [each for each in found if each.people >= at_least]
    return sorted(shown, key=lambda each: (-each.searches, each.query))


def of_person(counts: Counts, name: str, common_from: int) -> set[str]:
    """Queries with all the words of a person's name, unless so many people searched for them: these are about goods."""
    words = set(words_of(name))
    if not words:
        return set()
    few = (query for query, count in counts.items() if _complete(count)[2] < common_from)
    return {query for query in few if words <= set(query.split())}


def _sum(one: Sequence[int | None] | None, other: Sequence[int | None] | None) -> list[int | None]:
    (searches, found, people), later = _complete(one), _complete(other)
    known = other is not None and other[1] is not None
    return [searches + later[0], later[1] if known else found, people + later[2]]


def _complete(count: Sequence[int | None] | None) -> tuple[int, int, int]:
    """Of a count of the last release, which knew no people, each search is somebody's."""
    if count is None:
        return 0, 0, 0
    searches, found = count[0] or 0, count[1] or 0
    return searches, found, (count[2] or 0) if len(count) > 2 else searches
