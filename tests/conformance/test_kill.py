"""SIGKILL in the middle of writes: what was acknowledged is there afterwards, the file is sound."""

import os
import random
import sqlite3
import threading
from pathlib import Path

import pytest
import requests

from .conftest import Couch, Process

pytestmark = pytest.mark.faults

ROUNDS = int(os.environ.get("KILL_ROUNDS", "20"))
WRITES = int(os.environ.get("KILL_WRITES", "10000"))
WRITERS = 8


class Writer(threading.Thread):
    """Writes documents one by one and in bulk, and keeps what the server said it had stored."""

    def __init__(self, couch: Couch, path: str, name: str, count: int) -> None:
        super().__init__()
        self.couch, self.path, self.prefix, self.count = Couch(couch.url), path, name, count
        self.acknowledged: dict[str, str] = {}

    def run(self) -> None:
        try:
            number = 0
            while number < self.count:
                if number % 5:
                    docid = f"{self.prefix}:{number}"
                    answer = self.couch.put(
                        f"{self.path}/{docid}", {"n": number, "text": "x" * 200}, timeout=10
                    )
                    self.acknowledged[docid] = answer.json()["rev"]
                    number += 1
                    continue
                docs = [{"_id": f"{self.prefix}:{number + i}", "n": number + i} for i in range(20)]
                for row in self.couch.post(f"{self.path}/_bulk_docs", {"docs": docs}, timeout=10).json():
                    if row.get("ok"):
                        self.acknowledged[row["id"]] = row["rev"]
                number += 21
        except (requests.RequestException, ValueError):
            return


def check_files(data: Path) -> None:
    for file in data.glob("databases/*/docs.sqlite"):
        connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()


def round_of_writes(process: Process, path: str, number: int) -> dict[str, str]:
    writers = [Writer(process.couch, path, f"r{number}w{w}", WRITES // WRITERS) for w in range(WRITERS)]
    killer = threading.Timer(random.uniform(0.05, 1.5), process.kill)
    for writer in writers:
        writer.start()
    killer.start()
    for writer in writers:
        writer.join()
    killer.join()
    return {docid: rev for writer in writers for docid, rev in writer.acknowledged.items()}


@pytest.mark.timeout(1200)
def test_nothing_acknowledged_is_lost(minicouch):
    process = minicouch()
    path = process.couch.make("killed", "?partitioned=true")
    view = {
        "views": {"count": {"map": "function (doc) { emit(doc._id) }", "reduce": "_count"}},
        "options": {"partitioned": False},
    }
    process.couch.put(f"{path}/_design/d", view)
    kept: dict[str, str] = {}
    for number in range(ROUNDS):
        kept |= round_of_writes(process, path, number)
        process.start()
        couch = process.couch
        rows = couch.get(f"{path}/_all_docs", timeout=120).json()["rows"]
        stored = {row["id"]: row["value"]["rev"] for row in rows}
        lost = {docid: rev for docid, rev in kept.items() if stored.get(docid) != rev}
        assert lost == {}
        assert couch.get(path).json()["doc_count"] == len(rows)
        counted = couch.get(f"{path}/_design/d/_view/count", timeout=120).json()["rows"]
        assert counted[0]["value"] == len(rows) - 1
        check_files(process.data)
    assert len(kept) > ROUNDS
