"""A browser's session: logging in, and the tokens that are renewed while it lasts."""

import base64
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

import jwt
import orjson
from cryptography.fernet import Fernet
from redis import Redis
from redis.exceptions import RedisError

from services.storefront.actions.basket import pieces
from services.storefront.clients import Services, Users
from services.storefront.rules.messages import message
from shared.errors import AisleError, Conflict, Invalid, Unauthorized, Unavailable
from shared.sessions import SessionEnded, Sessions
from shared.types import Json
from shared.user import User

LEEWAY = 30
ENDED = frozenset({SessionEnded.code, "account_erased"})
"""The codes of sessions that were ended on purpose: by a log-out, an erasure, a new password, a closed account."""


class SessionExpired(Unauthorized):
    """Nobody ended it: it was not used for too long."""

    code = "session_expired"


@dataclass(frozen=True)
class Session:
    """A logged-in browser: its tokens, when the access token ends (epoch seconds), and what pages greet it with."""

    access: str
    refresh: str
    expires: int
    name: str = ""
    userid: str = ""
    roles: tuple[str, ...] = ()

    @property
    def staff(self) -> bool:
        return "admin" in self.roles or "staff" in self.roles

    @property
    def owner(self) -> str:
        """This user in few characters, as CSRF tokens and saved forms carry it."""
        return hashlib.sha256(f"storefront.owner {self.userid}".encode()).hexdigest()[:10]

    @property
    def user(self) -> User:
        """Whom the access token names; it came out of a cookie that we signed."""
        claims = jwt.decode(self.access, options={"verify_signature": False})
        began = int(claims["iat"]) * 1000
        return User(
            self.userid,
            self.roles,
            session=str(claims.get("sid", "")),
            session_started=int(claims.get("session_started", began)),
            as_of=int(claims.get("as_of", began)),
            group=str(claims.get("group", "")),
        )

    def renewed(self, tokens: Json) -> "Session":
        return session_from(tokens, self.name)


def session_from(tokens: Json, name: str) -> Session:
    """A session of the users service's token answer; its claims were signed for us over a trusted connection."""
    claims = jwt.decode(tokens["access_token"], options={"verify_signature": False})
    expires = int(time.time()) + int(tokens["expires_in"])
    roles = tuple(claims.get("roles", ()))
    return Session(tokens["access_token"], tokens["refresh_token"], expires, name, str(claims["sub"]), roles)


@dataclass(frozen=True)
class LogIn:
    """What a log-in gives: the session, how many things its basket holds once the guest's is merged in, why that could
    not be ("" when it was), and what shows next time that this browser is known."""

    session: Session
    count: int
    problem: str
    device_token: str


def log_in(
    services: Services,
    email: str,
    password: str,
    address: str,
    basket: Mapping[str, int],
    device_token: str = "",
) -> LogIn:
    """Raises Unauthorized, TooManyRequests."""
    users, problem = services.users, ""
    tokens = users.log_in(email, password, address, device_token)
    session = session_from(tokens, "")
    if basket:
        try:
            users.merge_basket(session.access, basket)
        except (Conflict, Invalid) as error:
            problem = message(error)
    me = users.me(session.access)
    return LogIn(replace(session, name=me["name"]), pieces(me["basket"]), problem, tokens["device_token"])


class Refresher:
    """Renews access tokens, once per refresh token however many requests of a browser ask at the same time.

    A refresh token works once; its reuse would end the session everywhere. So the first request to ask takes a lock
    in Redis, and the others wait for what it got, which is kept for a minute, encrypted with the old token.
    """

    def __init__(self, users: Users, redis: Redis, sessions: Sessions, *, timeout: float = 3.0) -> None:
        self._users, self._redis, self._sessions, self._timeout = users, redis, sessions, timeout

    def live(self, session: Session) -> Session:
        """The session as it is now, for any page: renewed or with other roles. Raises SessionEnded, or SessionExpired when nobody ended it.

        While nobody can tell it stays as it is: the services refuse it wherever it matters.
        """
        try:
            if session.expires <= time.time():
                session = self.fresh(session)
            roles = self._sessions.check(session.user).roles
        except Unauthorized:
            raise
        except (AisleError, RedisError, jwt.InvalidTokenError):
            return session
        return session if roles == session.roles else replace(session, roles=roles)

    def fresh(self, session: Session) -> Session:
        """`session` while its access token lasts, else a renewed one. Raises SessionEnded, or SessionExpired when nobody ended it."""
        if session.expires - LEEWAY > time.time():
            return session
        name = hashlib.sha256(session.refresh.encode()).hexdigest()
        box = Fernet(
            base64.urlsafe_b64encode(hashlib.sha256(b"storefront" + session.refresh.encode()).digest())
        )
        ends = time.monotonic() + self._timeout
        while time.monotonic() < ends:
            if kept := self._redis.get(f"storefront:renewed:{name}"):
                return self._opened(session, box, cast(bytes, kept))
            if self._redis.set(f"storefront:renewing:{name}", "1", nx=True, px=int(self._timeout * 1000)):
                return self._renew(session, name, box)
            time.sleep(0.05)
        raise Unavailable("Your session could not be renewed just now; try again.")

    def _renew(self, session: Session, name: str, box: Fernet) -> Session:
        try:
            tokens = self._users.refresh(session.refresh)
        except Unauthorized as error:
            if error.code == SessionExpired.code:
                self._redis.delete(f"storefront:renewing:{name}")
                raise SessionExpired("Your session has ended; log in again.") from None
            tokens = None
        except AisleError:
            self._redis.delete(f"storefront:renewing:{name}")
            raise
        kept = box.encrypt(orjson.dumps(tokens))
        self._redis.set(f"storefront:renewed:{name}", kept, ex=60)
        return self._opened(session, box, kept)

    @staticmethod
    def _opened(session: Session, box: Fernet, kept: bytes) -> Session:
        tokens = orjson.loads(box.decrypt(kept))
        if tokens is None:
            raise SessionEnded("Your session has ended; log in again.")
        return session.renewed(tokens)
