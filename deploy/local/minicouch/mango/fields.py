"""Field paths: `a.b\\.c.0` names member `b.c` of `a`, then its element 0."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from .errors import invalid_field_name, refusal
from .terms import erlang

Path = tuple[str, ...]

_UNESCAPED_DOT = re.compile(r"(?<!\\)\.")
_INDEX = re.compile(r"[+-]?\d+\Z", re.ASCII)


class _Absent:
    """NOT_FOUND: the last step names nothing. BAD_PATH: a step leads into a value that has no members."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


NOT_FOUND = _Absent("NOT_FOUND")
BAD_PATH = _Absent("BAD_PATH")


@lru_cache(maxsize=1024)
def parse_field(field: str) -> Path:
    if not field:
        return ()
    parts = tuple(_UNESCAPED_DOT.split(field) if "\\" in field else field.split("."))
    if "" in parts:
        raise invalid_field_name(field)
    return tuple(part.replace("\\", "") for part in parts)


def get_field(value: Any, path: Path) -> Any:
    """The value at the path, or NOT_FOUND / BAD_PATH."""
    for name in path:
        if type(value) is dict:
            if name not in value:
                return NOT_FOUND
            value = value[name]
        elif type(value) is list and _INDEX.match(name) and 0 <= int(name) < len(value):
            value = value[int(name)]
        else:
            return BAD_PATH
    return value


def set_field(document: dict[str, Any], path: Path, value: Any) -> None:
    """Set a value in an object of nested objects; a step into anything else changes nothing."""
    for name in path[:-1]:
        document = document.setdefault(name, {})
        if type(document) is not dict:
            return
    document[path[-1]] = value


def validate_fields(value: Any) -> tuple[str, ...] | None:
    """The `fields` of a request; None is all of them."""
    if not isinstance(value, list):
        raise refusal("invalid_fields", f"Fields must be an array of strings, not: {erlang(value)}")
    for field in value:
        if not isinstance(field, str):
            raise refusal("invalid_field", f"Invalid JSON for field spec: {erlang(field)}")
        if not field:
            raise invalid_field_name(field)
    return tuple(value) or None


def projector(fields: Sequence[str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A function that copies only the named fields of a document."""
    if all("." not in field and "\\" not in field and field for field in fields):
        return lambda document: {field: document[field] for field in fields if field in document}
    paths = [parse_field(field) for field in fields]

    def project(document: dict[str, Any]) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        for path in paths:
            value = get_field(document, path)
            if value is not NOT_FOUND and value is not BAD_PATH:
                set_field(chosen, path, value)
        return chosen

    return project
