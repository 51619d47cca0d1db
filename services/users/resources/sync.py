"""CouchDB's replication protocol over what one customer may see (docs/decisions/12-sync.md): PouchDB syncs with it unchanged.

Answers have CouchDB's shapes, also those that refuse: {"error": "forbidden", "reason": "..."}.
"""

import re
from typing import Any

from flask import Blueprint, Response, current_app, request

from services.users.actions import sync as act
from services.users.actions import sync_points, sync_writes
from services.users.actions.sessions import check_not_erased
from services.users.actions.sync_documents import ORDER_PREFIX
from services.users.resources.context import dependencies
from services.users.rules.errors import AccountErased
from shared.errors import BadRequest, Forbidden, TooLarge, Unavailable
from shared.replication import MissingDocument
from shared.sessions import SessionEnded
from shared.waiting import device_mark
from shared.web import current_user, json_answer, require_user
from shared.web import replication as wire
from shared.web.api import Api
from shared.web.auth import sessions
from shared.web.replication_docs import DatabasePaths

sync = Blueprint("sync", __name__, url_prefix="/v1/users/me/sync")

_POINT_NAME = re.compile(r"[A-Za-z0-9._=~-]{1,128}")
wire.refuse_as_couchdb(sync)


@sync.errorhandler(SessionEnded)
def refuse_ended_session(error: SessionEnded) -> Response:
    """Of an account that was erased the device is told so, that it may forget: 1 read"""
    token_user = current_app.extensions["aisle.tokens"].verify(_token())
    try:
        check_not_erased(dependencies().store.user(token_user.userid))
    except AccountErased as erased:
        return wire.refused(erased)
    return wire.refused(error)


def describe(api: Api) -> None:
    """In the service's OpenAPI."""
    tag = {"name": "sync", "description": "CouchDB's replication protocol over what one person may see"}
    api.spec.tag(tag)
    DatabasePaths(api.spec, "/v1/users/me/sync", "OfMine", tag["name"], private=True).describe(writable=True)


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
    feed = wire.asked_feed()
    query = act.ChangesQuery(
        since=wire.asked_since(),
        limit=wire.number("limit"),
        all_leaves=request.args.get("style") == "all_docs",
        include_docs=wire.flag("include_docs"),
        descending=wire.flag("descending"),
    )
    deps, user = dependencies(), current_user()
    waited_for = device_mark(user.userid)
    mark = deps.waiting.mark(waited_for) if feed == "longpoll" else None
    snapshot = act.read_told(deps, user, act.own_orders(deps, _token()))
    told = act.changes(snapshot, query)
    if feed == "longpoll" and not told["results"]:
        seconds = wire.wait_seconds(deps.settings.sync_wait_seconds)
        if not deps.waiting.park(request.environ, waited_for, mark, seconds) and deps.waiting.is_full():
            raise Unavailable("Too many devices wait for changes just now.", retry_after=10)
    return json_answer(told)


@sync.post("/_bulk_get")
@require_user
def bulk_get() -> Response:
    """Documents in the revisions asked for: 1 partition query, 1 global query at orders if there are orders among them. On a cluster 1 read if one is missing"""
    asked = wire.asked_documents()
    ids = [each["id"] for each in asked]
    snapshot = _snapshot(orders=any(docid.startswith(ORDER_PREFIX) for docid in ids))
    revs, latest = wire.flag("revs"), wire.flag("latest")
    results = [
        {"id": docid, "docs": [_found(snapshot, docid, each.get("rev"), revs, latest)]}
        for docid, each in zip(ids, asked, strict=True)
    ]
    if any("error" in row for result in results for row in result["docs"]):
        act.check_told(dependencies(), snapshot)
    return json_answer({"results": results})


@sync.post("/_revs_diff")
@require_user
def revs_diff() -> Response:
    """Which revisions the server lacks: 1 partition query"""
    asked = wire.asked_revisions(wire.body_object())
    return json_answer(act.missing_revisions(_snapshot(), asked))


@sync.post("/_bulk_docs")
@require_user
def bulk_docs() -> Response:
    """Writes documents, each on its own: what is refused is named with its reason, the rest is written"""
    body = wire.body_object()
    new_edits = body.get("new_edits", True)
    if not isinstance(new_edits, bool):
        raise BadRequest("`new_edits` is true or false.")
    rows = _push(wire.members(body, "docs"), new_edits)
    listed = [row.as_json() for row in rows if new_edits or row.error]
    return json_answer(listed, 201)


@sync.route("/_all_docs", methods=["GET", "POST"])
@require_user
def all_docs() -> Response:
    """The ids and revisions of what is there, in id order: 1 partition query"""
    keys = wire.asked_keys()
    snapshot = _snapshot(orders=True)
    there = sorted(docid for docid, entry in snapshot.told.entries.items() if not entry.get("deleted"))
    rows = [_row(snapshot, docid) for docid in (wire.selected(there) if keys is None else keys)]
    skip = wire.number("skip") or 0
    page = rows[skip:][: wire.number("limit")]
    return json_answer({"total_rows": len(there), "offset": skip, "rows": page})


