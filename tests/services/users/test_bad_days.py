"""The database or Redis away, a stop in the middle, and logs that tell nothing about people."""

import http.client
import json
import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import urllib3

from services.users.documents import DESIGN
from shared.couch import Server
from tests.processes import free_port, start_minicouch, start_redis, start_service
from tests.services.users.conftest import PASSWORD, Api, emails_with_token, log_in, new_email

OWN = {"ARGON2_MEMORY_KIB": "64", "ARGON2_PASSES": "1", "REGISTRATIONS_PER_HOUR": "10"}


@pytest.fixture(scope="module")
def own(tmp_path_factory, environment):
    """A users service with a database and a Redis of its own, to take away."""
    folder = tmp_path_factory.mktemp("own")
    ports = {"couch": free_port(), "redis": free_port()}
    couch, couch_url = start_minicouch(folder / "data", port=ports["couch"])
    redis, redis_url = start_redis(folder, port=ports["redis"])
    Server(couch_url, prefix="own-", timeout=60).prepare([DESIGN], progress=lambda line: None)
    env = {**environment, **OWN, "COUCH_URL": couch_url, "DATABASE_PREFIX": "own-", "REDIS_URL": redis_url}
    log = folder / "users.log"
    service, url = start_service("users", log, env)
    parts = {"couch": couch, "redis": redis, "service": service}
    yield {
        "api": Api(url),
        "log": log,
        "parts": parts,
        "ports": ports,
        "folder": folder,
        "mail": Path(environment["MAIL_DIR"]),
    }
    for part in parts.values():
        part.kill()


def someone(own, email):
    api = own["api"]
    assert (
        api.post("/v1/users", {"name": "Zoe Quill", "email": email, "password": PASSWORD}).status_code == 201
    )
    token = emails_with_token(own["mail"], email)[0].text.split("token=")[1].split()[0]
    assert api.post("/v1/users/verify", {"token": token}).status_code == 200
    return log_in(api, email)


def is_away(answer):
    """That it comes within 3 s is in `tests/test_timeouts.py`; here a call that hangs ends with its own time-out."""
    assert (answer.status_code, answer.headers["Content-Type"]) == (503, "application/problem+json")
    assert int(answer.headers["Retry-After"]) >= 1


def until_ready(api):
    for _ in range(100):
        if api.get("/health/ready").status_code == 200:
            return
        time.sleep(0.1)
    raise AssertionError(api.get("/health/ready").text)


@contextmanager
def away(own, part, start):
    """Kills a part for the block and starts it again at its port."""
    own["parts"][part].kill()
    try:
        yield
    finally:
        own["parts"][part], _ = start(port=own["ports"][part])
    until_ready(own["api"])


def test_the_database_away_is_503_and_comes_back(own):
    ann = someone(own, "away@example.com")
    requests = [
        ("GET", "/v1/users/me", {}),
        ("POST", "/v1/users/me/addresses", {"json": {"name": "n", "address": "a"}}),
        ("POST", "/v1/sessions", {"json": {"email": ann.email, "password": PASSWORD}}),
        ("POST", "/v1/users", {"json": {"name": "n", "email": "later@example.com", "password": PASSWORD}}),
    ]
    with away(own, "couch", partial(start_minicouch, own["folder"] / "data")):
        for method, path, options in requests:
            is_away(ann.call(method, path, **options))
        ready = own["api"].get("/health/ready")
        assert (ready.status_code, ready.json()["checks"]["redis"]) == (503, "ok")
        assert ready.json()["checks"]["database"] != "ok"
        assert own["api"].get("/health/live").status_code == 200
    assert ann.get("/v1/users/me").status_code == 200


def test_a_password_that_the_database_takes_no_more_is_told_to_operators_alone(own):
    """It was a 500 that showed every caller the database's own words, or the name of the setting to look at."""
    ann = someone(own, "denied@example.com")
    place, folder = {"port": own["ports"]["couch"]}, own["folder"] / "data"
    own["parts"]["couch"].kill()
    own["parts"]["couch"], _ = start_minicouch(folder, "--admin", "admin:changed", **place)
    try:
        answer = own["api"].post("/v1/sessions", {"email": ann.email, "password": PASSWORD})
    finally:
        own["parts"]["couch"].kill()
        own["parts"]["couch"], _ = start_minicouch(folder, **place)
    is_away(answer)
    assert answer.json()["detail"] == "The shop's database refuses its credentials."
    assert "answered 503 database_denied: Name or password is incorrect" in own["log"].read_text()
    until_ready(own["api"])
    assert ann.get("/v1/users/me").status_code == 200


