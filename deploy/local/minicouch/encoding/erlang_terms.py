"""JSON values as Erlang prints them, for reasons that quote one."""

from typing import Any

import orjson


def erlang_text(value: Any) -> str:
    """Strings alone are bytes, within objects text."""
    if isinstance(value, str):
        return "<<" + ",".join(map(str, value.encode())) + ">>"
    if isinstance(value, list):
        return "[" + ",".join(erlang_text(v) for v in value) + "]"
    if isinstance(value, tuple):
        return f'{{<<"{value[0]}">>,{erlang_text(value[1])}}}'
    if isinstance(value, dict):
        return "{" + erlang_text(list(value.items())) + "}"
    return orjson.dumps(value).decode()
