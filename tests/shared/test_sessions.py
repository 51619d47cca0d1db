"""How long a process trusts what it knows of ended sessions, and what it does when it cannot ask."""

import threading
import time
from collections.abc import Callable

import pytest

from shared.client import ServiceClient
from shared.errors import Unavailable
from shared.sessions import AccountChange, RemoteSessions, Revocations, SessionEnded, Sessions
from shared.user import User
from tests.shared.couch.http.servers import Connection, response, serving

SECONDS = 0.2
ANN = User("ann", ("customer",), session="s1", session_started=1000, as_of=5000)


class Source:
    """The users service, as a test says."""

    def __init__(self, revocations: Revocations | None = None) -> None:
        self.known, self.roles, self.away, self.asked = revocations or Revocations(), ("customer",), False, 0
        self.slow: threading.Event | None = None

    def revocations(self) -> Revocations:
        self.asked += 1
        if self.slow:
            self.slow.wait(30)
        if self.away:
            raise Unavailable
        return self.known

    def roles_now(self, user: User) -> tuple[str, ...] | None:
        if self.away:
            raise Unavailable
        return self.roles


def eventually(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.02)


def ended(sessions: Sessions, user: User) -> bool:
    try:
        sessions.check(user)
    except SessionEnded:
        return True
    return False


def test_revocations_are_what_json_carries() -> None:
    known = Revocations(3.0, frozenset({"a", "b"}), {"ann": AccountChange(5, 4, ("customer", "staff"))})
    assert Revocations.from_json(known.as_json()) == known


@pytest.mark.parametrize(
    ("changed", "sessions_from", "roles"),
    [(4000, 0, ("customer",)), (6000, 1000, ("customer", "staff")), (6000, 1001, None)],
)
def test_a_token_older_than_a_change_has_the_new_roles_or_ends(
    changed: int, sessions_from: int, roles: tuple[str, ...] | None
) -> None:
    known = Revocations(accounts={"ann": AccountChange(changed, sessions_from, ("customer", "staff"))})
    if roles is None:
        with pytest.raises(SessionEnded):
            known.apply(ANN)
    else:
        assert known.apply(ANN).roles == roles


def test_a_session_that_ends_is_known_while_others_are_served() -> None:
    source = Source()
    sessions = Sessions(source, SECONDS)
    assert not ended(sessions, ANN)
    source.known = Revocations(sessions=frozenset({"s1"}))
    eventually(lambda: ended(sessions, ANN))


def test_nothing_is_asked_for_each_request() -> None:
    source = Source()
    sessions = Sessions(source, 60)
    for _ in range(100):
        sessions.check(ANN)
    assert source.asked == 1


def test_a_process_that_cannot_ask_refuses_once_its_knowledge_is_old() -> None:
    source = Source()
    sessions = Sessions(source, 60)
    sessions.check(ANN)
    source.away = True
    sessions.check(ANN)
    sessions._as_of -= 3 * 60  # as if three minutes had passed
    with pytest.raises(Unavailable):
        sessions.check(ANN)
    source.away = False
    eventually(lambda: _answers(sessions))


def _answers(sessions: Sessions) -> bool:
    try:
        sessions.check(ANN)
    except Unavailable:
        return False
    return True


def test_knowledge_is_as_old_as_where_it_came_from_says() -> None:
    source = Source(Revocations(age=4 * SECONDS))
    with pytest.raises(Unavailable):
        Sessions(source, SECONDS).check(ANN)


def test_an_answer_that_hangs_holds_nobody_while_the_last_one_is_good() -> None:
    source = Source()
    sessions = Sessions(source, 5)
    sessions.check(ANN)
    source.slow = threading.Event()
    sessions._as_of -= 6  # as if five seconds had passed
    began = time.monotonic()
    for _ in range(50):
        sessions.check(ANN)
    assert time.monotonic() - began < 2.5
    eventually(lambda: source.asked == 2)
    source.slow.set()


def test_confirmation_is_of_this_moment_and_unknown_is_no() -> None:
    source = Source()
    sessions = Sessions(source, 60)
    source.roles = ("customer", "admin")
    assert sessions.confirm(ANN).roles == ("customer", "admin")
    source.roles = None
    with pytest.raises(SessionEnded):
        sessions.confirm(ANN)
    source.away = True
    with pytest.raises(Unavailable):
        sessions.confirm(ANN)


def test_an_older_users_service_logs_nobody_out_and_confirms_nobody() -> None:
    """During an upgrade the other services may be new before it is: it does not know these addresses yet."""

    def serve(connection: Connection) -> None:
        while connection.read() is not None:
            connection.send(response(b'{"code": "not_found"}', "404 Not Found"))

    with serving(serve) as older:
        sessions = Sessions(RemoteSessions(ServiceClient("users", older.url, "secret")), SECONDS)
        assert sessions.check(ANN) == ANN
        with pytest.raises(Unavailable):
            sessions.confirm(ANN)
