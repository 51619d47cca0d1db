"""Answers that design documents make: _show, _list, _update and _rewrite. Deprecated in CouchDB 3, and still there."""

import hashlib
from typing import Any
from urllib.parse import quote

import orjson

from .. import javascript, views
from ..access.validation import validator_for
from ..documents import reading
from ..documents.edits import parse_edit
from ..errors import CouchError, method_not_allowed, not_found
from ..http import answers, rewriting
from ..http.messages import Request, Response
from ..runtime.threads import run_in_thread
from ..store import StoredDoc
from .all_docs import all_docs
from .databases import info
from .documents import check_for, not_modified
from .filters import design
from .views import checked, fresh_index, opened, whole_answer

SEEN = reading.ReadOptions({"revs", "conflicts"})


def function_of(request: Request, section: str, name: str) -> tuple[dict[str, Any], str]:
    """A design document and the source of one of its functions. Errors: 404."""
    ddoc = design(request.db, request.params["ddoc"])
    functions = ddoc.get(section)
    if not isinstance(functions, dict):
        raise not_found(f"missing json key: {section}")
    if not isinstance(functions.get(name), str):
        raise not_found(f"missing json key: {name}")
    if ddoc.get("language", "javascript") != "javascript":
        raise CouchError(500, "unknown_query_language", str(ddoc["language"]))
    return ddoc, functions[name]


def target(request: Request, error: str) -> tuple[str, str | None]:
    """The function's name and the document's id after it. Errors: 404 without a name."""
    name, _, docid = request.params.get("rest", "").partition("/")
    if not name:
        raise CouchError(404, error, "Invalid path.")
    return name, docid or None


def current(request: Request, docid: str | None) -> StoredDoc | None:
    doc = request.db.get(docid) if docid else None
    return None if doc is None or doc.deleted else doc


def arguments(request: Request, doc: StoredDoc | None, docid: str | None) -> bytes:
    shown = b"null" if doc is None else reading.render(request.db, doc, SEEN)
    return b"[%b,%b]" % (shown, orjson.dumps(answers.described(request, info(request.db), docid)))


async def show(request: Request) -> Response:
    name, docid = target(request, "show_error")
    ddoc, source = function_of(request, "shows", name)
    doc = current(request, docid)
    parts = [ddoc["_rev"], doc and doc.rev, request.headers.get("accept"), request.user.roles]
    etag = f'"{hashlib.md5(orjson.dumps(parts), usedforsecurity=False).hexdigest()}"'
    if (unchanged := not_modified(request, etag)) is not None:
        return unchanged
    answer = await run_in_thread(javascript.render, ddoc, "show", source, arguments(request, doc, docid))
    return answers.respond(answer, headers=[("ETag", etag), ("Vary", "Accept")])


async def update(request: Request) -> Response:
    name, docid = target(request, "update_error")
    ddoc, source = function_of(request, "updates", name)
    doc = current(request, docid)
    changed, answer = await run_in_thread(
        javascript.render, ddoc, "update", source, arguments(request, doc, docid)
    )
    if not isinstance(changed, dict):
        return answers.respond(answer)
    edit = parse_edit(changed, max_size=request.server.max_document_size)
    check_for(request, edit.id)
    edit.path = edit.path[:1]
    result = (await request.db.update_docs([edit], validator=validator_for(request)))[0]
    if isinstance(result, CouchError):
        raise result
    headers = [("X-Couch-Update-NewRev", result), ("X-Couch-Id", quote(edit.id, safe=""))]
    return answers.respond(answer, 201, headers)


async def listed(request: Request) -> Response:
    parts = request.params.get("rest", "").split("/")
    if len(parts) not in (2, 3):
        raise CouchError(404, "list_error", "Invalid path.")
    body = None
    if request.method == "POST":
        request.require_json()
        body = request.json_object()
    elif request.method not in ("GET", "HEAD", "OPTIONS"):
        raise method_not_allowed("GET,POST,HEAD")
    ddoc, source = function_of(request, "lists", parts[0])
    described = answers.described(request, info(request.db), None, body)
    request.params = {"ddoc": parts[1] if len(parts) == 3 else request.params["ddoc"], "view": parts[-1]}
    rows = await _rows(request, body)
    payload = b"[%b,%b]" % (rows, orjson.dumps(described))
    answer = await run_in_thread(javascript.render, ddoc, "list", source, payload)
    return answers.respond(answer, kind="application/json")


async def _rows(request: Request, body: dict[str, Any] | None) -> bytes:
    """The JSON answer of the view (or `_all_docs`) that the list is made of."""
    if request.params["view"] == "_all_docs":
        return await _whole(all_docs(request))
    design, view = opened(request)
    query = views.url_query(request.query) if body is None else views.body_query(request.query, body)
    checked(request, design, view, query)
    return await whole_answer(request.db, await fresh_index(request.db, design, [query]), view, query)


async def _whole(response: Response) -> bytes:
    if isinstance(response.body, bytes):
        return response.body
    return b"".join([piece async for piece in response.body])


async def rewrite(request: Request) -> Response:
    """Serve the request that the design document's rules, or its function, make of this one."""
    rewriting.check_depth(request)
    ddoc = design(request.db, request.params["ddoc"])
    rules = ddoc.get("rewrites")
    if isinstance(rules, list):
        return await request.server.dispatch(rewriting.by_rules(request, rules))
    if isinstance(rules, str):
        described = orjson.dumps(answers.described(request, info(request.db), None))
        found = await run_in_thread(javascript.render, ddoc, "rewrite", rules, described)
        if isinstance(found, dict):
            if "code" in found:
                return answers.respond(
                    {key: found[key] for key in ("code", "headers", "body") if key in found}
                )
            return await request.server.dispatch(rewriting.by_function(request, found))
    raise CouchError(404, "rewrite_error", "Invalid path.")


ROUTES = []
for _kind, _handler in (("_show", show), ("_list", listed), ("_update", update), ("_rewrite", rewrite)):
    for _method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
        _path = "/{db}/_design/{ddoc}/" + _kind
        ROUTES += [(_method, _path, _handler, _kind), (_method, _path + "/{rest*}", _handler, _kind)]
