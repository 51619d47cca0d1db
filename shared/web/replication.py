"""What endpoints share that speak CouchDB's replication protocol (docs/decisions/12-sync.md): their refusals, and what requests say.

Answers have CouchDB's shapes, also those that refuse: {"error": "forbidden", "reason": "..."}. Besides, a refusal has the `code` that the
rest of the API has in its problems, so that a page knows a session that has ended from a token to be refreshed.
"""

import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, Final

import flask
import orjson
from flask import Response, request
from redis.exceptions import RedisError
from werkzeug.exceptions import HTTPException
from werkzeug.routing import BaseConverter

from shared.errors import AisleError, BadRequest, TooLarge
from shared.web.answers import json_answer

MAX_ASKED: Final = 1000
SINCE_PATTERN: Final = "[0-9]{1,15}(-[0-9a-f]{1,32})?|now"
STYLES: Final = ("main_only", "all_docs")
_REVISION: Final = re.compile("[1-9][0-9]{0,8}-[0-9a-zA-Z]{1,64}")
FEEDS: Final = ("normal", "longpoll")
_ERRORS: Final = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    410: "gone",
    413: "too_large",
    415: "bad_content_type",
    422: "bad_request",
    429: "too_many_requests",
    503: "service_unavailable",
}


class BadContentType(BadRequest):
    status, code, title = 415, "bad_content_type", "Content-Type must be application/json"


class DocumentId(BaseConverter):
    """`<document:docid>` in a route: any id but those of what is no document (`_changes`, `_local/...`)."""

    regex = "(?!_)[^/]+"


# Refusals.


def refuse_as_couchdb(blueprint: flask.Blueprint) -> None:
    """Has what a blueprint's handlers raise answered in CouchDB's shape; its routes may have `<document:docid>`. Call it before they are made."""
    blueprint.record(lambda state: state.app.url_map.converters.update(document=DocumentId))
    blueprint.register_error_handler(AisleError, refused)
    blueprint.register_error_handler(ValueError, lambda error: refusal(400, str(error)))
    blueprint.register_error_handler(HTTPException, _refuse_request)
    blueprint.register_error_handler(RedisError, _refuse_without_redis)


def refusal(status: int, reason: str, headers: Mapping[str, str] | None = None, code: str = "") -> Response:
    error = _ERRORS.get(status, "bad_request" if status < 500 else "internal_server_error")
    body = {"error": error, "reason": reason} | ({"code": code} if code and code != error else {})
    return json_answer(body, status, headers=dict(headers or {}))


def refused(error: AisleError) -> Response:
    retry_after = getattr(error, "retry_after", None)
    headers = {"Retry-After": str(max(1, int(retry_after)))} if retry_after is not None else {}
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return refusal(400 if error.status == 422 else error.status, error.detail, headers, error.code)


def _refuse_request(error: HTTPException) -> Response:
    return refusal(error.code or 500, error.description or error.name)


def _refuse_without_redis(error: RedisError) -> Response:
    return refusal(503, "Redis does not answer; try again shortly.", {"Retry-After": "1"})


# What a request says.


def body_object() -> dict[str, Any]:
    """The JSON object of the body. Raises BadRequest, BadContentType."""
    if not request.is_json:
        raise BadContentType("Content-Type must be application/json")
    try:
        body = orjson.loads(request.get_data())
    except orjson.JSONDecodeError:
        raise BadRequest("invalid UTF-8 JSON") from None
    if not isinstance(body, dict):
        raise BadRequest("Request body must be a JSON object")
    return body


