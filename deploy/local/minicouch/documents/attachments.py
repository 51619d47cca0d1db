"""Attachments as documents carry them: inline data, stubs, data that follows; stored once by digest."""

import base64
import hashlib
import zlib
from typing import Any

from ..errors import CouchError, bad_request
from ..store.documents import Documents
from ..store.rows import stub
from ..store.transactions import Transaction
from .edits import Edit

Record = dict[str, Any]
COMPRESSIBLE = ("application/javascript", "application/json", "application/xml")


def compressible(content_type: str) -> bool:
    plain = content_type.split(";", 1)[0].strip().lower()
    return plain.startswith("text/") or plain in COMPRESSIBLE


def encode(name: str, content_type: str, data: bytes, encoding: str = "identity") -> tuple[Record, bytes]:
    """The record (without revpos) and the bytes to store; compressible types are kept gzipped, as CouchDB does."""
    length = len(data)
    stored = data
    if encoding != "gzip" and compressible(content_type):
        packer = zlib.compressobj(8, zlib.DEFLATED, 31)
        stored, encoding = packer.compress(data) + packer.flush(), "gzip"
    digest = "md5-" + base64.b64encode(hashlib.md5(stored, usedforsecurity=False).digest()).decode()
    record = {
        "name": name,
        "content_type": content_type,
        "revpos": 0,
        "digest": digest,
        "length": length,
        "encoding": encoding,
        "encoded_length": len(stored),
    }
    return record, stored


def decode(record: Record, stored: bytes) -> bytes:
    """The bytes a client put; what it wrongly called gzip comes back as it came."""
    if record["encoding"] != "gzip":
        return stored
    try:
        return zlib.decompress(stored, 31)
    except zlib.error:
        return stored


def resolve(
    edit: Edit, known: list[Record], parent: str | None, change: Transaction, *, replicated: bool = False
) -> list[Record]:
    """Records of an edit's attachments, their bytes stored. Errors: 412 for a stub of nothing."""
    position = int(edit.path[0].partition("-")[0]) if replicated and edit.path else _next_position(parent)
    existing = {record["name"]: record for record in known}
    found: list[Record] = []
    for name, entry in edit.attachments.items():
        if "record" in entry:
            found.append(entry["record"])
            continue
        if entry.get("stub") is True:
            record = existing.get(name)
            if record is None or entry.get("revpos", record["revpos"]) != record["revpos"]:
                raise CouchError(412, "missing_stub", f"Invalid attachment stub in {edit.id} for {name}")
            found.append(record)
            continue
        if not isinstance(entry.get("data"), bytes):  # it said that its data follow, and none did
            raise bad_request(f"Invalid attachment data for {name}")
        content_type = str(entry.get("content_type", "application/octet-stream"))
        encoding = entry.get("encoding", "identity")
        record, stored = encode(name, content_type, entry["data"], encoding)
        revpos = entry.get("revpos")
        record["revpos"] = revpos if replicated and type(revpos) is int else position
        if isinstance(entry.get("length"), int) and encoding == "gzip":
            record["length"] = entry["length"]
        change.put_blob(record["digest"], stored)
        found.append(record)
    return found


def _next_position(parent: str | None) -> int:
    return int(parent.partition("-")[0]) + 1 if parent else 1


def digests(records: list[Record]) -> list[tuple[str, str, bytes]]:
    """What a revision id is made of."""
    return [(r["name"], r["content_type"], base64.b64decode(r["digest"][4:])) for r in records]


def member(db: Documents, record: Record, since: int, encoding_info: bool) -> dict[str, Any]:
    """One entry of `_attachments` with its data, or a stub when the client has it already."""
    if record["revpos"] <= since:
        return stub(record, encoding_info=encoding_info)
    stored = db.blob(record["digest"]) or b""
    found: dict[str, Any] = {
        "content_type": record["content_type"],
        "revpos": record["revpos"],
        "digest": record["digest"],
    }
    found["data"] = base64.b64encode(decode(record, stored)).decode()
    if encoding_info and record["encoding"] != "identity":
        found |= {"encoding": record["encoding"], "encoded_length": record["encoded_length"]}
    return found


def attach(entry: dict[str, Any], data: bytes) -> None:
    """Give an entry that said `follows` its bytes."""
    entry.pop("follows", None)
    entry["data"] = data
