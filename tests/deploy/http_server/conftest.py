"""gunicorn as the services run, with a small application and few threads."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.processes import Process, answers, free_port
from tests.raw_http import RawConnection, raw_connection


@dataclass(frozen=True)
class Server:
    """A running server; `folder` is where `/wait/NAME` looks for NAME."""

    url: str
    folder: Path
    process: Process

    def connect(self) -> RawConnection:
        return RawConnection(self.url)

    def get(self, path: str = "/") -> bytes:
        """One request on a connection of its own."""
        with raw_connection(self.url) as connection:
            connection.send_head("GET", path)
            return connection.response().body


@contextmanager
def running(folder: Path, threads: int, program: str = "gunicorn", *options: str) -> Iterator[Server]:
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = [sys.executable, "-m", program, "-c", "deploy/gunicorn.conf.py", *options]
    env = {"BIND": f"127.0.0.1:{port}", "WEB_THREADS": str(threads), "FOLDER": str(folder)}
    process = Process("server", [*command, "tests.deploy.http_server.app:application"], folder / "log", env)
    process.wait_until(answers(f"{url}/health/live"))
    try:
        yield Server(url, folder, process)
    finally:
        if process.popen.poll() is None:
            process.stop()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[int], Server]]:
    """`start(threads)`."""
    with ExitStack() as stack:
        yield lambda threads: stack.enter_context(running(tmp_path, threads))
