"""How far a running import is, for the page that shows it."""

import logging
from typing import cast

import orjson
from redis import Redis
from redis.exceptions import RedisError

from shared.couch import Doc

_TTL_SECONDS = 3600

log = logging.getLogger(__name__)


class ImportProgress:
    """Kept in Redis for an hour; an import does not depend on it."""

    def __init__(self, redis: Redis, database: str) -> None:
        self._redis, self._prefix = redis, f"import:{database}:"

    def save(self, importid: str, state: Doc) -> None:
        try:
            self._redis.set(self._prefix + importid, orjson.dumps(state), ex=_TTL_SECONDS)
        except RedisError as error:
            log.warning("import progress is not writable: %s", error)

    def of(self, importid: str) -> Doc | None:
        """Raises RedisError."""
        state = self._redis.get(self._prefix + importid)
        found: Doc | None = orjson.loads(cast(bytes, state)) if state else None
        return found
