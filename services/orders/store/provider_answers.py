"""What rate and tax providers answered a moment ago, so that an order is charged what its quote showed, from any replica."""

import hashlib
import logging
from collections.abc import Mapping
from typing import Any, Final, cast

import orjson
from redis import Redis
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

TTL_SECONDS: Final = 900


class ProviderAnswers:
    """Answers by provider and question, in Redis for a quarter of an hour: a convenience, so that nothing fails without it."""

    def __init__(self, redis: Redis, shop: str) -> None:
        """`shop`: the name of its database; shops may share a Redis."""
        self._redis, self._shop = redis, shop

    def get(self, provider: str, question: Mapping[str, Any]) -> Any:
        """None when it was not asked lately."""
        try:
            found = cast(bytes | None, self._redis.get(self._key(provider, question)))
        except RedisError as error:
            log.warning("answers of %s cannot be read: %s", provider, error)
            return None
        return None if found is None else orjson.loads(found)

    def keep(self, provider: str, question: Mapping[str, Any], answer: Any) -> None:
        try:
            self._redis.set(self._key(provider, question), orjson.dumps(answer), ex=TTL_SECONDS)
        except RedisError as error:
            log.warning("an answer of %s is not kept: %s", provider, error)

    def _key(self, provider: str, question: Mapping[str, Any]) -> str:
        text = orjson.dumps(question, option=orjson.OPT_SORT_KEYS)
        return f"answers:{self._shop}:{provider}:{hashlib.sha256(text).hexdigest()}"
