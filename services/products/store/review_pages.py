"""The newest reviews of a product, kept in Redis under its rating, which every new review changes."""

import logging
import re

import orjson
from redis import Redis
from redis.exceptions import RedisError

from services.products.declarations.product import Product
from shared.couch import Page

log = logging.getLogger(__name__)

TTL_SECONDS = 60


class ReviewPages:
    """First pages only, as everybody sees them. Without Redis nothing is kept."""

    def __init__(self, redis: Redis, database: str) -> None:
        self._redis, self._prefix = redis, f"reviews:{database}:"

    def get(self, product: Product, limit: int) -> Page | None:
        try:
            kept = self._redis.get(self._key(product, limit))
        except RedisError as error:
            log.warning("kept reviews are not readable: %s", error)
            return None
        if not isinstance(kept, bytes):
            return None
        items, following = orjson.loads(kept)
        return Page(items, following)

    def put(self, product: Product, limit: int, page: Page) -> Page:
        """Returns `page`."""
        try:
            self._redis.set(self._key(product, limit), orjson.dumps([page.items, page.next]), ex=TTL_SECONDS)
        except RedisError as error:
            log.warning("reviews are not writable: %s", error)
        return page

    def forget(self, product: Product) -> None:
        """What is kept of a product's reviews. Raises RedisError: it would be shown again otherwise."""
        pattern = re.sub(r"([*?\[\]\\])", r"\\\1", f"{self._prefix}{product['_id']}:") + "*"
        if kept := list(self._redis.scan_iter(match=pattern, count=1000)):
            self._redis.delete(*kept)

    def _key(self, product: Product, limit: int) -> str:
        rating = product["rating"]
        return f"{self._prefix}{product['_id']}:{rating['count']}:{rating['average']}:{limit}"
