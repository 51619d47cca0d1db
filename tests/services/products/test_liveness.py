"""`/health/live` says that the process lives, whatever the database does."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator

import orjson
import pytest

from services.products.documents import DESIGN
from shared.couch import Server
from tests.processes import Process, start_minicouch
from tests.raw_http import RawConnection, raw_connection

CLIENTS = 24


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Process, str]]:
    process, url = start_minicouch(tmp_path_factory.mktemp("stopped") / "data")
    Server(url, prefix="live-", timeout=60).prepare([DESIGN], progress=lambda line: None)
    yield process, url
    process.stop()


@pytest.fixture
def stopped(database: tuple[Process, str], service: Callable[..., str]) -> Iterator[str]:
    """The URL of a products service whose database was stopped (SIGSTOP): it takes connections and answers none."""
    process, couch_url = database
    url = service("products", COUCH_URL=couch_url, DATABASE_PREFIX="live-", WEB_WORKERS="1")
    with raw_connection(url) as connection:
        connection.send_head("GET", "/v1/products/p1")
        assert connection.response().status == 404
    os.killpg(process.popen.pid, signal.SIGSTOP)
    yield url
    os.killpg(process.popen.pid, signal.SIGCONT)


def test_liveness_is_answered_before_those_who_wait_for_the_database(stopped: str) -> None:
    with contextlib.ExitStack() as stack:
        hanging: list[RawConnection] = []
        for number in range(CLIENTS):
            hanging.append(stack.enter_context(raw_connection(stopped)))
            hanging[-1].send_head("GET", f"/v1/products/p{number}")
        with raw_connection(stopped) as probe:
            for path in ("/health/live", "/health/live", "/metrics"):
                probe.send_head("GET", path)
                answer = probe.response()
                assert answer.status == 200
                if path == "/health/live":
                    assert orjson.loads(answer.body) == {"status": "ok"}
        assert not all(connection.has_answer() for connection in hanging), "none of them waited any longer"
        assert {connection.response().status for connection in hanging} == {503}


def test_a_probe_is_told_by_its_path_alone(stopped: str) -> None:
    """With a query string and by HEAD too, as probes are written."""
    with raw_connection(stopped) as probe:
        probe.send_head("GET", "/health/live?from=kubelet")
        assert probe.response().status == 200
        probe.send_head("HEAD", "/health/live", Connection="close")
        assert probe.rest().startswith(b"HTTP/1.1 200 ")
