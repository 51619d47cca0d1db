"""What a client sends as a document, taken apart: id, history, deletedness, body, attachments."""

from typing import Any

from ..encoding.client_json import dumps
from ..errors import CouchError, bad_request
from .attachment_entries import check_name, decoded
from .ids import check_docid
from .revisions import normal_rev, parse_revisions

IGNORED = {"_revs_info", "_local_seq", "_conflicts", "_deleted_conflicts"}
KEPT = {
    "_access",
    "_replication_state",
    "_replication_state_time",
    "_replication_state_reason",
    "_replication_id",
    "_replication_stats",
}


class Edit:
    """One revision to store. `path` is its given history, newest first: the parent for a normal edit,
    itself and its ancestors for a replicated one. `attachments` maps a name to what the client sent.
    `given_id` is the id in the body, which may be another than the path's."""

    __slots__ = ("attachments", "body", "deleted", "encoded", "given_id", "id", "path", "records")

    def __init__(
        self,
        docid: str,
        body: dict[str, Any],
        path: list[str] | None = None,
        deleted: bool = False,
        attachments: dict[str, dict[str, Any]] | None = None,
    ) -> None:
        self.id = docid
        self.body = body
        self.path = path or []
        self.deleted = deleted
        self.attachments = attachments or {}
        self.given_id = ""
        self.encoded = dumps(body)
        self.records: list[dict[str, Any]] = []


def parse_edit(value: Any, docid: str | None = None, max_size: int = 8_000_000) -> Edit:
    """Errors: 400 for anything that is no document, 413 for one that is too large."""
    if not isinstance(value, dict):
        raise bad_request("Document must be a JSON object")
    path: list[str] = []
    deleted = False
    attachments: dict[str, dict[str, Any]] = {}
    found_id = ""
    special = [key for key in value if key[:1] == "_"]
    body = {key: item for key, item in value.items() if key[:1] != "_"} if special else value
    for key in special:
        item = value[key]
        if key == "_id":
            check_docid(item)
            found_id = item
        elif key == "_rev":
            if not path:
                path = [normal_rev(item)]
        elif key == "_deleted" and isinstance(item, bool):
            deleted = item
        elif key == "_revisions" and isinstance(item, dict):
            path = parse_revisions(item)
        elif key == "_attachments" and isinstance(item, dict):
            attachments = {
                check_name(name): decoded(name, entry)
                for name, entry in item.items()
                if isinstance(entry, dict)
            }
        elif key in KEPT:
            body[key] = item
        elif key not in IGNORED:
            raise CouchError(400, "doc_validation", f"Bad special document member: {key}")
    edit = Edit(docid if docid is not None else found_id, body, path, deleted, attachments)
    edit.given_id = found_id
    if len(edit.encoded) > max_size:
        raise CouchError(413, "document_too_large", found_id)
    return edit
