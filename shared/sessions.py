"""Whether a session still lives and what its user may do: access tokens alone say what was so when they were made.

Requests are checked against the revocations of the last minutes (sessions ended, roles changed), which each process
fetches from the users service every SESSION_CHECK_SECONDS (15) and never uses when they are three times as old: an
ended session is powerless everywhere within a minute without a database call per request. What the users database says
is the truth; Redis takes no part. When the revocations cannot be had, tokens are refused with 503.

Writes of staff and admins are confirmed one by one (`confirm`): one question, no cache.
"""

import logging
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Protocol
from urllib.parse import quote, urlencode

from shared.client import ServiceClient
from shared.errors import AisleError, NotFound, Unauthorized, Unavailable
from shared.user import User

log = logging.getLogger(__name__)

CHECK_SECONDS = 15.0
RETRY_SECONDS = 1.0
WAIT_SECONDS = 2.5


class SessionEnded(Unauthorized):
    code, title = "session_ended", "This session has ended"


@dataclass(frozen=True)
class AccountChange:
    """What changed in an account's rights: times are milliseconds since 1970."""

    changed: int
    sessions_from: int
    roles: tuple[str, ...]


@dataclass(frozen=True)
class Revocations:
    """Sessions ended and accounts changed while access tokens made before may still be valid; `age` in seconds."""

    age: float = 0.0
    sessions: frozenset[str] = frozenset()
    accounts: Mapping[str, AccountChange] = field(default_factory=dict)

    def apply(self, user: User) -> User:
        """The user with today's roles. Raises SessionEnded."""
        if user.session and user.session in self.sessions:
            raise SessionEnded("Log in again.")
        account = self.accounts.get(user.userid)
        if account is None:
            return user
        if user.session_started < account.sessions_from:
            raise SessionEnded("Log in again.")
        return replace(user, roles=account.roles) if user.as_of < account.changed else user

    def as_json(self) -> dict[str, Any]:
        return {
            "age": self.age,
            "sessions": sorted(self.sessions),
            "accounts": [
                {
                    "userid": userid,
                    "changed": each.changed,
                    "sessions_from": each.sessions_from,
                    "roles": list(each.roles),
                }
                for userid, each in self.accounts.items()
            ],
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "Revocations":
        accounts = {
            each["userid"]: AccountChange(each["changed"], each["sessions_from"], tuple(each["roles"]))
            for each in body["accounts"]
        }
        return cls(float(body["age"]), frozenset(body["sessions"]), accounts)


class SessionSource(Protocol):
    """Where the truth about sessions is: the users database, or for other services the users service."""

    def revocations(self) -> Revocations:
        """Raises AisleError when they cannot be had."""

    def roles_now(self, user: User) -> tuple[str, ...] | None:
        """The roles of a live session's account as they are now; None when the session has ended. Raises AisleError."""


class RemoteSessions:
    """The users service, asked with the service secret."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def revocations(self) -> Revocations:
        """None while the users service is still of a release without them: an upgrade must not log everybody out."""
        try:
            return Revocations.from_json(self._client.get("/v1/internal/sessions/revocations", deadline=2))
        except NotFound:
            log.warning(
                "the users service is an older release: ended sessions last until their tokens expire"
            )
            return Revocations()

    def roles_now(self, user: User) -> tuple[str, ...] | None:
        query = urlencode({"userid": user.userid, "started": user.session_started})
        session = quote(user.session or "-", safe="")
        answer = self._client.get(f"/v1/internal/sessions/{session}?{query}", deadline=2)
        return tuple(answer["roles"]) if answer["live"] else None


class Sessions:
    """Checks users against their sessions; one for each process. Revocations are renewed when `check_seconds` old."""

    def __init__(self, source: SessionSource, check_seconds: float = CHECK_SECONDS) -> None:
        self._source, self._check_seconds, self._max_age = source, check_seconds, 3 * check_seconds
        self._revocations, self._as_of = Revocations(), float("-inf")
        self._pending: Future[None] | None = None
        self._not_before = float("-inf")
        self._lock, self._executor = Lock(), ThreadPoolExecutor(1, thread_name_prefix="revocations")

    def check(self, user: User) -> User:
        """The user with the roles of a moment ago. Raises SessionEnded, or Unavailable when nobody can tell."""
        return self._no_older_than(self._max_age).apply(user)

    def confirm(self, user: User) -> User:
        """The user with the roles of this moment. Raises SessionEnded, or Unavailable when nobody can tell."""
        try:
            roles = self._source.roles_now(user)
        except AisleError as error:
            raise Unavailable("Who you are cannot be checked just now; try again.", retry_after=2) from error
        if roles is None:
            raise SessionEnded("Log in again.")
        return replace(user, roles=roles)

    def revocations(self) -> Revocations:
        """For another process: at most `check_seconds` old. Raises Unavailable."""
        return replace(self._no_older_than(self._check_seconds), age=self._age())

    def _no_older_than(self, max_age: float) -> Revocations:
        """Renewed in the background once they are `check_seconds` old, waited for when they are too old. Raises Unavailable."""
        if self._age() >= self._check_seconds:
            needed = self._age() >= max_age
            pending = self._refresh(now=needed)
            if needed:
                self._wait_for(pending)
        if self._age() >= max_age:
            raise Unavailable("Log-ins cannot be checked just now; try again shortly.", retry_after=2)
        return self._revocations

    def _age(self) -> float:
        return time.monotonic() - self._as_of

    def _refresh(self, now: bool) -> "Future[None]":
        """The fetch under way, or a new one; after a failure the next one begins a second later unless it is needed `now`."""
        with self._lock:
            due = now or time.monotonic() >= self._not_before
            if self._pending is None or (self._pending.done() and due):
                self._pending = self._executor.submit(self._fetch)
            return self._pending

    def _wait_for(self, pending: "Future[None]") -> None:
        try:
            pending.result(WAIT_SECONDS)
        except FutureTimeout:
            log.warning("the sessions that ended lately were not told in time")

    def _fetch(self) -> None:
        began = time.monotonic()
        try:
            found = self._source.revocations()
        except AisleError as error:
            log.warning("the sessions that ended lately cannot be had: %s", error)
            self._not_before = time.monotonic() + RETRY_SECONDS
            return
        self._revocations, self._as_of = found, began - found.age
