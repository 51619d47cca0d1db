"""SIGKILL while indexes are built and kept up to date: afterwards every view answers what its documents say."""

import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from .conftest import Couch, Process
from .views import design

pytestmark = pytest.mark.faults
ROUNDS = int(os.environ.get("KILL_ROUNDS", "6"))
DOCS = 4000


def write(couch: Couch, path: str, chance: random.Random) -> None:
    """Overwrite, delete and add documents until the server is gone."""
    while True:
        ids = [f"{n:05}" for n in chance.sample(range(DOCS), 200)]
        try:
            rows = couch.post(f"{path}/_all_docs", {"keys": ids}, timeout=10).json()["rows"]
            docs = []
            for row in rows:
                known = (
                    {"_rev": row["value"]["rev"]}
                    if "value" in row and not row["value"].get("deleted")
                    else {}
                )
                gone = {"_deleted": True} if known and chance.random() < 0.2 else {}
                docs.append(
                    {"_id": row["key"], "k": [chance.randrange(5), chance.randrange(30)], "n": 1}
                    | known
                    | gone
                )
            couch.post(f"{path}/_bulk_docs", {"docs": docs}, timeout=10)
            couch.get(f"{path}/_design/v/_view/sum?group_level={chance.randrange(3)}", timeout=10)
        except (requests.RequestException, ValueError):
            return


def check(couch: Couch, path: str) -> None:
    docs = [
        r["doc"] for r in couch.get(f"{path}/_all_docs?include_docs=true").json()["rows"] if r["id"][0] != "_"
    ]
    rows = couch.get(f"{path}/_design/v/_view/sum?reduce=false").json()["rows"]
    assert sorted(row["id"] for row in rows) == [doc["_id"] for doc in docs]
    assert {row["id"]: row["key"] for row in rows} == {doc["_id"]: doc["k"] for doc in docs}
    for level in (1, 2):
        wanted: dict[Any, int] = {}
        for doc in docs:
            key = tuple(doc["k"][:level])
            wanted[key] = wanted.get(key, 0) + 1
        groups = couch.get(f"{path}/_design/v/_view/sum?group_level={level}").json()["rows"]
        assert {tuple(row["key"]): row["value"] for row in groups} == wanted


def check_files(data: Path) -> None:
    for file in data.glob("databases/*/indexes/view-*/index.sqlite"):
        connection = sqlite3.connect(file)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()


def test_indexes_survive_being_killed(minicouch: Callable[..., Process]) -> None:
    process = minicouch()
    path = process.couch.make("kill")
    design(process.couch, path, "v", sum={"map": "function (doc) { emit(doc.k, doc.n); }", "reduce": "_sum"})
    for number in range(ROUNDS):
        writers = [
            threading.Thread(
                target=write, args=(Couch(process.couch.url), path, random.Random(number * 10 + n))
            )
            for n in range(3)
        ]
        for writer in writers:
            writer.start()
        time.sleep(random.uniform(0.3, 3))
        process.kill()
        for writer in writers:
            writer.join()
        check_files(process.data)
        process.start()
        check(process.couch, path)
