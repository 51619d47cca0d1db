"""What is sent again, and to whom: a service over a real database, whose handlers count how often they make something."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask, Response, request
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from services.users.security.keys import SigningKeys
from shared.couch import Database, DatabaseDesign, Server, counting
from shared.sessions import Revocations, Sessions
from shared.settings import WebSettings
from shared.web import (
    Blueprint,
    Tokens,
    add_log_fields,
    create_service,
    current_dependencies,
    current_user,
    depends_on_more,
    json_answer,
    optional_user,
    require_user,
    sent_again,
)

DESIGN = DatabaseDesign("sent_again", ())
shelves = Blueprint("shelves", __name__, url_prefix="/v1/shelves", description="Shelves")


class Shelves:
    """Where the handlers read, what they made, and the settings that they act by."""

    def __init__(self, database: Database) -> None:
        self.database, self.made, self.begun = database, 0, 0
        self.settings: dict[str, str] = {"sign": "open"}

    def read(self, name: str) -> list[str]:
        self.begun += 1
        docs = self.database.partition(name).all()
        self.made += 1
        return [doc["_id"] for doc in docs]


def shelves_at_hand() -> Shelves:
    return current_dependencies(Shelves)


@shelves.get("/own/<name>")
@require_user
@sent_again()
@shelves.response(200)
def own(name: str) -> Response:
    """What is on a shelf, for who asks"""
    things = shelves_at_hand().read(name)
    add_log_fields(shelf=name)
    return json_answer(
        {"things": things, "for": current_user().userid, "as": request.args.get("as")},
        status=202 if request.args.get("as") == "accepted" else 200,
        etag=f'"{len(things)}"',
        headers={"Cache-Control": "private"},
    )


@shelves.get("/signed/<name>")
@sent_again(
    lambda: (optional_user(), request.headers.get("X-Mark")), given=lambda: (shelves_at_hand().settings,)
)
@shelves.response(200)
def signed(name: str) -> Response:
    """The same with what the shop's settings and a header say"""
    if request.args.get("now"):
        depends_on_more()
    found = shelves_at_hand()
    return json_answer({"things": found.read(name), "mark": request.headers.get("X-Mark"), **found.settings})


@pytest.fixture(scope="module")
def database(server: Server, prepared: Callable[..., None]) -> Database:
    prepared(DESIGN)
    return server.open(DESIGN)


class ListedSessions:
    def __init__(self) -> None:
        self.listed = Revocations()

    def revocations(self) -> Revocations:
        return self.listed

    def roles_now(self, user: Any) -> tuple[str, ...] | None:
        return ()


@pytest.fixture
def app(settings: WebSettings, keys: SigningKeys, database: Database) -> Flask:
    return create_service(
        "shelves",
        settings,
        [shelves],
        title="Shelves",
        ready={},
        tally=counting,
        tokens=Tokens(keys.public_key),
        sessions=ListedSessions(),
        dependencies=Shelves(database),
    )


@pytest.fixture
def found(app: Flask, database: Database) -> Iterator[Shelves]:
    """A shelf `red` with one thing on it."""
    rev = database.put({"_id": "red:1", "type": "thing"})
    yield app.extensions["aisle.dependencies"]
    database.delete("red:1", rev)


@pytest.fixture
def ask(app: Flask, found: Shelves, keys: SigningKeys) -> Callable[..., TestResponse]:
    def asked(path: str, user: str = "u1", method: str = "GET", **headers: str) -> TestResponse:
        client: FlaskClient = app.test_client()
        token = keys.access_token(user, f"session of {user}", []) if user else ""
        bearer = {"Authorization": f"Bearer {tokens.setdefault(user, token)}"} if user else {}
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return client.open(f"/v1/shelves/{path}", method=method, headers={**bearer, **sent})

    tokens: dict[str, str] = {}
    return asked


