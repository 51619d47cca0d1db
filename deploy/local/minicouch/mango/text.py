"""Text indexes of Mango, of type text or nouveau: their definition, what they hold of a document, and whether they serve a selector."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ..errors import CouchError
from .errors import refusal
from .matching import compile_node
from .options import boolean, validate
from .selector import Node, normalize, to_json
from .terms import erlang
from .text_query import escape_field, fields_needed

Document = dict[str, Any]
Emitted = list[list[Any]]
_TYPES = {"text": ("string", "number", "boolean"), "nouveau": ("string", "number", "boolean", "text")}
_NAMED_TYPES = {"text": "boolean,number, or string", "nouveau": "boolean,number,string or text"}
SECTIONS = {"text": "indexes", "nouveau": "nouveau"}
"""The kinds of text index, and where design documents have them."""


def text_member(kind: str, definition: Any) -> dict[str, Any]:
    """What a text index looks like in its design document. Errors: 400."""
    if not isinstance(definition, dict):
        raise refusal("invalid_index", f"Text indexes must be an object, not: {erlang(definition)}")
    checked = validate(definition, _definition(kind))
    for name in ("partial_filter_selector", "selector"):
        checked[name] = to_json(checked[name])
    return {"index": checked, "analyzer": _analyzer(checked)}


def _fields(kind: str, value: Any) -> Any:
    if value == "all_fields" or value == []:
        return "all_fields"
    if not isinstance(value, list) or not all(is_text_field(kind, spec) for spec in value):
        raise refusal(
            "invalid_index_fields_definition",
            "Text Index field definitions must be of the form\n"
            '            {"name": "non-empty fieldname", "type":\n'
            f'                "{_NAMED_TYPES[kind]}"}}. Def: {erlang(value, pretty=True)}',
        )
    return value


def is_text_field(kind: str, spec: Any) -> bool:
    if not isinstance(spec, dict) or set(spec) != {"name", "type"}:
        return False
    return isinstance(spec["name"], str) and spec["name"] != "" and spec["type"] in _TYPES[kind]


def _any(value: Any) -> Any:
    return value


def _definition(kind: str) -> list[tuple[str, Any, Callable[[Any], Any]]]:
    return [
        ("default_analyzer", "keyword", _any),
        ("default_field", {}, _any),
        ("partial_filter_selector", {}, normalize),
        ("selector", {}, normalize),
        ("fields", [], partial(_fields, kind)),
        ("index_array_lengths", True, boolean),
    ]


def _default_field(definition: dict[str, Any]) -> tuple[bool, Any]:
    """(is there one, its analyzer)."""
    options = definition.get("default_field", {})
    if isinstance(options, bool):
        return options, "standard"
    if not isinstance(options, dict):
        return True, "standard"
    return options.get("enabled", True) is True, options.get("analyzer", "standard")


def _analyzer(definition: dict[str, Any]) -> Any:
    enabled, analyzer = _default_field(definition)
    if not enabled:
        return "keyword"
    return {"name": "perfield", "default": definition["default_analyzer"], "fields": {"$default": analyzer}}


def columns(definition: dict[str, Any]) -> list[str] | None:
    """The `name:type` fields of an index; None when it holds all of them."""
    fields = definition.get("fields")
    if not isinstance(fields, list) or not fields:
        return None
    default = ["$default"] if _default_field(definition)[0] else []
    return default + [f"{spec['name']}:{spec['type']}" for spec in fields]


def text_usability(definition: dict[str, Any], selector: Node) -> list[str]:
    """Why a text index cannot serve the selector; empty when it can."""
    if not selector:
        return ["empty_selector"]
    known = columns(definition)
    needed = fields_needed(selector)
    fits = needed is not None and (known is None or set(needed) <= set(known))
    return [] if fits else ["field_mismatch"]


def entry_maker(definition: dict[str, Any], only: Node | None) -> Callable[[Document], Emitted]:
    """Document -> what the index holds of it, as an index function would emit it."""
    values_of = _value_finder(definition, only)
    default = _default_field(definition)[0]

    def emit(document: Document) -> Emitted:
        found = values_of(document)
        emitted: Emitted = [["$fieldnames", name, {}] for name in dict.fromkeys(name for name, _, _ in found)]
        if default:
            emitted += [["$default", value, {}] for _, kind, value in found if kind == "string"]
        return emitted + [[name, value, {}] for name, _, value in found]

    return emit


def nouveau_entry_maker(
    definition: dict[str, Any], only: Node | None
) -> Callable[[Document], list[dict[str, Any]]]:
    """The same as fields of Nouveau. Errors: 500 for a null or an array's length, which CouchDB does not know how to put into Nouveau."""
    values_of = _value_finder(definition, only)
    default = _default_field(definition)[0]

    def emit(document: Document) -> list[dict[str, Any]]:
        found = values_of(document)[::-1]
        for name, kind, _ in found:
            if kind not in _NOUVEAU_TYPES:
                raise CouchError(500, "nouveau_search_error", f"function_clause: {name} is of type {kind}")
        words = [value for _, kind, value in found[::-1] if kind == "string"] if default else []
        names = {name for name, _, _ in found} | ({"$default"} if words else set())
        return [
            *(_nouveau_field("string", "$fieldnames", name) for name in sorted(names)),
            *(_nouveau_field("text", "$default", word) for word in words),
            *(_nouveau_field(_NOUVEAU_TYPES[kind], name, value) for name, kind, value in found),
        ]

    return emit


_NOUVEAU_TYPES = {"string": "string", "boolean": "string", "number": "double"}


def _nouveau_field(kind: str, name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        value = "true" if value else "false"
    return {"@type": kind, "name": name, "value": value}


def _value_finder(
    definition: dict[str, Any], only: Node | None
) -> Callable[[Document], list[tuple[str, str, Any]]]:
    """Document -> (field, type, value) of all that the index holds of it."""
    wanted = compile_node(only or ())
    known = columns(definition)
    allowed = None if known is None else {escape_field(name) for name in known}
    lengths = definition.get("index_array_lengths", True)

    def values(document: Document) -> list[tuple[str, str, Any]]:
        if not wanted(document):
            return []
        return [
            (name, kind, value)
            for name, kind, value in _values(document, (), lengths)
            if allowed is None or name in allowed or kind == "length"
        ]

    return values


def _values(value: Any, path: tuple[str, ...], lengths: bool) -> list[tuple[str, str, Any]]:
    """(field, type, value) of every value in a document."""
    if isinstance(value, dict):
        return [found for name, inner in value.items() for found in _values(inner, (*path, name), lengths)]
    if isinstance(value, list):
        inside = (*path, "[]")
        length = [(_name(inside, "length"), "length", len(value))] if lengths else []
        return length + [found for item in value for found in _values(item, inside, lengths)]
    if value is None:
        return [(_name(path, "null"), "null", True)]
    kind = "boolean" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"
    return [(_name(path, kind), kind, value)]


def _name(path: tuple[str, ...], kind: str) -> str:
    escaped = ".".join(part.replace("\\", "\\\\").replace(".", "\\.") for part in path if part)
    return escape_field(f"{escaped}:{kind}") if escaped else f"_3a{kind}"
