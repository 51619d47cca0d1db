"""What a design document says about views: which there are, how they are indexed, and whether it may be stored."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from .. import javascript
from ..collation import sort_key
from ..collation.raw import raw_key
from ..documents.database import Database
from ..errors import CouchError, not_found
from ..indexes.for_types import run_for_types
from ..indexes.indexing import IndexSpec
from ..javascript.document_types import types_of
from ..reducers import Reducer, built_in
from ..store import StoredDoc
from ..store.indexes import FORMAT, ICU, KeyOrder, ViewSpec
from .custom import CustomReduce

BUILT_IN = "_"
SIGNATURE = "view-"
RAW = KeyOrder(raw_key)


@dataclass(frozen=True)
class View:
    """One named view: its place in the index, and its reduce if it has one."""

    number: int
    reducer: Reducer | None
    order: KeyOrder


@dataclass(frozen=True)
class Design:
    """The views of one revision of a design document; `spec` is None when it has none."""

    id: str
    rev: str
    language: str
    partitioned: bool
    update_options: list[str]
    views: dict[str, View]
    spec: IndexSpec | None

    def view(self, name: str) -> View:
        """Errors: 404."""
        view = self.views.get(name)
        if view is None:
            raise not_found("missing_named_view")
        return view


def open_design(db: Database, name: str) -> Design:
    """The design document `_design/name` as views. Errors: 404."""
    doc = db.design_doc(name)
    known = db.handles.get(("design", doc.id))
    if known is None or known.rev != doc.rev:
        known = parse(doc.dict(), db.partitioned, db)
        db.handles["design", doc.id] = known
    return known


def sources(ddoc: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """View name to its definition, without `lib` and what is no view."""
    views = ddoc.get("views")
    if not isinstance(views, dict):
        return {}
    return {
        name: view
        for name, view in sorted(views.items())
        if name != "lib" and isinstance(view, dict) and isinstance(view.get("map"), str)
    }


def parse(ddoc: dict[str, Any], db_partitioned: bool, db: Database | None = None) -> Design:
    options = ddoc.get("options") if isinstance(ddoc.get("options"), dict) else {}
    language = ddoc.get("language", "javascript")
    partitioned = options.get("partitioned", db_partitioned)
    flags = [name for name in ("include_design", "local_seq") if options.get(name) is True]
    found = sources(ddoc) if language != "query" else {}
    views: dict[str, View] = {}
    for number, (name, view) in enumerate(found.items()):
        reduce = view.get("reduce")
        order = RAW if (view.get("options") or {}).get("collation") == "raw" else ICU
        views[name] = View(number, reducer_for(reduce) if reduce else None, order)
    design = Design(
        ddoc["_id"],
        ddoc.get("_rev", ""),
        language,
        partitioned,
        [*flags, *(["partitioned"] if partitioned else [])],
        views,
        _spec(db, ddoc, found, views, partitioned, flags) if found and db is not None else None,
    )
    return design


def reducer_for(source: str) -> Reducer:
    return built_in(source, sort_key) if source.startswith(BUILT_IN) else CustomReduce(source)


def _spec(
    db: Database,
    ddoc: dict[str, Any],
    found: dict[str, dict[str, Any]],
    views: dict[str, View],
    partitioned: bool,
    flags: list[str],
) -> IndexSpec:
    lib = ddoc.get("views", {}).get("lib")
    definition = [FORMAT, list(found.values()), lib, flags, partitioned]
    text = orjson.dumps(definition, option=orjson.OPT_SORT_KEYS)
    language, maps = ddoc.get("language", "javascript"), [view["map"] for view in found.values()]
    mapper = Mapper(db, language, lib, maps, "local_seq" in flags)
    return IndexSpec(
        SIGNATURE + hashlib.md5(text, usedforsecurity=False).hexdigest(),
        tuple(ViewSpec(view.reducer, order=view.order) for view in views.values()),
        mapper,
        partitioned,
        "include_design" in flags,
        ddoc["_id"],
        mapper if language == "javascript" and not flags else None,
    )


@dataclass(frozen=True)
class Mapper:
    """Runs all map functions of a design document over a batch of documents."""

    db: Database
    language: str
    lib: Any
    maps: Sequence[str]
    local_seq: bool

    def __call__(self, docs: list[StoredDoc]) -> list[list[list[tuple[Any, Any]]]]:
        if self.language != "javascript":
            raise CouchError(500, "unknown_query_language", self.language)
        return self.run(self.maps, docs)

    @property
    def environment(self) -> bytes:
        """Equal where functions find the same around them."""
        return orjson.dumps(self.lib)

    def run(self, maps: Sequence[str], docs: list[StoredDoc]) -> list[list[list[tuple[Any, Any]]]]:
        def run(chosen: list[StoredDoc]) -> list[list[list[tuple[Any, Any]]]]:
            return javascript.map_docs(self.lib, maps, [self._json(doc) for doc in chosen])

        return run_for_types(map(types_of, maps), docs, run, lambda: [[] for _ in maps])

    def _json(self, doc: StoredDoc) -> bytes:
        """What a map function sees: the document, its conflicts, and its sequence where the design asks for it."""
        extra = []
        if doc.has_tree:
            live, deleted = self.db.conflicts(doc.id)
            extra += [b'"_conflicts":' + orjson.dumps(live)] if live else []
            extra += [b'"_deleted_conflicts":' + orjson.dumps(deleted)] if deleted else []
        if self.local_seq:
            extra.append(b'"_local_seq":%d' % doc.seq)
        return doc.json(b",".join(extra))


# -- what may be stored

STRING, OBJECT, BOOLEAN, ARRAY = "string", "object", "boolean", "array"
KINDS = {str: STRING, dict: OBJECT, bool: BOOLEAN, list: ARRAY}
ANY = None
Path = Sequence[tuple[str | None, tuple[str, ...]]]


def rules(map_kind: str) -> list[Path]:
    return [
        [("filters", (OBJECT,)), (ANY, (STRING, OBJECT))],
        [("language", (STRING,))],
        [("lists", (OBJECT,)), (ANY, (STRING, OBJECT))],
        [("options", (OBJECT,))],
        [("options", (OBJECT,)), ("include_design", (BOOLEAN,))],
        [("options", (OBJECT,)), ("local_seq", (BOOLEAN,))],
        [("options", (OBJECT,)), ("partitioned", (BOOLEAN,))],
        [("rewrites", (ARRAY, STRING))],
        [("shows", (OBJECT,)), (ANY, (STRING, OBJECT))],
        [("updates", (OBJECT,)), (ANY, (STRING, OBJECT))],
        [("validate_doc_update", (STRING,))],
        [("views", (OBJECT,)), ("lib", (OBJECT,))],
        [("views", (OBJECT,)), (ANY, (OBJECT,)), ("map", (map_kind,))],
        [("views", (OBJECT,)), (ANY, (OBJECT,)), ("reduce", (STRING,))],
    ]


def invalid(reason: str) -> CouchError:
    return CouchError(400, "invalid_design_doc", reason)


def validate_design(ddoc: dict[str, Any], db: Database) -> None:
    """Errors: 400 invalid_design_doc for its shape, 400 compilation_error for its functions."""
    query_language = ddoc.get("language") == "query"
    for path in rules(OBJECT if query_language else STRING):
        _check(ddoc, path, [])
    for name, view in (ddoc.get("views") or {}).items():
        if name != "lib" and isinstance(view, dict) and "map" not in view:
            raise invalid(f"View `{name}` must contain map function")
    if (ddoc.get("options") or {}).get("partitioned") is True and not db.partitioned:
        raise invalid("partitioned option cannot be true in a non-partitioned database.")
    if ddoc.get("language", "javascript") == "javascript":
        _compile(ddoc)


def _check(value: Any, path: Path, walked: list[str]) -> None:
    if not path or not isinstance(value, dict):
        return
    (name, kinds), *rest = path
    for key in [name] if name is not ANY else list(value):
        if key not in value:
            continue
        if KINDS.get(type(value[key])) not in kinds:
            raise invalid(f"`{'.'.join([*walked, key])}` field must have {' or '.join(kinds)} type")
        _check(value[key], rest, [*walked, key])


def _compile(ddoc: dict[str, Any]) -> None:
    lib = (ddoc.get("views") or {}).get("lib")
    for name, view in sources(ddoc).items():
        if not view["map"] or view.get("reduce") == "":
            raise not_found("missing function")
        javascript.check("map", name, view["map"], lib)
        reduce = view.get("reduce")
        if isinstance(reduce, str) and reduce.startswith(BUILT_IN):
            built_in(reduce, sort_key)
        elif isinstance(reduce, str):
            javascript.check("reduce", name, reduce, lib)


def filter_by_view(ddoc: dict[str, Any], map_source: str, docs: list[bytes]) -> list[bool]:
    """Which documents the map function emits anything for."""
    return javascript.filter_view(ddoc, map_source, docs)
