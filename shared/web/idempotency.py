"""`Idempotency-Key` on POSTs that create: same key and body, same answer for 24 hours; another body is 422.

`idempotent` keeps the answer; `keyed_request` is for handlers whose documents remember the request (`shared.idempotency`).

The answer is kept in Redis, sealed with the key that its caller alone holds: it may name a person who is erased within
the day, and a quick hash of a body with a password in it would be worth guessing at. Should the process die between
the write and the answer, the retry meets the same `idempotent_id()`, or where documents are listed in the order of their
ids the same `kept_id()`, so that a handler which uses it as its document's id writes once at most.
"""

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final, cast

import orjson
from cryptography.fernet import Fernet
from flask import Response, current_app, g, make_response, request
from redis import Redis

from shared.couch import time_ordered_id
from shared.errors import AisleError, BadRequest, Conflict, Invalid
from shared.idempotency import KeyReused, fingerprint_of
from shared.web.api import Handler, copy_documentation
from shared.web.auth import optional_user
from shared.web.problems import from_aisle_error

TTL_SECONDS = 24 * 3600
_CLAIM_SECONDS = 30
_WAIT_SECONDS = 2.5
_PATTERN = "^[!-~]([ -~]*[!-~])?$"
_HEADER: Final = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": _PATTERN},
    "description": "Same key and body: the same answer, for 24 hours.",
}
REQUIRED_KEY: Final = {
    **_HEADER,
    "required": True,
    "description": "Same key and body: the same order, for 24 hours. Same key, another body: 422.",
}
OPTIONAL_KEY: Final = {**_HEADER, "description": "Same key and body: done once."}


class NoKey(BadRequest):
    code, title = "idempotency_key_required", "An Idempotency-Key is needed"


class InProgress(Conflict):
    code, title = "idempotency_in_progress", "The first request with this key is still being answered"


def idempotent(handler: Handler) -> Handler:
    """Put it between the auth decorator and `blueprint.response`; without the header nothing happens."""

    @wraps(handler)
    def once(*args: Any, **kwargs: Any) -> Any:
        key = request.headers.get("Idempotency-Key")
        if key is None:
            return handler(*args, **kwargs)
        return _once(_slot(key), lambda: handler(*args, **kwargs))

    described = copy_documentation(once)
    described.setdefault("manual_doc", {}).setdefault("parameters", []).append(_HEADER)
    return cast(Handler, once)


def idempotent_id(length: int = 20) -> str | None:
    """An id fixed by caller, route and Idempotency-Key, or None when no key was sent."""
    key = request.headers.get("Idempotency-Key")
    return None if key is None else hashlib.sha256(_named(key).encode()).hexdigest()[:length]


def kept_id() -> str:
    """A `time_ordered_id`, the same one for a day for each request with this caller, route, Idempotency-Key and body: what a request whose answer
    was lost has written is found by it. A new one without a key."""
    made, key = time_ordered_id(), request.headers.get("Idempotency-Key")
    if key is None:
        return made
    redis: Redis = current_app.extensions["aisle.redis"]
    slot = _slot(key)
    place = f"{slot.place}:id:{slot.digest(request.get_data(cache=True))}"
    redis.set(place, made, nx=True, ex=TTL_SECONDS)
    kept = redis.get(place)
    return cast(bytes, kept).decode() if kept else made


def is_repeatable() -> bool:
    """Whether an Idempotency-Key was sent: what this request would add and somebody has added already may be its own."""
    return "Idempotency-Key" in request.headers


def required_key() -> str:
    """Raises NoKey without a well-formed Idempotency-Key."""
    key = request.headers.get("Idempotency-Key", "")
    if not _is_well_formed(key):
        raise NoKey(
            "Send an Idempotency-Key of 1 to 200 printable ASCII characters, a new one for each request."
        )
    return key


def keyed_request(body: Any) -> tuple[str, str] | None:
    """(user and key as one id, fingerprint of `body`) as documents remember a request; None without an Idempotency-Key."""
    found = request_key()
    return None if found is None else (found, fingerprint_of(body))


def request_key() -> str | None:
    """The user and the Idempotency-Key as one id, None without a key. Raises NoKey for one that is not well-formed."""
    if "Idempotency-Key" not in request.headers:
        return None
    user = optional_user()
    return hashlib.sha256(f"{user.userid if user else ''}\n{required_key()}".encode()).hexdigest()[:32]


@dataclass(frozen=True)
class _Slot:
    """Where the answer to one key is kept, and the secret that closes and opens it."""

    secret: bytes

    @property
    def place(self) -> str:
        return f"idempotency:{current_app.name}:{hashlib.sha256(self.secret).hexdigest()}"

    @property
    def box(self) -> Fernet:
        return Fernet(base64.urlsafe_b64encode(self.secret))

    def digest(self, body: bytes) -> str:
        return hmac.digest(self.secret, body, "sha256").hex()


def _once(slot: _Slot, act: Callable[[], Any]) -> Response:
    redis: Redis = current_app.extensions["aisle.redis"]
    body = slot.digest(request.get_data(cache=True))
    if not redis.set(slot.place, orjson.dumps({"body": body}), nx=True, ex=_CLAIM_SECONDS):
        return _answer_again(redis, slot, body)
    keep = False
    try:
        response = _answered(act)
        keep = response.status_code < 500 and response.status_code not in (401, 403, 429)
    finally:
        if not keep:
            redis.delete(slot.place)
    if keep:
        answer = slot.box.encrypt(orjson.dumps(_kept(response))).decode()
        redis.set(slot.place, orjson.dumps({"body": body, "answer": answer}), ex=TTL_SECONDS)
    return response


def _answered(act: Callable[[], Any]) -> Response:
    try:
        return make_response(act())
    except AisleError as error:
        return from_aisle_error(error)


def _answer_again(redis: Redis, slot: _Slot, body: str) -> Response:
    ends = time.monotonic() + _WAIT_SECONDS
    while (raw := redis.get(slot.place)) is not None:
        kept = orjson.loads(cast(bytes, raw))
        if kept["body"] != body:
            raise KeyReused("Use a new Idempotency-Key for a new request.")
        if "answer" in kept:
            answer = orjson.loads(slot.box.decrypt(kept["answer"]))
            response = Response(answer["data"], answer["status"], headers=answer["headers"])
            response.headers["Idempotency-Replayed"] = "true"
            return response
        if time.monotonic() > ends:
            break
        time.sleep(0.05)
    raise InProgress("Repeat the request in a second.")


def _kept(response: Response) -> dict[str, Any]:
    headers = {
        name: response.headers[name]
        for name in ("Content-Type", "Location", "ETag")
        if name in response.headers
    }
    return {
        "status": response.status_code,
        "headers": headers,
        "data": response.get_data(as_text=True),
    }


def _slot(key: str) -> _Slot:
    secret = current_app.config["SECRET_KEY"].encode()
    return _Slot(hmac.digest(secret, f"{_named(key)}\n{key}".encode(), "sha256"))


def _named(key: str) -> str:
    if not _is_well_formed(key):
        raise Invalid(
            "Idempotency-Key must be 1 to 200 printable ASCII characters.",
            errors={"Idempotency-Key": ["Not valid."]},
        )
    user = g.get("user")
    caller = user.userid if user else "-"
    digest = hashlib.sha256(f"{caller}\n{request.method} {request.path}\n{key}".encode()).hexdigest()
    return f"idempotency:{current_app.name}:{digest}"


def _is_well_formed(key: str) -> bool:
    return len(key) <= 200 and re.fullmatch(_PATTERN, key) is not None
