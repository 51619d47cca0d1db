"""Cloudant's limits that have nothing to do with a plan's rates: how long a request may take, how many partition indexes and databases there
may be, and how much in them.

Sources: Cloudant's pages "Limits" and "Usage and charges". They publish the numbers, and the words of the answer to one who has stored too
much; those of a time-out are CouchDB's, the others ours.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import orjson

from ..documents.database import Database
from ..errors import CouchError, bad_request, forbidden
from ..http.messages import Request
from ..runtime.config import Config
from ..store import Store
from .plans import WRITE, Plan, request_class

PARTITION_SECONDS: Final = 5.0
SECONDS: Final = 60.0
MAX_PARTITION_INDEXES: Final = 10


def time_limit(path: str) -> float | None:
    """Seconds that a request may take; None for feeds, and for what is asked of the server itself."""
    parts = path.strip("/").split("/")
    if parts[0].startswith("_") or parts[1:2] == ["_changes"]:
        return None
    return PARTITION_SECONDS if parts[1:2] == ["_partition"] else SECONDS


def timed_out() -> CouchError:
    return CouchError(500, "timeout", "The request could not be processed in a reasonable amount of time.")


def check_path(path: str) -> None:
    """Errors: 403 for a compaction, which is the server's own affair there."""
    if path.strip("/").split("/")[1:2] == ["_compact"]:
        raise CouchError(403, "forbidden", "Databases are compacted by the service itself.")


def check_account(request: Request, plan: Plan, store: Store, config: Config) -> None:
    """Errors: 403 for a database too many, 402 for a document that is created or changed where the account is full.

    `storage` in the section `cloudant` of the configuration stands for the plan's bytes: a test fills an account with it, and empties it again.
    """
    method, parts = request.method, request.path.strip("/").split("/")
    if method == "PUT" and len(parts) == 1 and not parts[0].startswith("_"):
        owned = [name for name in store.databases() if not name.startswith("_")]
        if len(owned) >= plan.databases:
            raise forbidden(f"This account may have {plan.databases} databases, and has them.")
    storage = config.get("cloudant", "storage") or plan.storage
    if storage is None or request_class(method, request.path) != WRITE or method == "DELETE":
        return
    if _stored(store) > int(storage) and not _only_deletes(request.path, request.body):
        reason = "Account exceeded its data usage quota. An upgrade to a paid plan is required."
        raise CouchError(402, "payment_required", reason)


def _only_deletes(path: str, body: bytes) -> bool:
    """A body that cannot be read deletes nothing."""
    if not path.endswith("/_bulk_docs"):
        return False
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    docs = content.get("docs") if isinstance(content, dict) else None
    return isinstance(docs, list) and all(
        isinstance(doc, dict) and doc.get("_deleted") is True for doc in docs
    )


def _stored(store: Store) -> int:
    """Bytes of the documents of all databases. What indexes take is not counted."""
    databases = (store.open(name) for name in store.databases())
    return sum(db.counts["external"] for db in databases if isinstance(db, Database))


def designs_written(method: str, path: str, body: bytes) -> dict[str, dict[str, Any]]:
    """The design documents that a request would write, by id. A body that cannot be read is refused later, by its handler."""
    parts = path.strip("/").split("/")
    name = "/".join(parts[1:])
    is_one = method == "PUT" and name.startswith("_design/") and len(parts) == 3
    is_any = method == "POST" and name in ("", "_bulk_docs") and b"_design/" in body
    if not (is_one or is_any):
        return {}
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    docs = content.get("docs") if name == "_bulk_docs" and isinstance(content, dict) else [content]
    found = (doc for doc in docs if isinstance(doc, dict)) if isinstance(docs, list) else ()
    named = ((name if is_one else doc.get("_id"), doc) for doc in found)
    return {docid: doc for docid, doc in named if isinstance(docid, str) and docid.startswith("_design/")}


def check_partition_indexes(designs: Iterable[dict[str, Any]]) -> None:
    """`designs`: all design documents of a partitioned database. Errors: 400."""
    found = sum(_partition_indexes(design) for design in designs)
    if found > MAX_PARTITION_INDEXES:
        raise bad_request(
            f"A database has at most {MAX_PARTITION_INDEXES} partition indexes; this would be number {found}."
        )


def _partition_indexes(design: dict[str, Any]) -> int:
    """The views of a design document are one index together, each search index is one."""
    if design.get("_deleted") or (design.get("options") or {}).get("partitioned") is False:
        return 0
    return bool(design.get("views")) + sum(map(len, _search_indexes(design)))


def _search_indexes(design: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for kind in ("indexes", "nouveau"):
        if isinstance(found := design.get(kind), dict):
            yield found
