"""Raw HTTP against a CouchDB: a minicouch of our own, or the real server that COUCH_URL names (admin in the URL)."""

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
import requests

from tests.processes import free_port

from .views import BY_N, Query, design, fill

ADMIN = ("admin", "secret")
STARTED_WITHIN = 120


@dataclass
class Couch:
    """A server and how to ask it. Paths start with a slash; `json=`, `data=`, `headers=`, `params=` as requests has them."""

    url: str
    auth: tuple[str, str] | None = ADMIN
    is_minicouch: bool = True
    copies: int = 1
    """How many nodes keep each document. Each write waits for all of them, since a list is read from one."""
    session: requests.Session = field(default_factory=requests.Session)

    def request(self, method: str, path: str, **options: Any) -> requests.Response:
        options.setdefault("auth", self.auth)
        options.setdefault("timeout", 60)
        if self.copies > 1 and method in ("PUT", "POST", "DELETE", "COPY") and "/_bulk_get" not in path:
            path += f"{'&' if '?' in path else '?'}w={self.copies}"
        request = requests.Request(
            method,
            self.url + path,
            **{k: v for k, v in options.items() if k not in ("timeout", "stream", "allow_redirects")},
        )
        prepared = self.session.prepare_request(request)
        if not options.get("params"):
            prepared.url = self.url + path
        return self.session.send(
            prepared, timeout=options["timeout"], stream=options.get("stream", False), allow_redirects=False
        )

    def get(self, path: str, **options: Any) -> requests.Response:
        return self.request("GET", path, **options)

    def put(self, path: str, json: Any = None, **options: Any) -> requests.Response:
        return self.request("PUT", path, json=json, **options)

    def post(self, path: str, json: Any = None, **options: Any) -> requests.Response:
        return self.request("POST", path, json=json, **options)

    def delete(self, path: str, **options: Any) -> requests.Response:
        return self.request("DELETE", path, **options)

    def has_nouveau(self) -> bool:
        """Whether a CouchDB that is configured for Nouveau reaches it."""
        if "nouveau" not in self.get("/").json()["features"]:
            return False
        db = self.make("nouveau")
        self.put(f"{db}/_design/d", {"nouveau": {"i": {"index": "function (doc) {}"}}})
        answers = self.get(f"{db}/_design/d/_nouveau/i?q=*:*").status_code != 503
        self.delete(db)
        return answers

    def make(self, prefix: str, query: str = "") -> str:
        """A fresh database; returns its path."""
        path = f"/{prefix}{secrets.token_hex(6)}"
        answer = self.put(path + query)
        assert answer.status_code in (201, 202), answer.text
        return path


@dataclass
class Process:
    """A minicouch that a test may kill and start again on the same data."""

    data: Path
    port: int
    options: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

    @property
    def couch(self) -> Couch:
        return Couch(f"http://127.0.0.1:{self.port}")

    def start(self) -> "Process":
        log = open(self.data.with_suffix(".log"), "ab")  # noqa: SIM115 - the child keeps it
        command = [
            sys.executable,
            "-m",
            "deploy.local.minicouch",
            "--data",
            str(self.data),
            "--port",
            str(self.port),
        ]
        self.process = subprocess.Popen(
            [*command, *self.options],
            env=os.environ | {"MINICOUCH_ADMIN": ":".join(ADMIN)},
            stdout=log,
            stderr=log,
            cwd=Path(__file__).parents[2],
        )
        deadline = time.monotonic() + STARTED_WITHIN
        while time.monotonic() < deadline:
            try:
                if requests.get(f"http://127.0.0.1:{self.port}/_up", timeout=1).ok:
                    return self
            except requests.ConnectionError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        raise AssertionError(self.data.with_suffix(".log").read_text())

    def kill(self) -> None:
        """SIGKILL: no chance to finish anything."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)


@pytest.fixture
def minicouch(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start a minicouch of one's own: `minicouch("--faults")`."""
    started: list[Process] = []

    def start(*options: str) -> Process:
        process = Process(tmp_path / f"data{len(started)}", free_port(), options)
        started.append(process)
        return process.start()

    yield start
    for process in started:
        process.stop()


@pytest.fixture(scope="session")
def couch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Couch]:
    given = os.environ.get("COUCH_URL")
    if given:
        parts = urlsplit(given)
        host = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
        url = urlunsplit((parts.scheme, host or "", "", "", ""))
        auth = (parts.username, parts.password or "") if parts.username else None
        nodes = requests.get(f"{url}/_membership", timeout=10, auth=auth).json()["cluster_nodes"]
        yield Couch(
            url, auth, "minicouch" in requests.get(url, timeout=10, auth=auth).text, min(len(nodes), 3)
        )
        return
    process = Process(tmp_path_factory.mktemp("conformance") / "data", free_port()).start()
    yield process.couch
    process.stop()


@pytest.fixture
def db(couch: Couch) -> Iterator[str]:
    """The path of a fresh database without partitions."""
    path = couch.make("conf")
    yield path
    couch.delete(path)


@pytest.fixture
def pdb(couch: Couch) -> Iterator[str]:
    """The path of a fresh partitioned database."""
    path = couch.make("confp", "?partitioned=true")
    yield path
    couch.delete(path)


@pytest.fixture
def numbers(couch: Couch, db: str) -> Query:
    """Ten documents d0..d9 with n = 0..9; query("startkey=3") gives the answer's rows."""
    fill(couch, db, [{"_id": f"d{n}", "n": n, "even": n % 2 == 0} for n in range(10)])
    path = design(couch, db, "n", by_n=BY_N, by_even="function (doc) { emit(doc.even, doc.n); }")

    def query(parameters: str = "", view: str = "by_n", *, ids: bool = True) -> Any:
        answer = couch.get(f"{path}/{view}?{parameters}")
        assert answer.status_code == 200, answer.text
        return [row["id"] for row in answer.json()["rows"]] if ids else answer.json()

    return query
