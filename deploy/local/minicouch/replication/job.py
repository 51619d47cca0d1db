"""One replication: read changes, ask what is missing, carry it over, remember how far it came."""

import asyncio
import hashlib
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any
from urllib.parse import quote

import orjson

from .peer import Peer, PeerError

BATCH = 500
FETCH = 100
HISTORY = 50
IDLE_MS = 20_000
FIRST_PAUSE = 0.25
ENOUGH = 4.0
MAX_PAUSE_SECONDS = 60.0
CANCELLED = {"ok": True, "cancelled": True}
COUNTS = (
    "missing_checked",
    "missing_found",
    "docs_read",
    "docs_written",
    "doc_write_failures",
    "bulk_get_docs",
    "bulk_get_attempts",
)
SHORT = ("start_time", "end_time", "docs_read", "docs_written", "doc_write_failures")


@dataclass(slots=True)
class Request:
    """What is asked: the two ends as given, and which changes to carry."""

    source: Any
    target: Any
    continuous: bool = False
    create_target: bool = False
    create_target_params: dict[str, Any] = field(default_factory=dict)
    doc_ids: list[str] | None = None
    filter: str | None = None
    query_params: dict[str, Any] = field(default_factory=dict)
    selector: dict[str, Any] | None = None
    since_seq: Any = None
    use_checkpoints: bool = True
    winning_revs_only: bool = False

    @classmethod
    def parse(cls, body: dict[str, Any]) -> "Request":
        """Errors: PeerError 400 for parameters that exclude each other or have a wrong shape."""
        chosen = [name for name in ("doc_ids", "filter", "selector") if body.get(name) is not None]
        if len(chosen) > 1:
            raise PeerError(400, "bad_request", "`doc_ids`,`filter`,`selector` are mutually exclusive")
        for name, kind, words in (
            ("doc_ids", list, "an array"),
            ("selector", dict, "a JSON object"),
            ("query_params", dict, "a JSON object"),
            ("filter", str, "a string"),
            ("create_target_params", dict, "a JSON object"),
            ("continuous", bool, "a boolean"),
        ):
            if body.get(name) is not None and not isinstance(body[name], kind):
                raise PeerError(400, "bad_request", f"parameter `{name}` must be {words}")
        return cls(
            body.get("source"),
            body.get("target"),
            body.get("continuous") is True,
            body.get("create_target") is True,
            body.get("create_target_params") or {},
            body.get("doc_ids"),
            body.get("filter"),
            body.get("query_params") or {},
            body.get("selector"),
            body.get("since_seq"),
            body.get("use_checkpoints") is not False,
            body.get("winning_revs_only") is True,
        )

    @property
    def extension(self) -> str:
        """What tells the names of two jobs apart that do the same work in another way."""
        return ("+continuous" if self.continuous else "") + ("+create_target" if self.create_target else "")


def filter_source(request: Request, source: Peer) -> str | None:
    """The filter function's text: a changed one is other work. Errors: PeerError 404."""
    if request.filter is None or request.filter.startswith("_"):
        return request.filter
    design, _, name = request.filter.partition("/")
    if not name:
        raise PeerError(400, "error", "Invalid filter. Must match `ddocname/filtername`.")
    try:
        found = source.call("GET", f"_design/{quote(design, safe='')}").get("filters", {}).get(name)
    except PeerError as error:
        raise PeerError(
            404,
            "not_found",
            f'Couldn\'t open document `_design/{design}` from source database `{source.url}`: {{error,<<"{error.error}">>}}',
        ) from None
    if not isinstance(found, str):
        raise PeerError(
            404, "not_found", f"`filters.{name}` is missing from `_design/{design}` of {source.url}"
        )
    return found


def replication_id(request: Request, source: Peer, target: Peer, server: str) -> str:
    """The same for the same work, so that it goes on where it stopped. Errors: PeerError for a missing filter."""
    which = [
        request.doc_ids,
        filter_source(request, source),
        request.query_params,
        request.selector,
        request.winning_revs_only,
    ]
    named = orjson.dumps([server, source.url, target.url, *which], option=orjson.OPT_SORT_KEYS)
    return hashlib.md5(named, usedforsecurity=False).hexdigest()


