"""The parameters of a view query: parsed from the URL and the body, and refused in CouchDB's words and order."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from ..documents.ids import check_partition
from ..encoding.client_json import parse_json
from ..errors import bad_request, query_parse_error


class Missing:
    """The type of ABSENT, so that a key of null can be told from no key."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Missing()
EXACT = 0  # store.summaries groups by whole keys at this level


@dataclass(slots=True)
class ViewQuery:
    """One query. `grouping`: None one row for all, EXACT whole keys, n > 0 the first n members of array keys."""

    reduce: bool | None = None
    keys: Any = None
    start_key: Any = ABSENT
    end_key: Any = ABSENT
    start_docid: Any = None
    end_docid: Any = None
    limit: int | None = None
    skip: int = 0
    update: str = "true"
    descending: bool = False
    group: bool | None = None
    group_level: int | None = None
    grouping: int | None = None
    inclusive_end: bool = True
    include_docs: bool = False
    conflicts: bool | None = None
    update_seq: bool = False
    sorted: bool = True
    doc_flags: set[str] = field(default_factory=set)
    partition: str | None = None
    reduced: bool = False


class FromBody(str):
    """A string of a JSON body; CouchDB's messages show it as an Erlang binary."""


def shown(value: Any) -> str:
    text = orjson.dumps(value, option=orjson.OPT_PASSTHROUGH_SUBCLASS, default=str).decode()
    return f"<<{text}>>" if isinstance(value, FromBody) else text


def boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise query_parse_error(
        f"Invalid boolean parameter: {shown(str(value) if isinstance(value, str) else value)}"
    )


def natural(value: Any) -> int:
    number = value if isinstance(value, int) and not isinstance(value, bool) else None
    if isinstance(value, str) and not isinstance(value, FromBody):
        digits = value[1:] if value[:1] in ("-", "+") else value
        if digits.isascii() and digits.isdigit():
            number = int(value)
    if number is None:
        raise query_parse_error(f"Invalid value for integer: {shown(value)}")
    if number < 0:
        raise query_parse_error(f"Invalid value for positive integer: {shown(value)}")
    return min(number, 2**62)


JSON_PARAMETERS = frozenset(("key", "keys", "startkey", "start_key", "endkey", "end_key"))


def from_url(query: ViewQuery, parameters: dict[str, str]) -> None:
    """Add the parameters of a URL, where keys are JSON text."""
    for name, text in parameters.items():
        _set(query, name, parse_json(text.encode()) if name in JSON_PARAMETERS else text)


def from_body(query: ViewQuery, members: dict[str, Any]) -> None:
    """Add the members of a POST body or of one of its queries."""
    for name, value in members.items():
        _set(query, name, value if name in JSON_PARAMETERS or type(value) is not str else FromBody(value))


def url_query(parameters: dict[str, str]) -> ViewQuery:
    query = ViewQuery()
    from_url(query, parameters)
    return query


def body_query(parameters: dict[str, str], body: dict[str, Any]) -> ViewQuery:
    """A POST to a view: the body first, what the URL says wins."""
    if "keys" in body and not isinstance(body["keys"], list):
        raise bad_request("`keys` member must be an array.")
    query = ViewQuery()
    from_body(query, body)
    from_url(query, parameters)
    return query


def _set(query: ViewQuery, name: str, value: Any) -> None:
    setter = SETTERS.get(name)
    if setter is not None:
        setter(query, value)


def _key(query: ViewQuery, value: Any) -> None:
    query.start_key = query.end_key = value


def _keys(query: ViewQuery, value: Any) -> None:
    if isinstance(value, list) and len(value) == 1:
        _key(query, value[0])
    else:
        query.keys = value


def _stale(query: ViewQuery, value: Any) -> None:
    if value not in ("ok", "update_after"):
        raise query_parse_error("Invalid value for `stale`.")
    query.update = "false" if value == "ok" else "lazy"


def _stable(query: ViewQuery, value: Any) -> None:
    if value not in ("true", "false", True, False):
        raise query_parse_error("Invalid value for `stable`.")


