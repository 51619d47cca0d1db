"""CouchDB's replication protocol over what one customer may see (docs/decisions/12-sync.md): PouchDB syncs with it unchanged.

Answers have CouchDB's shapes, also those that refuse: {"error": "forbidden", "reason": "..."}.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import orjson
from flask import Blueprint, Response, request
from redis.exceptions import RedisError
from werkzeug.exceptions import HTTPException

from services.users.actions import sync as act
from services.users.actions import sync_points, sync_writes
from services.users.actions.sync_documents import ORDER_PREFIX
from services.users.documents import user_partition
from services.users.resources.context import dependencies
from shared.errors import AisleError, BadRequest, Forbidden, TooLarge, Unavailable
from shared.web import current_user, json_answer, require_user
from shared.web.auth import sessions

sync = Blueprint("sync", __name__, url_prefix="/v1/users/me/sync")

MAX_ASKED: Final = 1000
_POINT_NAME = re.compile(r"[A-Za-z0-9._=~-]{1,128}")
_ERRORS: Final = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_large",
    415: "bad_content_type",
    422: "bad_request",
    429: "too_many_requests",
    503: "service_unavailable",
}


class BadContentType(BadRequest):
    status, code, title = 415, "bad_content_type", "Content-Type must be application/json"


# Refusals.


def _refusal(status: int, reason: str, headers: Mapping[str, str] | None = None) -> Response:
    error = _ERRORS.get(status, "bad_request" if status < 500 else "internal_server_error")
    return json_answer({"error": error, "reason": reason}, status, headers=dict(headers or {}))


@sync.errorhandler(AisleError)
def refuse(error: AisleError) -> Response:
    retry_after = getattr(error, "retry_after", None)
    headers = {"Retry-After": str(max(1, int(retry_after)))} if retry_after is not None else {}
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return _refusal(400 if error.status == 422 else error.status, error.detail, headers)


@sync.errorhandler(ValueError)
def refuse_value(error: ValueError) -> Response:
    return _refusal(400, str(error))


@sync.errorhandler(HTTPException)
def refuse_request(error: HTTPException) -> Response:
    return _refusal(error.code or 500, error.description or error.name)


@sync.errorhandler(RedisError)
def refuse_without_redis(error: RedisError) -> Response:
    return _refusal(503, "Redis does not answer; try again shortly.", {"Retry-After": "1"})


# The database.


@sync.get("")
@sync.get("/")
@require_user
def information() -> Response:
    """What CouchDB says of a database: 1 read"""
    return json_answer(act.information(dependencies(), current_user().userid))


@sync.get("/_session")
@require_user
def session() -> Response:
    user = current_user()
    context = {"name": user.userid, "roles": list(user.roles)}
    return json_answer({"ok": True, "userCtx": context, "info": {"authentication_handlers": ["jwt"]}})


@sync.get("/_security")
@require_user
def security() -> Response:
    """Nobody else is ever a member."""
    members = {"names": [current_user().userid], "roles": []}
    return json_answer({"admins": {"names": [], "roles": []}, "members": members})


@sync.post("/_ensure_full_commit")
@require_user
def ensure_full_commit() -> Response:
    return json_answer({"ok": True, "instance_start_time": "0"}, 201)


@sync.route("/_changes", methods=["GET", "POST"])
@require_user
def changes() -> Response:
    """What changed since `since`; a longpoll waits for it without a thread. 1 partition query, 1 global query at orders, 1 write where there is something new"""
    if request.args.get("filter") or request.args.get("view"):
        raise BadRequest("Filters are not taken: there is nothing in this database but your own data.")
    feed = request.args.get("feed", "normal")
    if feed not in ("normal", "longpoll"):
        raise BadRequest("The feed is normal or longpoll.")
    query = act.ChangesQuery(
        since=request.args.get("since", "0").strip('"'),
        limit=_number("limit"),
        all_leaves=request.args.get("style") == "all_docs",
        include_docs=_flag("include_docs"),
        descending=_flag("descending"),
    )
    deps, userid = dependencies(), current_user().userid
    partition = user_partition(userid)
    mark = deps.waiting.mark(partition) if feed == "longpoll" else None
    snapshot = act.read_told(deps, userid, act.own_orders(deps, _token()))
    told = act.changes(snapshot, query)
    if feed == "longpoll" and not told["results"]:
        asked = (_number("timeout") or deps.settings.sync_wait_seconds * 1000) / 1000
        seconds = min(asked, deps.settings.sync_wait_seconds)
        if not deps.waiting.park(request.environ, partition, mark, seconds) and deps.waiting.is_full():
            raise Unavailable("Too many devices wait for changes just now.", retry_after=10)
    return json_answer(told)


@sync.post("/_bulk_get")
@require_user
def bulk_get() -> Response:
    """Documents in the revisions asked for: 1 partition query, 1 global query at orders if there are orders among them"""
    asked = _members(_body(), "docs")
    ids = [_text(each, "id") for each in asked]
    snapshot = _snapshot(orders=any(docid.startswith(ORDER_PREFIX) for docid in ids))
    revs, latest = _flag("revs"), _flag("latest")
    results = [
        {"id": docid, "docs": [_found(snapshot, docid, each.get("rev"), revs, latest)]}
        for docid, each in zip(ids, asked, strict=True)
    ]
    return json_answer({"results": results})


@sync.post("/_revs_diff")
@require_user
def revs_diff() -> Response:
    """Which revisions the server lacks: 1 partition query"""
    asked = _body()
    if len(asked) > MAX_ASKED:
        raise TooLarge(f"Ask for {MAX_ASKED} documents at most.")
    for revs in asked.values():
        if not isinstance(revs, list) or len(revs) > MAX_ASKED:
            raise BadRequest("Send {id: [revision, ...], ...}.")
    return json_answer(act.missing_revisions(_snapshot(), asked))


@sync.post("/_bulk_docs")
@require_user
def bulk_docs() -> Response:
    """Writes documents, each on its own: what is refused is named with its reason, the rest is written"""
    body = _body()
    new_edits = body.get("new_edits", True)
    if not isinstance(new_edits, bool):
        raise BadRequest("`new_edits` is true or false.")
    rows = _push(_members(body, "docs"), new_edits)
    listed = [row.as_json() for row in rows if new_edits or row.error]
    return json_answer(listed, 201)


@sync.route("/_all_docs", methods=["GET", "POST"])
@require_user
def all_docs() -> Response:
    """The ids and revisions of what is there, in id order: 1 partition query"""
    keys = _body().get("keys") if request.method == "POST" else _json_argument("keys")
    if keys is not None and (not isinstance(keys, list) or len(keys) > MAX_ASKED):
        raise BadRequest(f"`keys` is a list of {MAX_ASKED} ids at most.")
    snapshot = _snapshot(orders=True)
    there = sorted(docid for docid, entry in snapshot.told.entries.items() if not entry.get("deleted"))
    rows = [_row(snapshot, docid) for docid in (_selected(there) if keys is None else keys)]
    skip = _number("skip") or 0
    page = rows[skip:][: _number("limit")]
    return json_answer({"total_rows": len(there), "offset": skip, "rows": page})


# Documents.


@sync.get("/_local/<string:name>")
@require_user
def get_point(name: str) -> Response:
    return json_answer(sync_points.get_point(dependencies(), current_user().userid, _checked_point(name)))


@sync.put("/_local/<string:name>")
@require_user
def put_point(name: str) -> Response:
    body = _body()
    rev = sync_points.put_point(dependencies(), current_user().userid, _checked_point(name), body)
    return json_answer({"ok": True, "id": f"_local/{name}", "rev": rev}, 201)


@sync.delete("/_local/<string:name>")
@require_user
def delete_point(name: str) -> Response:
    sync_points.delete_point(dependencies(), current_user().userid, _checked_point(name))
    return json_answer({"ok": True, "id": f"_local/{name}", "rev": "0-0"})


@sync.get("/<string:docid>")
@require_user
def get_document(docid: str) -> Response:
    """One document, one revision of it (`rev`), or those of its branches (`open_revs`): 1 partition query"""
    snapshot = _snapshot(orders=docid.startswith(ORDER_PREFIX))
    revs, latest = _flag("revs"), _flag("latest")
    asked = request.args.get("open_revs")
    if asked == "all":
        return json_answer([{"ok": doc} for doc in act.leaves(snapshot, docid, revs=revs)])
    if asked is not None:
        wanted = _json_argument("open_revs")
        if not isinstance(wanted, list) or len(wanted) > MAX_ASKED:
            raise BadRequest("`open_revs` is all or a list of revisions.")
        found = [(rev, act.revision_of(snapshot, docid, rev, revs=revs, latest=latest)) for rev in wanted]
        return json_answer([{"ok": doc} if doc else {"missing": rev} for rev, doc in found])
    rev = request.args.get("rev")
    doc = (
        act.revision_of(snapshot, docid, rev, revs=revs, latest=latest)
        if rev
        else act.newest(snapshot, docid, revs=revs)
    )
    if doc is None or (doc.get("_deleted") and not rev):
        raise act.MissingDocument("deleted" if doc else "missing")
    return json_answer(doc, etag=f'"{doc["_rev"]}"')


@sync.put("/<string:docid>")
@require_user
def put_document(docid: str) -> Response:
    """Writes one document over the revision it names"""
    doc = _body()
    if doc.get("_id", docid) != docid:
        raise BadRequest("Document ID must match the address.")
    rev = request.args.get("rev") or doc.get("_rev")
    return _written({**doc, "_id": docid} | ({"_rev": rev} if rev else {}))


@sync.delete("/<string:docid>")
@require_user
def delete_document(docid: str) -> Response:
    """Deletes one document in the revision it names"""
    rev = request.args.get("rev") or request.headers.get("If-Match", "").strip('"')
    return _written({"_id": docid, "_deleted": True} | ({"_rev": rev} if rev else {}))


@sync.route("/<string:docid>/<path:name>", methods=["GET", "PUT", "POST", "DELETE"])
@require_user
def attachment(docid: str, name: str) -> Response:
    """There are none."""
    if request.method == "GET":
        raise act.MissingDocument("Document is missing attachment")
    raise Forbidden("No attachments are kept here.")


def _written(doc: dict[str, Any]) -> Response:
    [row] = _push([doc], request.args.get("new_edits") != "false")
    if row.error:
        return _refusal(409 if row.error == "conflict" else 403, row.reason)
    return json_answer(row.as_json(), 201)


def _push(docs: list[dict[str, Any]], new_edits: bool) -> list[sync_writes.Row]:
    if len(docs) > sync_writes.MAX_PUSHED:
        raise TooLarge(f"Send {sync_writes.MAX_PUSHED} documents at most.")
    sessions().confirm(current_user())
    return sync_writes.push(dependencies(), current_user().userid, docs, new_edits=new_edits)


def _found(snapshot: act.Snapshot, docid: str, rev: Any, revs: bool, latest: bool) -> dict[str, Any]:
    doc = (
        act.newest(snapshot, docid, revs=revs)
        if rev is None
        else act.revision_of(snapshot, docid, rev, revs=revs, latest=latest)
    )
    if doc is None:
        return {"error": {"id": docid, "rev": rev or "undefined", "error": "not_found", "reason": "missing"}}
    return {"ok": doc}


def _row(snapshot: act.Snapshot, docid: Any) -> dict[str, Any]:
    doc = act.newest(snapshot, docid) if isinstance(docid, str) else None
    if doc is None:
        return {"key": docid, "error": "not_found"}
    if doc.get("_deleted"):
        return {"id": docid, "key": docid, "value": {"rev": doc["_rev"], "deleted": True}, "doc": None}
    included = {"doc": doc} if _flag("include_docs") else {}
    return {"id": docid, "key": docid, "value": {"rev": doc["_rev"]}, **included}


def _selected(there: list[str]) -> list[str]:
    """Between `startkey` and `endkey`, or the one `key`."""
    key = _json_argument("key")
    descending = _flag("descending")
    start, end = _json_argument("startkey", "start_key"), _json_argument("endkey", "end_key")
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


def _snapshot(*, orders: bool = False) -> act.Snapshot:
    deps = dependencies()
    return act.read_told(deps, current_user().userid, act.own_orders(deps, _token()) if orders else None)


# What a request says.


def _token() -> str:
    return request.headers.get("Authorization", "").partition(" ")[2].strip()


def _body() -> dict[str, Any]:
    if not request.is_json:
        raise BadContentType("Content-Type must be application/json")
    try:
        body = orjson.loads(request.get_data())
    except orjson.JSONDecodeError:
        raise BadRequest("invalid UTF-8 JSON") from None
    if not isinstance(body, dict):
        raise BadRequest("Request body must be a JSON object")
    return body


def _members(body: dict[str, Any], name: str) -> list[dict[str, Any]]:
    listed = body.get(name)
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise BadRequest(f"POST body must include `{name}` parameter.")
    if len(listed) > MAX_ASKED:
        raise TooLarge(f"Send {MAX_ASKED} documents at most.")
    return listed


def _text(member: dict[str, Any], name: str) -> str:
    value = member.get(name)
    if not isinstance(value, str):
        raise BadRequest(f"`{name}` must be a string.")
    return value


def _checked_point(name: str) -> str:
    if not _POINT_NAME.fullmatch(name):
        raise BadRequest("The name of a _local document is 1 to 128 letters, digits and . _ = ~ -")
    return name


def _flag(name: str) -> bool:
    return request.args.get(name) == "true"


def _number(name: str) -> int | None:
    text = request.args.get(name)
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise BadRequest(f"Invalid value for {name}: a whole number that is not negative.")
    return int(text)


def _json_argument(*names: str) -> Any:
    for name in names:
        if (text := request.args.get(name)) is not None:
            return _parsed(name, text)
    return None


def _parsed(name: str, text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise BadRequest(f"Invalid value for {name}: no JSON.") from None
