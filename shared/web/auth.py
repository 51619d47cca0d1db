"""Who is asking: EdDSA access tokens verified offline, and the secret that services show each other.

Identity comes from the token, so no handler reads a database to know its user. What ended or changed since it was made
is known within a minute; a write by staff is confirmed with the users service at once (`shared.sessions`). That
holds for each request when it begins: a long import or export that has begun goes on to its end.
"""

import hmac
import logging
import time
from collections.abc import Callable, Mapping
from functools import wraps
from threading import Lock
from typing import Any, cast

import jwt
from flask import current_app, g, request

from shared.client import ServiceClient
from shared.errors import AisleError, Forbidden, Unauthorized, Unavailable
from shared.sessions import Sessions
from shared.user import User
from shared.web.api import Decorator, Handler, copy_documentation

log = logging.getLogger(__name__)

ISSUER = "aisle"
_ALGORITHMS = ("EdDSA", "RS256")
_CACHE_SIZE = 4096
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class TokenExpired(Unauthorized):
    code = "token_expired"


class JwksKeys:
    """Public keys of the users service: fetched when an unknown key id shows up and every ten minutes.

    While that service is away the keys already known go on verifying; it is asked again every few seconds at most.
    """

    def __init__(
        self, users_url: str, service_secret: str, *, max_age: float = 600, min_wait: float = 5
    ) -> None:
        self._client = ServiceClient("users", users_url, service_secret)
        self._max_age, self._min_wait = max_age, min_wait
        self._keys: dict[str, Any] = {}
        self._fetched = self._tried = float("-inf")
        self._lock = Lock()

    def __call__(self, kid: str) -> Any | None:
        """The public key named `kid`, or None when there is none. Raises Unavailable when that cannot be known."""
        if kid in self._keys and time.monotonic() - self._fetched < self._max_age:
            return self._keys[kid]
        with self._lock:
            if time.monotonic() - self._tried > self._min_wait:
                self._refresh()
        if kid not in self._keys and self._fetched < self._tried:
            raise Unavailable("Log-ins cannot be checked just now; try again shortly.", retry_after=2)
        return self._keys.get(kid)

    def _refresh(self) -> None:
        self._tried = time.monotonic()
        try:
            answer = self._client.get("/.well-known/jwks.json", deadline=2)
        except AisleError as error:
            log.warning("the keys of the users service are not to be had: %s", error)
            return
        self._keys = {item["kid"]: jwt.PyJWK.from_dict(item).key for item in answer["keys"]}
        self._fetched = time.monotonic()


