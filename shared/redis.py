"""The one way a service opens Redis: short time-outs and a circuit breaker, so that its absence is a quick 503."""

import time
from typing import Any, cast

from redis import ConnectionPool, Redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.client import Pipeline
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from shared.couch.http.breaker import Breaker, breaker_for
from shared.couch.http.errors import TransportError

_CONNECTION_ERRORS = (RedisConnectionError, RedisTimeoutError)


class GuardedPipeline(Pipeline):
    """A pipeline behind its client's circuit breaker."""

    breaker: Breaker

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        began = _begin(self.breaker)
        try:
            answers = super().execute(raise_on_error)
        except _CONNECTION_ERRORS:
            self.breaker.failed(began)
            raise
        self.breaker.succeeded()
        return answers


class GuardedRedis(Redis):
    """While Redis answers nothing, a command fails at once with redis.exceptions.ConnectionError."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._breaker = _breaker_of(self.connection_pool)

    def execute_command(self, *args: Any, **options: Any) -> Any:
        began = _begin(self._breaker)
        try:
            answer = super().execute_command(*args, **options)  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
        except _CONNECTION_ERRORS:
            self._breaker.failed(began)
            raise
        self._breaker.succeeded()
        return answer

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> GuardedPipeline:
        pipeline = GuardedPipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)
        pipeline.breaker = self._breaker
        return pipeline


def open_redis(url: str) -> GuardedRedis:
    """A thread-safe client (no connection is made yet); one quick retry covers a restarted server."""
    client = GuardedRedis.from_url(
        url,
        socket_timeout=1,
        socket_connect_timeout=1,
        retry=Retry(ExponentialBackoff(cap=0.2, base=0.05), 1, supported_errors=(RedisConnectionError,)),
        health_check_interval=30,
    )
    return cast(GuardedRedis, client)


def get_or_set(redis: Redis, key: str, value: bytes | str, *, seconds: int) -> bytes:
    """What a key has, `value` where it has nothing; also when Redis is emptied between two commands. Raises RedisError."""
    for _ in range(2):
        if found := cast(bytes | None, redis.get(key)):
            return found
        if redis.set(key, value, nx=True, ex=seconds):
            break
    return value.encode() if isinstance(value, str) else value


def _begin(breaker: Breaker) -> float:
    try:
        breaker.check()
    except TransportError as error:
        raise RedisConnectionError(str(error)) from error
    return time.monotonic()


def _breaker_of(pool: ConnectionPool) -> Breaker:
    options = pool.connection_kwargs
    name = f"redis {options.get('path') or '{host}:{port}'.format(**{'host': 'localhost', 'port': 6379, **options})}"

    def answers(timeout: float) -> bool:
        """On a connection of its own, which is closed again."""
        limits = {
            "socket_timeout": timeout,
            "socket_connect_timeout": timeout,
            "retry": Retry(NoBackoff(), 0),
        }
        probe = pool.connection_class(**{**options, **limits})
        try:
            probe.connect()
            probe.send_command("PING")
            return bool(probe.read_response())
        except (RedisError, OSError):
            return False
        finally:
            probe.disconnect()

    return breaker_for(name, answers)
