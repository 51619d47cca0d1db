"""What `_find`, `_explain`, `_index` and `_bulk_delete` accept, checked in CouchDB's order and with its texts."""

from collections.abc import Callable
from typing import Any

from .errors import refusal
from .fields import validate_fields
from .selector import normalize
from .terms import erlang

Options = dict[str, Any]
Check = Callable[[Any], Any]
_REQUIRED = object()
MAX_NESTING = 200


def validate(body: Options, table: list[tuple[str, Any, Check]]) -> Options:
    """Check each member by the table's (name, default, check). Errors: 400 for a missing, unknown or wrong member."""
    if _too_deep(body):
        raise refusal("bad_request", "The request is nested too deeply.")
    checked = {}
    for name, default, check in table:
        if name not in body and default is _REQUIRED:
            raise refusal("missing_required_key", f"Missing required key: {name}")
        checked[name] = check(body.get(name, default))
    for name in body:
        if name not in checked:
            raise refusal("invalid_key", f"Invalid key {name} for this request.")
    return checked


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_NESTING):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def find_options(body: Options, default_limit: int = 25) -> Options:
    """The options of a query, every one present; `selector` in normal form, `fields` None for all."""
    table = [(name, default_limit if name == "limit" else value, check) for name, value, check in _FIND]
    return validate(body, table)


def index_options(body: Options) -> Options:
    return validate(body, _INDEX)


def json_index_definition(definition: Any) -> Options:
    """`fields` as [(name, direction)] and the partial filter selector in normal form."""
    if not isinstance(definition, dict):
        raise refusal("invalid_index", f"JSON indexes must be an object, not: {erlang(definition)}")
    return validate(
        definition, [("fields", _REQUIRED, sort_fields), ("partial_filter_selector", {}, normalize)]
    )


def bulk_delete_options(body: Options) -> Options:
    return validate(body, [("docids", _REQUIRED, _docids), ("w", 2, positive)])


def sort_fields(value: Any) -> list[tuple[str, str]]:
    """[(field, "asc" or "desc")], one direction for all."""
    if not isinstance(value, list):
        raise refusal(
            "invalid_sort_json", f"Sort must be an array of sort specs, not: {erlang(value, pretty=True)}"
        )
    fields = [_sort_field(item) for item in value]
    if len({direction for _, direction in fields}) > 1:
        raise refusal(
            "unsupported_mixed_sort", "Sorts currently only support a single direction for all fields."
        )
    return fields


def _sort_field(item: Any) -> tuple[str, str]:
    if isinstance(item, str) and item:
        return item, "asc"
    if isinstance(item, dict) and len(item) == 1:
        ((name, direction),) = item.items()
        if direction in ("asc", "desc"):
            return name, direction
    raise refusal("invalid_sort_field", f"Invalid sort field: {erlang(item, pretty=True)}")


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise refusal("invalid_string", f"Invalid string: {erlang(value)}")
    return value


def name_or_none(value: Any) -> str | None:
    if value == "":
        raise refusal("invalid_empty_string", "Index name or ddoc cannot be empty string")
    return None if value is None else text(value)


def boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise refusal("invalid_boolean", f"Invalid boolean value: {erlang(value)}")
    return value


def positive(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise refusal("invalid_pos_integer", f"{erlang(value)} is not an integer greater than zero")
    return value


def not_negative(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise refusal(
            "invalid_non_neg_integer", f"{erlang(value)} is not an integer greater than or equal to zero"
        )
    return value


def _use_index(value: Any) -> tuple[str, ...]:
    """(), (design document,) or (design document, index name)."""
    if value is None or value == []:
        return ()
    if isinstance(value, str):
        parts = value.split("/")
        if parts[0] == "_design" and len(parts) in (2, 3):
            parts = parts[1:]
        if len(parts) <= 2:
            return tuple(parts)
    elif isinstance(value, list) and len(value) <= 2 and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise refusal("invalid_index_name", f"Invalid index name: {erlang(value)}")


def _bookmark(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise refusal(
            "unknown_error", f"Unknown Error: mango_opts :: {{invalid_bookmark,{erlang(value)}}}", 500
        )
    return value


def _partition(value: Any) -> str:
    if not isinstance(value, str):
        raise refusal("illegal_partition", "Partition must be a string")
    return value


def _stale(value: Any) -> str | bool:
    if value is False or value == "false":
        return False
    if value != "ok":
        raise refusal(
            "unknown_error",
            f"Unknown Error: mango_opts :: {{invalid_ok_or_false_value,{erlang(value)}}}",
            500,
        )
    return value


def _partitioned(value: Any) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise refusal(
            "unknown_error",
            f"Unknown Error: mango_opts :: {{invalid_partitioned_value,{erlang(value)}}}",
            500,
        )
    return value


def _docids(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise refusal(
            "invalid_bulk_docs", f"Bulk Delete requires an array of non-null docids. Docids: {erlang(value)}"
        )
    for docid in value:
        if not isinstance(docid, str):
            raise refusal("invalid_index_name", f"Invalid index name: {erlang(docid)}")
    return value


def _any(value: Any) -> Any:
    return value


_FIND: list[tuple[str, Any, Check]] = [
    ("selector", _REQUIRED, normalize),
    ("use_index", None, _use_index),
    ("bookmark", "", _bookmark),
    ("limit", 25, not_negative),
    ("skip", 0, not_negative),
    ("sort", [], sort_fields),
    ("fields", [], validate_fields),
    ("partition", "", _partition),
    ("r", 1, positive),
    ("conflicts", False, boolean),
    ("stale", False, _stale),
    ("update", True, boolean),
    ("stable", False, boolean),
    ("execution_stats", False, boolean),
    ("allow_fallback", True, boolean),
]
_INDEX: list[tuple[str, Any, Check]] = [
    ("index", _REQUIRED, _any),
    ("type", "json", text),
    ("name", None, name_or_none),
    ("ddoc", None, name_or_none),
    ("w", 2, positive),
    ("partitioned", None, _partitioned),
]
