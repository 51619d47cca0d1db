"""Calls to services: as a user or anonymously, counted for the page that makes them."""

import contextvars
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Unpack
from urllib.parse import quote

import orjson

from services.storefront.translation import active_language
from shared.client import Answer, CallOptions, ServiceCall, ServiceClient, database_timing, service_calls
from shared.types import Json

SERVICES = ("users", "products", "orders")
IMPORT_SECONDS = 120
ANONYMOUS = ""


def segment(value: str) -> str:
    """An id as one segment of a path."""
    return quote(value, safe="")


def without_empty(**params: Any) -> dict[str, Any]:
    """The parameters that are set."""
    return {name.rstrip("_"): value for name, value in params.items() if value not in (None, "")}


def once(key: str) -> dict[str, str]:
    """The headers with which a request sent twice happens once; none without a key."""
    return {"Idempotency-Key": key} if key else {}


class CallCounts:
    """How often one page asked each service, and the database calls that these told of in their answers.

    Its own `calls` are empty: from here no database is asked.
    """

    def __init__(self, answered: list[ServiceCall]) -> None:
        self.services: Counter[str] = Counter()
        self.calls: dict[str, int] = {}
        self._answered = answered

    def as_server_timing(self) -> str:
        """users;desc="1", products;desc="0", orders;desc="0", database;desc="partition 1, global 0, read 0, write 0\""""
        asked = ", ".join(f'{name};desc="{self.services[name]}"' for name in SERVICES)
        return f"{asked}, {database_timing('database', self._answered)}"


_asked: contextvars.ContextVar[CallCounts | None] = contextvars.ContextVar("asked", default=None)


@contextmanager
def counting() -> Iterator[CallCounts]:
    """Counts what is asked inside, also by `together`."""
    with service_calls() as answered:
        asked = CallCounts(answered)
        token = _asked.set(asked)
        try:
            yield asked
        finally:
            _asked.reset(token)


class CountedClient(ServiceClient):
    """A service client that notes each call with the page it is made for."""

    def exchange(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        idempotent: bool = False,
        **options: Unpack[CallOptions],
    ) -> Answer:
        self._note()
        return super().exchange(method, path, body, idempotent=idempotent, **self._in_language(options))

    def fetch(
        self, method: str, path: str, body: bytes | None = None, **options: Unpack[CallOptions]
    ) -> Answer:
        self._note()
        return super().fetch(method, path, body, **self._in_language(options))

    def _in_language(self, options: CallOptions) -> CallOptions:
        """The users service writes e-mails: it is told the page's language."""
        if self.name == "users":
            options["headers"] = {"Accept-Language": active_language().code, **(options.get("headers") or {})}
        return options

    def _note(self) -> None:
        asked = _asked.get()
        if asked is not None:
            asked.services[self.name] += 1


@dataclass(frozen=True)
class Client:
    http: ServiceClient
    _was_ready: Event = field(default_factory=Event)

    def ready(self) -> None:
        """Raises Unavailable until the service was ready once; from then on its pages cope with what it lacks, and it only has to live."""
        if self._was_ready.is_set():
            self.http.get("/health/live", deadline=1)
            return
        self.http.get("/health/ready", deadline=3)
        self._was_ready.set()


def json_of(answer: Answer) -> Json:
    found: Json = orjson.loads(answer.body)
    return found
