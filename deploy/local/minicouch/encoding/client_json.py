"""JSON as clients send it and get it: UTF-8 only, and no deeper than can be written back."""

from typing import Any

import orjson

from ..errors import bad_request

WRITER_NESTING = 254
MAX_NESTING = 220


def parse_json(body: bytes) -> Any:
    """Errors: 400 for what is no UTF-8 JSON, or nested deeper than can be written back wherever it is shown."""
    try:
        value = orjson.loads(body)
        if body.count(b"[") + body.count(b"{") > MAX_NESTING:
            orjson.dumps(_wrapped(value))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError, RecursionError):
        raise bad_request("invalid UTF-8 JSON") from None
    return value


def _wrapped(value: Any) -> Any:
    """Inside as many lists as an answer may put around it: the writer's own limit is then the test."""
    for _ in range(WRITER_NESTING - MAX_NESTING):
        value = [value]
    return value


def dumps(value: Any) -> bytes:
    """JSON bytes. Errors: 400 when nested deeper than can be written back."""
    try:
        return orjson.dumps(value)
    except (orjson.JSONEncodeError, RecursionError):
        raise bad_request("invalid UTF-8 JSON: nested too deeply") from None
