"""Indexes of views over raw HTTP: old and fresh ones, their upkeep, what changes and purges leave. Runs on minicouch and on COUCH_URL alike."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from .conftest import Couch
from .views import BY_N, Query, design, fill

pytestmark = pytest.mark.conformance


def test_an_old_index_is_shown_when_asked(couch: Couch, db: str, numbers: Query) -> None:
    assert len(numbers()) == 10
    couch.put(f"{db}/later", {"n": 50})
    assert len(numbers("update=false")) == 10
    assert len(numbers("stale=ok")) == 10
    assert len(numbers("update=true")) == 11
    couch.put(f"{db}/latest", {"n": 51})
    numbers("update=lazy")
    assert len(numbers()) == 12


def test_the_sequence_of_the_index(couch: Couch, db: str, numbers: Query) -> None:
    seq = numbers("update_seq=true", ids=False)["update_seq"]
    assert int(seq.split("-")[0]) == 11
    couch.put(f"{db}/more", {"n": 1})
    changes = couch.get(f"{db}/_changes?since={seq}").json()["results"]
    assert [row["id"] for row in changes] == ["more"]


def test_several_rows_of_one_document(couch: Couch, db: str) -> None:
    fill(couch, db, [{"_id": "a", "words": ["x", "y", "x"]}, {"_id": "b", "words": ["y"]}])
    path = design(
        couch, db, "w", words="function (doc) { doc.words.forEach(function (w, i) { emit(w, i); }); }"
    )
    rows = couch.get(f"{path}/words").json()["rows"]
    assert [(row["key"], row["id"], row["value"]) for row in rows] == [
        ("x", "a", 0),
        ("x", "a", 2),
        ("y", "a", 1),
        ("y", "b", 0),
    ]
    doc = couch.get(f"{db}/a").json()
    couch.put(f"{db}/a", doc | {"words": ["z"]})
    rows = couch.get(f"{path}/words").json()["rows"]
    assert [(row["key"], row["id"]) for row in rows] == [("y", "b"), ("z", "a")]


def test_index_information_and_upkeep(couch: Couch, db: str, numbers: Query) -> None:
    numbers()
    info = couch.get(f"{db}/_design/n/_info").json()
    assert info["name"] == "n"
    index = info["view_index"]
    assert (index["language"], index["update_seq"], index["updater_running"]) == ("javascript", 11, False)
    assert len(index["signature"]) == 32
    assert index["sizes"]["file"] > 0
    for path in ("_view_cleanup", "_compact/n"):
        answer = couch.post(f"{db}/{path}", headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()) == (202, {"ok": True})
    assert len(numbers()) == 10
    assert couch.post(f"{db}/_temp_view", {"map": BY_N}).status_code == 410


def test_a_view_keeps_its_signature_until_a_function_changes(couch: Couch, db: str, numbers: Query) -> None:
    def signature() -> str:
        return couch.get(f"{db}/_design/n/_info").json()["view_index"]["signature"]

    before = signature()
    doc = couch.get(f"{db}/_design/n").json()
    rev = couch.put(f"{db}/_design/n", doc | {"note": "nothing about views"}).json()["rev"]
    assert signature() == before
    changed = doc | {"_rev": rev, "views": {"by_n": {"map": "function (doc) { emit(-doc.n, null); }"}}}
    assert couch.put(f"{db}/_design/n", changed).status_code == 201
    assert signature() != before
    assert numbers()[0] == "d9"


def test_a_reader_outlasts_the_clean_up_of_its_index(couch: Couch, db: str):
    """The design document changes and its old index is removed while somebody waits for it."""
    couch.post(f"{db}/_bulk_docs", {"docs": [{"n": n} for n in range(1500)]})
    slow = "function (doc) { var until = Date.now() + 2; while (Date.now() < until); emit(doc.n, 1) }"
    design = {"views": {"v": {"map": slow}}, "autoupdate": False}
    rev = couch.put(f"{db}/_design/d", design).json()["rev"]
    with ThreadPoolExecutor(1) as beside:
        url = f"{couch.url}{db}/_design/d/_view/v?limit=1"
        waiting = beside.submit(requests.get, url, auth=couch.auth, timeout=120)
        time.sleep(1)
        quick = {"views": {"v": {"map": "function (doc) { emit(doc.n, 2) }"}}, "_rev": rev}
        couch.put(f"{db}/_design/d", quick)
        couch.post(f"{db}/_view_cleanup", {})
        answer = waiting.result()
    if couch.is_minicouch or answer.status_code != 404:  # CouchDB's reader loses its index and is told 404
        assert answer.status_code == 200
        assert answer.json()["total_rows"] == 1500
    assert couch.get(f"{db}/_design/d/_view/v?limit=1").json()["rows"][0]["value"] == 2


def test_a_document_made_anew_after_a_purge_leaves_no_row_of_the_old_one(couch: Couch, db: str) -> None:
    path = design(couch, db, "n", by_n=BY_N)
    rev = couch.put(f"{db}/a", {"n": 1}).json()["rev"]
    assert [row["key"] for row in couch.get(f"{path}/by_n").json()["rows"]] == [1]
    assert couch.post(f"{db}/_purge", {"a": [rev]}).json()["purged"] == {"a": [rev]}
    assert couch.put(f"{db}/a", {"n": 2}).status_code == 201
    assert [row["key"] for row in couch.get(f"{path}/by_n").json()["rows"]] == [2]
