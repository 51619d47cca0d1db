"""Cloudant's way in: an API key becomes a token at IAM, kept while it is good, whatever happens to IAM, and exchanged when Cloudant takes it no more."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import jwt
import pytest

from shared.couch import DatabaseDenied, DatabaseDesign, DatabaseUnavailable, Server, iam
from tests.shared.couch.http.servers import Connection, response, serving


class Cloud:
    """IAM and a database in one server: `status` is what IAM answers, `life` how long its tokens are good, `good` whether the database takes
    one of those it was given."""

    def __init__(self) -> None:
        self.status, self.life, self.asked, self.shown = 200, 3600, [], []
        self.good: Callable[[str], bool] = lambda token: True
        cloud = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                cloud.asked.append(form["apikey"][0])
                now = int(time.time())
                claims = {"iat": now, "exp": now + cloud.life, "n": len(cloud.asked)}
                token = jwt.encode(claims, "k" * 32, algorithm="HS256")
                self.answer(cloud.status, {"access_token": token})

            def do_GET(self) -> None:
                token = self.headers["Authorization"].partition("Bearer ")[2]
                cloud.shown.append(token)
                if cloud.good(token):
                    self.answer(200, {"_id": "a:b", "id": "a:b", "rev": "1-x", "_rev": "1-x", "ok": True})
                else:
                    self.answer(401, {"error": "unauthorized", "reason": "Token is no longer valid"})

            def answer(self, status: int, body: dict) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    cloud = Cloud()
    yield cloud
    cloud.server.shutdown()
    cloud.server.server_close()


@pytest.fixture
def server(cloud: Cloud) -> Server:
    server = Server(cloud.url, apikey="the key")
    server.client.sdk.authenticator.token_manager.url = cloud.url
    return server


def read(server: Server) -> dict:
    return server.open(DatabaseDesign("anything", ())).get("a:b")


def test_one_token_is_asked_for_and_shown_by_all(cloud: Cloud, server: Server) -> None:
    threads = [threading.Thread(target=read, args=[server]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cloud.asked == ["the key"]
    assert len(cloud.shown) == 8
    assert len(set(cloud.shown)) == 1


def test_a_good_token_outlives_iam(cloud: Cloud, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iam, "_RETRY_SECONDS", 0)
    read(server)
    tokens, cloud.status = server.client.sdk.authenticator.token_manager, 503
    tokens.refresh_time = 0
    read(server)
    assert len(cloud.asked) == 2, "it tried, and the old one goes on"
    read(server)
    assert len(cloud.asked) == 2, "and it does not try at every call"
    tokens.refresh_time, cloud.status = 0, 200
    read(server)
    assert len(set(cloud.shown)) == 2, "the new one is shown once there is one"


def test_without_a_token_iam_away_is_the_database_away_for_all_and_comes_back(
    cloud: Cloud, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(iam, "_RETRY_SECONDS", 300)
    cloud.status = 503
    for _ in range(5):
        with pytest.raises(DatabaseUnavailable, match="IAM gives no token"):
            read(server)
    assert len(cloud.asked) == 1, "nobody waits for what just failed"
    cloud.status = 200
    monkeypatch.setattr(iam, "_RETRY_SECONDS", 0)
    assert read(server)["_id"] == "a:b"


def test_a_wrong_key_is_named(cloud: Cloud, server: Server) -> None:
    cloud.status = 400
    with pytest.raises(DatabaseDenied, match="COUCH_APIKEY") as denied:
        read(server)
    assert "COUCH_APIKEY" not in denied.value.detail, "callers read that"


def exchanged(cloud: Cloud, server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A token that worked and that the database takes no more, long before its time."""
    monkeypatch.setattr(iam, "_TRUSTED_SECONDS", 0)
    read(server)
    refused = cloud.shown[-1]
    cloud.good = lambda token: token != refused
    return refused


def test_a_token_that_is_taken_no_more_is_exchanged_in_the_middle_of_a_call(
    cloud: Cloud, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was shown until four fifths of its life were over, and every request refused meanwhile."""
    refused = exchanged(cloud, server, monkeypatch)
    assert read(server)["_id"] == "a:b"
    assert cloud.shown[1] == refused != cloud.shown[2]
    read(server)
    assert len(cloud.shown) == 4, "the next call shows the new one at once"
    assert len(cloud.asked) == 2


def test_of_many_who_are_refused_at_once_one_asks_for_another_token(
    cloud: Cloud, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchanged(cloud, server, monkeypatch)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: read(server)["_id"], range(8)))
    assert found == ["a:b"] * 8
    assert len(cloud.asked) == 2


def test_a_revoked_key_is_named_in_the_middle_of_work_and_IAM_is_not_pestered(
    cloud: Cloud, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(iam, "_RETRY_SECONDS", 300)
    exchanged(cloud, server, monkeypatch)
    cloud.status = 400
    for _ in range(5):
        with pytest.raises(DatabaseDenied, match="check COUCH_APIKEY"):
            read(server)
    assert len(cloud.asked) == 2
    cloud.status = 200
    monkeypatch.setattr(iam, "_RETRY_SECONDS", 0)
    assert read(server)["_id"] == "a:b", "a key that is good again works without a restart"


def test_iam_away_while_a_token_is_refused_is_the_database_away(
    cloud: Cloud, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchanged(cloud, server, monkeypatch)
    cloud.status = 503
    with pytest.raises(DatabaseUnavailable, match="IAM gives no token"):
        read(server)


def test_a_new_token_that_is_refused_lacks_a_right(cloud: Cloud, server: Server) -> None:
    cloud.good = lambda token: False
    for _ in range(5):
        with pytest.raises(DatabaseDenied, match="no longer valid"):
            read(server)
    assert len(cloud.asked) == 1, "another one would be refused as well"


def test_an_iam_that_drips_holds_nobody_longer_than_the_timeout(cloud: Cloud) -> None:
    """Each byte gave it the whole time again."""
    token = response(b'{"access_token": "' + b"x" * 400 + b'"}')

    def drip(connection: Connection) -> None:
        connection.read()
        for number in range(len(token)):
            connection.send(token[number : number + 1])
            time.sleep(0.1)

    with serving(drip) as slow:
        server = Server(cloud.url, apikey="the key", timeout=1.0)
        server.client.sdk.authenticator.token_manager.url = slow.url
        began = time.monotonic()
        with pytest.raises(DatabaseUnavailable, match="IAM gives no token"):
            read(server)
        assert time.monotonic() - began < 5.0
