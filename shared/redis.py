"""The one way a service opens Redis: short time-outs, so that its absence is a quick 503."""

from redis import Redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry


def open_redis(url: str) -> Redis:
    """A thread-safe client (no connection is made yet); one quick retry covers a restarted server."""
    return Redis.from_url(
        url,
        socket_timeout=1,
        socket_connect_timeout=1,
        retry=Retry(ExponentialBackoff(cap=0.2, base=0.05), 1),
        retry_on_error=[RedisConnectionError, RedisTimeoutError],
        health_check_interval=30,
    )
