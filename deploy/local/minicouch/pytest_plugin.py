"""pytest's fixtures for whoever tests against CouchDB: a server for the whole run, fresh databases for each test.

Installed with minicouch they are simply there (entry point `pytest11`); nothing runs until a test asks for one.
"""

import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3

START_SECONDS = 30


@pytest.fixture(scope="session")
def minicouch_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL, with its admin, of a minicouch that runs until the last test is over."""
    folder = tmp_path_factory.mktemp("minicouch")
    password, port = secrets.token_hex(8), _free_port()
    log = folder / "log"
    command = [sys.executable, "-m", __package__, "--data", str(folder / "data"), "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen([*command, "--admin", f"admin:{password}"], stdout=output, stderr=output)
    try:
        _wait_for(port, process, log)
        yield f"http://admin:{password}@127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def minicouch_database(minicouch_url: str) -> Iterator[str]:
    """The URL of an empty database, deleted after the test."""
    yield from _database(minicouch_url, "")


@pytest.fixture
def minicouch_partitioned_database(minicouch_url: str) -> Iterator[str]:
    """The same with partitions: ids are `partition:key`."""
    yield from _database(minicouch_url, "?partitioned=true")


def _database(server: str, options: str) -> Iterator[str]:
    url = f"{server}/test-{secrets.token_hex(6)}"
    _request("PUT", url + options)
    yield url
    _request("DELETE", url)


def _request(method: str, url: str) -> None:
    headers = urllib3.make_headers(basic_auth=urllib3.util.parse_url(url).auth)
    answer = urllib3.request(method, url, headers=headers, retries=False)
    if answer.status >= 400 and (method, answer.status) != ("DELETE", 404):
        pytest.fail(f"minicouch answered {method} with {answer.status}: {answer.data.decode()}")


def _wait_for(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends and process.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"minicouch did not start: {log.read_text()}")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
