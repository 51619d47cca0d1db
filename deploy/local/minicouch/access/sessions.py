"""Signing in: admins of the command line, users of `_users`, Basic and the AuthSession cookie."""

import base64
import binascii
import hashlib
import hmac
import os
import re
import time
from typing import Any
from urllib.parse import unquote

from ..documents.auth import NOBODY, UserCtx
from ..errors import bad_request, unauthorized
from ..http.messages import Request, Server
from ..runtime.threads import run_in_thread
from . import tokens

PARTY = UserCtx(None, ("_admin",))
HASHED = re.compile(r"-pbkdf2:(\w+)-([0-9a-f]+),([^,]+),(\d+)")
CONFLICTED = (
    "User document conflicts must be resolved before the document is used for authentication purposes."
)
NOBODY_AT_ALL = ("_", "_")
MAX_KNOWN = 10_000
WRONG = "Name or password is incorrect."


class Sessions:
    """Without admins everybody is one ("admin party"), as in old CouchDB; `__main__` then binds to loopback only."""

    def __init__(self, server: Server, admins: dict[str, str]) -> None:
        self._server = server
        self._admins = admins
        self._known: set[bytes] = set()
        self._read: tuple[tuple[str, int] | None, dict[str, dict[str, Any] | None]] = None, {}

    async def authenticate(self, request: Request) -> UserCtx:
        """Errors: 401 for wrong credentials, 400 for a malformed cookie or token."""
        config = self._server.config
        if config.tokens and (user := tokens.from_token(request, config)) is not None:
            return user
        if config.proxies and (user := tokens.from_proxy(request, config, self._secret())) is not None:
            return user
        cookie = _cookie(request.headers.get("cookie", ""), "AuthSession")
        user = self._from_cookie(request, cookie) if cookie else None
        if user is not None:
            return user
        header = request.headers.get("authorization")
        if header and header[:6].lower() == "basic ":
            return await self._basic(header)
        if not self._admins:
            return PARTY
        if self._server.config.get("chttpd", "require_valid_user") == "true" and request.path not in (
            "/_session",
            "/_up",
        ):
            raise unauthorized("Authentication required.")
        return NOBODY

    async def _basic(self, header: str) -> UserCtx:
        try:
            given = base64.b64decode(header[6:].strip(), validate=True)
        except binascii.Error:
            raise bad_request("Authorization header has invalid base64 value") from None
        try:
            name, _, password = given.decode().partition(":")
        except UnicodeDecodeError:
            raise unauthorized(WRONG) from None
        if (name, password) == NOBODY_AT_ALL:
            return NOBODY
        return await self.check(name, password, "default")

    async def check(self, name: str, password: str, handler: str) -> UserCtx:
        """Who that name and password are. Errors: 401."""
        if name in self._admins:
            if not hmac.compare_digest(self._admins[name].encode(), password.encode()):
                raise unauthorized(WRONG)
            return UserCtx(name, self._admin_roles(name), handler)
        hashed = self._hashed_admin(name)
        if hashed is not None:
            if not await self._matches(hashed, password):
                raise unauthorized(WRONG)
            return UserCtx(name, self._admin_roles(name), handler)
        doc = self._user_doc(name)
        if doc is None or not await self._matches(doc, password):
            raise unauthorized(WRONG)
        if self._server.database(self._server.config.users_db).conflicts(doc["_id"])[0]:
            raise unauthorized(CONFLICTED)
        return UserCtx(name, tuple(doc.get("roles", ())), handler)

    async def _matches(self, doc: dict[str, Any], password: str) -> bool:
        """Slow on purpose the first time; what matched is remembered, as a keyed hash, until the document changes."""
        key = hashlib.blake2b(
            f"{doc['_id']} {doc['_rev']} {password}".encode(), key=self._secret()[:64]
        ).digest()
        if key in self._known:
            return True
        if not await run_in_thread(_password_matches, doc, password):
            return False
        if len(self._known) > MAX_KNOWN:
            self._known.clear()
        self._known.add(key)
        return True

    def _hashed_admin(self, name: str) -> dict[str, Any] | None:
        """An admin of the `admins` settings, as if it were a user document."""
        value = self._server.config.get("admins", name)
        found = HASHED.fullmatch(value or "")
        if found is None:
            return None
        prf, key, salt, iterations = found.groups()
        return {
            "_id": name,
            "_rev": salt,
            "password_scheme": "pbkdf2",
            "pbkdf2_prf": prf,
            "derived_key": key,
            "salt": salt,
            "iterations": int(iterations),
        }

    def _admin_roles(self, name: str) -> tuple[str, ...]:
        """An admin may have a user document for further roles."""
        doc = self._user_doc(name)
        return ("_admin", *(doc.get("roles", ()) if doc is not None else ()))

    def _user_doc(self, name: str) -> dict[str, Any] | None:
        """A user document, read once until `_users` changes."""
        users = self._server.config.users_db
        if users not in self._server.store:
            return None
        database = self._server.database(users)
        now = database.uuid, database.update_seq
        if self._read[0] != now:
            self._read = now, {}
        known = self._read[1]
        if name not in known:
            if len(known) > MAX_KNOWN:
                known.clear()
            doc = database.get(f"org.couchdb.user:{name}")
            known[name] = doc.dict() if doc is not None and not doc.deleted else None
        return known[name]

    def _secret(self) -> bytes:
        return (self._server.config.get("chttpd_auth", "secret") or "").encode()

    def _salt(self, name: str) -> bytes | None:
        if name in self._admins:
            return hashlib.sha256(self._admins[name].encode()).hexdigest().encode()
        doc = self._hashed_admin(name) or self._user_doc(name)
        return str(doc.get("salt", "")).encode() if doc is not None else None

    @property
    def timeout(self) -> int:
        return int(self._server.config.get("chttpd_auth", "timeout") or 600)

    def new_cookie(self, name: str) -> str:
        """A Set-Cookie value for a signed-in user."""
        stamp = f"{int(time.time()):X}"
        signature = self._sign(name, stamp)
        token = base64.urlsafe_b64encode(f"{name}:{stamp}:".encode() + signature).decode().rstrip("=")
        return f"AuthSession={token}; {self.cookie_attributes()}"

    def cookie_attributes(self) -> str:
        expires = time.strftime("%a, %d-%b-%Y %H:%M:%S GMT", time.gmtime(time.time() + self.timeout))
        return f"Version=1; Expires={expires}; Max-Age={self.timeout}; Path=/; HttpOnly"

    def _sign(self, name: str, stamp: str) -> bytes:
        key = self._secret() + (self._salt(name) or b"")
        return hmac.new(key, f"{name}:{stamp}".encode(), hashlib.sha256).digest()

    def _from_cookie(self, request: Request, token: str) -> UserCtx | None:
        try:
            raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
            name_raw, stamp_raw, signature = raw.split(b":", 2)
            name, stamp = name_raw.decode(), stamp_raw.decode()
            age = int(time.time()) - int(stamp, 16)
        except (binascii.Error, ValueError):
            raise bad_request("Malformed AuthSession cookie. Please clear your cookies.") from None
        if self._salt(name) is None or not hmac.compare_digest(self._sign(name, stamp), signature):
            return None
        if not -60 <= age < self.timeout:
            return None
        if age > self.timeout * 0.1:
            request.cookie = self.new_cookie(name)
        if name in self._admins or self._hashed_admin(name) is not None:
            return UserCtx(name, self._admin_roles(name), "cookie")
        doc = self._user_doc(name) or {}
        return UserCtx(name, tuple(doc.get("roles", ())), "cookie")


