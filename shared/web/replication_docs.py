"""What OpenAPI says of an endpoint that speaks CouchDB's replication protocol (`shared.web.replication`): paths, CouchDB's shapes, and how it refuses."""

from collections.abc import Sequence
from typing import Any, Final

from apispec import APISpec

from shared.web.replication import SINCE_PATTERN

Part = dict[str, Any]

REVISION: Final = {"type": "string", "pattern": "^[1-9][0-9]{0,5}-[0-9a-f]{32}$"}
_ID: Final = {"type": "string", "minLength": 1, "maxLength": 200}
_OBJECT: Final = {"type": "object"}
_COUNT: Final = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
_FLAG: Final = {"type": "string", "enum": ["true", "false"]}
_DOCUMENT: Final = {
    "type": "object",
    "required": ["_id", "_rev"],
    "properties": {"_id": {"type": "string"}, "_rev": REVISION},
}
_WRITTEN: Final = {
    "type": "object",
    "required": ["ok", "id", "rev"],
    "properties": {"ok": {"const": True}, "id": {"type": "string"}, "rev": {"type": "string"}},
}
_REFUSAL: Final = {
    "type": "object",
    "required": ["error", "reason"],
    "properties": {
        "error": {"type": "string", "description": "as CouchDB calls it"},
        "reason": {"type": "string"},
        "code": {"type": "string", "description": "the code of the API's problems, where it says more"},
    },
    "example": {"error": "not_found", "reason": "missing"},
}
_ROWS: Final = {
    "type": "object",
    "required": ["total_rows", "offset", "rows"],
    "properties": {"total_rows": _COUNT, "offset": _COUNT, "rows": {"type": "array", "items": _OBJECT}},
}
_CHANGES: Final = {
    "type": "object",
    "required": ["results", "last_seq", "pending"],
    "properties": {
        "results": {"type": "array", "items": {**_OBJECT, "required": ["id", "seq", "changes"]}},
        "last_seq": {"type": "string"},
        "pending": _COUNT,
    },
    "example": {
        "results": [{"seq": "7-c1", "id": "profile", "changes": [{"rev": "2-" + "0" * 32}]}],
        "last_seq": "7-c1",
        "pending": 0,
    },
}


