"""A CouchDB whose Nouveau can go away: in front of the real server, and doing what CouchDB 3.5.0 does when nothing listens where its
configuration says that Nouveau is. A search is held for ten seconds and then refused, the analysis of a text is refused at once."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import orjson

from tests.forwarding import Forward, Response, forwarding

HELD_SECONDS = 10.0
REFUSAL = orjson.dumps({"error": "service unavailable", "reason": "Search service unavailable."})
JSON = {"Content-Type": "application/json"}
SEARCH = re.compile(r"/_nouveau/")


@dataclass
class Nouveau:
    """`away` until it is set otherwise; `searches` counts what was asked meanwhile."""

    url: str = ""
    away: bool = True
    searches: int = 0
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
        if self.away and path == "/_nouveau_analyze":
            return 503, JSON, REFUSAL
        return forward()

    def close(self) -> None:
        self._closed.set()


@contextmanager
def without_nouveau(couch_url: str) -> Iterator[Nouveau]:
    """Such a server in front of the one at `couch_url`."""
    nouveau = Nouveau()
    with forwarding(couch_url, nouveau.answer) as url:
        nouveau.url = url
        try:
            yield nouveau
        finally:
            nouveau.close()
