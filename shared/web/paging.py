"""Lists: `limit` and `cursor` in, `{"items", "next"}` out. A cursor is signed and bound to the query it came from."""

import base64
import binascii
import hashlib
import hmac
from typing import Any

import marshmallow as ma
import orjson
from flask import current_app

from shared.errors import BadRequest
from shared.web.api import Shape

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
_MAC = 16


class BadCursor(BadRequest):
    code, title = "bad_cursor", "The cursor is not good for this list"


class PageArgs(Shape):
    """Query arguments of every list; subclass it to add filters."""

    class Meta:
        unknown = ma.EXCLUDE

    limit = ma.fields.Integer(load_default=DEFAULT_LIMIT, validate=ma.validate.Range(1, MAX_LIMIT))
    cursor = ma.fields.String(
        load_default=None,
        validate=ma.validate.Length(1, 2000),
        metadata={"description": "`next` of the page before"},
    )


def sign(cursor: Any, bound_to: Any, *, secret: str | None = None) -> str:
    """An opaque text holding `cursor` (plain data) that only `unsign` with the same `bound_to` reads."""
    payload = orjson.dumps(cursor)
    return base64.urlsafe_b64encode(_mac(payload, bound_to, secret) + payload).rstrip(b"=").decode()


def unsign(text: str | None, bound_to: Any, *, secret: str | None = None) -> Any:
    """The cursor inside, None for None. Raises BadCursor for one that is damaged, foreign or of another query."""
    if text is None:
        return None
    try:
        raw = base64.b64decode(text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError, ValueError):
        raise BadCursor("The cursor is damaged: start again from the first page.") from None
    mac, payload = raw[:_MAC], raw[_MAC:]
    if not hmac.compare_digest(mac, _mac(payload, bound_to, secret)):
        raise BadCursor("The cursor belongs to another query: start again from the first page.")
    return orjson.loads(payload)


def list_answer(items: list[Any], next_cursor: Any, bound_to: Any) -> dict[str, Any]:
    """`{"items": [...], "next": signed cursor or None}`."""
    return {"items": items, "next": None if next_cursor is None else sign(next_cursor, bound_to)}


def short_list_answer(
    items: list[dict[str, Any]], args: dict[str, Any], key: str, bound_to: Any
) -> dict[str, Any]:
    """A page of a list that is read whole because it is short; `key` names the member that tells items apart."""
    after = unsign(args["cursor"], bound_to)
    keys = [item[key] for item in items]
    if after is not None and after not in keys:
        raise BadCursor("What this cursor stood at is gone: start again from the first page.")
    start = keys.index(after) + 1 if after is not None else 0
    page = items[start : start + args["limit"]]
    return list_answer(page, page[-1][key] if page and start + len(page) < len(items) else None, bound_to)


def _mac(payload: bytes, bound_to: Any, secret: str | None) -> bytes:
    key = secret if secret is not None else current_app.config["SECRET_KEY"]
    query = orjson.dumps(bound_to, option=orjson.OPT_SORT_KEYS)
    return hmac.digest(key.encode(), hashlib.sha256(query).digest() + payload, "sha256")[:_MAC]
