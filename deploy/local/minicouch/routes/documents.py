"""One document: read, write, delete, copy; design documents are documents with a longer path."""

import base64
import hashlib
from typing import Any
from urllib.parse import quote

from ..edits import Edit, parse_edit
from ..errors import CouchError, bad_request, not_found
from ..http import Request, Response, json_response, raw_json
from ..ids import check_docid, check_partitioned_docid
from ..revisions import normal_rev
from ..store.rows import StoredDoc
from ..validation import validator_for


def docid_of(request: Request) -> str:
    ddoc = request.params.get("ddoc")
    return f"_design/{ddoc}" if ddoc is not None else request.params["docid"]


def etag(doc: StoredDoc) -> str:
    """Like CouchDB's since 3.0: from id, revision and body, so that recreated documents differ."""
    digest = hashlib.md5(f"{doc.id}\0{doc.rev}".encode() + doc.body, usedforsecurity=False).digest()
    return '"' + base64.b64encode(digest)[:22].decode() + '"'


def get_document(request: Request) -> Response:
    doc = request.db.get(docid_of(request))
    if doc is None or doc.deleted:
        raise not_found("missing" if doc is None else "deleted")
    return raw_json(doc.json() + b"\n", headers=[("ETag", f'"{doc.rev}"')])


async def put_document(request: Request) -> Response:
    docid = docid_of(request)
    check_for(request, docid)
    edit = parse_edit(request.json(), docid)
    return await save(request, edit)


def check_for(request: Request, docid: str) -> None:
    check_docid(docid)
    if request.db.partitioned:
        check_partitioned_docid(docid)


async def save(request: Request, edit: Edit) -> Response:
    asked = request.query.get("rev") or (request.headers.get("if-match") or "").strip('"') or None
    if asked is not None:
        rev = normal_rev(asked)
        if edit.path and edit.path[0] != rev:
            raise bad_request("Document rev from request body and query string have different values")
        edit.path = [rev]
    result = (await request.db.update_docs([edit], validator=validator_for(request)))[0]
    if isinstance(result, CouchError):
        raise result
    location = request.absolute(f"/{quote(request.db.name, safe='')}/{quote(edit.id, safe='/:')}")
    return json_response(
        {"ok": True, "id": edit.id, "rev": result},
        200 if edit.deleted else 201,
        [("Location", location), ("ETag", f'"{result}"')],
    )


async def delete_document(request: Request) -> Response:
    docid = docid_of(request)
    doc = request.db.get(docid)
    if doc is None or doc.deleted:
        raise not_found("missing" if doc is None else "deleted")
    return await save(request, Edit(docid, {}, deleted=True))


async def post_document(request: Request) -> Response:
    request.require_json()
    body: Any = request.json()
    edit = parse_edit(body)
    if not edit.id:
        edit.id = request.server.uuids.new()
    check_for(request, edit.id)
    return await save(request, edit)


ROUTES = [
    ("POST", "/{db}", post_document, "document"),
    ("GET", "/{db}/{docid}", get_document, "document"),
    ("PUT", "/{db}/{docid}", put_document, "document"),
    ("DELETE", "/{db}/{docid}", delete_document, "document"),
    ("GET", "/{db}/_design/{ddoc}", get_document, "design document"),
    ("PUT", "/{db}/_design/{ddoc}", put_document, "design document"),
    ("DELETE", "/{db}/_design/{ddoc}", delete_document, "design document"),
]
