"""Selectors as Lucene queries for text indexes (mango_selector_text.erl).

A part of a query is `("and" | "or", parts)`, `("not", (exists, part or False))`, `("field", (name, value))`,
`("fieldname", (name, wildcard))`, `("null", (name, value))`, `("regex", path)` or `("default", value)`.
"""

import re
from typing import Any

from ..errors import CouchError
from .errors import refusal
from .fields import parse_field
from .selector import Node

Part = tuple[str, Any]
Steps = tuple[str, ...]

_ARRAY = "[]"
_PLAIN = re.compile(r"[A-Za-z0-9]")
_RESERVED = set('+-(){}[]!^~*?:/\\" \t\r\n')
_INTEGER = re.compile(r"[+-]?\d+\Z", re.ASCII)
_HIGHEST = "\U0010ffff"
_RANGES = {
    "$lt": "[{low} TO {value}}}",
    "$lte": "[{low} TO {value}]",
    "$gte": "[{value} TO {high}]",
    "$gt": "{{{value} TO {high}]",
}


def lucene(node: Node) -> str:
    """The query text; empty when nothing can be asked of an index."""
    return _text(convert((), node)) if node else ""


def escape_field(name: str) -> str:
    """A field's name as it is called in the index: what is no letter or digit as `_` and its hexadecimal code."""
    return ".".join(_escape_part(part) for part in parse_field(name))


def _escape_part(part: str) -> str:
    return "".join(
        char if _PLAIN.match(char) else "".join(f"_{byte:02x}" for byte in char.encode()) for char in part
    )


def convert(path: Steps, node: Any) -> Part:
    """`path` is the way to the value the node is about."""
    if not isinstance(node, tuple):
        return _value(path, node)
    name, argument = node
    if isinstance(name, tuple):
        return _member(path, parse_field(name[0]) if name else (), argument)
    if name in ("$and", "$or"):
        return (name[1:], [convert(path, part) for part in argument])
    if name == "$not":
        return ("not", (_exists(path), convert(path, argument)))
    if name == "$default":
        return ("default", _quoted(_text_argument(argument["$text"])))
    if name in _OPERATORS:
        return _OPERATORS[name](path, argument)
    if name in _RANGES:
        return _range(path, name, argument)
    raise _unknown(name)


def _unknown(operator: str) -> Exception:
    return refusal("invalid_operator", f"Invalid text operator: {operator}")


def _text_argument(argument: Any) -> str:
    if not isinstance(argument, str):
        raise _unknown("$text")
    return argument


def _member(path: Steps, steps: Steps, condition: Any) -> Part:
    """A number in a field's name may be a place in an array: then both readings are asked for."""
    escaped = tuple(step.replace(".", "\\.") for step in steps)
    anywhere = tuple(_ARRAY if _INTEGER.match(step) else step for step in escaped)
    if anywhere == escaped:
        return convert(path + escaped, condition)
    return ("or", [convert(path + escaped, condition), convert(path + anywhere, condition)])


def _value(path: Steps, value: Any) -> Part:
    if value is None:
        return ("null", (_field(path, "null"), "true"))
    if isinstance(value, list):
        inner = (*path, _ARRAY)
        length = ("field", (_field(inner, "length"), str(len(value))))
        return ("and", [length, *(_value(inner, item) for item in value)])
    if isinstance(value, dict):
        parts = [_member(path, parse_field(name), item) for name, item in value.items()]
        return parts[0] if len(parts) == 1 else ("and", parts) if parts else _exists(path)
    return ("field", (_field(path, _type(value)), _quoted(value)))


def _range(path: Steps, operator: str, value: Any) -> Part:
    if value is None or isinstance(value, list | dict):
        return _exists(path)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    low, high = ("*", "*") if number else ('""', _HIGHEST)
    text = _RANGES[operator].format(low=low, high=high, value=_quoted(value))
    return ("field", (_field(path, _type(value)), text))


def _all(path: Steps, values: list[Any]) -> Part:
    if len(values) == 1 and isinstance(values[0], list):
        return ("or", [_value(path, values[0]), _value((*path, _ARRAY), values[0])])
    return ("and", [_value((*path, _ARRAY), value) for value in values])


def _in(path: Steps, values: list[Any]) -> Part:
    return ("or", [("or", [_value(path, value), _value((*path, _ARRAY), value)]) for value in values])


def _exists(path: Steps) -> Part:
    name = _joined(path)
    return ("or", [("fieldname", (f"{name}:", "*")), ("fieldname", (name, ".*"))])


def _joined(path: Steps) -> str:
    return ".".join(step for step in path if step)


def _field(path: Steps, kind: str) -> str:
    return f"{_joined(path)}:{kind}"


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"


