"""Faults on demand: only with --faults, and only what was asked for."""

import time

import pytest
import requests

pytestmark = pytest.mark.faults


def test_there_are_none_without_the_option(minicouch):
    couch = minicouch().couch
    assert couch.get("/_faults").status_code == 404
    assert couch.put("/_faults", [{"status": 500}]).status_code == 404


def test_asked_for(minicouch):
    couch = minicouch("--faults").couch
    db = couch.make("faulty")
    assert couch.put(
        "/_faults", [{"path": "^/faulty", "status": 429, "retry_after": 3, "times": 1}]
    ).json() == {"ok": True}
    answer = couch.get(db)
    assert (answer.status_code, answer.headers["Retry-After"], answer.json()["error"]) == (
        429,
        "3",
        "too_many_requests",
    )
    assert couch.get(db).status_code == 200
    couch.put("/_faults", [{"method": "PUT", "disk_full": True}])
    assert couch.put(f"{db}/a", {}).json() == {"error": "enospc", "reason": "no space left on device"}
    assert couch.get(db).json()["doc_count"] == 0
    couch.put("/_faults", [{"path": "_all_docs", "latency": 0.3}])
    before = time.monotonic()
    assert couch.get(f"{db}/_all_docs").status_code == 200
    assert time.monotonic() - before >= 0.3
    couch.put("/_faults", [{"path": "_all_docs", "drop": True}])
    with pytest.raises(requests.ConnectionError):
        couch.get(f"{db}/_all_docs")
    assert couch.delete("/_faults").json() == {"ok": True}
    assert couch.get(f"{db}/_all_docs").status_code == 200


def test_bad_rules_are_refused(minicouch):
    couch = minicouch("--faults").couch
    for rules in ({}, [3], [{}], [{"latency": 1, "drop": True}], [{"path": "(", "drop": True}]):
        assert couch.put("/_faults", rules).status_code == 400
    assert couch.put("/_faults", [{"status": 500}], auth=None).status_code == 401
