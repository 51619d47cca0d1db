"""What customers searched for: counted with each search, added up by the worker, read by the shop's people."""

from datetime import datetime, timedelta
from typing import Any, Final

from redis.exceptions import RedisError

from services.products.actions.question import Listed
from services.products.dependencies import Dependencies
from services.products.rules.query_counts import (
    COMMON_FROM,
    DAYS_KEPT,
    FEW,
    countable,
    most_frequent,
    of_person,
    summed,
)
from shared.couch import search_for
from shared.errors import Unavailable

MAX_POPULAR = 1000
FLUSH: Final = "flush of searches"
FORGETTING_SECONDS: Final = 3.0
"""That an erasure waits for a flush."""
NOTHING, LITTLE, ANY = "nothing", "little", "any"
FOUND: Final = {NOTHING: 0, LITTLE: FEW, ANY: None}
"""What a list of queries is asked for: those that found no more than so many products."""


def count(deps: Dependencies, text: str, listed: Listed, visitor: str) -> None:
    """Counts a query, and whether it is somebody else's; one that nothing has all words of found nothing. No database call."""
    count_found(deps, text, found_by_words(listed), visitor)


def found_by_words(listed: Listed) -> int:
    """How many products have all the words."""
    return 0 if listed.more.get("dropped_words") else int(listed.more.get("total", len(listed.docs)))


def count_found(deps: Dependencies, text: str, found: int, visitor: str) -> None:
    """Counts a query that found so many. No database call."""
    if (query := countable(text)) is not None:
        deps.query_counter.count(query, found, visitor)


def count_again(deps: Dependencies, text: str, visitor: str) -> None:
    """Counts a query that was answered from a page that is kept. No database call."""
    if (query := countable(text)) is not None:
        deps.query_counter.count(query, None, visitor)


def flush(deps: Dependencies, now: datetime) -> int:
    """Adds what was counted to the day's document, and publishes what may be suggested; returns how many queries were added.

    Days that are over for long are removed. Raises Unavailable without Redis.
    """
    try:
        with deps.locks.hold(FLUSH) as acquired:
            return _flush(deps, now) if acquired else 0
    except RedisError as error:
        raise Unavailable("Redis does not answer; try again shortly.", retry_after=2) from error


def forget_person(deps: Dependencies, name: str) -> int:
    """Takes queries with the name of a person who is erased out of what was counted; how many there were. Old revisions go with the next
    compaction. Raises Unavailable without Redis, or while a flush lasts."""
    try:
        with deps.locks.hold(FLUSH, wait=FORGETTING_SECONDS) as acquired:
            if not acquired:
                raise Unavailable("Searches are being added up; try again shortly.", retry_after=2)
            counts = summed(
                [*(day["queries"] for day in deps.search_days.all()), deps.query_counter.pending()]
            )
            found = of_person(counts, name, max(COMMON_FROM, deps.settings.searches_shown_from))
            if found:
                deps.query_counter.forget(found)
                deps.search_days.forget(found)
            return len(found)
    except RedisError as error:
        raise Unavailable("Redis does not answer; try again shortly.", retry_after=2) from error


def queries(deps: Dependencies, found: str) -> list[dict[str, Any]]:
    """{query, searches, people, found, rules} of the last DAYS_KEPT days, the most frequent first. 1 partition query."""
    counts = summed([*(day["queries"] for day in deps.search_days.all()), deps.query_counter.pending()])
    maximum = FOUND[found]
    return [
        each._asdict() | {"rules": _rules(deps, each.query)}
        for each in most_frequent(counts, deps.settings.searches_shown_from)
        if maximum is None or each.found <= maximum
    ]


def _flush(deps: Dependencies, now: datetime) -> int:
    taken = deps.query_counter.take()
    if taken:
        deps.search_days.add(f"{now:%Y-%m-%d}", *taken)
        deps.query_counter.done()
    if taken or not deps.popular_queries.are_published():
        _publish(deps, now)
    return len(taken[1]) if taken else 0


def _publish(deps: Dependencies, now: datetime) -> None:
    days, first = deps.search_days.all(), f"{now - timedelta(days=DAYS_KEPT):%Y-%m-%d}"
    if old := [day for day in days if day["date"] < first]:
        deps.search_days.remove(old)
    frequent = most_frequent(
        summed(day["queries"] for day in days if day["date"] >= first), deps.settings.searches_shown_from
    )
    shown = [(each.query, each.searches) for each in frequent if each.found]
    deps.popular_queries.publish(shown[:MAX_POPULAR])


def _rules(deps: Dependencies, query: str) -> list[str]:
    """Which kinds of rules there are for it."""
    rules = deps.search_rules.get()
    asked = rules.with_synonyms(search_for(query))
    there = {
        "synonym": asked.synonyms,
        "redirect": rules.redirect_for(query),
        "pin": rules.pin_for(query),
        "hidden": rules.is_hidden(query),
    }
    return [kind for kind, found in there.items() if found]