def members(body: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of a list, MAX_ASKED at most. Raises BadRequest, TooLarge."""
    listed = body.get(name)
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise BadRequest(f"POST body must include `{name}` parameter.")
    if len(listed) > MAX_ASKED:
        raise TooLarge(f"Send {MAX_ASKED} documents at most.")
    return listed


def text(member: dict[str, Any], name: str) -> str:
    value = member.get(name)
    if not isinstance(value, str):
        raise BadRequest(f"`{name}` must be a string.")
    return value


def asked_revisions(body: dict[str, Any]) -> dict[str, Any]:
    """The body of _revs_diff: {id: [revision, ...]}. Raises BadRequest, TooLarge."""
    if len(body) > MAX_ASKED:
        raise TooLarge(f"Ask for {MAX_ASKED} documents at most.")
    for revs in body.values():
        if not isinstance(revs, list) or len(revs) > MAX_ASKED:
            raise BadRequest("Send {id: [revision, ...], ...}.")
        for rev in revs:
            check_revision(rev)
    return body


def check_revision(rev: Any) -> None:
    """Raises BadRequest."""
    if not isinstance(rev, str) or not _REVISION.fullmatch(rev):
        raise BadRequest("Invalid rev format: a revision is NUMBER-HEX.")


def asked_documents() -> list[dict[str, Any]]:
    """The body of _bulk_get: [{id, rev}, ...], a document without `rev` in its newest one. Raises BadRequest, TooLarge."""
    asked = members(body_object(), "docs")
    for each in asked:
        text(each, "id")
        if each.get("rev") is not None:
            check_revision(each["rev"])
    return asked


def asked_revision() -> str | None:
    """The revision of one document that is asked for. Raises BadRequest."""
    rev = request.args.get("rev")
    if rev is not None:
        check_revision(rev)
    return rev


def asked_keys() -> list[Any] | None:
    """The keys that _all_docs is asked for; None for all. Raises BadRequest."""
    if request.method == "POST":
        body = body_object()
        if "keys" not in body:
            return None
        keys = body["keys"]
    elif (keys := json_argument("keys")) is None:
        return None
    if not isinstance(keys, list) or len(keys) > MAX_ASKED:
        raise BadRequest(f"`keys` is a list of {MAX_ASKED} ids at most.")
    return keys


def asked_feed() -> str:
    """Raises BadRequest for a feed or a filter that is not there."""
    if request.args.get("filter") or request.args.get("view"):
        raise BadRequest("Filters are not taken: this database holds nothing else.")
    feed = request.args.get("feed", FEEDS[0])
    if feed not in FEEDS:
        raise BadRequest("The feed is normal or longpoll.")
    if request.args.get("style", STYLES[0]) not in STYLES:
        raise BadRequest("The style is main_only or all_docs.")
    return feed


def asked_since() -> str:
    return request.args.get("since", "0").strip('"')


def wait_seconds(most: float) -> float:
    """How long a longpoll waits: `timeout` milliseconds, `most` seconds at most."""
    return min((number("timeout") or most * 1000) / 1000, most)


def flag(name: str) -> bool:
    """Raises BadRequest."""
    given = request.args.get(name, "false")
    if given not in ("true", "false"):
        raise BadRequest(f"Invalid value for {name}: true or false.")
    return given == "true"


def number(name: str) -> int | None:
    given = request.args.get(name)
    if given is None:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", given):
        raise BadRequest(f"Invalid value for {name}: a whole number that is not negative.")
    return int(given)


def json_argument(*names: str) -> Any:
    for name in names:
        if (given := request.args.get(name)) is not None:
            return _parsed(name, given)
    return None


def selected(there: list[str]) -> list[str]:
    """The ids between `startkey` and `endkey`, or the one `key`."""
    key = json_argument("key")
    descending = flag("descending")
    start, end = json_argument("startkey", "start_key"), json_argument("endkey", "end_key")
    low, high = (end, start) if descending else (start, end)
    found = [
        docid
        for docid in there
        if (key is None or docid == key)
        and (not isinstance(low, str) or docid >= low)
        and (not isinstance(high, str) or docid <= high)
    ]
    if request.args.get("inclusive_end") == "false" and isinstance(end, str):
        found = [docid for docid in found if docid != end]
    return found[::-1] if descending else found


def _parsed(name: str, given: str) -> Any:
    try:
        return orjson.loads(given)
    except orjson.JSONDecodeError:
        raise BadRequest(f"Invalid value for {name}: no JSON.") from None


# What is answered.


def listed(docid: Any, doc: Mapping[str, Any] | None) -> dict[str, Any]:
    """A row of `_all_docs` for an id that was asked for; None: there is no such document."""
    if doc is None:
        return {"key": docid, "error": "not_found"}
    if doc.get("_deleted"):
        return {"id": docid, "key": docid, "value": {"rev": doc["_rev"], "deleted": True}, "doc": None}
    included = {"doc": doc} if flag("include_docs") else {}
    return {"id": docid, "key": docid, "value": {"rev": doc["_rev"]}, **included}


def found(docid: str, rev: Any, doc: Mapping[str, Any] | None) -> dict[str, Any]:
    """What `_bulk_get` answers of a revision; None: it is not there."""
    if doc is None:
        return {"error": {"id": docid, "rev": rev or "undefined", "error": "not_found", "reason": "missing"}}
    return {"ok": doc}


def open_revisions() -> list[str] | None:
    """The revisions that `open_revs` names; None for all. Raises BadRequest."""
    if request.args.get("open_revs") == "all":
        return None
    wanted = json_argument("open_revs")
    if not isinstance(wanted, list) or len(wanted) > MAX_ASKED:
        raise BadRequest("`open_revs` is all or a list of revisions.")
    for rev in wanted:
        check_revision(rev)
    return wanted


def revisions_answer(rows: Iterable[Mapping[str, Any]], headers: Mapping[str, str] | None = None) -> Response:
    """The rows {"ok": document} or {"missing": revision} of `open_revs`: as JSON, or as CouchDB's own replicator wants it a part each."""
    rows = list(rows)
    if request.accept_mimetypes.best_match(["application/json", "multipart/mixed"]) != "multipart/mixed":
        return json_answer(rows, headers=dict(headers or {}))
    boundary = secrets.token_hex(16)
    parts = [_part(boundary, row) for row in rows]
    return Response(
        b"".join([*parts, b"--%s--" % boundary.encode()]),
        content_type=f'multipart/mixed; boundary="{boundary}"',
        headers=dict(headers or {}),
    )


def _part(boundary: str, row: Mapping[str, Any]) -> bytes:
    kind = "application/json" if "ok" in row else 'application/json; error="true"'
    body = orjson.dumps(row.get("ok", row))
    return b"--%s\r\nContent-Type: %s\r\n\r\n%s\r\n" % (boundary.encode(), kind.encode(), body)
