"""One document: read, write, delete, copy; design documents are documents with a longer path."""

import re
from urllib.parse import quote, unquote, urlsplit

from ..access import users
from ..access.validation import validator_for
from ..documents import reading
from ..documents.database import Database
from ..documents.edits import Edit, parse_edit
from ..documents.ids import check_docid, check_partitioned_docid
from ..documents.revisions import normal_rev, sort_key
from ..encoding.client_json import parse_json
from ..errors import CouchError, bad_request, not_found
from ..http import multipart
from ..http.messages import Headers, Request, Response, json_response, raw_json
from ..store.rows import StoredDoc
from .local import put_local_edit


def docid_of(request: Request) -> str:
    ddoc = request.params.get("ddoc")
    return f"_design/{ddoc}" if ddoc is not None else request.params["docid"]


def stored_docid_of(request: Request) -> str:
    """The id of a document that may be there. Errors: 400 for one that a partitioned database cannot hold."""
    docid = docid_of(request)
    if request.db.partitioned and ":" not in docid and docid[0] != "_":
        check_partitioned_docid(docid)
    return docid


def check_for(request: Request, docid: str) -> None:
    check_docid(docid)
    if request.db.partitioned:
        check_partitioned_docid(docid)


def not_modified(request: Request, etag: str) -> Response | None:
    """The 304 for a client that has this already."""
    given = request.headers.get("if-none-match")
    if given is None or etag not in [part.strip().removeprefix("W/") for part in given.split(",")]:
        return None
    return Response(304, b"", [("ETag", etag)])


def get_document(request: Request) -> Response:
    docid = stored_docid_of(request)
    if docid[0] == "_" and not docid.startswith("_design/"):
        raise not_found()
    options = reading.parse_options(request.query)
    if options.open_revs is not None:
        return _open_revs(request, docid, options)
    doc = reading.open_document(request.db, docid, options)
    if users.is_users_database(request.db.name, request.server.config):
        users.check_readable(doc, request.user, request.db)
    if _has_meta(request.db, doc, options):
        return _send(request, doc, options, [])
    etag = f'"{doc.rev}"'
    return not_modified(request, etag) or _send(request, doc, options, [("ETag", etag)])


def _has_meta(db: Database, doc: StoredDoc, options: reading.ReadOptions) -> bool:
    """Whether the answer says more than the revision does, so that no ETag fits."""
    if options.flags & {"revs_info", "local_seq"}:
        return True
    if not doc.has_tree or not options.flags & {"conflicts", "deleted_conflicts"}:
        return False
    live, deleted = db.tree(doc).conflicts()
    return bool(("conflicts" in options.flags and live) or ("deleted_conflicts" in options.flags and deleted))


def _send(request: Request, doc: StoredDoc, options: reading.ReadOptions, headers: Headers) -> Response:
    if doc.atts is not None and "attachments" in options.flags and request.accepts("multipart/related"):
        return multipart.related_response(request.db, doc, options, headers)
    return raw_json(reading.render(request.db, doc, options) + b"\n", headers=headers)


def _open_revs(request: Request, docid: str, options: reading.ReadOptions) -> Response:
    found = reading.open_revisions(request.db, docid, options)
    found.sort(key=lambda pair: (pair[1] is None, sort_key(pair[0])))
    if not found and options.open_revs == "all":
        raise not_found()
    if request.accepts("multipart/mixed"):
        return multipart.mixed_response(request.db, found, options)
    parts = [
        b'{"missing":"' + rev.encode() + b'"}'
        if doc is None
        else b'{"ok":' + reading.render(request.db, doc, options) + b"}"
        for rev, doc in found
    ]
    return raw_json(b"[" + b",".join(parts) + b"]\n")


async def put_document(request: Request) -> Response:
    docid = docid_of(request)
    check_for(request, docid)
    if request.headers.get("content-type", "").startswith("multipart/related"):
        edit = multipart.parse_related(request.headers["content-type"], request.body, docid)
    else:
        edit = parse_edit(request.json(), docid, request.server.max_document_size)
    if edit.given_id:
        check_for(request, edit.given_id)
    return await save(request, edit)


async def save(request: Request, edit: Edit) -> Response:
    """Store one edit as the request's `rev`, `If-Match`, `new_edits` and `batch` say, and answer like CouchDB."""
    replicated = request.query.get("new_edits") == "false"
    base = _base_revision(request, edit)
    if not replicated or not edit.path:
        edit.path = base
    if replicated and not edit.path:
        raise bad_request("When `new_edits: false`, the document needs `_rev` or `_revisions` specified")
    results = await request.db.update_docs([edit], replicated=replicated, validator=validator_for(request))
    if request.query.get("batch") == "ok":
        return json_response({"ok": True, "id": edit.id}, 202)
    result = results[0]
    if isinstance(result, CouchError):
        raise result
    location = request.absolute(f"/{quote(request.db.name, safe='')}/{quote(edit.id, safe=':')}")
    return json_response(
        {"ok": True, "id": edit.id, "rev": result},
        200 if edit.deleted and request.method != "POST" else 201,
        _written_headers(request, location, f'"{result}"'),
    )


