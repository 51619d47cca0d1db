"""What the database answers, said in the shop's own tree of errors; nothing of the SDK leaks out."""

from typing import Any

from shared.errors import AisleError, Conflict, Forbidden, Invalid, NotFound, TooLarge, Unavailable


class NoSuchDocument(NotFound):
    code, title = "no_such_document", "No such document"


class UpdateConflict(Conflict):
    """Another writer was first: read again, decide again."""

    code, title = "update_conflict", "Somebody else changed this document first"


class PartitionFull(Conflict):
    """10 GB in one partition."""

    code, title = "partition_overflow", "This partition is full"


class QueryRefused(AisleError):
    """The database does not run this query: an index is missing or does not fit. A fault of ours, not of the caller."""

    code, title = "query_refused", "The database refused the query"


class DatabaseAway(Unavailable):
    code, title = "database_unavailable", "The database does not answer"


class NotPrepared(Unavailable):
    """The database or an index that is asked is missing: `prepare` has not run here or not to its end, or somebody removed it."""

    code, title = "not_prepared", "The database is not prepared yet"


class DatabaseDenied(AisleError):
    """The credentials are wrong or lack a right; a matter of settings."""

    code, title = "database_denied", "The database refuses our credentials"


INDEX_QUERIES = frozenset(
    {
        "post_view",
        "post_partition_view",
        "post_search",
        "post_partition_search",
        "nouveau",
        "post_find",
        "post_partition_find",
    }
)
"""The SDK's operations that ask an index. A 404 to one of them never means a document: the index is not there."""


def from_answer(status: int, body: Any, path: str) -> AisleError:
    """The error for a status and CouchDB's {"error", "reason"} body; `path` is the SDK's operation."""
    answer = body if isinstance(body, dict) else {}
    error, reason = str(answer.get("error", "")), str(answer.get("reason", ""))
    said = f"{reason or error or status} ({path})"
    if error == "partition_overflow":
        return PartitionFull(said)
    if status == 404 and (reason == "Database does not exist." or path in INDEX_QUERIES):
        return NotPrepared(said)
    by_status: dict[int, type[AisleError]] = {
        400: QueryRefused, 401: DatabaseDenied, 403: Forbidden, 404: NoSuchDocument, 409: UpdateConflict,
        412: Conflict, 413: TooLarge, 422: Invalid, 429: DatabaseAway,
    }  # fmt: skip
    return by_status.get(status, DatabaseAway if status >= 500 else QueryRefused)(said)
