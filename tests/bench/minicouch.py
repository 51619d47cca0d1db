"""minicouch beside a real CouchDB: the same data, the same client, the same minutes; the ratio of each kind of request.

    make bench-minicouch COUCH_URL=http://admin:secret@127.0.0.1:5984
    python -m tests.bench.minicouch --couch URL [--docs 100000] [--seconds 3] [--json FILE]

Without a CouchDB it prints minicouch's own figures. Writes only to databases of its own, and drops them.
"""

import argparse
import base64
import json
import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from tests.processes import free_port

ADMIN = "admin:secret"
CLIENTS = (1, 16)
PARTITION_SIZE = 50
WORDS = "red green blue small large steel glass wooden quiet bright kitchen garden office travel winter summer".split()
Line = dict[str, Any]


@dataclass
class Target:
    """One server under test and the figures it reached: (what, clients) to answers a second."""

    name: str
    url: str
    user: str
    db: str = field(default_factory=lambda: f"bench{secrets.token_hex(4)}")
    figures: dict[tuple[str, int], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.session = requests.Session()
        self.session.auth = tuple(self.user.split(":", 1)) if self.user else None

    def call(self, method: str, path: str, body: Any = None) -> requests.Response:
        answer = self.session.request(method, f"{self.url}/{self.db}{path}", json=body, timeout=600)
        if answer.status_code >= 400:
            raise SystemExit(f"{self.name}: {method} {path} answered {answer.status_code} {answer.text}")
        return answer

    def headers(self) -> dict[str, str]:
        token = base64.b64encode(self.user.encode()).decode()
        return {"Content-Type": "application/json"} | (
            {"Authorization": f"Basic {token}"} if self.user else {}
        )


def target(name: str, url: str, user: str = "") -> Target:
    parts = urlsplit(url)
    named = f"{parts.username}:{parts.password}" if parts.username else user
    return Target(name, f"{parts.scheme}://{parts.hostname}:{parts.port}", named)


def document(n: int, chance: random.Random) -> dict[str, Any]:
    return {
        "_id": f"order{n // PARTITION_SIZE}:{n:06}",
        "type": "payment",
        "n": n,
        "currency": chance.choice(["EUR", "GBP"]),
        "date": [
            2019 + chance.randrange(6),
            1 + chance.randrange(12),
            1 + chance.randrange(28),
            chance.randrange(24),
        ],
        "total": chance.randrange(100, 20_000),
        "name": " ".join(chance.sample(WORDS, 4)),
    }


SALES = "function (doc) { emit([doc.currency].concat(doc.date), [1, doc.total]); }"
FRESH = "function (doc) { emit([doc.type, doc.date[%d], doc.total], 1); }"
SEARCH = "function (doc) { index('name', doc.name); }"
GLOBAL = {"partitioned": False}


def prepare(server: Target, docs: list[dict[str, Any]]) -> None:
    """Load the documents and build the indexes the requests need; bulk writing and building are measured here."""
    server.call("PUT", "?partitioned=true")
    began = time.perf_counter()
    for start in range(0, len(docs), 500):
        server.call("POST", "/_bulk_docs", {"docs": docs[start : start + 500]})
    server.figures["bulk write of 500, documents", 1] = len(docs) / (time.perf_counter() - began)
    views = {"sales": {"map": SALES, "reduce": "_sum"}}
    server.call("PUT", "/_design/sales", {"options": GLOBAL, "views": views})
    began = time.perf_counter()
    server.call("GET", "/_design/sales/_view/sales")
    server.figures["view build, documents", 1] = len(docs) / (time.perf_counter() - began)
    server.call("POST", "/_index", {"index": {"fields": ["total"]}, "ddoc": "by-total", "partitioned": True})
    server.call("POST", "/_index", {"index": {"fields": ["n"]}, "ddoc": "by-n", "partitioned": False})
    for path in ("/_partition/order0/_find", "/_find"):
        server.call(
            "POST", path, {"selector": {"total" if "partition" in path else "n": {"$gt": 0}}, "limit": 1}
        )


def search_path(server: Target) -> str | None:
    """Only servers that serve Cloudant's _search are measured with it."""
    features = server.session.get(server.url, timeout=10).json().get("features", [])
    if "search" not in features:
        return None
    indexes = {"name": {"analyzer": "standard", "index": SEARCH}}
    server.call("PUT", "/_design/search", {"options": GLOBAL, "indexes": indexes})
    server.call("GET", "/_design/search/_search/name?q=name:red&limit=1")
    return "/_design/search/_search/name?limit=20&q=name:"


def reads(count: int, chance: random.Random) -> dict[str, list[Line]]:
    """Kind of request to the requests that are sent in turn."""
    some = [chance.randrange(count) for _ in range(500)]
    partitions = [f"/_partition/order{n // PARTITION_SIZE}" for n in some]
    find = {"fields": ["_id", "total"], "limit": 20}
    return {
        "get": [{"path": f"/order{n // PARTITION_SIZE}:{n:06}"} for n in some],
        "all_docs of a partition": [{"path": p + "/_all_docs?include_docs=true"} for p in partitions],
        "find in a partition": [
            post(p + "/_find", find | {"selector": {"total": {"$gt": 0}}, "sort": ["total"]})
            for p in partitions
        ],
        "global find": [post("/_find", find | {"selector": {"n": {"$gte": n}}, "sort": ["n"]}) for n in some],
        "view by key": [
            {"path": f'/_design/sales/_view/sales?reduce=false&key=["EUR",2020,3,{n % 28},4]'} for n in some
        ],
        "grouped reduce": [{"path": f"/_design/sales/_view/sales?group_level={n % 3 + 1}"} for n in some],
        "ranged reduce": [
            {"path": f'/_design/sales/_view/sales?startkey=["EUR",2020,{n % 12}]&endkey=["EUR",2023,5]'}
            for n in some
        ],
    }


def post(path: str, body: dict[str, Any]) -> Line:
    return {"method": "POST", "path": path, "body": json.dumps(body)}


def writes(label: str, count: int, chance: random.Random) -> list[Line]:
    lines = []
    for n in range(count):
        doc = document(n, chance)
        del doc["_id"]
        lines.append({"method": "PUT", "path": f"/new{label}:{n}", "body": json.dumps(doc)})
    return lines


def rate(server: Target, lines: list[Line], clients: int, seconds: float) -> float:
    """Answers a second from the load generator in a process of its own. Errors: SystemExit for answers that are no success."""
    with tempfile.NamedTemporaryFile("w", suffix=".ndjson") as file:
        for line in lines:
            path = f"/{server.db}{line['path']}".replace('"', "%22")
            file.write(json.dumps(line | {"path": path, "headers": server.headers()}) + "\n")
        file.flush()
        command = [sys.executable, "-m", "tests.bench.load", server.url, file.name, "--clients", str(clients)]
        run = subprocess.run(
            [*command, "--seconds", str(seconds)], capture_output=True, text=True, check=False
        )
    if run.returncode:
        raise SystemExit(run.stderr)
    found = json.loads(run.stdout)
    bad = {
        status: times
        for status, times in found["statuses"].items()
        if int(status) >= 400 and int(status) != 409
    }
    if bad:
        raise SystemExit(f"{server.name}: {lines[0]} answered {bad}")
    return found["rate"]


def measure(servers: list[Target], count: int, seconds: float) -> None:
    """Every kind of request on one server and right after it on the other."""
    kinds = reads(count, random.Random(2))
    searches = {server.name: search_path(server) for server in servers}
    for clients in CLIENTS:
        for kind, lines in kinds.items():
            for server in servers:
                server.figures[kind, clients] = rate(server, lines, clients, seconds)
        for server in servers:
            new = writes(f"{clients}", int(6000 * seconds), random.Random(3))
            server.figures["put", clients] = rate(server, new, clients, seconds)
            if path := searches[server.name]:
                lines = [{"path": path + word} for word in WORDS]
                server.figures["search", clients] = rate(server, lines, clients, seconds)


def report(servers: list[Target]) -> list[dict[str, Any]]:
    rows = []
    ours, real = servers[0], servers[1] if len(servers) > 1 else None
    for (kind, clients), figure in ours.figures.items():
        other = real.figures.get((kind, clients)) if real else None
        rows.append(
            {
                "what": kind,
                "clients": clients,
                "minicouch": round(figure, 1),
                "couchdb": other and round(other, 1),
                "ratio": other and round(figure / other, 2),
            }
        )
    return rows


def print_table(rows: list[dict[str, Any]]) -> None:
    print(f"{'a second':<32}{'clients':>8}{'minicouch':>12}{'CouchDB':>12}{'ratio':>8}")
    for row in rows:
        other = [row[name] if row[name] is not None else "-" for name in ("couchdb", "ratio")]
        print(f"{row['what']:<32}{row['clients']:>8}{row['minicouch']:>12}{other[0]:>12}{other[1]:>8}")


@contextmanager
def minicouch() -> Iterator[Target]:
    """A minicouch of our own on an empty data directory."""
    with tempfile.TemporaryDirectory(prefix="bench-minicouch-") as directory:
        port = free_port()
        command = [sys.executable, "-m", "deploy.local.minicouch", "--data", directory, "--port", str(port)]
        with open(Path(directory) / "log", "ab") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, env=os.environ | {"MINICOUCH_ADMIN": ADMIN}
            )
        try:
            wait_for(f"http://127.0.0.1:{port}/_up", process)
            yield target("minicouch", f"http://127.0.0.1:{port}", ADMIN)
        finally:
            process.terminate()
            process.wait(20)


def wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if requests.get(url, timeout=1).ok:
                return
        except requests.ConnectionError:
            time.sleep(0.05)
    raise SystemExit("minicouch did not start")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--couch", default=os.environ.get("COUCH_URL"), help="the real server (default: COUCH_URL)"
    )
    parser.add_argument("--docs", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=3, help="for each kind of request and server")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    options = parser.parse_args()
    with minicouch() as ours:
        servers = [ours, *([target("CouchDB", options.couch)] if options.couch else [])]
        chance = random.Random(1)
        docs = [document(n, chance) for n in range(options.docs)]
        try:
            for server in servers:
                prepare(server, docs)
            measure(servers, options.docs, options.seconds)
        finally:
            for server in servers:
                server.session.delete(f"{server.url}/{server.db}", timeout=60)
    rows = report(servers)
    print_table(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