class Job(threading.Thread):
    """Runs in its own thread; `finished` is called there, with the result or a PeerError.

    A persistent one outlasts any failure that may pass; others give up after some seconds. `outcome` is its starter's, to
    wait for; `last_error` is the failure it waits after.
    """

    def __init__(
        self,
        request: Request,
        source: Peer,
        target: Peer,
        identity: str,
        finished: Callable[["Job", dict[str, Any] | PeerError], None],
        outcome: "asyncio.Future[dict[str, Any]]",
        user: str | None = None,
        persistent: bool = False,
    ) -> None:
        super().__init__(daemon=True, name=f"replication-{identity[:8]}")
        self.request = request
        self.source = source
        self.target = target
        self.identity = identity
        self.outcome = outcome
        self.user = user
        self.counts = dict.fromkeys(COUNTS, 0)
        self.started = time.time()
        self.pending: int | None = None
        self.last_seq: Any = 0
        self.last_error: PeerError | None = None
        self._finished = finished
        self._persistent = persistent or request.continuous
        self._pause = FIRST_PAUSE
        self._cancelled = threading.Event()

    @property
    def name_shown(self) -> str:
        return self.identity + self.request.extension

    def cancel(self) -> None:
        self._cancelled.set()

    def run(self) -> None:
        result: dict[str, Any] | PeerError = PeerError(500, "unknown_error", "it broke off, see the log")
        try:
            result = self._until_done()
        finally:
            self._finished(self, result)

    def _until_done(self) -> dict[str, Any] | PeerError:
        while True:
            try:
                return self._replicate()
            except PeerError as error:
                temporary = error.status == 0 or error.status >= 500 or error.status in (409, 429)
                if not temporary or (self._pause >= ENOUGH and not self._persistent):
                    return error
                self.last_error = error
            if self._cancelled.wait(self._pause):
                return CANCELLED
            self._pause = min(2 * self._pause, MAX_PAUSE_SECONDS)

    def _replicate(self) -> dict[str, Any]:
        self.source.open()
        self.target.open(self.request.create_target_params if self.request.create_target else None)
        log, other = (self._checkpoint(peer) for peer in (self.source, self.target))
        since, before = common_sequence(log, other)
        if self.request.since_seq is not None:
            since, before = self.request.since_seq, {}
        self.counts |= {name: before[name] for name in COUNTS if isinstance(before.get(name), int)}
        checked = self.counts["missing_checked"]
        start = self.last_seq = since
        entry = {
            "session_id": uuid.uuid4().hex,
            "start_time": formatdate(usegmt=True),
            "start_last_seq": since,
        }
        waited = False
        while True:
            body = self._changes(self.last_seq, waited)
            rows = body["results"]
            self._carry(rows)
            if self._cancelled.is_set():
                return CANCELLED
            self.pending = body.get("pending")
            moved, self.last_seq = body["last_seq"] != self.last_seq, body["last_seq"]
            self.last_error, self._pause = None, FIRST_PAUSE
            if moved and rows and self.request.use_checkpoints:
                self._remember(entry, log)
            if not rows and not self.pending:
                if not self.request.continuous:
                    break
                waited = True
        if self.counts["missing_checked"] == checked:
            nothing = {
                "session_id": entry["session_id"],
                "source_last_seq": start,
                "replication_id_version": 4,
                "history": [],
            }
            return {"ok": True, "no_changes": True} | (_shown(log) or nothing)
        return {"ok": True} | _shown(self._remember(entry, log))

    def _checkpoint(self, peer: Peer) -> dict[str, Any]:
        return peer.local(self.identity) if self.request.use_checkpoints else {}

    def _changes(self, since: Any, wait: bool) -> dict[str, Any]:
        request = self.request
        query: dict[str, Any] = {
            "since": since if isinstance(since, str | int) else orjson.dumps(since).decode(),
            "limit": BATCH,
        }
        if not request.winning_revs_only:
            query["style"] = "all_docs"
        if wait:
            query |= {"feed": "longpoll", "timeout": IDLE_MS}
        if request.doc_ids is not None:
            return self.source.call(
                "POST", "_changes", {"doc_ids": request.doc_ids}, query | {"filter": "_doc_ids"}
            )
        if request.selector is not None:
            return self.source.call(
                "POST", "_changes", {"selector": request.selector}, query | {"filter": "_selector"}
            )
        if request.filter is not None:
            query |= {"filter": request.filter} | request.query_params
        return self.source.call("GET", "_changes", query=query)

    def _carry(self, rows: list[dict[str, Any]]) -> None:
        """Copy what the target misses of these, or less when cancelled."""
        if not rows or self._cancelled.is_set():
            return
        known = {row["id"]: [change["rev"] for change in row["changes"]] for row in rows}
        self.counts["missing_checked"] += sum(len(revs) for revs in known.values())
        missing = self.target.call("POST", "_revs_diff", known)
        wanted = [{"id": docid, "rev": rev} for docid, found in missing.items() for rev in found["missing"]]
        self.counts["missing_found"] += len(wanted)
        for first in range(0, len(wanted), FETCH):
            if self._cancelled.is_set():
                return
            self._copy(wanted[first : first + FETCH])

    def _copy(self, wanted: list[dict[str, str]]) -> None:
        query = {"revs": "true", "latest": "true", "attachments": "true"}
        answer = self.source.call("POST", "_bulk_get", {"docs": wanted}, query)
        entries = [entry for result in answer["results"] for entry in result["docs"]]
        for failed in (entry["error"] for entry in entries if "error" in entry):
            if failed["error"] != "not_found":
                raise PeerError(503, failed["error"], f"{self.source.url}{failed['id']}: {failed['reason']}")
        docs = [entry["ok"] for entry in entries if "ok" in entry]
        unique = list({(doc["_id"], doc["_rev"]): doc for doc in docs}.values())
        self.counts["bulk_get_attempts"] += len(wanted)
        self.counts["bulk_get_docs"] += len(docs)
        self.counts["docs_read"] += len(unique)
        refused = self.target.call("POST", "_bulk_docs", {"docs": unique, "new_edits": False})
        failures = sum(1 for row in refused if "error" in row)
        self.counts["docs_written"] += len(unique) - failures
        self.counts["doc_write_failures"] += failures

    def _remember(self, entry: dict[str, Any], log: dict[str, Any]) -> dict[str, Any]:
        """Write how far it came on both sides; a later run starts where both agree."""
        ended = {
            "end_time": formatdate(usegmt=True),
            "end_last_seq": self.last_seq,
            "recorded_seq": self.last_seq,
        }
        history = [entry | ended | self.counts, *log.get("history", [])][:HISTORY]
        doc = {
            "session_id": entry["session_id"],
            "source_last_seq": self.last_seq,
            "replication_id_version": 4,
        }
        if self.request.doc_ids is not None:
            doc |= {name: history[0][name] for name in SHORT}
        doc["history"] = history
        if self.request.use_checkpoints:
            self.target.call("POST", "_ensure_full_commit", {})
            self.source.put_local(self.identity, doc)
            self.target.put_local(self.identity, doc)
        return doc


def common_sequence(log: dict[str, Any], other: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Where two checkpoints agree, and the numbers counted up to there; 0 when they never did."""
    if log.get("session_id") and log.get("session_id") == other.get("session_id"):
        return log["source_last_seq"], (log.get("history") or [{}])[0]
    known = {entry["session_id"] for entry in other.get("history", [])}
    for entry in log.get("history", []):
        if entry["session_id"] in known:
            return entry["recorded_seq"], entry
    return 0, {}


def _shown(log: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in log.items() if not key.startswith("_")}