def _quoted(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    return f'"{escape_value(value)}"'


def escape_value(value: str) -> str:
    return "".join("\\" + char if char in _RESERVED else char for char in value)


_OPERATORS = {
    "$eq": _value,
    "$ne": lambda path, value: ("not", (_exists(path), _value(path, value))),
    "$in": _in,
    "$nin": lambda path, values: ("not", (_exists(path), _in(path, values))),
    "$all": _all,
    "$elemMatch": lambda path, node: convert((*path, _ARRAY), node),
    "$allMatch": lambda path, node: convert((*path, _ARRAY), node),
    "$exists": lambda path, wanted: _exists(path) if wanted else ("not", (_exists(path), False)),
    "$beginsWith": lambda path, prefix: ("field", (_field(path, "string"), escape_value(prefix) + "*")),
    "$type": lambda path, name: _exists(path),
    "$mod": lambda path, argument: ("fieldname", (f"{_joined(path)}:", "number")),
    "$regex": lambda path, pattern: ("regex", _joined(path)),
    "$size": lambda path, size: ("field", (_field((*path, _ARRAY), "length"), str(size))),
}


def _text(part: Part) -> str:
    kind, argument = part
    if kind in ("and", "or"):
        texts = [text for text in map(_text, argument) if text not in ("", "()")]
        return "(" + f" {kind.upper()} ".join(texts) + ")" if texts else ""
    if kind == "not":
        exists, inner = argument
        if inner is False:
            return f"($fieldnames:/.*/  AND NOT ({_text(exists)}))"
        text = _text(inner)
        return f"({_text(exists)} AND NOT ({text}))" if text else f"({_text(exists)})"
    if kind in ("field", "null"):
        return f"({escape_field(argument[0])}:{argument[1]})"
    if kind == "fieldname":
        return f"($fieldnames:{escape_field(argument[0])}{argument[1]})"
    if kind == "regex":
        return f"($fieldnames:{escape_field(argument + ':')}string)"
    return f"($default:{argument})"


def fields_needed(node: Node) -> list[str] | None:
    """The `name:type` fields a selector needs of a text index; None when it has an operator these cannot serve."""
    try:
        return indexed_by_text(node)
    except CouchError:
        return None


def indexed_by_text(node: Node) -> list[str]:
    """The same. Errors: 400 naming the operator."""
    return indexed_fields(convert((), node)) if node else []


def indexed_fields(part: Part) -> list[str]:
    """The `name:type` fields a query needs of an index that has only some."""
    kind, argument = part
    if (
        kind == "or"
        and len(argument) == 2
        and all(inner[0] == "field" for inner in argument)
        and _ARRAY in argument[1][1][0]
    ):
        return indexed_fields(argument[0])
    if kind in ("and", "or"):
        return [name for inner in argument for name in indexed_fields(inner)]
    if kind == "not":
        exists, inner = argument
        return [] if inner is False else indexed_fields(exists) + indexed_fields(inner)
    if kind == "field":
        return [] if argument[0].endswith(":length") else [argument[0]]
    if kind == "regex":
        return [f"{argument}:string"]
    return ["$default"] if kind == "default" else []


def nouveau_sort_fields(sort: list[tuple[str, str]]) -> list[str]:
    """Sort criteria in Nouveau's form; it knows the type of each field."""
    return [("-" if direction == "desc" else "") + escape_field(name) for name, direction in sort]


def sort_fields(sort: list[tuple[str, str]], node: Node) -> list[str]:
    """Sort criteria in Cloudant's form. Errors: 400 when a field's type is not clear."""
    return [("-" if direction == "desc" else "") + _sort_field(name, node) for name, direction in sort]


def _sort_field(name: str, node: Node) -> str:
    escaped = escape_field(name)
    for suffix, kind in (("_3astring", "string"), ("_3anumber", "number")):
        if escaped.endswith(suffix):
            return f"{escaped}<{kind}>"
    kinds = set(_types_of(name, node))
    if len(kinds) != 1:
        raise refusal(
            "text_sort_error",
            "Unspecified or ambiguous sort type. Try appending :number or :string to the sort field. " + name,
        )
    (kind,) = kinds
    return f"{escaped}_3a{kind}<{kind}>"


def _types_of(name: str, node: Any) -> list[str]:
    if not isinstance(node, tuple) or not node:
        return []
    inner = node[1]
    if node[0] == (name,) and isinstance(inner, tuple):
        value = inner[1]
        if isinstance(value, str):
            return ["string"]
        if isinstance(value, int | float) and not isinstance(value, bool):
            return ["number"]
    return [
        kind for part in (inner if isinstance(inner, list) else [inner]) for kind in _types_of(name, part)
    ]
