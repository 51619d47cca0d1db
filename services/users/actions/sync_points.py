"""How far a device is, as it says itself (`_local` documents): kept in the customer's partition, so every replica knows it after any restart."""

from datetime import timedelta
from typing import Any, Final

import orjson

from services.users.declarations.sync import POINT_PREFIX, SYNC_POINT, SyncPoint
from services.users.dependencies import Dependencies
from services.users.documents import user_document
from shared.clock import iso, now, timestamp
from shared.couch import Doc, UpdateConflict
from shared.errors import BadRequest, TooLarge
from shared.replication import MissingDocument

MAX_POINTS: Final = 40
MAX_BYTES: Final = 16 * 1024
KEPT: Final = timedelta(days=90)
_FIRST: Final = "0-"


def get_point(deps: Dependencies, userid: str, name: str) -> Doc:
    """1 read. Raises MissingDocument."""
    return _shown(name, _found(deps, userid, name))


def put_point(deps: Dependencies, userid: str, name: str, doc: dict[str, Any]) -> str:
    """Its new revision. 1 read and 1 write; of a device that comes for the first time 1 partition query besides, and the oldest makes room.

    Raises UpdateConflict, TooLarge, BadRequest.
    """
    body = {key: value for key, value in doc.items() if key not in ("_id", "_rev", "_revisions")}
    if strange := [key for key in body if key.startswith("_")]:
        raise BadRequest(f"Bad special document member: {strange[0][:60]}")
    _check_size(body)
    present = _present(deps, userid, name)
    sent = doc.get("_rev")
    if sent != _revision(present) if present else sent not in (None, "0-0"):
        raise UpdateConflict("Document update conflict.")
    new = SYNC_POINT.build(
        _docid(userid, name),
        userid=userid,
        number=present["number"] + 1 if present else 1,
        body=body,
        updated=timestamp(),
        expires=iso(now() + KEPT),
    )
    if present is None:
        _make_room(deps, userid)
    stored = {**new, "_rev": present["_rev"]} if present else new
    if not deps.store.try_put(stored):
        raise UpdateConflict("Document update conflict.")
    return _revision(new)


def delete_point(deps: Dependencies, userid: str, name: str) -> None:
    """Raises MissingDocument, UpdateConflict."""
    deps.store.delete(_found(deps, userid, name))


def _make_room(deps: Dependencies, userid: str) -> None:
    points = SYNC_POINT.among(deps.store.documents_with_prefix(userid, POINT_PREFIX))
    oldest = sorted(points, key=lambda doc: doc["updated"])[: max(0, len(points) - MAX_POINTS + 1)]
    if oldest:
        deps.store.put_many({"_id": doc["_id"], "_rev": doc["_rev"], "_deleted": True} for doc in oldest)


def _check_size(body: dict[str, Any]) -> None:
    try:
        size = len(orjson.dumps(body))
    except orjson.JSONEncodeError:
        raise BadRequest("The document is nested too deeply.") from None
    if size > MAX_BYTES:
        raise TooLarge(f"A _local document has at most {MAX_BYTES} bytes here.")


def _found(deps: Dependencies, userid: str, name: str) -> SyncPoint:
    point = _present(deps, userid, name)
    if point is None:
        raise MissingDocument("missing")
    return point


def _present(deps: Dependencies, userid: str, name: str) -> SyncPoint | None:
    return SYNC_POINT.typed(deps.store.get(_docid(userid, name)))


def _shown(name: str, point: SyncPoint) -> Doc:
    return {"_id": f"_local/{name}", "_rev": _revision(point), **point["body"]}


def _docid(userid: str, name: str) -> str:
    return user_document(userid, f"{POINT_PREFIX}{name}")


def _revision(point: SyncPoint) -> str:
    return f"{_FIRST}{point['number']}"
