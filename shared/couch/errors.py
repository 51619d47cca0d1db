"""What can go wrong, in one tree; nothing of the SDK leaks out.

Error                  `status` is the HTTP status that says the same, `code` is stable
├── BadRequest      400
├── Forbidden       403
├── NotFound        404  NoSuchDocument
├── Conflict        409  UpdateConflict
├── TooLarge        413
├── Invalid         422
├── Unavailable     503  DatabaseUnavailable, DatabaseFull, PartitionFull, SearchUnavailable, SearchOverloaded, NotPrepared, DatabaseDenied
│                        (`retry_after` seconds)
└── QueryRefused    500  an index is missing or does not fit; IndexRefused: the server does not build one
"""

from typing import Any, ClassVar


class Error(Exception):
    """Something a caller must know. `detail` says what to do; keyword extras are for programs."""

    status: ClassVar[int] = 500
    code: str = "internal_error"
    title: str = "Something went wrong here"

    def __init__(self, detail: str = "", **extra: Any) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.extra = extra


class BadRequest(Error):
    status, code, title = 400, "bad_request", "The request cannot be read"


class Forbidden(Error):
    status, code, title = 403, "forbidden", "Not allowed"


class NotFound(Error):
    status, code, title = 404, "not_found", "No such thing here"


class Conflict(Error):
    status, code, title = 409, "conflict", "Not possible in the present state"


class TooLarge(Error):
    status, code, title = 413, "too_large", "Too large"


class Invalid(Error):
    """`errors` maps a field's path to its messages: {"items.0.quantity": ["Must be at least 1."]}."""

    status, code, title = 422, "invalid", "Some fields are wrong"

    def __init__(self, detail: str = "", *, errors: dict[str, list[str]] | None = None, **extra: Any) -> None:
        super().__init__(detail, **extra)
        self.errors = errors or {}


class Unavailable(Error):
    status, code, title = 503, "unavailable", "Not available just now"

    def __init__(self, detail: str = "", *, retry_after: int = 1, **extra: Any) -> None:
        super().__init__(detail, **extra)
        self.retry_after = retry_after


class NoSuchDocument(NotFound):
    code, title = "no_such_document", "No such document"


class UpdateConflict(Conflict):
    """Another writer was first: read again, decide again."""

    code, title = "update_conflict", "This document was changed by another request first"


class QueryRefused(Error):
    """The database does not run this query: an index is missing or does not fit. A fault of ours, not of the caller."""

    code, title = "query_refused", "The database refused the query"


class IndexRefused(QueryRefused):
    """The server does not build an index: of what a document gives it, or of its declaration. Nothing that asks it is answered."""

    code, title = "index_refused", "The database refuses an index"


class DatabaseUnavailable(Unavailable):
    code, title = "database_unavailable", "The database does not answer"


class TooFewNodes(DatabaseUnavailable):
    """CouchDB's 202: fewer than a quorum of a cluster's nodes took a write. It is stored as `rev`, and another writer's may be, too."""

    def __init__(self, rev: str) -> None:
        super().__init__(
            "Too few database nodes took this change to know whether it holds; look again.", retry_after=2
        )
        self.rev = rev


class DatabaseFull(DatabaseUnavailable):
    """Cloudant's 402: the account has stored all that its plan sells, and may read and delete until it has a larger one. `str()` says so to an
    operator, `detail` nothing of it: callers read that."""

    code, title = "database_full", "The database takes nothing more"

    def __init__(self, reason: str = "") -> None:
        super().__init__("The shop's database takes nothing more just now.", retry_after=60)
        self.reason = reason or self.detail

    def __str__(self) -> str:
        return self.reason


class PartitionFull(DatabaseFull):
    """10 GB in one partition: nothing in it may grow until something of it is removed. What lies elsewhere is written as ever."""

    code, title = "partition_overflow", "This part of the database is full"


class SearchUnavailable(DatabaseUnavailable):
    """The database is configured to search with Nouveau, and that does not answer."""

    code, title = "search_unavailable", "The search engine (Nouveau) does not answer"


class SearchOverloaded(SearchUnavailable):
    """The database has no search engine, and more is searched for than its keyword views answer in time."""

    code, title = "search_overloaded", "Too many search at once"


class NotPrepared(Unavailable):
    """The database or an index that is asked is missing: `prepare` has not run here or not to its end, or it was removed."""

    code, title = "not_prepared", "The database is not prepared yet"


class DatabaseDenied(Unavailable):
    """The credentials are wrong or lack a right; a matter of settings. `str()` says to an operator what was refused, `detail` nothing of it:
    callers read that."""

    code, title = "database_denied", "The database refuses our credentials"

    def __init__(self, reason: str = "") -> None:
        super().__init__("The shop's database refuses its credentials.", retry_after=10)
        self.reason = reason or self.detail

    def __str__(self) -> str:
        return self.reason


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


NODE_DOWN = "nodedown"
"""What a cluster calls the end of a read of which a node went away; its status, 412, says something else."""

_STATUS_OF_ROWS = {
    "unauthorized": 401,
    "forbidden": 403,
    "document_too_large": 413,
    "internal_server_error": 500,
    "unknown_error": 500,
    "timeout": 500,
}
"""What each error of a row of a bulk would be answered with, had the document been written by itself."""


def from_row(docid: str, error: str, reason: str | None) -> Error:
    """The error for a document that a bulk write did not take, as a write of it alone raises it."""
    answer = {"error": error, "reason": reason}
    return from_answer(_STATUS_OF_ROWS.get(error, 400), answer, f"post_bulk_docs of {docid}")


def from_answer(status: int, body: Any, path: str) -> Error:
    """The error for a status and CouchDB's {"error", "reason"} body; `path` is the SDK's operation."""
    answer = body if isinstance(body, dict) else {}
    error, reason = str(answer.get("error", "")), str(answer.get("reason", ""))
    said = f"{reason or error or status} ({path})"
    if error == "partition_overflow":
        return PartitionFull(said)
    if error == NODE_DOWN:
        return DatabaseUnavailable(said)
    if status == 404 and (reason == "Database does not exist." or path in INDEX_QUERIES):
        return NotPrepared(said)
    by_status: dict[int, type[Error]] = {
        400: QueryRefused,
        401: DatabaseDenied,
        402: DatabaseFull,
        403: Forbidden,
        404: NoSuchDocument,
        409: UpdateConflict,
        412: Conflict,
        413: TooLarge,
        422: Invalid,
        429: DatabaseUnavailable,
    }
    return by_status.get(status, DatabaseUnavailable if status >= 500 else QueryRefused)(said)
