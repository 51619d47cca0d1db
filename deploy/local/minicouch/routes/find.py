"""`_find`, `_explain`, and the indexes they use: `_index` and its deletion."""

from typing import Any

from .. import mango
from ..documents import auth
from ..documents.edits import Edit
from ..documents.ids import check_docid, check_partition
from ..errors import CouchError, bad_request, not_found
from ..http.messages import Request, Response, json_response, raw_json
from ..http.routing import EVERY_METHOD, Route
from ..indexes import finder
from ..indexes.scanning import Scan
from ..mango import Index
from ..runtime.threads import run_in_thread
from ..store import StoredDoc

Document = dict[str, Any]


def _options(request: Request) -> Document:
    """The checked options of a query. Errors: 400."""
    body = request.json_object()
    partition = request.params.get("partition")
    if partition is not None and not request.db.partitioned:
        raise bad_request("database is not partitioned")
    if partition is not None and body.setdefault("partition", partition) != partition:
        raise CouchError(400, "bad_partition", f"Query partition does not match: {partition}")
    options = mango.find_options(body, int(request.server.config.get("mango", "default_limit", "25")))
    if options["partition"]:
        check_partition(options["partition"])
    return options


def _scan(request: Request) -> Scan:
    options = _options(request)
    scan = finder.prepare(request.db, options)
    if options["partition"] and not request.db.partitioned:
        raise CouchError(400, "query_parse_error", "`partition` parameter is not supported on this db")
    return scan


async def find(request: Request) -> Response:
    request.require_json()
    db = request.db
    key = (request.params.get("partition"), request.body)
    scan = finder.cached_scan(db, key, lambda: _scan(request))
    if finder.is_quick(db, scan):
        return _found(*finder.find(db, scan))
    await finder.ready(db, scan)
    return _found(*await run_in_thread(finder.find, db, scan))


def _found(body: bytes, read: tuple[int, int]) -> Response:
    response = raw_json(body)
    response.read = read
    return response


def explain(request: Request) -> Response:
    request.require_json()
    db = request.db
    plan = mango.plan(finder.indexes(db), _options(request), partitioned=db.partitioned, explain=True)
    return json_response(mango.explain(plan, db.name, db.partitioned))


def list_indexes(request: Request) -> Response:
    shown = [index.to_json() for index in finder.indexes(request.db)]
    limit, skip = _list_number(request, "limit", len(shown)), _list_number(request, "skip", 0)
    if limit < 1 or skip < 0:
        raise _bad_list()
    return json_response({"total_rows": len(shown), "indexes": shown[skip : skip + limit]})


def _list_number(request: Request, name: str, default: int) -> int:
    try:
        return int(str(request.query.get(name, default)).rstrip(";"))
    except ValueError:
        raise _bad_list() from None


def _bad_list() -> CouchError:
    return CouchError(500, "invalid_list_index_params", "Index parameter ranges: limit > 1, skip > 0")


async def create_index(request: Request) -> Response:
    request.require_json()
    db = request.db
    options = mango.index_options(request.json_object())
    section, stored = mango.design_member(options["type"], options["index"])
    generated = mango.generated_name(options["index"], options)
    name = generated if options["name"] is None else options["name"]
    ddoc_id = _design_id(generated if options["ddoc"] is None else options["ddoc"])
    check_docid(ddoc_id)
    old = _query_design_doc(db.get(ddoc_id))
    body = dict(old[1]) if old else {"language": "query"}
    members = body.get(section)
    body[section] = {**members, name: stored} if isinstance(members, dict) else {name: stored}
    _set_partitioned(body, options["partitioned"], ddoc_id, bool(old))
    answer = {"result": "exists", "id": ddoc_id, "name": name}
    if old is None or body != old[1]:
        auth.check_database_admin(request.user, db.security)
        if options["partitioned"] and not db.partitioned:
            raise _unsaved("invalid_design_doc")
        request.server.check_designs(db, {ddoc_id: body})
        await _save(request, ddoc_id, body, old[0] if old else None)
        answer["result"] = "created"
    return json_response(answer)