class DatabasePaths:
    """Adds the paths of one such database to a service's specification.

    `place`: its address, whose parameters are `parameters`; `name`: what its operations' ids end with; `private`: somebody must be logged in.
    """

    def __init__(
        self,
        spec: APISpec,
        place: str,
        name: str,
        tag: str,
        *,
        private: bool,
        parameters: Sequence[Part] = (),
    ) -> None:
        self._spec, self._place, self._name, self._tag = spec, place, name, tag
        self._private, self._parameters = private, list(parameters)

    def describe(self, *, writable: bool) -> None:
        acts = {"get": self._operation("showDatabase", "What CouchDB says of a database", _OBJECT)}
        if not writable:
            acts["post"] = self._refused("addDocument")
            self._add("/_bulk_docs", post=self._refused("pushDocuments"))
        self._add("", **acts)
        self._add_feed()
        self._add_reading()
        self._add_document(writable)
        if writable:
            self._add_writing()

    def _add_feed(self) -> None:
        asked = [
            _query(
                "since",
                {"type": "string", "pattern": f"^({SINCE_PATTERN})$"},
                "`last_seq` of an earlier answer, 0 or now",
            ),
            _query("limit", _COUNT, "so many changes at most"),
            _query(
                "style", {"type": "string", "enum": ["main_only", "all_docs"]}, "all_docs: of each branch"
            ),
            _query("include_docs", _FLAG, "with the documents"),
            _query("descending", _FLAG, "the newest first"),
            _query("feed", {"type": "string", "enum": ["normal", "longpoll"]}, "longpoll waits for a change"),
            _query("timeout", {**_COUNT, "minimum": 1}, "milliseconds that a longpoll waits at most"),
        ]
        said = "What changed since `since`; a longpoll waits for it without a thread"
        get = self._operation("listChanges", said, _CHANGES, asked)
        self._add("/_changes", get=get, post=self._operation("askForChanges", said, _CHANGES, asked))

    def _add_reading(self) -> None:
        wanted = {"type": "object", "required": ["id"], "properties": {"id": _ID, "rev": REVISION}}
        body = {"type": "object", "required": ["docs"], "properties": {"docs": _list(wanted)}}
        found = {"type": "object", "required": ["results"], "properties": {"results": _list(_OBJECT)}}
        revs = [
            _query("revs", _FLAG, "with the revisions before"),
            _query("latest", _FLAG, "the newest of a branch"),
        ]
        said = "Documents in the revisions asked for"
        self._add("/_bulk_get", post=self._operation("getDocuments", said, found, revs, body=body))
        asked = {"type": "object", "additionalProperties": _list(REVISION)}
        missing = {"type": "object", "additionalProperties": _OBJECT}
        said = "Which of these revisions are not here"
        self._add("/_revs_diff", post=self._operation("compareRevisions", said, missing, body=asked))
        done = {"type": "object", "required": ["ok"]}
        said = "What was written is written"
        self._add("/_ensure_full_commit", post=self._operation("commit", said, done, status="201"))
        pages = [
            _query("limit", _COUNT, "so many rows at most"),
            _query("skip", _COUNT, "without so many rows"),
            _query("include_docs", _FLAG, "with the documents"),
            _query("descending", _FLAG, "in the order of the ids backwards"),
        ]
        said = "The ids and revisions of what is there"
        keys = {"type": "object", "properties": {"keys": _list({"type": "string"})}}
        get = self._operation("listDocuments", said, _ROWS, pages)
        self._add("/_all_docs", get=get, post=self._operation("findDocuments", said, _ROWS, pages, body=keys))

    def _add_document(self, writable: bool) -> None:
        docid = _path("docid", {**_ID, "pattern": r"^[A-Za-z0-9][A-Za-z0-9-]*$"}, "the document's `_id`")
        asked = [
            _query("rev", REVISION, "this revision; without it the newest"),
            _query("revs", _FLAG, "with the revisions before"),
            _query("latest", _FLAG, "the newest of its branch"),
        ]
        get = self._operation("getDocument", "One document", _DOCUMENT, asked)
        rev = [_query("rev", REVISION, "the revision that is replaced")]
        acts = {"get": get}
        if writable:
            said = "Writes one document over the revision it names"
            acts["put"] = self._operation("putDocument", said, _WRITTEN, rev, body=_OBJECT, status="201")
            acts["delete"] = self._operation(
                "deleteDocument", "Deletes one document", _WRITTEN, rev, status="201"
            )
        else:
            acts |= {"put": self._refused("putDocument"), "delete": self._refused("deleteDocument")}
        self._add("/{docid}", docid, **acts)
        name = _path("name", {"type": "string", "pattern": r"^[A-Za-z0-9._=~-]{1,128}$"}, "of a checkpoint")
        acts = {"get": self._operation("getCheckpoint", "How far a device is, as it said", _OBJECT)}
        if writable:
            acts["put"] = self._operation(
                "putCheckpoint", "How far a device is", _WRITTEN, body=_OBJECT, status="201"
            )
            acts["delete"] = self._operation("deleteCheckpoint", "Forget how far a device is", _WRITTEN)
        else:
            acts |= {"put": self._refused("putCheckpoint"), "delete": self._refused("deleteCheckpoint")}
        self._add("/_local/{name}", name, **acts)

    def _add_writing(self) -> None:
        body = {
            "type": "object",
            "required": ["docs"],
            "properties": {"docs": _list(_OBJECT, 500), "new_edits": {"type": "boolean"}},
        }
        said = "Writes documents, each on its own: what is refused is a row with `error` and `reason`"
        self._add(
            "/_bulk_docs",
            post=self._operation("pushDocuments", said, _list(_OBJECT), body=body, status="201"),
        )
        self._add("/_session", get=self._operation("showDatabaseSession", "Who asks", _OBJECT))
        self._add(
            "/_security", get=self._operation("showDatabaseMembers", "Who may ask: one person", _OBJECT)
        )

    def _add(self, path: str, *parameters: Part, **operations: Part) -> None:
        self._spec.path(
            path=self._place + path, operations=operations, parameters=[*self._parameters, *parameters]
        )

    def _refused(self, name: str) -> Part:
        return self._operation(name, "Refused: this database is read only", None)

    def _operation(
        self,
        name: str,
        summary: str,
        answer: Part | None,
        parameters: Sequence[Part] = (),
        *,
        body: Part | None = None,
        status: str = "200",
    ) -> Part:
        refusals = ["400", "404", "409", "410", "413", "415", "429", "503"]
        refusals += ["401", "403"] if self._private else ["403"]
        operation: dict[str, Any] = {
            "operationId": name + self._name,
            "tags": [self._tag],
            "summary": summary,
            "description": f"{summary}, in CouchDB's shapes: PouchDB and CouchDB's replicator ask for it.",
            "parameters": list(parameters),
            "responses": {
                **(
                    {status: {"description": "As CouchDB answers", "content": _json(answer)}}
                    if answer
                    else {}
                ),
                **{
                    each: {"description": "As CouchDB refuses", "content": _json(_REFUSAL)}
                    for each in refusals
                },
            },
        }
        if body is not None:
            operation["requestBody"] = {"required": True, "content": _json(body)}
        if self._private:
            operation["security"] = [{"user": []}]
        return operation


def path_parameter(name: str, schema: Part, description: str) -> Part:
    return _path(name, schema, description)


def _path(name: str, schema: Part, description: str) -> Part:
    return {"in": "path", "name": name, "required": True, "schema": schema, "description": description}


def _query(name: str, schema: Part, description: str) -> Part:
    return {"in": "query", "name": name, "schema": schema, "description": description}


def _list(items: Part, most: int = 1000) -> Part:
    return {"type": "array", "items": items, "maxItems": most}


def _json(schema: Part) -> Part:
    return {"application/json": {"schema": schema}}
