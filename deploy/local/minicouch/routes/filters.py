"""Which changes a client wants: by ids, design documents, a selector, a view's map or a filter function."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from ..documents.database import Database
from ..encoding.client_json import parse_json
from ..errors import bad_request, not_found
from ..http.messages import Request
from ..runtime.plugins import load
from ..store import Narrowing, StoredDoc

Test = Callable[[list[StoredDoc]], list[bool]]


@dataclass(slots=True)
class Filter:
    """`narrowing` passes over documents that are not read at all, `test` judges the others; `shape` projects `doc`."""

    narrowing: Narrowing | None = None
    test: Test | None = None
    shape: Callable[[bytes], bytes] | None = None


async def filter_for(request: Request, body: dict[str, Any]) -> Filter:
    """Errors: 400 for an incomplete filter, 404 for a missing function."""
    name = request.query.get("filter")
    if not name:
        return Filter()
    if name == "_doc_ids":
        return Filter(Narrowing(ids=_doc_ids(request, body)))
    if name == "_design":
        return Filter(Narrowing(design=True))
    if name == "_selector":
        return _selector(request, body)
    if name == "_view":
        return _view(request)
    ddoc_name, slash, function = name.partition("/")
    if not slash or name[0] == "_":
        raise bad_request("`filter` must be of the form `designname/filtername`")
    ddoc = design(request.db, ddoc_name)
    source = (ddoc.get("filters") or {}).get(function)
    if not isinstance(source, str):
        raise not_found(f"missing json key: {function}" if "filters" in ddoc else "missing json key: filters")
    return Filter(test=_function(request, ddoc, source))


def _doc_ids(request: Request, body: dict[str, Any]) -> frozenset[str]:
    ids = body.get("doc_ids")
    if ids is None and "doc_ids" in request.query:
        ids = parse_json(request.query["doc_ids"].encode())
    if not isinstance(ids, list):
        raise bad_request("`doc_ids` filter parameter is not a list of doc ids.")
    return frozenset(docid for docid in ids if isinstance(docid, str))


def _selector(request: Request, body: dict[str, Any]) -> Filter:
    if request.method != "POST":
        raise bad_request("The _selector filter requires a POST request with a `selector`")
    selector = body.get("selector")
    if not isinstance(selector, dict):
        raise bad_request("Selector error: expected a JSON object")
    mango = load("mango")
    matches, plausible = mango.matcher(selector), mango.plausible(selector)
    fields = body.get("fields")
    if fields is not None and not (
        isinstance(fields, list) and all(isinstance(item, str) for item in fields)
    ):
        raise bad_request("Selector error: fields must be JSON array")
    return Filter(
        test=lambda docs: [plausible(doc.body) and bool(matches(doc.dict())) for doc in docs],
        shape=(lambda doc: _project(doc, fields)) if fields else None,
    )


def _project(doc: bytes, fields: list[str]) -> bytes:
    whole = orjson.loads(doc)
    return orjson.dumps({name: whole[name] for name in fields if name in whole})


def _view(request: Request) -> Filter:
    name = request.query.get("view")
    if not name:
        raise bad_request("`view` filter parameter is not provided.")
    ddoc_name, slash, view = name.partition("/")
    if not slash:
        raise bad_request("`view` must be of the form `designname/viewname`")
    ddoc = design(request.db, ddoc_name)
    source = ((ddoc.get("views") or {}).get(view) or {}).get("map")
    if not isinstance(source, str):
        raise not_found(f"missing json key: {view}")
    run = load("javascript").filter_view
    return Filter(test=lambda docs: run(ddoc, source, [doc.json() for doc in docs]))


def _function(request: Request, ddoc: dict[str, Any], source: str) -> Test:
    run = load("javascript").filter_docs
    context = {
        "method": request.method,
        "path": [part for part in request.path.split("/") if part],
        "query": request.query,
        "headers": request.headers,
        "userCtx": request.user.for_database(request.db.name),
        "secObj": request.db.security,
    }
    return lambda docs: run(ddoc, source, [doc.json() for doc in docs], context)


def design(db: Database, name: str) -> dict[str, Any]:
    """A design document. Errors: 404."""
    return db.design_doc(name).dict()
