"""Keeps what searches know of the catalogue's words complete."""

import time

from redis.exceptions import RedisError

from services.products.dependencies import Dependencies
from shared.errors import Unavailable

PART_SECONDS, PRODUCTS_PER_PAGE = 3.0, 200


def learn_words(deps: Dependencies) -> int:
    """Goes on learning the words of all products, for some seconds; returns how many were read: 0 once all were within a day.

    1 global query for each page. Raises Unavailable without Redis.
    """
    try:
        if deps.word_learning.is_done():
            return 0
        with deps.locks.hold("learning words") as acquired:
            return _learn_part(deps) if acquired else 0
    except RedisError as error:
        raise Unavailable("Redis does not answer; try again shortly.", retry_after=2) from error


def _learn_part(deps: Dependencies) -> int:
    place, read, ends = deps.word_learning.place(), 0, time.monotonic() + PART_SECONDS
    while True:
        page = deps.catalogue.public_products(PRODUCTS_PER_PAGE, place)
        deps.word_learning.learn(page.items, page.next, first=place is None)
        place, read = page.next, read + len(page.items)
        if place is None or time.monotonic() > ends:
            return read
