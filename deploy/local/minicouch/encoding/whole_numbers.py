"""JSON whose integers may be of any length, as sums of squares are: CouchDB keeps them whole."""

import json
import re
from typing import Any

import orjson

_LONG = re.compile(rb"\d{19}")


def dumps(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def loads(text: bytes) -> Any:
    """orjson would read what does not fit into 64 bits as a floating point number."""
    return json.loads(text) if _LONG.search(text) else orjson.loads(text)
