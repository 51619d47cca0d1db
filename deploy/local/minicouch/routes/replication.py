"""_replicate and _scheduler."""

import time
from typing import Any

from ..documents import auth
from ..errors import CouchError, not_found, unauthorized
from ..http.messages import Request, Response, json_response
from ..indexes.indexing import builds
from ..replication import Job, PeerError
from ..replication.scheduler import stamp, stats
from ..runtime.threads import run_in_thread
from .ranges import parse_count
from .server import NODE

PAGE = 25


async def replicate(request: Request) -> Response:
    request.require_json()
    body = request.json_object()
    passed = {name: request.headers[name] for name in ("authorization", "cookie") if name in request.headers}
    scheduler = request.server.scheduler
    try:
        if body.get("cancel") is True:
            return await _cancel(request, body, passed)
        job = await scheduler.start(body, passed, user=request.user.name)
        if job.request.continuous:
            return json_response({"ok": True, "_local_id": job.name_shown}, 202)
        return json_response(await scheduler.result(job))
    except PeerError as error:
        raise _answer(error) from None


async def _cancel(request: Request, body: dict[str, Any], passed: dict[str, str]) -> Response:
    scheduler = request.server.scheduler
    given = body.get("replication_id") or body.get("_local_id") or body.get("id")
    if given:
        name = as_named(str(given))
    else:
        asked, _, _, identity = await run_in_thread(scheduler.prepare, body, passed)
        name = identity + asked.extension
    job = scheduler.jobs.get(name)
    if job is None:
        raise not_found()
    if not request.is_admin and job.user != request.user.name:
        raise unauthorized("You may not cancel somebody else's replication")
    scheduler.cancel(name)
    return json_response({"ok": True, "_local_id": job.name_shown})


def as_named(job: str) -> str:
    """A path's plus reads as a space; names have no spaces."""
    return job.replace(" ", "+")


def _answer(error: PeerError) -> CouchError:
    """What the other server said is not our failure: never a 5xx."""
    status = 404 if error.error == "db_not_found" else error.status if 400 <= error.status < 500 else 400
    return CouchError(status, error.error, error.reason)


def jobs(request: Request) -> Response:
    auth.check_server_admin(request.user)
    running = [_job(job, request) for job in request.server.scheduler.jobs.values()]
    skip, limit = _page(request)
    return json_response({"total_rows": len(running), "offset": skip, "jobs": running[skip : skip + limit]})


def _page(request: Request) -> tuple[int, int]:
    skip, limit = request.query.get("skip", "0"), request.query.get("limit", str(PAGE))
    return parse_count(skip, False), parse_count(limit, False)


def one_job(request: Request) -> Response:
    auth.check_server_admin(request.user)
    job = request.server.scheduler.jobs.get(as_named(request.params["job"]))
    if job is None:
        raise not_found()
    return json_response(_job(job, request))


def _job(job: Job, request: Request) -> dict[str, Any]:
    scheduler = request.server.scheduler
    docid = next((docid for docid, entry in scheduler.documents.items() if entry["job"] is job), None)
    return {
        "database": "_replicator" if docid else None,
        "id": job.name_shown,
        "pid": f"<0.{job.native_id}.0>",
        "source": job.source.url,
        "target": job.target.url,
        "user": None,
        "doc_id": docid,
        "info": stats(job),
        "history": [{"timestamp": stamp(job.started), "type": kind} for kind in ("started", "added")],
        "node": NODE,
        "start_time": stamp(job.started),
    }


def docs(request: Request) -> Response:
    """Every document of _replicator that was acted on, or those of one database."""
    auth.check_server_admin(request.user)
    scheduler = request.server.scheduler
    shown = [_doc(docid, entry) for docid, entry in sorted(scheduler.documents.items())]
    skip, limit = _page(request)
    return json_response({"total_rows": len(shown), "offset": skip, "docs": shown[skip : skip + limit]})


def one_doc(request: Request) -> Response:
    auth.check_server_admin(request.user)
    docid = request.params["docid"]
    entry = request.server.scheduler.documents.get(docid)
    if entry is None or request.params["database"] != "_replicator":
        raise not_found()
    return json_response(_doc(docid, entry))


def _doc(docid: str, entry: dict[str, Any]) -> dict[str, Any]:
    job: Job | None = entry["job"]
    last_error = job.last_error if job and entry["state"] == "running" else None
    return {
        "database": "_replicator",
        "doc_id": docid,
        "id": entry["id"],
        "node": NODE,
        "source": job.source.url if job else None,
        "target": job.target.url if job else None,
        "state": "crashing" if last_error else entry["state"],
        "info": {"error": last_error.reason}
        if last_error
        else entry["info"] or (stats(job) if job else None),
        "error_count": 1 if last_error or entry["state"] == "failed" else 0,
        "last_updated": stamp(entry.get("updated", time.time())),
        "start_time": stamp(entry["started"]),
        "source_proxy": None,
        "target_proxy": None,
    }


def active_tasks(request: Request) -> Response:
    auth.check_server_admin(request.user)
    tasks = [_task(job) for job in request.server.scheduler.jobs.values()]
    for db in request.server.store.opened():
        tasks += [
            {"node": NODE, "pid": "<0.0.0>", "process_status": "running"} | build for build in builds(db)
        ]
    return json_response(tasks)


def _task(job: Job) -> dict[str, Any]:
    numbers = stats(job)
    return {
        "node": NODE,
        "pid": f"<0.{job.native_id}.0>",
        "process_status": "waiting",
        "type": "replication",
        "replication_id": job.name_shown,
        "source": job.source.url,
        "target": job.target.url,
        "continuous": job.request.continuous,
        "user": job.user,
        "database": None,
        "doc_id": None,
        "through_seq": job.last_seq,
        "source_seq": job.last_seq,
        "checkpoint_interval": 0,
        "started_on": int(job.started),
        "updated_on": int(time.time()),
        **{key: value for key, value in numbers.items() if key != "start_time"},
    }


ROUTES = [
    ("GET", "/_active_tasks", active_tasks, "_active_tasks"),
    ("POST", "/_replicate", replicate, "_replicate"),
    ("GET", "/_scheduler/jobs", jobs, "_scheduler/jobs"),
    ("GET", "/_scheduler/jobs/{job}", one_job, "_scheduler/jobs"),
    ("GET", "/_scheduler/docs", docs, "_scheduler/docs"),
    ("GET", "/_scheduler/docs/{database}", docs, "_scheduler/docs"),
    ("GET", "/_scheduler/docs/{database}/{docid}", one_doc, "_scheduler/docs"),
]
