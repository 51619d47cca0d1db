"""The Idempotency-Key of a request."""

import hashlib
import re
from typing import Any, Final

from flask import request

from services.orders.rules.identity import fingerprint_of
from shared.errors import BadRequest
from shared.web import optional_user

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


def required_key() -> str:
    """Raises NoKey without a well-formed Idempotency-Key."""
    key = request.headers.get("Idempotency-Key", "")
    if not _KEY.fullmatch(key):
        raise NoKey("Send an Idempotency-Key of 1 to 200 visible ASCII characters, a new one for each order.")
    return key


def keyed_request(body: Any) -> tuple[str, str] | None:
    """(user and key as one id, fingerprint of `body`) as documents remember a request; None without an Idempotency-Key."""
    if "Idempotency-Key" not in request.headers:
        return None
    user = optional_user()
    digest = hashlib.sha256(f"{user.userid if user else ''}\n{required_key()}".encode())
    return digest.hexdigest()[:32], fingerprint_of(body)


def request_id() -> str | None:
    """The user and the Idempotency-Key as one id, None without a key."""
    found = keyed_request(None)
    return found[0] if found else None
