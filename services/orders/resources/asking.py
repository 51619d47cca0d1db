"""Who asks, and with which Idempotency-Key: what several handlers of this service need to know of a request."""

import hashlib
import re
from typing import Any, Final

from flask import request

from services.orders.actions.reading import Reader
from services.orders.rules.identity import fingerprint_of
from shared.errors import BadRequest
from shared.web import current_user, optional_user

_KEY = re.compile(r"[!-~]{1,200}")

REQUIRED_KEY: Final = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": True,
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
    "description": "Same key and body: the same order, for 24 hours. Same key, another body: 422.",
}
OPTIONAL_KEY: Final = {**REQUIRED_KEY, "required": False, "description": "Same key and body: done once."}


class NoKey(BadRequest):
    code, title = "idempotency_key_required", "An Idempotency-Key is needed"


def reader(token: str = "") -> Reader:
    """The asking user, or whoever holds a guest's token."""
    user = optional_user()
    return Reader(user.userid, user.roles, token) if user else Reader(token=token)


def required_key() -> str:
    """Raises NoKey without a well-formed Idempotency-Key."""
    key = request.headers.get("Idempotency-Key", "")
    if not _KEY.fullmatch(key):
        raise NoKey("Send an Idempotency-Key of 1 to 200 visible ASCII characters, a new one for each order.")
    return key


def keyed_request(body: Any) -> tuple[str, str] | None:
    """(who and key, what) of a request with an Idempotency-Key, as documents remember it; None without one."""
    if "Idempotency-Key" not in request.headers:
        return None
    whose = optional_user()
    digest = hashlib.sha256(f"{whose.userid if whose else ''}\n{required_key()}".encode())
    return digest.hexdigest()[:32], fingerprint_of(body)


def whose_key() -> str | None:
    """The asking user and their key as one id, None without a key."""
    found = keyed_request(None)
    return found[0] if found else None


def by_whom() -> str:
    return f"user {current_user().userid}"