def is_one_partition_query(answer: TestResponse) -> bool:
    return (
        "partition;dur=" in answer.headers["Server-Timing"]
        and answer.headers["Server-Timing"].count('desc="1"') == 1
    )


def test_the_same_answer_goes_out_and_the_database_is_asked(ask: Callable[..., TestResponse], found: Shelves):
    first = ask("own/red")
    assert first.json == {"things": ["red:1"], "for": "u1", "as": None}
    for _ in range(3):
        again = ask("own/red")
        assert is_one_partition_query(again)
        assert (again.data, again.status) == (first.data, first.status)
        for name in ("ETag", "Cache-Control", "Content-Type", "Content-Length"):
            assert again.headers.getlist(name) == first.headers.getlist(name), name
    assert (found.begun, found.made) == (1, 1)


def test_what_changed_is_in_the_next_answer(ask: Callable[..., TestResponse], found: Shelves):
    ask("own/red")
    rev = found.database.put({"_id": "red:2", "type": "thing"})
    changed = ask("own/red")
    assert changed.json["things"] == ["red:1", "red:2"]
    assert is_one_partition_query(changed)
    found.database.delete("red:2", rev)
    assert ask("own/red").json["things"] == ["red:1"]


def test_who_has_this_version_is_told_so(ask: Callable[..., TestResponse], found: Shelves):
    ask("own/red")
    same = ask("own/red", If_None_Match='"1"')
    assert (same.status_code, same.data, same.headers["ETag"]) == (304, b"", '"1"')
    assert "Content-Type" not in same.headers
    assert ask("own/red", If_None_Match='"0"').json["things"] == ["red:1"]
    assert found.made == 1


def test_nobody_gets_what_was_made_for_somebody_else(ask: Callable[..., TestResponse], found: Shelves):
    for path in ("own/red", "own/red?as=list", "own/blue"):
        for user in ("u1", "u2", "u1"):
            answer = ask(path, user)
            assert answer.json["for"] == user
            assert answer.json["as"] == ("list" if "list" in path else None)
    assert found.made == 6
    assert ask("own/red", user="").status_code == 401


def test_an_ended_session_gets_nothing(ask: Callable[..., TestResponse], found: Shelves, app: Flask):
    assert ask("own/red").status_code == 200
    app.extensions["aisle.sessions"] = Sessions(ended := ListedSessions())
    ended.listed = Revocations(sessions=frozenset({"session of u1"}))
    assert ask("own/red").status_code == 401
    assert ask("own/red", "u2").status_code == 200


def test_headers_and_settings_decide_too(ask: Callable[..., TestResponse], found: Shelves):
    marks = [ask("signed/red", user="", X_Mark=mark).json["mark"] for mark in ("a", "b", "a", "b")]
    assert (marks, found.made) == (["a", "b", "a", "b"], 2)
    found.settings = {"sign": "closed"}
    assert ask("signed/red", user="", X_Mark="a").json["sign"] == "closed"
    assert found.made == 3


def test_what_depends_on_more_is_made_each_time(ask: Callable[..., TestResponse], found: Shelves):
    for number in range(1, 4):
        assert ask("signed/red?now=1", user="").status_code == 200
        assert found.made == number


def test_only_a_plain_success_is_sent_again(ask: Callable[..., TestResponse], found: Shelves):
    for number in range(1, 4):
        assert ask("own/red?as=accepted").status_code == 202
        assert found.made == number


def test_a_head_has_no_body(ask: Callable[..., TestResponse], found: Shelves):
    first = ask("own/red")
    head = ask("own/red", method="HEAD")
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["Content-Length"] == first.headers["Content-Length"]


def test_the_log_names_what_is_sent_again(ask: Callable[..., TestResponse], app: Flask):
    noted = []

    @app.teardown_request
    def note(_: object) -> None:
        noted.append(dict(request.environ.get("aisle.noted", {})))

    ask("own/red")
    ask("own/red")
    assert noted == [{"shelf": "red"}, {"shelf": "red"}]
