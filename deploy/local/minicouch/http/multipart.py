"""Documents with their attachments as MIME parts: multipart/related for one, multipart/mixed for several revisions."""

import os
import re
from email.parser import HeaderParser
from typing import Any

import orjson

from ..documents import attachments, reading
from ..documents.attachment_entries import check_name
from ..documents.database import Database
from ..documents.edits import Edit, parse_edit
from ..encoding.client_json import parse_json
from ..errors import bad_request
from ..store.rows import StoredDoc, stub
from .messages import Headers, Response


def _follows(db: Database, doc: StoredDoc, since: int) -> tuple[bytes, list[dict[str, Any]]]:
    """The `_attachments` member with `follows`, and the records whose data follow."""
    found: dict[str, Any] = {}
    sent = []
    for record in doc.attachments():
        entry = stub(record, encoding_info=True)
        if record["revpos"] > since:
            del entry["stub"]
            encoding = {key: entry.pop(key) for key in ("encoding", "encoded_length") if key in entry}
            entry |= {"follows": True} | encoding
            sent.append(record)
        found[record["name"]] = entry
    return orjson.dumps(found), sent


def _part(db: Database, doc: StoredDoc, options: reading.ReadOptions, boundary: str) -> tuple[str, bytes]:
    """Content type and bytes of one document with its attachments."""
    since = reading.known_position(db.tree(doc), doc.rev, options.atts_since)
    member, sent = _follows(db, doc, since)
    extra = b",".join(reading.members(db, doc, options.flags))
    json = doc.json(extra, member)
    if not sent:
        return "application/json", json
    edge = boundary.encode()
    out = [b"--", edge, b"\r\nContent-Type: application/json\r\n\r\n", json, b"\r\n--", edge]
    for record in sent:
        out += [
            b'\r\nContent-Disposition: attachment; filename="' + record["name"].encode() + b'"',
            b"\r\nContent-Type: " + record["content_type"].encode(),
            b"\r\nContent-Length: %d" % record["encoded_length"],
        ]
        if record["encoding"] != "identity":
            out.append(b"\r\nContent-Encoding: " + record["encoding"].encode())
        out += [b"\r\n\r\n", db.blob(record["digest"]) or b"", b"\r\n--", edge]
    out.append(b"--")
    return f'multipart/related; boundary="{boundary}"', b"".join(out)


def related_response(
    db: Database, doc: StoredDoc, options: reading.ReadOptions, headers: Headers
) -> Response:
    content_type, body = _part(db, doc, options, os.urandom(16).hex())
    return Response(200, body, [("Content-Type", content_type), *headers])


def mixed_response(
    db: Database, found: list[tuple[str, StoredDoc | None]], options: reading.ReadOptions
) -> Response:
    outer, inner = os.urandom(16).hex(), os.urandom(16).hex()
    edge = outer.encode()
    out = [b"--", edge]
    for rev, doc in found:
        if doc is None:
            out += [
                b'\r\nContent-Type: application/json; error="true"\r\n\r\n{"missing":"',
                rev.encode(),
                b'"}',
            ]
        else:
            content_type, body = _part(db, doc, options, inner)
            out += [b"\r\nContent-Type: ", content_type.encode(), b"\r\n\r\n", body]
        out += [b"\r\n--", edge]
    out.append(b"--")
    return Response(200, b"".join(out), [("Content-Type", f'multipart/mixed; boundary="{outer}"')])


def bulk_response(db: Database, results: list[dict[str, Any]], options: reading.ReadOptions) -> Response:
    """`_bulk_get` as multipart/mixed; `results` hold {"doc": StoredDoc} or {"error": {...}}."""
    outer = "--" + os.urandom(16).hex()
    out: list[bytes] = []
    for result in results:
        out += [b"\r\n--", outer.encode()]
        doc = result.get("doc")
        if doc is None:
            out += [
                b'\r\nContent-Type: application/json; error="true"\r\n\r\n',
                orjson.dumps(result["error"]),
            ]
            continue
        content_type, body = _part(db, doc, options, "--" + os.urandom(16).hex())
        if content_type != "application/json":
            out.append(f"\r\nX-Doc-Id: {doc.id}\r\nX-Rev-Id: {doc.rev}".encode())
        out += [b"\r\nContent-Type: ", content_type.encode(), b"\r\n\r\n", body]
    out += [b"\r\n--", outer.encode(), b"--\r\n"]
    return Response(200, b"".join(out), [("Content-Type", f'multipart/mixed; boundary="{outer}"')])


def parse_related(content_type: str, body: bytes, docid: str) -> Edit:
    """A document and the attachments that follow it. Errors: 400 for a damaged body or wrong lengths."""
    found = re.search(r'boundary="?([^";]+)"?', content_type)
    if not found:
        raise bad_request("multipart/related without a boundary")
    parts = _split(body, found[1].encode())
    if not parts:
        raise bad_request("invalid multipart body")
    edit = parse_edit(parse_json(parts[0][1]), docid)
    waiting = [name for name, entry in edit.attachments.items() if entry.get("follows") is True]
    for headers, data in parts[1:]:
        named = re.search(r'filename="([^"]*)"', headers.get("content-disposition", ""))
        name = named[1] if named and named[1] in waiting else (waiting[0] if waiting else None)
        if name is None:
            break
        waiting.remove(name)
        entry = edit.attachments[name]
        length = entry.get("encoded_length") if entry.get("encoding") else entry.get("length")
        if isinstance(length, int) and length != len(data):
            side = "longer" if len(data) > length else "shorter"
            raise bad_request(f"attachment {side} than expected")
        attachments.attach(entry, data)
    if waiting:
        raise bad_request("attachment shorter than expected")
    return edit


def parse_form(content_type: str, body: bytes) -> tuple[dict[str, bytes], dict[str, dict[str, Any]]]:
    """The plain fields of a form, and its `_attachments` files as attachment entries."""
    found = re.search(r'boundary="?([^";]+)"?', content_type)
    fields: dict[str, bytes] = {}
    files: dict[str, dict[str, Any]] = {}
    for headers, data in _split(body, found[1].encode()) if found else []:
        disposition = headers.get("content-disposition", "")
        name, file = (
            re.search(r'\bname="([^"]*)"', disposition),
            re.search(r'filename="([^"]*)"', disposition),
        )
        if file:
            kind = headers.get("content-type", "application/octet-stream")
            files[check_name(file[1])] = {"content_type": kind, "data": data}
        elif name:
            fields[name[1]] = data
    return fields, files


def _split(body: bytes, boundary: bytes) -> list[tuple[dict[str, str], bytes]]:
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary)
    found = []
    for piece in pieces[1:]:
        if piece.startswith(b"--"):
            break
        head, gap, data = piece.partition(b"\r\n\r\n")
        if not gap:
            continue
        parsed = HeaderParser().parsestr(head.decode("utf-8", "replace").strip() + "\n\n")
        found.append(({key.lower(): value for key, value in parsed.items()}, data))
    return found


ROUTES: list[Any] = []
