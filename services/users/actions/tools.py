"""What the actions work with: made once by `app.py`, the command line or the worker."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from services.users.clients import Orders, Products
from services.users.keys import DeviceTokens, RefreshTokens, SigningKeys, load_keys
from services.users.passwords import Passwords
from services.users.settings import JobSettings, Settings
from services.users.store import Store
from shared.client import ServiceClient
from shared.database import open_server
from shared.limits import Limits
from shared.mail import BackgroundMailer, Mailer, open_mailer
from shared.redis import open_redis

log = logging.getLogger(__name__)

_LONGEST_TURN = 10


class Later:
    """Work that no answer waits for, so that an answer's time does not tell of it: one after the other, the rest at exit."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="later")

    def __call__(self, work: Callable[..., object], *arguments: Any) -> None:
        self._thread.submit(work, *arguments).add_done_callback(_tell)


def _tell(done: Future[object]) -> None:
    if done.exception() is not None:
        log.error("what was to be done later failed", exc_info=done.exception())


@dataclass(frozen=True)
class JobTools:
    """What jobs need: the data, and the services that hold more of it."""

    store: Store
    redis: Redis
    products: Products
    orders: Orders

    @contextmanager
    def turn(self, name: str, patience: float = 0) -> Iterator[bool]:
        """Whether it became our turn within `patience` seconds; then it is nobody else's while the block runs, for 10 s at most."""
        lock = self.redis.lock(f"{name}:{self.store.database.name}", timeout=_LONGEST_TURN)
        ours = lock.acquire(blocking_timeout=patience)
        try:
            yield ours
        finally:
            if ours:
                with suppress(RedisError):
                    lock.release()


@dataclass(frozen=True)
class Tools(JobTools):
    """What requests need besides: keys, passwords, limits, mail."""

    settings: Settings
    passwords: Passwords
    keys: SigningKeys
    refresh_tokens: RefreshTokens
    device_tokens: DeviceTokens
    limits: Limits
    mailer: Mailer
    later: Later


def open_job_tools(settings: JobSettings) -> JobTools:
    """Nothing is connected to yet."""
    return JobTools(**_reach(settings))


def open_tools(settings: Settings) -> Tools:
    """Nothing is connected to yet; the key files are read. Raises ValueError or OSError for a bad one."""
    reach = _reach(settings)
    memory, passes, at_once = settings.argon2_memory_kib, settings.argon2_passes, settings.argon2_at_once
    return Tools(
        **reach,
        settings=settings,
        passwords=Passwords(memory_kib=memory, passes=passes, at_once=at_once),
        keys=load_keys(
            settings.jwt_private_key_file, settings.jwt_other_key_files, seconds=settings.access_token_seconds
        ),
        refresh_tokens=RefreshTokens(settings.secret_key),
        device_tokens=DeviceTokens(settings.secret_key),
        limits=Limits(reach["redis"]),
        mailer=_mailer(settings),
        later=Later(),
    )


def _reach(settings: JobSettings) -> dict[str, Any]:
    return {
        "store": Store(open_server(settings)),
        "redis": open_redis(settings.redis_url),
        "products": Products(ServiceClient("products", settings.products_url, settings.service_secret)),
        "orders": Orders(ServiceClient("orders", settings.orders_url, settings.service_secret)),
    }


def _mailer(settings: Settings) -> Mailer:
    """A Maildir is written to at once, so that a letter is there before the answer; a mail server is not waited for."""
    mailer = open_mailer(settings.mail_dir, settings.smtp_url, settings.mail_sender)
    return BackgroundMailer(mailer) if settings.smtp_url else mailer
