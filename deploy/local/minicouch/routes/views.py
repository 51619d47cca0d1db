"""Views over HTTP: single and multiple queries, global and in a partition, index information and upkeep."""

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Any

from .. import views
from ..documents import auth
from ..documents.database import Database
from ..documents.ids import check_partition
from ..errors import CouchError, bad_request, method_not_allowed, not_found
from ..http.messages import Request, Response, json_response, raw_json
from ..http.routing import EVERY_METHOD
from ..indexes import finder, searching
from ..indexes.indexing import IndexSpec, build_once, drop_index, get_index, is_running, ready, start_building
from ..reducers import BuiltIn
from ..runtime.threads import run_in_thread
from ..store.indexes import Index
from ..views import Design, View, ViewQuery

INLINE = 200
AT_ONCE = 3
"""Pieces: some rows, and the end of a small answer."""
COMPACTING = "compact "
VIEW_METHODS = "GET,POST,HEAD"


def parameters_of(request: Request) -> dict[str, str]:
    """The URL's parameters and the partition of the path. Errors: 400 when they contradict each other."""
    partition = request.params.get("partition")
    if partition is None:
        return request.query
    if not request.db.partitioned:
        raise bad_request("database is not partitioned")
    check_partition(partition)
    if request.query.get("partition", partition) != partition:
        raise bad_request("Conflicting value for `partition` in query string")
    return request.query | {"partition": partition}


def opened(request: Request) -> tuple[Design, View]:
    design = views.open_design(request.db, request.params["ddoc"])
    return design, design.view(request.params["view"])


async def get_view(request: Request) -> Response:
    query = views.url_query(parameters_of(request))
    design, view = opened(request)
    return await respond(request, design, view, query)


async def post_view(request: Request) -> Response:
    request.require_json()
    body = request.json_object()
    if body.get("queries") is not None:
        raise bad_request("The `queries` parameter is no longer supported at this endpoint")
    query = views.body_query(parameters_of(request), body)
    design, view = opened(request)
    return await respond(request, design, view, query)


async def respond(request: Request, design: Design, view: View, query: ViewQuery) -> Response:
    checked(request, design, view, query)
    index = await fresh_index(request.db, design, [query])
    if (quick := quick_answer(request.db, index, view, query)) is not None:
        return raw_json(quick + b"\n")
    pieces = views.pieces(request.db, index, view, query)
    first, complete = await run_in_thread(beginning_of, pieces)
    return raw_json(first + b"\n" if complete else stream(first, pieces))


def beginning_of(pieces: Iterator[bytes]) -> tuple[bytes, bool]:
    """What is read at once, and whether it is all: a small answer is sent whole, in one go."""
    read = list(islice(pieces, AT_ONCE))
    return b"".join(read), len(read) < AT_ONCE


