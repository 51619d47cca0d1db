"""What databases that are told to devices share, whatever is in them (docs/decisions/12-sync.md)."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

from shared.errors import NotFound

_SEQUENCE: Final = re.compile(r"([0-9]{1,15})(?:-([0-9a-f]{1,32}))?")


class MissingDocument(NotFound):
    code, title = "not_found", "missing"


def digest_of(content: Mapping[str, Any]) -> str:
    return hashlib.md5(orjson.dumps(content, option=orjson.OPT_SORT_KEYS), usedforsecurity=False).hexdigest()


def number_since(text: str, epoch: str, sequence: int) -> int:
    """The number in a client's `since`, where `sequence` is the last one; 0 for one of another epoch. Raises ValueError for what is none."""
    if text == "now":
        return sequence
    found = _SEQUENCE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text[:40]!r} is no sequence of this database.")
    known = found[2] == epoch and int(found[1]) <= sequence
    return int(found[1]) if known else 0


def database_information(name: str, sequence: str, documents: int, deleted: int) -> dict[str, Any]:
    """What CouchDB says of a database."""
    return {
        "db_name": name,
        "update_seq": sequence,
        "doc_count": documents,
        "doc_del_count": deleted,
        "purge_seq": 0,
        "instance_start_time": "0",
        "compact_running": False,
        "disk_format_version": 8,
        "sizes": {"file": 0, "external": 0, "active": 0},
        "props": {},
    }
