"""How long a reader waits for an index that may be behind, and what it gets then."""

from types import SimpleNamespace
from typing import Any

import pytest

from shared.couch import DatabaseUnavailable, staleness
from shared.couch.staleness import PROBE_SECONDS, PROBE_TIMEOUT, RECENT_SECONDS, StaleReads

TIMEOUT = 2.5


class Index:
    """An index that answers a fresh read only while it is not `behind`, and notes how long each reader would have waited."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.behind, self.waits = 0.0, False, list[float]()
        self._reads = StaleReads()
        monkeypatch.setattr(staleness, "time", SimpleNamespace(monotonic=lambda: self.now))

    def read(self) -> tuple[Any, bool]:
        return self._reads.ask("products/by_name", self._ask, {"stale": "ok"}, TIMEOUT)

    def _ask(self, call_timeout: float = TIMEOUT, stale: str = "") -> str:
        if stale:
            return "older"
        self.waits.append(call_timeout)
        if self.behind:
            self.now += call_timeout
            raise DatabaseUnavailable("The index is behind.")
        return "fresh"


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Index:
    return Index(monkeypatch)


def test_while_an_index_is_behind_only_one_reader_a_second_waits_for_it(index: Index) -> None:
    index.behind = True
    assert [index.read() for _ in range(5)] == [("older", True)] * 5
    assert len(index.waits) == 1
    index.now += PROBE_SECONDS
    assert [index.read() for _ in range(5)] == [("older", True)] * 5
    assert index.waits[1:] == [PROBE_TIMEOUT]


def test_an_index_that_was_behind_lately_is_not_waited_for_long(index: Index) -> None:
    """During an import it is behind, fresh and behind again: each change of these cost a reader a second."""
    index.behind = True
    index.read()
    index.behind, index.now = False, index.now + PROBE_SECONDS
    assert [index.read(), index.read()] == [("fresh", False)] * 2
    index.behind = True
    assert index.read() == ("older", True)
    assert set(index.waits[1:]) == {PROBE_TIMEOUT}
    index.behind, index.now = False, index.now + RECENT_SECONDS
    assert index.read() == ("fresh", False)
    assert index.read() == ("fresh", False)
    assert index.waits[-1] > PROBE_TIMEOUT
