"""Many documents in one request: _bulk_docs, _bulk_get, _revs_diff, _missing_revs, _purge."""

import asyncio
from typing import Any

import orjson

from ..access.validation import validator_for
from ..documents import reading, revisions
from ..documents.database import Database
from ..documents.edits import Edit, parse_edit
from ..documents.ids import check_docid, check_partitioned_docid
from ..encoding.client_json import dumps
from ..errors import CouchError, bad_request
from ..http import multipart
from ..http.messages import Request, Response, json_response, raw_json
from .local import store_local

SLICE = 100
PERSISTENT = {"atts_since", "rev", "w", "new_edits", "open_revs"}


async def bulk_docs(request: Request) -> Response:
    request.require_json()
    body = request.json_object()
    if "docs" not in body:
        raise bad_request("POST body must include `docs` parameter.")
    if not isinstance(body["docs"], list):
        raise bad_request("`docs` parameter must be an array.")
    new_edits = body.get("new_edits", True)
    if not isinstance(new_edits, bool):
        raise bad_request("`new_edits` parameter must be a boolean.")
    edits = await _edits(request, body["docs"], new_edits)
    if body.get("all_or_nothing") is True and new_edits:
        return json_response([_all_or_nothing(edit) for edit in edits], 417)
    results = await _store(request, edits, new_edits)
    if not new_edits:
        return json_response([result for result in results if "error" in result], 201)
    return raw_json(dumps(results) + b"\n", 201)


def _all_or_nothing(edit: Edit) -> dict[str, str]:
    rev = edit.path[0] if edit.path else "0-"
    return {
        "id": edit.id,
        "rev": rev,
        "error": "not_implemented",
        "reason": "all_or_nothing is not supported",
    }


async def _edits(request: Request, docs: list[Any], new_edits: bool) -> list[Edit]:
    edits = []
    for index, value in enumerate(docs):
        edit = parse_edit(value, max_size=request.server.max_document_size)
        if not new_edits and not edit.path:
            raise bad_request("When `new_edits: false`, the document needs `_rev` or `_revisions` specified")
        if not edit.id:
            edit.id = request.server.uuids.new()
        if request.db.partitioned:
            check_partitioned_docid(edit.id)
        edits.append(edit)
        if index % SLICE == SLICE - 1:
            await asyncio.sleep(0)
    return edits


async def _store(request: Request, edits: list[Edit], new_edits: bool) -> list[dict[str, Any]]:
    normal = [edit for edit in edits if not edit.id.startswith("_local/")]
    if new_edits:
        for edit in normal:
            edit.path = edit.path[:1]
    stored = iter(
        await request.db.update_docs(normal, replicated=not new_edits, validator=validator_for(request))
    )
    results: list[dict[str, Any]] = []
    for edit in edits:
        if edit.id.startswith("_local/"):
            results.append({"ok": True, "id": edit.id, "rev": await store_local(request, edit)})
            continue
        result = next(stored)
        if isinstance(result, CouchError):
            revision = {} if new_edits else {"rev": edit.path[0]}
            results.append({"id": edit.id, **revision, "error": result.error, "reason": result.reason})
        else:
            results.append({"ok": True, "id": edit.id, "rev": result})
    return results


async def bulk_get(request: Request) -> Response:
    request.require_json()
    body = request.json_object()
    docs = body.get("docs")
    if docs is None:
        raise bad_request("Missing JSON list of 'docs'.")
    if not isinstance(docs, list):
        raise bad_request("Missing JSON list of 'docs'.")
    for name in PERSISTENT & request.query.keys():
        raise bad_request(f'"{name}" query parameter is not acceptable')
    options = reading.parse_options(request.query)
    found: list[tuple[str | None, list[dict[str, Any]]]] = []
    for index, wanted in enumerate(docs):
        found.append(_get(request.db, wanted, options))
        if index % SLICE == SLICE - 1:
            await asyncio.sleep(0)
    accepts = request.headers.get("accept", "")
    if "multipart/mixed" in accepts or "multipart/related" in accepts:
        return multipart.bulk_response(
            request.db, [entry for _, entries in found for entry in entries], options
        )
    results = [
        b'{"id":'
        + orjson.dumps(docid)
        + b',"docs":['
        + b",".join(_entry_json(request.db, e, options) for e in entries)
        + b"]}"
        for docid, entries in found
    ]
    return raw_json(b'{"results":[' + b",".join(results) + b"]}\n")


def _entry_json(db: Database, entry: dict[str, Any], options: reading.ReadOptions) -> bytes:
    doc = entry.get("doc")
    if doc is None:
        return b'{"error":' + orjson.dumps(entry["error"]) + b"}"
    if entry.get("since"):
        options = reading.ReadOptions(options.flags | {"attachments"}, atts_since=entry["since"])
    return b'{"ok":' + reading.render(db, doc, options) + b"}"


