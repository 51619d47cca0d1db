"""One attachment: read it (whole or ranges), put it, remove it."""

import os
import re
from urllib.parse import quote

from ..access.validation import validator_for
from ..documents import attachments, reading
from ..documents.attachment_entries import check_name
from ..documents.attachments import Record
from ..documents.edits import Edit, parse_edit
from ..errors import CouchError, not_found
from ..http.messages import Request, Response, json_response
from .documents import asked_revision, check_for, docid_of, not_modified, stored_docid_of

MANY_RANGES = 10


def _name(request: Request) -> str:
    return request.params["attachment"]


def _record(records: list[Record], name: str) -> Record:
    for record in records:
        if record["name"] == name:
            return record
    raise not_found("Document is missing attachment")


def get_attachment(request: Request) -> Response:
    docid = stored_docid_of(request)
    options = reading.parse_options(request.query)
    doc = reading.open_document(request.db, docid, options)
    record = _record(doc.attachments(), _name(request))
    stored = request.db.blob(record["digest"]) or b""
    etag = f'"{record["digest"][4:]}"'
    unchanged = not_modified(request, etag)
    if unchanged is not None:
        return unchanged
    gzipped = record["encoding"] == "gzip"
    accepts = gzipped and "gzip" in request.headers.get("accept-encoding", "")
    headers = [
        ("ETag", etag),
        ("Cache-Control", "must-revalidate"),
        ("Content-Type", record["content_type"]),
        ("Accept-Ranges", "none" if gzipped else "bytes"),
        ("Content-Security-Policy", "sandbox"),
    ]
    if accepts:
        headers.append(("Content-Encoding", "gzip"))
    data = stored if accepts or not gzipped else attachments.decode(record, stored)
    if not gzipped:
        ranges = parse_ranges(request.headers.get("range"), len(data))
        if ranges is not None and len(ranges) == 1:
            first, last = ranges[0]
            headers.append(("Content-Range", f"bytes {first}-{last}/{len(data)}"))
            return Response(206, data[first : last + 1], headers)
        if ranges and len(ranges) < MANY_RANGES:
            return _multipart_ranges(data, ranges, record["content_type"])
    return Response(200, data, headers)


def parse_ranges(header: str | None, length: int) -> list[tuple[int, int]] | None:
    """First and last byte of each range; None when the whole is to be sent. Errors: 416."""
    if not header or not header.startswith("bytes="):
        return None
    found = []
    for part in header[6:].split(","):
        match = re.fullmatch(r"\s*(\d*)-(\d*)\s*", part)
        if not match or match.group(0).strip() == "-":
            return None
        first = int(match[1]) if match[1] else None
        last = int(match[2]) if match[2] else None
        if first == 0 and last is None:
            return None
        if first is None:
            first, last = max(0, length - (last or 0)), length - 1
        elif last is None or (last >= first and last >= length):
            last = length - 1
        if last < first:
            raise CouchError(416, "requested_range_not_satisfiable", "Requested range not satisfiable")
        found.append((first, last))
    return found


def _multipart_ranges(data: bytes, ranges: list[tuple[int, int]], content_type: str) -> Response:
    boundary = os.urandom(16).hex()
    edge = boundary.encode()
    out = [b"--", edge]
    for first, last in ranges:
        head = f"\r\nContent-Type: {content_type}\r\nContent-Range: bytes {first}-{last}/{len(data)}\r\n\r\n"
        out += [head.encode(), data[first : last + 1], b"\r\n--", edge]
    out.append(b"--")
    return Response(206, b"".join(out), [("Content-Type", f'multipart/byteranges; boundary="{boundary}"')])


async def put_attachment(request: Request) -> Response:
    name = check_name(_name(request))
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        raise CouchError(415, "bad_content_type", "Only gzip and identity content-encodings are supported")
    entry = {
        "content_type": request.headers.get("content-type", "application/octet-stream"),
        "data": request.body,
        "encoding": encoding,
    }
    limit = request.server.config.get("couchdb", "max_attachment_size") or "infinity"
    if limit != "infinity" and len(request.body) > int(limit):
        raise CouchError(413, "attachment_too_large", name)
    edit = _base(request, asked_revision(request))
    edit.attachments = {name: entry} | {key: kept for key, kept in edit.attachments.items() if key != name}
    rev = await _save(request, edit)
    path = "/".join(quote(part, safe=":") for part in (request.db.name, edit.id, name))
    return json_response(
        {"ok": True, "id": edit.id, "rev": rev}, 201, [("Location", request.absolute(f"/{path}"))]
    )


async def delete_attachment(request: Request) -> Response:
    name, docid = _name(request), stored_docid_of(request)
    rev = asked_revision(request)
    if rev is None:
        _record(reading.open_document(request.db, docid, reading.PLAIN).attachments(), name)
    edit = _base(request, rev)
    if rev is not None and name not in edit.attachments:
        raise not_found("Document is missing attachment")
    edit.attachments.pop(name, None)
    new_rev = await _save(request, edit)
    return json_response({"ok": True, "id": edit.id, "rev": new_rev})


def _base(request: Request, rev: str | None) -> Edit:
    """The document as it is at a revision, ready to be edited; a new one without a revision."""
    docid = docid_of(request)
    if rev is None:
        check_for(request, docid)
        return Edit(docid, {})
    doc = request.db.get_rev(docid, rev)
    if doc is None or doc.rev != rev:
        raise CouchError(409, "not_found", "missing_rev")
    body = {key: value for key, value in doc.dict().items() if key[:1] != "_"}
    edit = parse_edit(body, docid)
    edit.path = [rev]
    edit.deleted = bool(doc.deleted)
    edit.attachments = {record["name"]: {"record": record} for record in doc.attachments()}
    return edit


async def _save(request: Request, edit: Edit) -> str:
    result = (await request.db.update_docs([edit], validator=validator_for(request)))[0]
    if isinstance(result, CouchError):
        raise result
    return str(result)


ROUTES = []
for _method, _handler in [("GET", get_attachment), ("PUT", put_attachment), ("DELETE", delete_attachment)]:
    ROUTES += [
        (_method, "/{db}/{docid}/{attachment*}", _handler, "attachment"),
        (_method, "/{db}/_design/{ddoc}/{attachment*}", _handler, "attachment of a design document"),
    ]
