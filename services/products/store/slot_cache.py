"""Where each chain of movements ended when it was last read. Movements never change, so an entry can be late, not wrong."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from redis import Redis
from redis.exceptions import RedisError

from services.products.documents import partition_of
from services.products.rules.ledger import Head, Line

_TTL_SECONDS = 24 * 3600

log = logging.getLogger(__name__)


class SlotCache:
    """Kept in Redis for all processes; without Redis the database is asked instead."""

    def __init__(self, redis: Redis, database: str) -> None:
        self._redis, self._database = redis, database

    def get(self, lines: Sequence[Line]) -> dict[Line, Head]:
        if not lines:
            return {}
        try:
            found = cast(list[bytes | None], self._redis.mget([self._key(line) for line in lines]))
        except RedisError as error:
            log.warning("stock slots are not readable: %s", error)
            return {}
        return {line: _head(text) for line, text in zip(lines, found, strict=True) if text}

    def put(self, heads: Mapping[Line, Head]) -> None:
        """Remembers ends of open chains."""
        try:
            pipeline = self._redis.pipeline(transaction=False)
            for line, head in heads.items():
                if head.moved_to is None:
                    pipeline.set(self._key(line), f"{head.slot} {head.level}", ex=_TTL_SECONDS)
                else:
                    pipeline.delete(self._key(line))
            pipeline.execute()
        except RedisError as error:
            log.warning("stock slots are not writable: %s", error)

    def drop(self, lines: Iterable[Line]) -> None:
        try:
            self._redis.delete(*[self._key(line) for line in lines])
        except RedisError as error:
            log.warning("stock slots are not writable: %s", error)

    def _key(self, line: Line) -> str:
        return f"stock:{self._database}:{partition_of(line.taxonomy)}:{line.key}"


def _head(text: bytes) -> Head:
    slot, level = text.split()
    return Head(int(slot), int(level))
