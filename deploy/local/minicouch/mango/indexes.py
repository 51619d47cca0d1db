"""Index definitions: read from design documents, printed as `GET /db/_index` prints them, and their rows."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..errors import CouchError
from .errors import refusal
from .fields import BAD_PATH, NOT_FOUND, get_field, parse_field
from .matching import compile_node
from .options import json_index_definition
from .selector import Node, normalize, to_json
from .text import SECTIONS, is_text_field, text_member

Document = dict[str, Any]


@dataclass(frozen=True)
class Index:
    """One index a query may use. `kind` is json, text, nouveau or special (`_all_docs`); `partial` its filter in normal form.

    `definition` is what `_index` shows, `stored` what the design document holds.
    """

    ddoc: str | None
    name: str
    kind: str
    partitioned: bool = False
    columns: tuple[str, ...] = ()
    definition: dict[str, Any] = field(default_factory=dict, compare=False, hash=False)
    partial: Node | None = field(default=None, compare=False, hash=False)
    stored: dict[str, Any] = field(default_factory=dict, compare=False, hash=False)

    @property
    def is_text(self) -> bool:
        return self.kind in SECTIONS

    @property
    def section(self) -> str:
        """Where its design document has it."""
        return SECTIONS.get(self.kind, "views")

    @property
    def order(self) -> tuple[str, str]:
        return (self.ddoc or "", self.name)

    def to_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"ddoc": self.ddoc, "name": self.name, "type": self.kind}
        if self.kind != "special":
            shown["partitioned"] = self.partitioned
        return shown | {"def": self.definition}


ALL_DOCS = Index(None, "_all_docs", "special", columns=("_id",), definition={"fields": [{"_id": "asc"}]})


def from_design_docs(docs: Iterable[Document], partitioned: bool) -> list[Index]:
    """Every index of a database in CouchDB's order; `partitioned` is the database's own setting."""
    found = [ALL_DOCS]
    for doc in docs:
        if doc.get("language") == "query":
            found += _of_design_doc(doc, partitioned)
    return sorted(found, key=lambda index: index.order)


def _of_design_doc(doc: Document, default: bool) -> Iterable[Index]:
    options = doc.get("options")
    partitioned = options.get("partitioned") if isinstance(options, dict) else None
    partitioned = partitioned if isinstance(partitioned, bool) else default
    texts = ((section, partial(_text_index, kind)) for kind, section in SECTIONS.items())
    for section, make in (*texts, ("views", _json_index)):
        members = doc.get(section)
        for name, definition in members.items() if isinstance(members, dict) else ():
            index = _made(make, doc["_id"], name, definition, partitioned)
            if index is not None:
                yield index


def _made(
    make: Callable[..., Index | None], ddoc: str, name: str, definition: Any, partitioned: bool
) -> Index | None:
    """None for what is no index: a hand-made design document must not stop the queries of its database."""
    if not isinstance(definition, dict):
        return None
    try:
        return make(ddoc, name, definition, partitioned)
    except CouchError:
        return None


def _json_index(ddoc: str, name: str, view: dict[str, Any], partitioned: bool) -> Index | None:
    stored = view.get("map")
    if not isinstance(stored, dict) or not isinstance(stored.get("fields"), dict) or "options" not in view:
        return None
    shown = {}
    for key, value in stored.items():
        if key == "fields":
            shown[key] = [{column: direction} for column, direction in value.items()]
        elif key != "partial_filter_selector" or value != {}:
            shown[key] = value
    return Index(ddoc, name, "json", partitioned, tuple(stored["fields"]), shown, _partial(stored), view)


def _text_index(kind: str, ddoc: str, name: str, stored: dict[str, Any], partitioned: bool) -> Index | None:
    definition = stored.get("index")
    if not isinstance(definition, dict):
        return None
    shown = {
        key: value for key, value in definition.items() if key != "partial_filter_selector" or value != {}
    }
    fields = definition.get("fields")
    if isinstance(fields, list) and not all(is_text_field(kind, spec) for spec in fields):
        return None
    shown["fields"] = [{spec["name"]: spec["type"]} for spec in fields] if isinstance(fields, list) else []
    return Index(ddoc, name, kind, partitioned, (), shown, _partial(definition), stored)


def _partial(definition: dict[str, Any]) -> Node | None:
    for member in ("partial_filter_selector", "selector"):
        if definition.get(member):
            return normalize(definition[member])
    return None


def design_member(kind: str, definition: Any) -> tuple[str, dict[str, Any]]:
    """The section of the design document an index goes to, and what CouchDB writes there for it."""
    if kind in SECTIONS:
        return SECTIONS[kind], text_member(kind, definition)
    if kind != "json":
        raise refusal("invalid_index", f"Invalid type for index: {kind}")
    checked = json_index_definition(definition)
    stored: dict[str, Any] = {"fields": dict(checked["fields"])}
    stored["partial_filter_selector"] = to_json(checked["partial_filter_selector"])
    return "views", {"map": stored, "reduce": "_count", "options": {"def": definition}}


def row_maker(index: Index) -> Callable[[Document], list[list[Any]]]:
    """Document -> its keys in a JSON index: one list of column values, or none."""
    wanted = compile_node(index.partial or ())
    paths = [parse_field(column) for column in index.columns]

    def rows(doc: Document) -> list[list[Any]]:
        if not wanted(doc):
            return []
        key = [get_field(doc, path) for path in paths]
        return [] if any(part is NOT_FOUND or part is BAD_PATH for part in key) else [key]

    return rows


def types_of(partial_filter: Node | None) -> frozenset[str] | None:
    """The `type` that a document must have to pass; None where every document may."""
    return _types_in(to_json(partial_filter)) if partial_filter else None


def _types_in(selector: Any) -> frozenset[str] | None:
    condition = selector.get("type")
    if isinstance(condition, dict) and isinstance(wanted := condition.get("$eq"), str):
        return frozenset({wanted})
    return next(filter(None, map(_types_in, selector.get("$and", ()))), None)