def _update(query: ViewQuery, value: Any) -> None:
    text = str(value).lower() if isinstance(value, bool) else value
    if text not in ("true", "false", "lazy"):
        raise query_parse_error("Invalid value for `update`.")
    query.update = text


def _flag(name: str) -> Any:
    def set_flag(query: ViewQuery, value: Any) -> None:
        if boolean(value):
            query.doc_flags.add(name)

    return set_flag


def _partition(query: ViewQuery, value: Any) -> None:
    text = _docid(value)
    check_partition(text)
    query.partition = text


def _plain(attribute: str, parse: Any) -> Any:
    def set_plain(query: ViewQuery, value: Any) -> None:
        setattr(query, attribute, parse(value))

    return set_plain


def _docid(value: Any) -> str:
    return str(value) if isinstance(value, str) else shown(value)


SETTERS = {
    "reduce": _plain("reduce", boolean),
    "key": _key,
    "keys": _keys,
    "startkey": _plain("start_key", lambda value: value),
    "start_key": _plain("start_key", lambda value: value),
    "endkey": _plain("end_key", lambda value: value),
    "end_key": _plain("end_key", lambda value: value),
    "startkey_docid": _plain("start_docid", _docid),
    "start_key_doc_id": _plain("start_docid", _docid),
    "endkey_docid": _plain("end_docid", _docid),
    "end_key_doc_id": _plain("end_docid", _docid),
    "limit": _plain("limit", natural),
    "skip": _plain("skip", natural),
    "stale": _stale,
    "stable": _stable,
    "update": _update,
    "descending": _plain("descending", boolean),
    "group": _plain("group", boolean),
    "group_level": _plain("group_level", natural),
    "inclusive_end": _plain("inclusive_end", boolean),
    "include_docs": _plain("include_docs", boolean),
    "conflicts": _plain("conflicts", boolean),
    "update_seq": _plain("update_seq", boolean),
    "sorted": _plain("sorted", boolean),
    "attachments": _flag("attachments"),
    "att_encoding_info": _flag("att_encoding_info"),
    "partition": _partition,
}


def validate(query: ViewQuery, has_reduce: bool, partitioned: bool) -> ViewQuery:
    """Check a query against its view, and settle `reduced` and `grouping`. Errors: 400 query_parse_error."""
    query.reduced = has_reduce and query.reduce is not False
    query.grouping = _grouping(query)
    if not query.reduced and query.reduce is True:
        raise query_parse_error("Reduce is invalid for map-only views.")
    _check_keys(query)
    if not query.reduced and query.grouping is not None:
        raise query_parse_error("Invalid use of grouping on a map view.")
    if query.reduced and query.include_docs:
        raise query_parse_error("`include_docs` is invalid for reduce")
    if query.reduced and query.conflicts is not None:
        raise query_parse_error("`conflicts` is invalid for reduce views.")
    if partitioned and query.partition is None:
        raise query_parse_error("`partition` parameter is mandatory for queries to this view.")
    if not partitioned and query.partition is not None:
        raise query_parse_error("`partition` parameter is not supported in this design doc")
    if query.conflicts:
        query.doc_flags.add("conflicts")
    return query


def _grouping(query: ViewQuery) -> int | None:
    if query.group_level is None:
        return EXACT if query.group else None
    if query.group is False and query.group_level > 0:
        raise query_parse_error("Can't specify group=false and group_level>0 at the same time")
    return query.group_level or None


def _check_keys(query: ViewQuery) -> None:
    if query.keys is None:
        return
    if query.reduced and query.grouping != EXACT:
        raise query_parse_error("Multi-key fetches for reduce views must use `group=true`")
    if not isinstance(query.keys, list):
        raise query_parse_error("`keys` must be an array of strings.")
    if query.keys and (query.start_key is not ABSENT or query.end_key is not ABSENT):
        raise query_parse_error("`keys` is incompatible with `key`, `start_key` and `end_key`")
