"""The load generator of the bench, a process of its own, against a server that hangs up, is slow or is not there."""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.bench.cases import NotMeasured
from tests.bench.running import ROOT
from tests.bench.shop import load_generated


class _Answers(BaseHTTPRequestHandler):
    """Says "ok" and hangs up, as HTTP/1.0 does."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *told: object) -> None:
        pass


class _HangsUp(_Answers):
    """Promises more than it says."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()


@contextmanager
def _served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    path = tmp_path / "requests.ndjson"
    path.write_text(json.dumps({"path": "/"}))
    return path


def test_each_client_asks_once_however_short_the_time_is(asked: Path) -> None:
    with _served(_Answers) as url:
        assert load_generated(url, asked, 3, 0)["statuses"] == {"200": 3}


def test_a_client_connects_again_when_the_server_hung_up_after_an_answer(asked: Path) -> None:
    with _served(_Answers) as url:
        command = [
            sys.executable,
            "-m",
            "tests.bench.load",
            url,
            str(asked),
            "--seconds",
            "60",
            "--most",
            "3",
        ]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(run.stdout)["statuses"] == {"200": 3}


def test_it_says_what_the_server_did(asked: Path) -> None:
    with _served(_HangsUp) as url, pytest.raises(NotMeasured, match=f"{url}: hung up before its answer"):
        load_generated(url, asked, 1, 0.2)


def test_it_says_that_nobody_listens(asked: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(NotMeasured, match=r"refused"):
            load_generated(url, asked, 1, 0.2)
