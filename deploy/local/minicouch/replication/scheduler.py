"""Which replications run: those asked for by _replicate, and those that documents of `_replicator` describe."""

import asyncio
import logging
import time
from typing import Any

import orjson

from ..documents.database import Database
from ..errors import CouchError
from ..runtime.threads import run_in_thread
from .job import Job, Request, replication_id
from .peer import Peer, PeerError

log = logging.getLogger("minicouch.replication")
TERMINAL = ("completed", "failed")


class Scheduler:
    """Lives on the event loop; jobs are threads that report back to it."""

    def __init__(self, url: str, server_id: str) -> None:
        self.url = url
        self._server_id = server_id
        self.jobs: dict[str, Job] = {}
        self.documents: dict[str, dict[str, Any]] = {}
        self._task: asyncio.Task[None] | None = None

    def prepare(self, body: dict[str, Any], headers: dict[str, str]) -> tuple[Request, Peer, Peer, str]:
        """Errors: PeerError for a request that cannot be."""
        request = Request.parse(body)
        source, target = (Peer(end, self.url, headers) for end in (request.source, request.target))
        return request, source, target, replication_id(request, source, target, self._server_id)

    async def start(
        self, body: dict[str, Any], headers: dict[str, str], docid: str | None = None, user: str | None = None
    ) -> Job:
        """Start a job, or find the one that does the same already."""
        request, source, target, identity = await run_in_thread(self.prepare, body, headers)
        running = self.jobs.get(identity + request.extension)
        if running is not None and running.is_alive():
            return running
        loop = asyncio.get_running_loop()
        job = Job(
            request,
            source,
            target,
            identity,
            lambda done, result: loop.call_soon_threadsafe(self._finished, done, result),
            loop.create_future(),
            user,
            persistent=docid is not None,
        )
        self.jobs[job.name_shown] = job
        job.start()
        return job

    async def result(self, job: Job) -> dict[str, Any]:
        """Wait for a job. Errors: PeerError."""
        return await asyncio.shield(job.outcome)

    def cancel(self, name: str) -> Job | None:
        job = self.jobs.pop(name, None)
        if job is not None:
            job.cancel()
        return job

    def _finished(self, job: Job, result: dict[str, Any] | PeerError) -> None:
        if self.jobs.get(job.name_shown) is job:
            del self.jobs[job.name_shown]
        if isinstance(result, PeerError):
            job.outcome.set_exception(result)
            job.outcome.exception()
        else:
            job.outcome.set_result(result)

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
        for job in self.jobs.values():
            job.cancel()

    # documents of _replicator

    def follow(self, database: Database) -> None:
        self._task = asyncio.get_running_loop().create_task(self._follow(database))

    async def _follow(self, database: Database) -> None:
        seq = 0
        while not database.deleted:
            for doc in database.changes_since(seq):
                seq = doc.seq
                if not doc.id.startswith("_design/"):
                    self._see(database, doc.id, None if doc.deleted else orjson.loads(doc.body))
            await database.changed(seq, None)

    def _see(self, database: Database, docid: str, body: dict[str, Any] | None) -> None:
        known = self.documents.get(docid)
        if body is None or body.get("_replication_state") in TERMINAL:
            if known is not None and body is None:
                known["task"].cancel()
                self.cancel(known["id"] or "")
                del self.documents[docid]
            return
        asked = {key: value for key, value in body.items() if not key.startswith("_replication")}
        if known is not None and known["asked"] == asked and known["state"] not in TERMINAL:
            return
        if known is not None:
            known["task"].cancel()
            self.cancel(known["id"] or "")
        entry: dict[str, Any] = {"asked": asked, "id": None, "state": "initializing", "started": time.time()}
        entry |= {"updated": time.time(), "job": None, "info": None}
        self.documents[docid] = entry
        entry["task"] = asyncio.get_running_loop().create_task(self._run(database, docid, entry))

    async def _run(self, database: Database, docid: str, entry: dict[str, Any]) -> None:
        try:
            job = await self.start(entry["asked"], {}, docid)
            entry |= {"id": job.name_shown, "job": job, "state": "running"}
            result = await self.result(job)
            state, fields = "completed", {"_replication_stats": stats(job)}
            entry["info"] = stats(job)
        except PeerError as error:
            log.warning("replication %s failed: %s", docid, error.reason)
            state, fields = "failed", {"_replication_state_reason": f"{error.error}: {error.reason}"}
            entry["info"] = {"error": f"{error.error}: {error.reason}"}
            result = {}
        entry |= {"state": state, "id": None, "updated": time.time()}
        if not result.get("cancelled"):
            await self._write_state(database, docid, state, fields)

    async def _write_state(self, database: Database, docid: str, state: str, fields: dict[str, Any]) -> None:
        doc = database.get(docid)
        if doc is None or doc.deleted:
            return
        kept = {k: v for k, v in orjson.loads(doc.body).items() if not k.startswith("_replication")}
        body = kept | {"_replication_state": state, "_replication_state_time": stamp(time.time())} | fields
        try:
            await database.put_edit(docid, body, doc.rev)
        except CouchError as error:
            log.warning("state of replication %s not written: %s", docid, error.reason)


def stamp(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def stats(job: Job) -> dict[str, Any]:
    """A job's numbers as `_replication_stats` and `_scheduler` show them."""
    counts = job.counts
    return {
        "revisions_checked": counts["missing_checked"],
        "missing_revisions_found": counts["missing_found"],
        "docs_read": counts["docs_read"],
        "docs_written": counts["docs_written"],
        "changes_pending": job.pending,
        "doc_write_failures": counts["doc_write_failures"],
        "bulk_get_docs": counts["bulk_get_docs"],
        "bulk_get_attempts": counts["bulk_get_attempts"],
        "checkpointed_source_seq": job.last_seq,
        "start_time": stamp(job.started),
    }