async def stream(first: bytes, pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Send what a thread beside the event loop reads; errors of the first pieces came before the answer began."""
    try:
        yield first
        while piece := await run_in_thread(next, pieces, b""):
            yield piece
        yield b"\n"
    finally:
        pieces.close()


async def fresh_index(db: Database, design: Design, queries: list[ViewQuery]) -> Index:
    """The index, as current as the queries ask for."""
    spec = design.spec
    if spec is None:
        raise not_found("missing_named_view")
    if any(query.update == "true" for query in queries):
        return await ready(db, spec, reduced=any(query.reduced for query in queries))
    if any(query.update == "lazy" for query in queries):
        start_building(db, spec, reduced=any(query.reduced for query in queries))
    return get_index(db, spec)


def quick_answer(db: Database, index: Index, view: View, query: ViewQuery) -> bytes | None:
    """Small answers come straight from the event loop; None for the others."""
    if query.reduced:
        built_in = query.grouping is None and isinstance(view.reducer, BuiltIn) and not index.stale
        return b"".join(views.pieces(db, index, view, query)) if built_in else None
    return views.small_answer(db, index, view, query, INLINE)


async def whole_answer(db: Database, index: Index, view: View, query: ViewQuery) -> bytes:
    quick = quick_answer(db, index, view, query)
    return quick if quick is not None else await run_in_thread(b"".join, views.pieces(db, index, view, query))


async def post_queries(request: Request) -> Response:
    request.require_json()
    listed = request.json_object().get("queries")
    if listed is None:
        raise bad_request("POST body must include `queries` parameter.")
    if not isinstance(listed, list):
        raise bad_request("`queries` member must be an array.")
    design, view = opened(request)
    parameters = parameters_of(request)
    queries = [query_of(request, parameters, item, design, view) for item in listed]
    index = await fresh_index(request.db, design, queries)
    parts = [await whole_answer(request.db, index, view, query) for query in queries]
    results = b"".join(b"\r\n" + part if n == 0 else b",\r\n" + part for n, part in enumerate(parts))
    return raw_json(b'{"results":[' + results + b"\r\n]}\n")


def query_of(
    request: Request, parameters: dict[str, str], item: Any, design: Design, view: View
) -> ViewQuery:
    """One of several queries: the URL's parameters hold for all but for keys and grouping, its own win."""
    if not isinstance(item, dict):
        raise bad_request("`queries` member must be an array of objects.")
    query = views.url_query(parameters)
    query.keys = query.group = query.group_level = None
    views.from_body(query, item)
    return checked(request, design, view, query)


def checked(request: Request, design: Design, view: View, query: ViewQuery) -> ViewQuery:
    """Errors: 400 for what the view, the design document or the server's limits do not allow."""
    query.limit = request.server.config.limited(query.limit, design.partitioned)
    return views.validate(query, view.reducer is not None, design.partitioned)


def get_info(request: Request) -> Response:
    design = views.open_design(request.db, request.params["ddoc"])
    return json_response({"name": request.params["ddoc"], "view_index": index_info(request.db, design)})


def specs_of(db: Database, design: Design) -> list[IndexSpec]:
    """The index of the design document's views, or those of its Mango indexes."""
    if design.spec is not None:
        return [design.spec]
    mango = [index for index in finder.indexes(db) if index.ddoc == design.id and index.kind == "json"]
    return [finder.index_spec(db, index) for index in mango]


def index_info(db: Database, design: Design) -> dict[str, Any]:
    found = specs_of(db, design)
    indexes = [get_index(db, spec) for spec in found]
    sizes = [index.sizes() for index in indexes]
    on_disk, active = sum(size for size, _ in sizes), sum(size for _, size in sizes)
    seq = min((index.seq for index in indexes), default=0)
    pending = max(0, db.update_seq - seq)
    return {
        "updates_pending": {"minimum": pending, "preferred": pending, "total": pending},
        "waiting_commit": False,
        "waiting_clients": 0,
        "updater_running": any(index.building.locked() for index in indexes),
        "update_seq": seq,
        "sizes": {"file": on_disk, "external": active, "active": active},
        "signature": found[0].signature.partition("-")[2] if found else "",
        "purge_seq": 0,
        "language": design.language,
        "compact_running": any(is_running(db, COMPACTING + spec.signature) for spec in found),
        "collator_versions": ["153.120"],
    }


async def post_cleanup(request: Request) -> Response:
    """Remove the index files that no design document names any more."""
    auth.check_database_admin(request.user, request.db.security)
    request.require_json()
    await run_in_thread(remove_unused, request.db)
    return json_response({"ok": True}, 202)


def remove_unused(db: Database) -> None:
    used = finder.signatures(db) | searching.signatures(db)
    for doc in db.design_docs():
        spec = views.open_design(db, doc.id.removeprefix("_design/")).spec
        used |= {spec.signature} if spec else set()
    for signature in set(db.indexes()) - used:
        drop_index(db, signature)


async def post_compact(request: Request) -> Response:
    """Compact an index beside everything else; `_info` says while it runs."""
    auth.check_database_admin(request.user, request.db.security)
    request.require_json()
    for spec in specs_of(request.db, views.open_design(request.db, request.params["ddoc"])):
        build_once(request.db, COMPACTING + spec.signature, get_index(request.db, spec).compact)
    return json_response({"ok": True}, 202)


def other_view(request: Request) -> Response:
    """`_view` without a name, or with more than one."""
    raise method_not_allowed(VIEW_METHODS)


def temporary_view(request: Request) -> Response:
    raise CouchError(410, "gone", "Temporary views are not supported in CouchDB")


ROUTES = [
    ("POST", "/{db}/_view_cleanup", post_cleanup, "view clean-up"),
    ("POST", "/{db}/_temp_view", temporary_view, "temporary views"),
    ("GET", "/{db}/_design/{ddoc}/_info", get_info, "index information"),
    ("GET", "/{db}/_partition/{partition}/_design/{ddoc}/_info", get_info, "index information"),
    ("POST", "/{db}/_compact/{ddoc}", post_compact, "index compaction"),
]
for _path in ("/{db}/_design/{ddoc}/_view", "/{db}/_design/{ddoc}/_view/{view}/{rest*}"):
    ROUTES += [(_method, _path, other_view, "no view") for _method in EVERY_METHOD]
ALLOW = {"/{db}/_design/{ddoc}/_info": "GET"}
for _root, _what in (("/{db}", "view"), ("/{db}/_partition/{partition}", "view of a partition")):
    ROUTES += [
        ("GET", _root + "/_design/{ddoc}/_view/{view}", get_view, _what),
        ("POST", _root + "/_design/{ddoc}/_view/{view}", post_view, _what),
        ("POST", _root + "/_design/{ddoc}/_view/{view}/queries", post_queries, _what + ", several queries"),
    ]
    ALLOW[_root + "/_design/{ddoc}/_view/{view}"] = VIEW_METHODS
