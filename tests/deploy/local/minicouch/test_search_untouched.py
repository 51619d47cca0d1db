"""A change that no index function reads leaves the search index as it is: else every sale would add a segment to it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.processes import start_minicouch

DDOC = {"indexes": {"words": {"index": 'function (doc) { if (doc.name) index("default", doc.name); }'}}}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[str]:
    process, url = start_minicouch(tmp_path / "data")
    requests.put(f"{url}/things", timeout=30).raise_for_status()
    requests.put(f"{url}/things/_design/w", json=DDOC, timeout=30).raise_for_status()
    yield f"{url}/things"
    process.kill()


def put(database: str, docid: str, **fields: Any) -> None:
    found = requests.get(f"{database}/{docid}", timeout=30).json()
    rev = {"_rev": found["_rev"]} if "_rev" in found else {}
    requests.put(f"{database}/{docid}", json={**rev, **fields}, timeout=30).raise_for_status()


def search(database: str, words: str) -> dict[str, Any]:
    """{id: document} of what is found, the index being up to date."""
    query = {"q": words, "include_docs": "true"}
    answer = requests.get(f"{database}/_design/w/_search/words", params=query, timeout=30).json()
    return {row["id"]: row["doc"] for row in answer["rows"]}


def index_files(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("tantivy/*")}


def test_what_an_index_does_not_read_does_not_touch_it(database: str, tmp_path: Path) -> None:
    for number in range(20):
        put(database, f"p{number}", name=f"thing {number}", stock=9)
    assert len(search(database, "thing")) == 20
    before = index_files(tmp_path)
    assert before
    for number in range(5):
        put(database, f"p{number}", name=f"thing {number}", stock=8)
        put(database, f"movement{number}", delta=-1)
        assert search(database, "thing")[f"p{number}"]["stock"] == 8
    assert index_files(tmp_path) == before
    put(database, "p3", name="other 3", stock=8)
    assert set(search(database, "other")) == {"p3"}
    assert "p3" not in search(database, "thing")
    put(database, "p4", stock=8)
    assert "p4" not in search(database, "thing")
    put(database, "p4", name="thing 4", stock=8)
    assert "p4" in search(database, "thing")


def test_an_index_written_before_a_restart_is_compared_with_after_it(tmp_path: Path) -> None:
    process, url = start_minicouch(tmp_path / "data")
    database = f"{url}/things"
    requests.put(database, timeout=30).raise_for_status()
    requests.put(f"{database}/_design/w", json=DDOC, timeout=30).raise_for_status()
    put(database, "p1", name="thing", stock=9)
    assert search(database, "thing")
    process.stop()
    before = index_files(tmp_path)
    process, url = start_minicouch(tmp_path / "data")
    database = f"{url}/things"
    put(database, "p1", name="thing", stock=8)
    assert search(database, "thing")["p1"]["stock"] == 8
    assert index_files(tmp_path) == before
    put(database, "p1", name="sold", stock=0)
    assert not search(database, "thing")
    process.stop()
