"""A CouchDB whose Nouveau can go away: in front of the real server, and doing what CouchDB 3.5.0 does when nothing listens where its
configuration says that Nouveau is. A search is held for ten seconds and then refused, the analysis of a text is refused at once.

It can be stuck as well, as CouchDB 3.5.0 is when an answer of Nouveau to its indexer is lost: a text is analysed, a search is
not answered in time, and the indexer's task stands where it is. So it is for ever with the indexers that were at work when Nouveau was
killed, each for the function that its index had then: `lose_indexer`.

And it can be a 3.5.2, of which each design document has the version of Lucene that it was first written for, and searches no other."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
import requests

from shared.couch import Server
from tests.forwarding import Forward, Response, forwarding

HELD_SECONDS = 10.0
STUCK_SECONDS = 0.2  # thirty at a real one
REFUSAL = orjson.dumps({"error": "service unavailable", "reason": "Search service unavailable."})
NO_VERSION = orjson.dumps({"error": "bad_request", "reason": "Cannot create a new version 9 index"})
TIMED_OUT = orjson.dumps({"error": "unknown_error", "reason": "req_timedout"})
JSON = {"Content-Type": "application/json"}
SEARCH = re.compile(r"(.+?)(?:/_partition/[^/]+)?(/_design/[^/]+)/_nouveau/([^/?]+)")
LONG_AGO = 3600.0


@dataclass
class Nouveau:
    """`away` until it is set otherwise; `searches` counts what was asked meanwhile. `stuck`: how many more changes its indexer has still
    to take before it stands; None when it is well. `lost`: the tasks of indexers that stand, with the function that each works for.
    `versioned`: it is a 3.5.2."""

    url: str = ""
    target: str = ""
    away: bool = True
    versioned: bool = False
    stuck: int | None = None
    searches: int = 0
    indexed: str = ""
    lost: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    _done: int = 0
    _closed: threading.Event = field(default_factory=threading.Event)

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        if path == "/":
            status, headers, content = forward()
            return (
                status,
                headers,
                orjson.dumps(orjson.loads(content) | {"features": ["partitioned", "nouveau"]}),
            )
        if self.away and SEARCH.search(path):
            self.searches += 1
            ends = time.monotonic() + HELD_SECONDS
            while self.away and time.monotonic() < ends and not self._closed.wait(0.1):
                pass
            if self.away:
                return 503, JSON, REFUSAL
        if self.stuck is not None and SEARCH.search(path):
            self._closed.wait(STUCK_SECONDS)
            return 500, JSON, TIMED_OUT
        if self.stuck is not None and path == "/_active_tasks":
            return 200, JSON, self._task(self.stuck)
        if self.away and path == "/_nouveau_analyze":
            return 503, JSON, REFUSAL
        if self.lost and path == "/_active_tasks":
            status, headers, content = forward()
            return status, headers, orjson.dumps([*orjson.loads(content), *(task for task, _ in self.lost)])
        if self.lost and self._waits_for_a_lost_one(path):
            self._closed.wait(HELD_SECONDS)
            return 500, JSON, TIMED_OUT
        if self.versioned and method == "PUT" and "/_design/" in path:
            return self._written_with_a_version(path, orjson.loads(body))
        if self.versioned and self._lacks_a_version(path):
            return 400, JSON, NO_VERSION
        return forward()

    def _written_with_a_version(self, path: str, design: dict[str, Any]) -> Response:
        if "_rev" not in design:
            for index in design.get("nouveau", {}).values():
                index.setdefault("lucene_version", 10)
        written = requests.put(self.target + path, json=design, timeout=60)
        return written.status_code, JSON, written.content

    def _lacks_a_version(self, path: str) -> bool:
        asked = SEARCH.match(path)
        return bool(asked) and "lucene_version" not in self._index(*asked.groups())

    def lose_indexer(self, db: str, design_id: str, index: str) -> None:
        """As if Nouveau had been killed while this index was added to."""
        task = {
            "type": "search_indexer",
            "node": "nonode@nohost",
            "pid": f"<0.{len(self.lost)}.0>",
            "database": f"shards/00000000-ffffffff/{db}.1700000000",
            "design_document": f"_design/{design_id}",
            "index": index,
            "changes_done": 1,
            "total_changes": 2,
            "progress": 50,
            "started_on": int(time.time() - LONG_AGO),
            "updated_on": int(time.time() - LONG_AGO),
        }
        self.lost.append((task, self._function(f"/{db}", f"/_design/{design_id}", index)))

    def _waits_for_a_lost_one(self, path: str) -> bool:
        asked = SEARCH.match(path)
        return bool(asked) and self._function(*asked.groups()) in [function for _, function in self.lost]

    def _function(self, db: str, design: str, index: str) -> str:
        return str(self._index(db, design, index)["index"])

    def _index(self, db: str, design: str, index: str) -> dict[str, Any]:
        found: dict[str, Any] = requests.get(self.target + db + design, timeout=60).json()["nouveau"][index]
        return found

    def _task(self, left: int) -> bytes:
        """The indexer's; it goes on by one change whenever somebody looks, while any are left to it."""
        self.stuck, self._done = max(0, left - 1), self._done + (left > 0)
        task = {
            "type": "search_indexer",
            "database": "shards/00000000-ffffffff/x.1",
            "changes_done": self._done,
        }
        return orjson.dumps([{**task, "design_document": f"_design/{self.indexed}", "progress": 99}])

    def close(self) -> None:
        self._closed.set()


@contextmanager
def without_nouveau(couch_url: str) -> Iterator[Nouveau]:
    """Such a server in front of the one at `couch_url`."""
    nouveau = Nouveau(target=couch_url)
    with forwarding(couch_url, nouveau.answer) as url:
        nouveau.url = url
        try:
            yield nouveau
        finally:
            nouveau.close()


@contextmanager
def with_nouveau_alone(couch_url: str, server: Server) -> Iterator[str]:
    """The address of such a server whose Nouveau answers: no other search is there. Skips the test where the real one has no Nouveau."""
    if "nouveau" not in server.features():
        pytest.skip("this server has no Nouveau")
    with without_nouveau(couch_url) as nouveau:
        nouveau.away = False
        yield nouveau.url


def skip_where_any_name_is_taken(couch_url: str) -> None:
    """CouchDB sends Nouveau many documents at once from 3.5.2 on, and then the names of fields are not checked."""
    version = requests.get(couch_url, timeout=60).json()["version"]
    if tuple(int(part) for part in version.partition("-")[0].split(".")) >= (3, 5, 2):
        pytest.skip(f"CouchDB {version} takes any name of a field")
