"""What must agree before an edit is stored: admin rights and rules for design documents, validate_doc_update, users."""

from typing import Any

import orjson

from ..documents import auth
from ..documents.batch import Result
from ..documents.database import Database
from ..documents.edits import Edit
from ..encoding.client_json import dumps
from ..errors import CouchError, conflict, forbidden, unauthorized
from ..http.messages import Request
from ..runtime.config import Config
from ..runtime.plugins import load
from ..runtime.threads import run_in_thread
from ..store.rows import StoredDoc, stub
from . import users

Functions = list[tuple[str, str, dict[str, Any]]]


class Validator:
    """Checks the edits of one request on behalf of its user."""

    def __init__(self, user: auth.UserCtx, config: Config) -> None:
        self._user = user
        self._config = config

    async def check(self, database: Database, edits: list[Edit], replicated: bool) -> list[Result]:
        """For each edit None, or the CouchError that refuses it."""
        functions = validation_functions(database)
        full = set() if replicated else self._full_partitions(database, edits)
        if (
            not functions
            and not full
            and database.name != "_replicator"
            and not self._users(database)
            and not any(e.id.startswith("_design/") for e in edits)
        ):
            return [None] * len(edits)
        return [
            overflow(edit.id)
            if database.partition_of(edit.id) in full and grows(database, edit)
            else await self._refusal(database, edit, functions, replicated)
            for edit in edits
        ]

    def _full_partitions(self, database: Database, edits: list[Edit]) -> set[str | None]:
        """Those of the edits' partitions that hold as much as one may."""
        limit = int(self._config.get("couchdb", "max_partition_size") or 0)
        if not database.partitioned or limit <= 0 or database.counts["external"] < limit:
            return set()
        names = {database.partition_of(edit.id) for edit in edits} - {None}
        return {name for name in names if database.partition_info(name)[2] >= limit}

    def _users(self, database: Database) -> bool:
        return users.is_users_database(database.name, self._config)

    async def _refusal(
        self, database: Database, edit: Edit, functions: Functions, replicated: bool
    ) -> CouchError | None:
        try:
            if edit.id.startswith("_design/"):
                await self._design(database, edit)
                return None
            if not replicated and database.would_conflict(edit):
                return conflict()
            old = previous(database, edit, replicated)
            if self._users(database):
                await users.prepare(edit, self._user, database, self._config)
                if users.has_rules(database):
                    users.check(edit, old.dict() if old is not None else None, self._user, database.security)
            if database.name == "_replicator":
                check_replication(edit, self._user)
            if functions:
                await run_in_thread(self._validate, database, edit, old, functions)
        except CouchError as error:
            return error
        return None

    async def _design(self, database: Database, edit: Edit) -> None:
        if not auth.is_database_admin(self._user, database.security):
            refuse = unauthorized if self._user.name is None else forbidden
            raise refuse("You are not a db or server admin.")
        if not edit.deleted:
            await run_in_thread(load("views").validate_design, edit.body, database)

    def _validate(
        self, database: Database, edit: Edit, old: "StoredDoc | None", functions: Functions
    ) -> None:
        load("javascript").validate(
            functions,
            _new_json(edit),
            _old_json(database, old) if old is not None else None,
            self._user.for_database(database.name),
            database.security,
        )


def grows(database: Database, edit: Edit) -> bool:
    """Whether a document takes more room than before."""
    old = database.get(edit.id)
    return not edit.deleted and len(edit.encoded) > (len(old.body) if old is not None else 0)


def overflow(docid: str) -> CouchError:
    return CouchError(403, "partition_overflow", f"Partition limit exceeded due to update on '{docid}'")


def previous(database: Database, edit: Edit, replicated: bool) -> "StoredDoc | None":
    """The stored revision that an edit follows."""
    ancestors = edit.path[1:] if replicated else edit.path[:1]
    for rev in ancestors:
        found = database.get_rev(edit.id, rev)
        if found is not None and found.rev == rev:
            return found
    return None


def _new_json(edit: Edit) -> bytes:
    head: dict[str, Any] = {"_id": edit.id}
    if edit.path:
        head["_rev"] = edit.path[0]
    tail: dict[str, Any] = {"_deleted": True} if edit.deleted else {}
    if edit.path:
        tail["_revisions"] = _revisions(edit.path)
    if edit.attachments:
        tail["_attachments"] = {name: _stub(entry) for name, entry in edit.attachments.items()}
    return orjson.dumps(head | edit.body | tail)


def _stub(entry: dict[str, Any]) -> dict[str, Any]:
    """An attachment as a validation function sees it: kept ones whole, new ones without a digest yet."""
    if "record" in entry:
        return stub(entry["record"])
    if "data" not in entry:
        return entry
    return {
        "content_type": entry.get("content_type", "application/octet-stream"),
        "revpos": entry.get("revpos", 0),
        "length": len(entry["data"]),
        "stub": True,
    }


def _old_json(database: Database, old: StoredDoc) -> bytes:
    whole = database.get(old.id)
    path = database.tree(whole).path(old.rev) if whole is not None else [old.rev]
    return old.json(b'"_revisions":' + orjson.dumps(_revisions(path)))


def _revisions(path: list[str]) -> dict[str, Any]:
    start, _, _ = path[0].partition("-")
    return {"start": int(start), "ids": [rev.partition("-")[2] for rev in path]}


def check_replication(edit: Edit, user: auth.UserCtx) -> None:
    """A document of `_replicator` names whole URLs and its owner. Errors: 403."""
    if edit.deleted:
        return
    for end in ("source", "target"):
        given = edit.body.get(end)
        url = given.get("url") if isinstance(given, dict) else given
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise forbidden("local_endpoints_not_supported")
    if "owner" not in edit.body:
        edit.body["owner"] = user.name
        edit.encoded = dumps(edit.body)


def validation_functions(database: Database) -> Functions:
    """(design document id, source, design document) of every validate_doc_update, cached until one changes."""
    key = ("validation", database.design_generation)
    if key not in database.handles:
        for old in [old for old in database.handles if isinstance(old, tuple) and old[0] == "validation"]:
            del database.handles[old]
        designs = [doc.dict() for doc in database.design_docs()]
        database.handles[key] = [
            (doc["_id"], doc["validate_doc_update"], doc)
            for doc in designs
            if isinstance(doc.get("validate_doc_update"), str) and doc["_id"] != "_design/_auth"
        ]
    return database.handles[key]


def validator_for(request: Request) -> Validator:
    return Validator(request.user, request.server.config)
