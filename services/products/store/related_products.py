"""What a product's page shows beside it, kept in Redis and made again in the background, so that the page asks no database for it."""

import logging
import time
from collections.abc import Callable

import orjson
from redis import Redis
from redis.exceptions import RedisError

from services.products.declarations.product import Product
from shared.background import Background
from shared.errors import AisleError

FRESH_SECONDS = 60
TTL_SECONDS = 24 * 3600
LOCK_SECONDS = 10

log = logging.getLogger(__name__)

Make = Callable[[], list[Product]]


class RelatedProducts:
    """Documents of products under a key. Without Redis there are none."""

    def __init__(self, redis: Redis, background: Background, database: str) -> None:
        self._redis, self._background, self._prefix = redis, background, f"related:{database}:"

    def get(self, key: str, make: Make, changed: Callable[[], None]) -> list[Product]:
        """Those that are kept, none the first time. When they are old, one process makes them again; `changed` is called when they are others."""
        try:
            kept = self._redis.get(self._prefix + key)
            moment, _, body = (kept if isinstance(kept, bytes) else b"").partition(b"\n")
            is_due = time.time() - float(moment or 0) > FRESH_SECONDS
            if is_due and self._redis.set(f"{self._prefix}{key}:lock", 1, nx=True, ex=LOCK_SECONDS):
                self._background.run(self._renew, key, body, make, changed)
        except RedisError as error:
            log.warning("related products are not readable: %s", error)
            return []
        return orjson.loads(body) if body else []

    def _renew(self, key: str, before: bytes, make: Make, changed: Callable[[], None]) -> None:
        try:
            body = orjson.dumps(make())
            self._redis.set(self._prefix + key, b"%.0f\n%s" % (time.time(), body), ex=TTL_SECONDS)
        except (AisleError, RedisError) as error:
            log.warning("related products cannot be made: %s", error)
            return
        if body != (before or b"[]"):
            changed()
