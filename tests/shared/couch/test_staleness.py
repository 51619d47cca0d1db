"""How long a reader waits for an index that may be behind, and what it gets then."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from shared.couch import DatabaseUnavailable, SearchUnavailable, staleness
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


class Unread(Index):
    """One that a server does not read while it is behind; `during` happens while a reader waits for it."""

    during: Callable[[], None] | None = None

    def read_fresh(self) -> str:
        return str(self._reads.ask_fresh("products/by_name", self._ask, TIMEOUT))

    def _ask(self, call_timeout: float = TIMEOUT, stale: str = "") -> str:
        assert not stale
        if during := self.during:
            during()
        return super()._ask(call_timeout)


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> Unread:
    return Unread(monkeypatch)


def test_an_index_that_is_not_read_behind_is_waited_for_all_the_time_there_is(unread: Unread) -> None:
    unread.behind = True
    for _ in range(3):
        with pytest.raises(SearchUnavailable, match="behind"):
            unread.read_fresh()
    assert sum(unread.waits) == pytest.approx(3 * TIMEOUT)
    unread.behind = False
    assert unread.read_fresh() == "fresh"


def test_two_wait_for_it_at_once_and_all_others_are_refused(unread: Unread) -> None:
    unread.behind = True
    with pytest.raises(SearchUnavailable):
        unread.read_fresh()
    questions = []

    def third() -> None:
        unread.during, before = None, len(unread.waits)
        with pytest.raises(SearchUnavailable):
            unread.read_fresh()
        questions.append(len(unread.waits) - before)

    def second() -> None:
        unread.during = third
        with pytest.raises(SearchUnavailable):
            unread.read_fresh()

    unread.during = second
    with pytest.raises(SearchUnavailable):
        unread.read_fresh()
    assert questions == [0]


def test_a_refusal_at_once_does_not_say_that_an_index_is_behind(unread: Unread) -> None:
    def refuse() -> None:
        raise DatabaseUnavailable("The database is away.")

    unread.during = refuse
    with pytest.raises(DatabaseUnavailable, match="away"):
        unread.read_fresh()
    unread.during = None
    assert unread.read_fresh() == "fresh"