def test_redis_away_is_503_where_it_is_needed_and_comes_back(own):
    ann = someone(own, "redis@example.com")
    with away(own, "redis", partial(start_redis, own["folder"])):
        is_away(ann.call("POST", "/v1/sessions", json={"email": ann.email, "password": PASSWORD}))
        address = {"json": {"name": "n", "address": "a"}, "headers": {"Idempotency-Key": "k"}}
        is_away(ann.call("POST", "/v1/users/me/addresses", **address))
        assert ann.get("/v1/users/me").status_code == 200, "what needs no Redis goes on"
    assert log_in(own["api"], ann.email).userid == ann.userid


def test_a_redis_that_stands_still_keeps_nobody_waiting(own):
    """Each login waited for it once more: 24 of them 6.5 s. Later ones are answered at once."""
    until_ready(own["api"])
    redis = own["parts"]["redis"].popen.pid

    def log_in_somewhere(number: int) -> float:
        began = time.monotonic()
        is_away(
            own["api"].post("/v1/sessions", {"email": f"still{number}@example.com", "password": PASSWORD})
        )
        return time.monotonic() - began

    os.kill(redis, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(24) as pool:
            assert max(pool.map(log_in_somewhere, range(24))) < 3.0 + 2.0
            assert max(pool.map(log_in_somewhere, range(24))) < 1.5
    finally:
        os.kill(redis, signal.SIGCONT)
    until_ready(own["api"])


NO_HTTP = [
    (b"GET /?token=hidden-thing\r\n\r\n", 400),
    (b"GET / HTTP/7.0\r\n\r\n", 400),
    (b"hidden-thing / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: a\r\nbad header: hidden-thing\r\n\r\n", 400),
    (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"".join(b"x-%d: y\r\n" % n for n in range(150)) + b"\r\n", 431),
    (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 20000 + b"\r\n\r\n", 431),
    (b"POST /v1/users HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400),
    (b"POST /v1/users HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gone\r\n\r\n", 501),
    (b"POST /v1/users HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nContent-Length: 0\r\n\r\n", 417),
    (
        b"POST /v1/users HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"hidden-thing\r\n",
        400,
    ),
]


@pytest.mark.parametrize(("sent", "status"), NO_HTTP)
def test_what_is_no_http_is_a_problem_too_and_not_logged(own, sent, status):
    where = urlsplit(own["api"].base)
    with socket.create_connection((where.hostname, where.port), timeout=30) as connection:
        connection.sendall(sent)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        body = json.loads(answer.read())
    assert (answer.status, answer.headers["Content-Type"]) == (status, "application/problem+json")
    assert body["status"] == status
    assert body["code"]
    assert "hidden-thing" not in own["log"].read_text()


def test_one_address_registers_only_so_many(own, environment):
    def register(address):
        headers = {"X-Client-Address": address, "X-Service-Secret": environment["SERVICE_SECRET"]}
        body = {"name": "Ann", "email": new_email(), "password": PASSWORD}
        return Api(own["api"].base, headers=headers).post("/v1/users", body)

    answers = [register("192.0.2.1") for _ in range(12)]
    assert [answer.status_code for answer in answers] == [201] * 10 + [429] * 2
    assert 3000 < int(answers[-1].headers["Retry-After"]) <= 3600, "when the hour is over"
    assert register("192.0.2.2").status_code == 201


def test_the_log_tells_nothing_about_people(own):
    api, email = own["api"], "secret.person@example.com"
    ann = someone(own, email)
    ann.post("/v1/users/me/addresses", {"name": "Home", "address": "12 Hidden Road"})
    ann.post("/v1/users/me/payment-methods", {"provider": "stripe", "reference": "4242424242424242"})
    api.post("/v1/sessions", {"email": email, "password": "wrong password"})
    api.get(f"/v1/users/{email}/4242424242424242?email={email}&token={ann.token}")
    api.get(
        "/v1/users/me", headers={"X-Request-ID": email, "Authorization": f"Bearer {ann.token[:-8]}AAAAAAAA"}
    )
    ann.get(f"/v1/users/me/addresses/{email}")
    time.sleep(0.2)
    log = own["log"].read_text()
    for secret in (
        email,
        "Zoe Quill",
        "12 Hidden Road",
        PASSWORD,
        "4242424242424242",
        ann.token,
        ann.token[:40],
        ann.refresh_token,
    ):
        assert secret not in log
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert any(line.get("route") == "/v1/users/me/addresses" and line["status"] == 201 for line in lines)
    assert len(lines) == len(log.splitlines()), "nothing but JSON lines"


def test_a_stop_finishes_what_is_in_flight(own):
    """SIGTERM while a request waits for the database: it is answered, then the process goes by itself."""
    service, api = own["parts"]["service"], own["api"]
    pool = urllib3.PoolManager(retries=False)
    body = json.dumps({"name": "n", "email": "stop@example.com", "password": PASSWORD}).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close"}

    def slowly():
        yield body[:20]
        service.popen.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        yield body[20:]

    answer = pool.request("POST", f"{api.base}/v1/users", body=slowly(), headers=headers, chunked=False)
    assert answer.status == 201, answer.data
    assert service.popen.wait(60) == 0