# Documents.


@sync.get("/_local/<string:name>")
@require_user
def get_point(name: str) -> Response:
    return json_answer(sync_points.get_point(dependencies(), current_user().userid, _checked_point(name)))


@sync.put("/_local/<string:name>")
@require_user
def put_point(name: str) -> Response:
    body = wire.body_object()
    rev = sync_points.put_point(dependencies(), current_user().userid, _checked_point(name), body)
    return json_answer({"ok": True, "id": f"_local/{name}", "rev": rev}, 201)


@sync.delete("/_local/<string:name>")
@require_user
def delete_point(name: str) -> Response:
    sync_points.delete_point(dependencies(), current_user().userid, _checked_point(name))
    return json_answer({"ok": True, "id": f"_local/{name}", "rev": "0-0"})


@sync.get("/<document:docid>")
@require_user
def get_document(docid: str) -> Response:
    """One document, one revision of it (`rev`), or those of its branches (`open_revs`): 1 partition query"""
    snapshot = _snapshot(orders=docid.startswith(ORDER_PREFIX))
    revs, latest = wire.flag("revs"), wire.flag("latest")
    if "open_revs" in request.args:
        wanted = wire.open_revisions()
        if wanted is None:
            return wire.revisions_answer({"ok": doc} for doc in act.leaves(snapshot, docid, revs=revs))
        found = [(rev, act.revision_of(snapshot, docid, rev, revs=revs, latest=latest)) for rev in wanted]
        if not all(doc for _, doc in found):
            act.check_told(dependencies(), snapshot)
        return wire.revisions_answer({"ok": doc} if doc else {"missing": rev} for rev, doc in found)
    rev = wire.asked_revision()
    doc = (
        act.revision_of(snapshot, docid, rev, revs=revs, latest=latest)
        if rev
        else act.newest(snapshot, docid, revs=revs)
    )
    if doc is None or (doc.get("_deleted") and not rev):
        act.check_told(dependencies(), snapshot)
        raise MissingDocument("deleted" if doc else "missing")
    return json_answer(doc, etag=f'"{doc["_rev"]}"')


@sync.put("/<document:docid>")
@require_user
def put_document(docid: str) -> Response:
    """Writes one document over the revision it names"""
    doc = wire.body_object()
    if doc.get("_id", docid) != docid:
        raise BadRequest("Document ID must match the address.")
    rev = wire.asked_revision() or doc.get("_rev")
    return _written({**doc, "_id": docid} | ({"_rev": rev} if rev else {}))


@sync.delete("/<document:docid>")
@require_user
def delete_document(docid: str) -> Response:
    """Deletes one document in the revision it names"""
    rev = wire.asked_revision() or request.headers.get("If-Match", "").strip('"')
    return _written({"_id": docid, "_deleted": True} | ({"_rev": rev} if rev else {}))


@sync.route("/_design/<path:name>", methods=["GET", "PUT", "POST", "DELETE"])
@sync.route("/<document:docid>/<path:name>", methods=["GET", "PUT", "POST", "DELETE"])
@require_user
def attachment(name: str, docid: str = "_design") -> Response:
    """There are none, and no designs."""
    if request.method == "GET":
        raise MissingDocument("Document is missing attachment")
    raise Forbidden("No attachments are kept here.")


def _written(doc: dict[str, Any]) -> Response:
    [row] = _push([doc], request.args.get("new_edits") != "false")
    if row.error:
        return wire.refusal(409 if row.error == "conflict" else 403, row.reason)
    return json_answer(row.as_json(), 201)


def _push(docs: list[dict[str, Any]], new_edits: bool) -> list[sync_writes.Row]:
    if len(docs) > sync_writes.MAX_PUSHED:
        raise TooLarge(f"Send {sync_writes.MAX_PUSHED} documents at most.")
    sessions().confirm(current_user())
    return sync_writes.push(dependencies(), current_user(), docs, new_edits=new_edits)


def _found(snapshot: act.Snapshot, docid: str, rev: Any, revs: bool, latest: bool) -> dict[str, Any]:
    doc = (
        act.newest(snapshot, docid, revs=revs)
        if rev is None
        else act.revision_of(snapshot, docid, rev, revs=revs, latest=latest)
    )
    return wire.found(docid, rev, doc)


def _row(snapshot: act.Snapshot, docid: Any) -> dict[str, Any]:
    return wire.listed(docid, act.newest(snapshot, docid) if isinstance(docid, str) else None)


def _snapshot(*, orders: bool = False) -> act.Snapshot:
    deps = dependencies()
    return act.read_told(deps, current_user(), act.own_orders(deps, _token()) if orders else None)


# What a request says.


def _token() -> str:
    return request.headers.get("Authorization", "").partition(" ")[2].strip()


def _checked_point(name: str) -> str:
    if not _POINT_NAME.fullmatch(name):
        raise BadRequest("The name of a _local document is 1 to 128 letters, digits and . _ = ~ -")
    return name