def _get(db: Database, wanted: Any, options: reading.ReadOptions) -> tuple[str | None, list[dict[str, Any]]]:
    """The id, and for each revision {"doc": StoredDoc} or {"error": {...}}."""
    if not isinstance(wanted, dict) or not wanted:
        return None, [_error(None, None, bad_request("document must be a JSON object"))]
    if "id" not in wanted:
        return None, [_error(None, None, bad_request("document id missed"))]
    docid, rev = wanted["id"], wanted.get("rev")
    try:
        check_docid(docid)
        if db.partitioned:
            check_partitioned_docid(docid)
    except CouchError as error:
        return docid, [_error(docid, None, error)]
    try:
        asked: list[str] | str = "all" if rev is None else [revisions.normal_rev(rev)]
        since = [revisions.normal_rev(known) for known in wanted.get("atts_since") or []]
    except CouchError as error:
        return docid, [_error(docid, rev, error)]
    flags = options.flags - reading.WINNER_ONLY
    found = reading.open_revisions(db, docid, reading.ReadOptions(flags, open_revs=asked))
    if not found:
        found = [("undefined", None)]
    return docid, [
        {"doc": doc, "since": since}
        if doc is not None
        else _error(docid, name, CouchError(404, "not_found", "missing"))
        for name, doc in found
    ]


def _error(docid: Any, rev: Any, error: CouchError) -> dict[str, Any]:
    return {"error": {"rev": rev, "reason": error.reason, "id": docid, "error": error.error}}


def _wanted_revisions(request: Request) -> dict[str, list[str]]:
    request.require_json()
    wanted = {}
    for docid, revs in request.json_object().items():
        if not isinstance(revs, list):
            raise bad_request("Invalid list of revisions")
        wanted[docid] = [revisions.normal_rev(rev) for rev in revs]
    return wanted


def revs_diff(request: Request) -> Response:
    result: dict[str, Any] = {}
    wanted = _wanted_revisions(request)
    docs = request.db.get_many(list(wanted))
    for docid, revs in wanted.items():
        doc = docs.get(docid)
        absent, ancestors = revisions.missing(request.db.tree(doc) if doc else None, revs)
        if absent:
            result[docid] = {"missing": absent} | ({"possible_ancestors": ancestors} if ancestors else {})
    return json_response(result)


def missing_revs(request: Request) -> Response:
    wanted = _wanted_revisions(request)
    docs = request.db.get_many(list(wanted))
    result = {}
    for docid, revs in wanted.items():
        doc = docs.get(docid)
        absent, _ = revisions.missing(request.db.tree(doc) if doc else None, revs)
        if absent:
            result[docid] = absent
    return json_response({"missing_revs": result})


async def purge(request: Request) -> Response:
    wanted = _wanted_revisions(request)
    for docid in wanted:
        check_docid(docid)
        if request.db.partitioned:
            check_partitioned_docid(docid)
    purged = {docid: request.db.purge(docid, revs) for docid, revs in wanted.items()}
    await request.db.durable()
    return json_response({"purge_seq": None, "purged": purged}, 201)


def purged_infos(request: Request) -> Response:
    infos = [{"id": docid, "revs": revs} for _, docid, revs in request.db.purges()]
    return json_response({"purged_infos": infos})


def get_purged_infos_limit(request: Request) -> Response:
    return json_response(request.db.setting("purged_infos_limit", 1000))


async def put_purged_infos_limit(request: Request) -> Response:
    limit = request.json()
    if type(limit) is not int or limit < 1:
        raise bad_request("`purged_infos_limit` must be positive integer")
    with request.db.transaction() as change:
        change.set_setting("purged_infos_limit", limit)
    await request.db.durable()
    return json_response({"ok": True})


ROUTES = [
    ("POST", "/{db}/_bulk_docs", bulk_docs, "_bulk_docs"),
    ("POST", "/{db}/_bulk_get", bulk_get, "_bulk_get"),
    ("POST", "/{db}/_revs_diff", revs_diff, "_revs_diff"),
    ("POST", "/{db}/_missing_revs", missing_revs, "_missing_revs"),
    ("POST", "/{db}/_purge", purge, "_purge"),
    ("GET", "/{db}/_purged_infos", purged_infos, "_purged_infos"),
    ("GET", "/{db}/_purged_infos_limit", get_purged_infos_limit, "_purged_infos_limit"),
    ("PUT", "/{db}/_purged_infos_limit", put_purged_infos_limit, "_purged_infos_limit"),
]
