"""Running a server: compaction, shards, statistics, updates of all databases; and what is refused by name."""

import resource
import time
import zlib
from collections.abc import AsyncIterator

import orjson

from ..documents import auth
from ..errors import CouchError, bad_request, not_found
from ..http.messages import Request, Response, json_response, raw_json
from ..runtime.threads import run_in_thread
from .server import NODE

STARTED = time.time()
RANGE_END = 1 << 32


async def compact(request: Request) -> Response:
    request.require_json()
    await run_in_thread(request.db.compact_all)
    return json_response({"ok": True}, 202)


def _ranges(q: int) -> list[tuple[int, int]]:
    size = RANGE_END // q
    return [(n * size, RANGE_END - 1 if n == q - 1 else (n + 1) * size - 1) for n in range(q)]


def _shown(first: int, last: int) -> str:
    return f"{first:08x}-{last:08x}"


def shards(request: Request) -> Response:
    return json_response({"shards": {_shown(*ends): [NODE] for ends in _ranges(request.db.properties["q"])}})


def shard_of(request: Request) -> Response:
    """Where CouchDB would keep a document: the crc32 of its partition or id picks the range."""
    docid = request.params["docid"]
    hashed = docid.partition(":")[0] if request.db.partitioned and docid[0] != "_" else docid
    number = zlib.crc32(hashed.encode())
    ends = next(ends for ends in _ranges(request.db.properties["q"]) if ends[0] <= number <= ends[1])
    return json_response({"range": _shown(*ends), "nodes": [NODE]})


def sync_shards(_request: Request) -> Response:
    return json_response({"ok": True}, 202)


def _node(request: Request) -> None:
    auth.check_server_admin(request.user)
    if request.params["node"] not in ("_local", NODE):
        raise not_found(f"no such node: {request.params['node']}")


def system(request: Request) -> Response:
    _node(request)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return json_response(
        {
            "uptime": int(time.time() - STARTED),
            "memory": {"processes_used": usage.ru_maxrss * 1024},
            "context_switches": usage.ru_nvcsw + usage.ru_nivcsw,
            "io_input": usage.ru_inblock,
            "io_output": usage.ru_oublock,
            "process_count": 1,
            "message_queues": {},
        }
    )


def stats(request: Request) -> Response:
    _node(request)
    counted = {str(code): _counter(value) for code, value in sorted(request.server.answered.items())}
    total = sum(request.server.answered.values())
    found: dict[str, object] = {
        "couchdb": {"httpd": {"requests": _counter(total)}, "httpd_status_codes": counted}
    }
    if (used := request.server.units_used) is not None:
        found["plan"] = {name: _counter(units) for name, units in used.items()}
    return json_response(found)


def _counter(value: int) -> dict[str, object]:
    return {"value": value, "type": "counter"}


def versions(request: Request) -> Response:
    _node(request)
    return json_response(
        {
            "javascript_engine": {"name": "v8", "version": "mini-racer"},
            "collation_driver": {"name": "minicouch", "collation_algorithm_version": "15"},
        }
    )


def cluster_setup(request: Request) -> Response:
    auth.check_server_admin(request.user)
    if request.method == "POST":
        request.json_object()
        return json_response({"ok": True}, 201)
    return json_response({"state": "single_node_enabled"})


def db_updates(request: Request) -> Response:
    """Which databases were made, changed or dropped: normal, longpoll and continuous."""
    auth.check_server_admin(request.user)
    feed = request.query.get("feed", "normal")
    if feed not in ("normal", "longpoll", "continuous"):
        raise bad_request("Supported `feed` types: normal, longpoll, continuous")
    try:
        since = request.query.get("since", "0")
        after = request.server.updates.last if since == "now" else int(since.partition("-")[0])
        timeout = int(request.query.get("timeout", "60000")) / 1000
        heartbeat = request.query.get("heartbeat")
        beat = (
            None if heartbeat is None else 60.0 if heartbeat == "true" else max(0.001, int(heartbeat) / 1000)
        )
    except ValueError:
        raise bad_request("`since`, `timeout` and `heartbeat` are numbers") from None
    if feed == "continuous":
        return raw_json(_update_lines(request, after, timeout, beat))
    return raw_json(_update_list(request, after, timeout if feed == "longpoll" else 0))


async def _update_list(request: Request, after: int, timeout: float) -> AsyncIterator[bytes]:
    updates = request.server.updates
    if timeout:
        await updates.wait(after, timeout)
    rows = [orjson.dumps(row) for row in updates.since(after)]
    yield b'{"results":[\n' + b",\n".join(rows) + b'\n],\n"last_seq":"%d"}\n' % updates.last


async def _update_lines(
    request: Request, after: int, timeout: float, heartbeat: float | None
) -> AsyncIterator[bytes]:
    updates = request.server.updates
    while True:
        for row in updates.since(after):
            yield orjson.dumps(row) + b"\n"
        after = updates.last
        if not await updates.wait(after, heartbeat or timeout):
            if heartbeat is None:
                yield b'{"last_seq":"%d"}\n' % after
                return
            yield b"\n"


def refused(name: str, why: str):
    """A handler for an endpoint that CouchDB has and minicouch does not."""

    def handler(_request: Request) -> Response:
        raise CouchError(501, "not_implemented", f"{name} is not served by minicouch: {why}")

    return handler


NOT_SERVED = [
    ("GET", "/_utils", "Fauxton (_utils)", "use a CouchDB's, or any HTTP client"),
    ("GET", "/_utils/{rest*}", "Fauxton (_utils)", "use a CouchDB's, or any HTTP client"),
    ("GET", "/_reshard", "resharding", "there is one shard"),
    ("GET", "/_reshard/{rest*}", "resharding", "there is one shard"),
    ("POST", "/_reshard/{rest*}", "resharding", "there is one shard"),
    ("GET", "/_node/{node}/_prometheus", "Prometheus metrics", "_node/_local/_stats counts requests"),
    ("POST", "/_node/{node}/_restart", "restarting by request", "stop and start the process"),
    ("GET", "/{db}/_auto_purge", "automatic purging", "_purge removes revisions"),
    ("PUT", "/{db}/_auto_purge", "automatic purging", "_purge removes revisions"),
    ("GET", "/{db}/_time_seq", "time sequences", "_changes takes sequences only"),
    ("POST", "/_api/v2/{rest*}", "Cloudant's account endpoints", "there is no account"),
    ("GET", "/_api/v2/{rest*}", "Cloudant's account endpoints", "there is no account"),
]
ROUTES = [
    ("POST", "/{db}/_compact", compact, "_compact"),
    ("GET", "/{db}/_shards", shards, "_shards"),
    ("GET", "/{db}/_shards/{docid}", shard_of, "_shards"),
    ("POST", "/{db}/_sync_shards", sync_shards, "_sync_shards"),
    ("GET", "/_db_updates", db_updates, "_db_updates"),
    ("GET", "/_node/{node}/_system", system, "_node/_system"),
    ("GET", "/_node/{node}/_stats", stats, "_node/_stats"),
    ("GET", "/_node/{node}/_versions", versions, "_node/_versions"),
    ("GET", "/_cluster_setup", cluster_setup, "_cluster_setup"),
    ("POST", "/_cluster_setup", cluster_setup, "_cluster_setup"),
    *((method, pattern, refused(name, why), name) for method, pattern, name, why in NOT_SERVED),
]
