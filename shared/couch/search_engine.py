"""Nouveau, the search engine behind a CouchDB: it can be away while the database is well.

CouchDB asks a Nouveau that does not answer for ten seconds before it says so, longer than any reader waits. `_nouveau_analyze`
tells at once. So who had no answer to a search finds out by that, and while Nouveau is away searches fail at once.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .errors import DatabaseUnavailable, Error, SearchUnavailable
from .http import CircuitOpen
from .http.breaker import breaker_for

FAILING_SECONDS = 0.5
"""Less than a fresh read waits for its index (`staleness`), so that the second question knows whether anybody is there."""

Analyze = Callable[[float], object]


class SearchEngine:
    """`analyze` asks for the analysis of a word within so many seconds; `server` names the database server."""

    def __init__(self, server: str, analyze: Analyze) -> None:
        self._analyze = analyze
        self._breaker = breaker_for(f"nouveau of {server}", self._answers, FAILING_SECONDS)

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Around a search. Raises SearchUnavailable instead of asking while Nouveau is away."""
        began = time.monotonic()
        try:
            self._breaker.check()
        except CircuitOpen as error:
            raise SearchUnavailable from error
        try:
            yield
        except DatabaseUnavailable:
            self._breaker.failed(began)
            raise
        except Error:
            self._breaker.succeeded()
            raise
        self._breaker.succeeded()

    def require(self, seconds: float) -> None:
        """Raises SearchUnavailable when Nouveau does not answer within so many seconds."""
        if not self._answers(seconds):
            raise SearchUnavailable

    def _answers(self, seconds: float) -> bool:
        try:
            self._analyze(seconds)
        except DatabaseUnavailable:
            return False
        except Error:
            return True  # a server that knows no such question, or refuses it to us, still answers
        return True