def _written_headers(request: Request, location: str, etag: str) -> Headers:
    """CouchDB names the place after PUT and POST, the ETag after PUT and DELETE."""
    headers = [] if request.method == "DELETE" else [("Location", location)]
    return headers if request.method == "POST" else [*headers, ("ETag", etag)]


def asked_revision(request: Request) -> str | None:
    """The revision in `?rev=` and `If-Match`. Errors: 400 when they differ or are malformed."""
    query = request.query.get("rev")
    header = request.headers.get("if-match")
    header_rev = normal_rev(header.strip(' "')) if header else None
    if query is None:
        return header_rev
    rev = normal_rev(query)
    if header_rev is not None and header_rev != rev:
        raise bad_request("Document rev and etag have different values")
    return rev


def _base_revision(request: Request, edit: Edit) -> list[str]:
    body, query, header = edit.path[:1], request.query.get("rev"), request.headers.get("if-match")
    if query is not None and body and body != [normal_rev(query)]:
        raise bad_request("Document rev from request body and query string have different values")
    if header and body and body != [normal_rev(header.strip(' "'))]:
        raise bad_request("Document rev and etag have different values")
    asked = asked_revision(request)
    return body if asked is None else [asked]


async def delete_document(request: Request) -> Response:
    docid = stored_docid_of(request)
    reading.open_document(request.db, docid, reading.PLAIN)
    return await save(request, Edit(docid, {}, deleted=True))


async def post_document(request: Request) -> Response:
    request.require_json()
    edit = parse_edit(request.json(), max_size=request.server.max_document_size)
    if not edit.id:
        edit.id = request.server.uuids.new()
    check_for(request, edit.id)
    if edit.id.startswith("_local/"):
        return await put_local_edit(request, edit)
    return await save(request, edit)


async def post_form(request: Request) -> Response:
    """A browser's form: files as attachments of the document whose revision it names, or of a new `_doc`."""
    docid = docid_of(request)
    referer = request.headers.get("referer")
    if referer is None:
        raise bad_request("Referer header required.")
    if urlsplit(referer).netloc != request.headers.get("host"):
        raise bad_request("Referer header must match host.")
    check_for(request, docid)
    kind = request.headers.get("content-type", "")
    if not kind.startswith("multipart/form-data"):
        raise CouchError(415, "bad_content_type", "Content-Type must be multipart/form-data")
    fields, files = multipart.parse_form(kind, request.body)
    if "_doc" in fields:
        edit = parse_edit(parse_json(fields["_doc"]), docid, request.server.max_document_size)
    else:
        rev = normal_rev(fields.get("_rev", b"").decode("latin-1"))
        stored = request.db.get_rev(docid, rev)
        if stored is None or stored.rev != rev:
            raise CouchError(409, "not_found", "missing_rev")
        edit = parse_edit(_body(stored), docid)
        edit.path = [rev]
        edit.attachments = {record["name"]: {"record": record} for record in stored.attachments()}
    edit.attachments = files | {name: kept for name, kept in edit.attachments.items() if name not in files}
    result = (await request.db.update_docs([edit], validator=validator_for(request)))[0]
    if isinstance(result, CouchError):
        raise result
    return json_response({"ok": True, "id": docid, "rev": result}, 201, [("ETag", f'"{result}"')])


async def copy_document(request: Request) -> Response:
    docid = stored_docid_of(request)
    options = reading.ReadOptions(rev=asked_revision(request))
    source = reading.open_document(request.db, docid, options)
    target, rev = _destination(request)
    check_for(request, target)
    stubs = {record["name"]: record for record in source.attachments()}
    edit = parse_edit(_body(source), target)
    edit.attachments = {name: {"record": record} for name, record in stubs.items()}
    edit.path = [rev] if rev else []
    if target.startswith("_local/"):
        return await put_local_edit(request, edit)
    result = (await request.db.update_docs([edit], validator=validator_for(request)))[0]
    if isinstance(result, CouchError):
        raise result
    location = request.absolute(f"/{quote(request.db.name, safe='')}/{quote(target, safe=':')}")
    return json_response(
        {"ok": True, "id": target, "rev": result}, 201, [("Location", location), ("ETag", f'"{result}"')]
    )


def _body(doc: StoredDoc) -> dict[str, object]:
    return {
        key: value
        for key, value in doc.dict().items()
        if key not in ("_id", "_rev", "_attachments", "_deleted")
    }


def _destination(request: Request) -> tuple[str, str | None]:
    header = request.headers.get("destination")
    if not header:
        raise bad_request("Destination header is mandatory for COPY.")
    if re.match(r"https?://", header):
        raise bad_request("Destination URL must be relative.")
    name, _, query = header.partition("?")
    rev = next((part[4:] for part in query.split("&") if part.startswith("rev=")), None)
    return unquote(name).lstrip("/"), normal_rev(rev) if rev else None


ROUTES = [
    ("POST", "/{db}", post_document, "document"),
]
for _method, _handler in [
    ("GET", get_document),
    ("PUT", put_document),
    ("DELETE", delete_document),
    ("POST", post_form),
    ("COPY", copy_document),
]:
    ROUTES += [
        (_method, "/{db}/{docid}", _handler, "document"),
        (_method, "/{db}/_design/{ddoc}", _handler, "design document"),
    ]