def _set_partitioned(body: Document, wanted: bool | None, ddoc_id: str, exists: bool) -> None:
    """A new design document takes the index's `partitioned`; an old one must agree with it."""
    options = body.get("options")
    now = options.get("partitioned") if isinstance(options, dict) else None
    if wanted is now:
        return
    if exists:
        raise CouchError(
            400,
            "invalid_partitioned_option",
            f"Requested partitioned option does not match existing value on design document {ddoc_id}",
        )
    body["options"] = {"partitioned": wanted}


def _query_design_doc(doc: StoredDoc | None) -> tuple[str | None, Document] | None:
    """(revision, body) of a live design document of indexes, None when there is none. Errors: 400 for another language."""
    if doc is None or doc.deleted:
        return None
    body = {name: value for name, value in doc.dict().items() if name not in ("_id", "_rev")}
    if body.get("language") != "query":
        found = f'{{<<"language">>,{mango.erlang(body["language"])}}}' if "language" in body else "false"
        raise CouchError(400, "invalid_ddoc_lang", f"Existing design doc has an invalid language: {found}")
    return doc.rev, body


async def _save(
    request: Request, ddoc_id: str, body: Document, rev: str | None, *, delete: bool = False
) -> None:
    (result,) = await request.db.update_docs(
        [Edit(ddoc_id, {} if delete else body, [rev] if rev else [], delete)]
    )
    if isinstance(result, CouchError):
        raise _unsaved(result.error)


def _unsaved(reason: str) -> CouchError:
    if reason == "conflict":
        return CouchError(
            500, "error_saving_ddoc", "Encountered a conflict while saving the design document."
        )
    return CouchError(500, "error_saving_ddoc", f"Unknown error while saving the design document: {reason}")


def _design_id(name: str) -> str:
    return name if name.startswith("_design/") else f"_design/{name}"


async def delete_index(request: Request) -> Response:
    params = request.params
    ddoc_id, kind, name = _design_id(params["ddoc"]), params["kind"], params["name"]
    found = [
        index
        for index in finder.indexes(request.db)
        if index.ddoc == ddoc_id and index.kind == kind and index.name == name
    ]
    if not found:
        raise not_found("missing")
    await _remove(request, found[0])
    return json_response({"ok": True})


async def _remove(request: Request, index: Index) -> None:
    """Take an index out of its design document, which goes with its last one."""
    db = request.db
    auth.check_database_admin(request.user, db.security)
    old = _query_design_doc(db.get(index.ddoc))
    if old is None:
        raise not_found("missing")
    rev, body = old
    section = index.section
    members = {name: value for name, value in body[section].items() if name != index.name}
    body = {name: value for name, value in body.items() if name != section} | (
        {section: members} if members else {}
    )
    await _save(request, index.ddoc, body, rev, delete=body == {"language": "query"})


async def bulk_delete(request: Request) -> Response:
    request.require_json()
    docids = mango.bulk_delete_options(request.json_object())["docids"]
    success: list[Document] = []
    fail: list[Document] = []
    existing = finder.indexes(request.db)
    for docid in map(_design_id, docids):
        found = [index for index in existing if index.ddoc == docid]
        if len(found) == 1:
            await _remove(request, found[0])
            success.insert(0, {"id": docid, "ok": True})
        else:
            fail.insert(0, {"id": docid, "error": "not_found"})
    return json_response({"success": success, "fail": fail})


def nothing_here(request: Request) -> Response:
    raise not_found("missing")


ROUTES: list[Route] = [
    *((method, "/{db}/_index/{rest*}", nothing_here, "no_index") for method in EVERY_METHOD),
    ("POST", "/{db}/_find", find, "find"),
    ("POST", "/{db}/_partition/{partition}/_find", find, "partition_find"),
    ("POST", "/{db}/_explain", explain, "explain"),
    ("POST", "/{db}/_partition/{partition}/_explain", explain, "partition_explain"),
    ("GET", "/{db}/_index", list_indexes, "indexes"),
    ("POST", "/{db}/_index", create_index, "create_index"),
    ("POST", "/{db}/_index/_bulk_delete", bulk_delete, "delete_indexes"),
    ("DELETE", "/{db}/_index/{ddoc}/{kind}/{name}", delete_index, "delete_index"),
    ("DELETE", "/{db}/_index/_design/{ddoc}/{kind}/{name}", delete_index, "delete_index_by_id"),
]
