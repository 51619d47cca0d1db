"""Text indexes of Mango: their definition, what they hold of a document, and whether they serve a selector."""

from collections.abc import Callable
from typing import Any

from .errors import refusal
from .matching import compile_node
from .options import boolean, validate
from .selector import Node, normalize, to_json
from .terms import erlang
from .text_query import escape_field, fields_needed

Document = dict[str, Any]
Emitted = list[list[Any]]
_TYPES = ("string", "number", "boolean")


def text_member(definition: Any) -> dict[str, Any]:
    """What a text index looks like in its design document. Errors: 400."""
    if not isinstance(definition, dict):
        raise refusal("invalid_index", f"Text indexes must be an object, not: {erlang(definition)}")
    checked = validate(definition, _DEFINITION)
    for name in ("partial_filter_selector", "selector"):
        checked[name] = to_json(checked[name])
    return {"index": checked, "analyzer": _analyzer(checked)}


def _fields(value: Any) -> Any:
    if value == "all_fields" or value == []:
        return "all_fields"
    if not isinstance(value, list) or not all(map(is_text_field, value)):
        raise refusal(
            "invalid_index_fields_definition",
            "Text Index field definitions must be of the form\n"
            '            {"name": "non-empty fieldname", "type":\n'
            f'                "boolean,number, or string"}}. Def: {erlang(value, pretty=True)}',
        )
    return value


def is_text_field(spec: Any) -> bool:
    if not isinstance(spec, dict) or set(spec) != {"name", "type"}:
        return False
    return isinstance(spec["name"], str) and spec["name"] != "" and spec["type"] in _TYPES


def _any(value: Any) -> Any:
    return value


_DEFINITION = [
    ("default_analyzer", "keyword", _any),
    ("default_field", {}, _any),
    ("partial_filter_selector", {}, normalize),
    ("selector", {}, normalize),
    ("fields", [], _fields),
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


def entry_maker(definition: dict[str, Any], partial: Node | None) -> Callable[[Document], Emitted]:
    """Document -> what the index holds of it, as an index function would emit it."""
    wanted = compile_node(partial or ())
    known = columns(definition)
    allowed = None if known is None else {escape_field(name) for name in known}
    lengths = definition.get("index_array_lengths", True)
    default = _default_field(definition)[0]

    def emit(document: Document) -> Emitted:
        if not wanted(document):
            return []
        found = [
            (name, kind, value)
            for name, kind, value in _values(document, (), lengths)
            if allowed is None or name in allowed or kind == "length"
        ]
        emitted: Emitted = [["$fieldnames", name, {}] for name in dict.fromkeys(name for name, _, _ in found)]
        if default:
            emitted += [["$default", value, {}] for _, kind, value in found if kind == "string"]
        return emitted + [[name, value, {}] for name, _, value in found]

    return emit


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
