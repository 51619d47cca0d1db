"""Erlang's printed form of JSON values: CouchDB's error texts quote what was sent in it."""

import json
from typing import Any


def erlang(value: Any, *, pretty: bool = False) -> str:
    """`~w`, or with `pretty` roughly `~p` (printable text as `<<"text">>`)."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _binary(value, pretty)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict):
        pairs = ",".join(
            f"{{{erlang(k, pretty=pretty)},{erlang(v, pretty=pretty)}}}" for k, v in value.items()
        )
        return "{[" + pairs + "]}"
    if isinstance(value, tuple):
        return _node(value, pretty)
    return "[" + ",".join(erlang(item, pretty=pretty) for item in value) + "]"


def _node(node: tuple, pretty: bool) -> str:
    """A part of a normalised selector: (operator or path, argument), or a bare path."""
    if not node:
        return "{[]}"
    name, argument = node
    name = list(name) if isinstance(name, tuple) else name
    return "{[{" + erlang(name, pretty=pretty) + "," + erlang(argument, pretty=pretty) + "}]}"


def _binary(text: str, pretty: bool) -> str:
    raw = text.encode()
    if pretty and raw and text.isprintable():
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'<<"{quoted}">>' if text.isascii() else f'<<"{quoted}"/utf8>>'
    return "<<" + ",".join(map(str, raw)) + ">>"


def _float(number: float) -> str:
    digits = repr(number)
    mantissa, e, exponent = digits.partition("e")
    if not e:
        return digits
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{int(exponent)}"


def json_text(value: Any) -> str:
    """The value as CouchDB's JSON encoder writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
