"""CouchDB's replication protocol over the products of one category (docs/decisions/12-sync.md): a device keeps it with unchanged PouchDB.

Public and read only. The category stands in the address percent-encoded twice, for its names may hold `/` and `%`.
"""

from typing import Any
from urllib.parse import unquote

from flask import Blueprint, Response, request

from services.products.actions import category_sync as act
from services.products.documents import partition_of, taxonomy_of
from services.products.resources.context import dependencies
from services.products.rules.prices import PriceContext
from services.products.store.category_sync import CategorySnapshot
from shared.clock import timestamp
from shared.errors import Forbidden, TooLarge, Unavailable
from shared.replication import MissingDocument
from shared.web import json_answer
from shared.web import replication as wire
from shared.web.api import Api
from shared.web.replication_docs import DatabasePaths, path_parameter

category_sync = Blueprint("category_sync", __name__, url_prefix="/v1/products/sync/<string:category>")
wire.refuse_as_couchdb(category_sync)

MAX_PARTITION_KEY = 1000
SECONDS_KEPT = 5
_READ_ONLY = "A category is read only here."
_CACHED = {"Cache-Control": f"public, max-age={SECONDS_KEPT}"}
_LIVE = {"Cache-Control": "no-store"}


def describe(api: Api) -> None:
    """In the service's OpenAPI."""
    tag = {
        "name": "category_sync",
        "description": "CouchDB's replication protocol over the products of a category",
    }
    api.spec.tag(tag)
    category = path_parameter(
        "category", {"type": "string", "minLength": 1}, "its path, percent-encoded twice: `Home%2523Mugs`"
    )
    place = "/v1/products/sync/{category}"
    paths = DatabasePaths(api.spec, place, "OfCategory", tag["name"], private=False, parameters=[category])
    paths.describe(writable=False)


@category_sync.get("")
@category_sync.get("/")
def information(category: str) -> Response:
    """What CouchDB says of a database"""
    return json_answer(act.information(_snapshot(category)), headers=_CACHED)


@category_sync.get("/_changes")
@category_sync.post("/_changes")
def changes(category: str) -> Response:
    """What changed since `since`; a longpoll waits for it without a thread"""
    feed = wire.asked_feed()
    query = act.ChangesQuery(
        wire.asked_since(), wire.number("limit"), wire.flag("include_docs"), wire.flag("descending")
    )
    deps, partition = dependencies(), partition_of(_taxonomy(category))
    mark = deps.waiting.mark(partition) if feed == "longpoll" else None
    told = act.changes(_snapshot(category), query)
    if feed == "longpoll" and not told["results"]:
        seconds = wire.wait_seconds(deps.settings.sync_wait_seconds)
        if not deps.waiting.park(request.environ, partition, mark, seconds) and deps.waiting.is_full():
            raise Unavailable("Too many devices wait for changes just now.", retry_after=10)
    return json_answer(told, headers=_LIVE if feed == "longpoll" else _CACHED)


@category_sync.post("/_bulk_get")
def bulk_get(category: str) -> Response:
    """Documents in the revisions asked for"""
    asked = wire.asked_documents()
    ids = [each["id"] for each in asked]
    snapshot, revs, latest = _snapshot(category), wire.flag("revs"), wire.flag("latest")
    results = [
        {"id": docid, "docs": [_found(snapshot, docid, each.get("rev"), revs, latest)]}
        for docid, each in zip(ids, asked, strict=True)
    ]
    return json_answer({"results": results})


@category_sync.post("/_revs_diff")
def revs_diff(category: str) -> Response:
    return json_answer(act.missing_revisions(_snapshot(category), wire.asked_revisions(wire.body_object())))


@category_sync.get("/_all_docs")
@category_sync.post("/_all_docs")
def all_docs(category: str) -> Response:
    """The ids and revisions of what is there, in id order"""
    keys, snapshot = wire.asked_keys(), _snapshot(category)
    there = sorted(snapshot.shown)
    rows = [_row(snapshot, docid) for docid in (wire.selected(there) if keys is None else keys)]
    skip = wire.number("skip") or 0
    page = rows[skip:][: wire.number("limit")]
    return json_answer({"total_rows": len(there), "offset": skip, "rows": page}, headers=_CACHED)


@category_sync.post("/_ensure_full_commit")
def ensure_full_commit(category: str) -> Response:
    return json_answer({"ok": True, "instance_start_time": "0"}, 201)


@category_sync.get("/_local/<string:name>")
def get_point(category: str, name: str) -> Response:
    """None are kept: a device keeps its own."""
    raise MissingDocument("missing")


@category_sync.get("/<document:docid>")
def get_document(category: str, docid: str) -> Response:
    """One document, one revision of it (`rev`), or those of its branches (`open_revs`)"""
    snapshot, revs, latest = _snapshot(category), wire.flag("revs"), wire.flag("latest")
    newest = act.newest(snapshot, docid, revs=revs)
    if "open_revs" in request.args:
        wanted = wire.open_revisions()
        if wanted is None:
            return wire.revisions_answer([{"ok": newest}] if newest else [], _CACHED)
        found = [
            (rev, act.revision_of(snapshot, docid, str(rev), revs=revs, latest=latest)) for rev in wanted
        ]
        return wire.revisions_answer(
            ({"ok": doc} if doc else {"missing": rev} for rev, doc in found), _CACHED
        )
    rev = wire.asked_revision()
    doc = act.revision_of(snapshot, docid, rev, revs=revs, latest=latest) if rev else newest
    if doc is None or (doc.get("_deleted") and not rev):
        raise MissingDocument("deleted" if doc else "missing")
    return json_answer(doc, etag=f'"{doc["_rev"]}"', headers=_CACHED)


@category_sync.post("")
@category_sync.post("/")
@category_sync.post("/_bulk_docs")
@category_sync.route("/<document:docid>", methods=["PUT", "DELETE"])
@category_sync.route("/_local/<string:docid>", methods=["PUT", "DELETE"])
@category_sync.route("/_design/<path:name>", methods=["GET", "PUT", "POST", "DELETE"])
@category_sync.route("/<document:docid>/<path:name>", methods=["GET", "PUT", "POST", "DELETE"])
def refuse(category: str, docid: str = "", name: str = "") -> Response:
    """Nobody writes here, and there are no attachments."""
    if request.method == "GET":
        raise MissingDocument("Document is missing attachment")
    raise Forbidden(_READ_ONLY)


def _found(snapshot: CategorySnapshot, docid: str, rev: Any, revs: bool, latest: bool) -> dict[str, Any]:
    doc = (
        act.newest(snapshot, docid, revs=revs)
        if rev is None
        else act.revision_of(snapshot, docid, str(rev), revs=revs, latest=latest)
    )
    return wire.found(docid, rev, doc)


def _row(snapshot: CategorySnapshot, docid: Any) -> dict[str, Any]:
    return wire.listed(docid, act.newest(snapshot, docid) if isinstance(docid, str) else None)


def _snapshot(category: str) -> CategorySnapshot:
    """As a visitor without an account sees the category, prices in all currencies."""
    deps = dependencies()
    currency = (*deps.settings.currencies, "")[0]
    return act.read_told(deps, _taxonomy(category), PriceContext(timestamp(), currency))


def _taxonomy(category: str) -> list[str]:
    taxonomy = taxonomy_of(unquote(category))
    if not all(taxonomy):
        raise act.NoSuchCategory("Database does not exist.")
    if len(partition_of(taxonomy).encode()) > MAX_PARTITION_KEY:
        raise TooLarge("No category has so long a name.")
    return taxonomy