class Tokens:
    """Verifies access tokens. `key_of(kid)` gives a public key or None; a verified token is remembered till it expires."""

    def __init__(self, key_of: Callable[[str], Any | None]) -> None:
        self._key_of = key_of
        self._seen: dict[str, tuple[float, User]] = {}

    def verify(self, token: str) -> User:
        """The user a token speaks for. Raises Unauthorized for anything but a valid one."""
        known = self._seen.get(token)
        if known is not None and known[0] > time.time():
            return known[1]
        claims = self._decode(token)
        user = _user_from(claims)
        if len(self._seen) >= _CACHE_SIZE:
            self._seen.clear()
        self._seen[token] = (claims["exp"], user)
        return user

    def _decode(self, token: str) -> Mapping[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in _ALGORITHMS:
                raise Unauthorized("This token is signed in a way we do not accept.")
            key = self._key_of(str(header.get("kid", "")))
            if key is None:
                raise Unauthorized("This token's key is not one of ours (any more): log in again.")
            # Clocks differ by a little: a token made a moment ago may seem to come from the future.
            options: jwt.types.Options = {"require": ["exp", "iat", "sub", "iss"], "verify_iat": False}
            claims: dict[str, Any] = jwt.decode(
                token, key, algorithms=[header["alg"]], issuer=ISSUER, options=options
            )
            return claims
        except jwt.ExpiredSignatureError:
            raise TokenExpired("The access token has expired: refresh it.") from None
        except (jwt.PyJWTError, ValueError, TypeError):
            raise Unauthorized("The access token is not valid: log in.") from None


def _user_from(claims: Mapping[str, Any]) -> User:
    if claims.get("use") != "access":
        raise Unauthorized("This is not an access token.")
    return User(
        str(claims["sub"]),
        tuple(claims.get("roles", ())),
        bool(claims.get("email_verified")),
        str(claims.get("sid", "")),
        int(claims.get("session_started", claims["iat"] * 1000)),
        int(claims.get("as_of", claims["iat"] * 1000)),
        str(claims.get("group", "")),
    )


def current_user() -> User:
    """The user that `require_user`, `require_role` or `require_service` found; Unauthorized without one."""
    user: User | None = g.get("user")
    if user is None:
        raise Unauthorized
    return user


def optional_user() -> User | None:
    """The user when a valid token was sent, None without one (a bad one is still 401)."""
    if "user" not in g:
        g.user = _bearer_user() if request.headers.get("Authorization") else None
    user: User | None = g.user
    return user


def require_user(handler: Handler) -> Handler:
    """Refuses with 401 unless a valid access token is sent."""

    @wraps(handler)
    def checked(*args: Any, **kwargs: Any) -> Any:
        g.user = _bearer_user()
        return handler(*args, **kwargs)

    return cast(Handler, _documented(checked, "user"))


def require_role(*roles: str) -> Decorator:
    """Refuses with 401 without a valid token, with 403 without one of `roles`."""

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def checked(*args: Any, **kwargs: Any) -> Any:
            user = g.user = _bearer_user()
            if not user.has_role(*roles):
                raise Forbidden(f"This needs the role {' or '.join(roles)}.")
            return handler(*args, **kwargs)

        documented: Any = _documented(checked, "user")
        documented._apidoc["manual_doc"]["x-roles"] = list(roles)
        return cast(Handler, documented)

    return decorate


def require_service(handler: Handler) -> Handler:
    """Refuses with 401 unless another of our services asks; `X-Acting-User` names whom it acts for."""

    @wraps(handler)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if not is_service_call():
            raise Unauthorized("Only our own services may ask this.")
        acting = request.headers.get("X-Acting-User")
        g.user = User(acting) if acting else None
        return handler(*args, **kwargs)

    return cast(Handler, _documented(checked, "service"))


def is_service_call() -> bool:
    """Whether another of our services asks, showing the secret."""
    sent: str = request.environ.get("HTTP_AUTHORIZATION", "")
    scheme, _, secret = sent.partition(" ")
    if scheme != "Service":
        return False
    expected: str = current_app.extensions["aisle.service_secret"]
    return hmac.compare_digest(secret.encode(), expected.encode())


def sessions() -> Sessions:
    """What this process knows of sessions that ended."""
    found: Sessions = current_app.extensions["aisle.sessions"]
    return found


def client_address() -> str:
    """Where the request comes from: the peer, or whom one of our services (showing the secret) asks for."""
    sent: str | None = request.environ.get("HTTP_X_CLIENT_ADDRESS")
    secret: str = request.environ.get("HTTP_X_SERVICE_SECRET", "")
    if (
        sent
        and secret
        and hmac.compare_digest(secret.encode(), current_app.extensions["aisle.service_secret"].encode())
    ):
        return sent
    return request.remote_addr or "unknown"


def _bearer_user() -> User:
    """Whose token it is, with the roles they have now; staff and admins are confirmed before they change anything."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthorized("Send `Authorization: Bearer <access token>`.")
    user: User = current_app.extensions["aisle.tokens"].verify(token.strip())
    user = sessions().check(user)
    return sessions().confirm(user) if user.is_privileged and request.method not in _SAFE_METHODS else user


def _documented(checked: Callable[..., Any], scheme: str) -> Callable[..., Any]:
    copy_documentation(checked).setdefault("manual_doc", {})["security"] = [{scheme: []}]
    return checked