def _password_matches(doc: dict[str, Any], password: str) -> bool:
    scheme = doc.get("password_scheme", "simple")
    if scheme == "pbkdf2":
        derived = derive(
            password,
            doc["salt"],
            doc["iterations"],
            doc.get("pbkdf2_prf", "sha"),
            len(doc["derived_key"]) // 2,
        )
        return hmac.compare_digest(derived, doc["derived_key"])
    if scheme == "simple":
        digest = hashlib.sha1((password + doc.get("salt", "")).encode(), usedforsecurity=False).hexdigest()
        return hmac.compare_digest(digest, doc.get("password_sha", ""))
    return False


def derive(password: str, salt: str, iterations: int, prf: str, length: int) -> str:
    """PBKDF2 as CouchDB stores it, hexadecimal."""
    algorithm = {"sha": "sha1"}.get(prf, prf)
    return hashlib.pbkdf2_hmac(algorithm, password.encode(), salt.encode(), iterations, length).hex()


def hash_admin(password: str, prf: str, iterations: int) -> str:
    """An admin's password as the `admins` settings hold it."""
    salt = os.urandom(16).hex()
    length = hashlib.new({"sha": "sha1"}.get(prf, prf)).digest_size
    return f"-pbkdf2:{prf}-{derive(password, salt, iterations, prf, length)},{salt},{iterations}"


def _cookie(header: str, name: str) -> str | None:
    for part in header.split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return unquote(value).strip('"')
    return None
