"""_bulk_docs and _bulk_get: what fails the whole request and what fails alone."""

import pytest

from .conftest import Couch

pytestmark = pytest.mark.conformance

EMPTY_REV = "1-967a00dff5e02add41819138abb3284d"
JSON = {"Accept": "application/json"}


def test_results_come_in_order(couch: Couch, db: str):
    couch.put(f"{db}/there", {})
    docs = [{"_id": "a"}, {"_id": "there"}, {"n": 1}, {"_id": "twice"}, {"_id": "twice"}, {"_id": "_local/l"}]
    answer = couch.post(f"{db}/_bulk_docs", {"docs": docs})
    assert answer.status_code == 201
    results = answer.json()
    assert results[0] == {"ok": True, "id": "a", "rev": EMPTY_REV}
    assert results[1] == {"id": "there", "error": "conflict", "reason": "Document update conflict."}
    assert results[2]["ok"] is True
    assert results[3]["ok"] is True
    assert results[4]["error"] == "conflict"
    assert results[5] == {"ok": True, "id": "_local/l", "rev": "0-1"}
    assert couch.get(db).json()["doc_count"] == 4


@pytest.mark.parametrize(
    ("body", "status", "error", "reason"),
    [
        ({}, 400, "bad_request", "POST body must include `docs` parameter."),
        ({"docs": 3}, 400, "bad_request", "`docs` parameter must be an array."),
        ({"docs": [], "new_edits": 3}, 400, "bad_request", "`new_edits` parameter must be a boolean."),
        ([], 400, "bad_request", "Request body must be a JSON object"),
        ({"docs": [{"_id": "ok"}, 3]}, 400, "bad_request", "Document must be a JSON object"),
        ({"docs": [{"_id": "ok"}, {"_id": 3}]}, 400, "illegal_docid", "Document id must be a string"),
        ({"docs": [{"_id": "ok"}, {"_rev": "x"}]}, 400, "bad_request", "Invalid rev format"),
        ({"docs": [{"_id": "ok"}, {"_foo": 1}]}, 400, "doc_validation", "Bad special document member: _foo"),
    ],
)
def test_a_malformed_document_refuses_them_all(
    couch: Couch, db: str, body, status: int, error: str, reason: str
):
    answer = couch.post(f"{db}/_bulk_docs", body)
    assert (answer.status_code, answer.json()) == (status, {"error": error, "reason": reason})
    assert couch.get(db).json()["doc_count"] == 0


def test_content_type_must_be_json(couch: Couch, db: str):
    answer = couch.post(f"{db}/_bulk_docs", data="{}", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
    assert answer.json() == {"error": "bad_content_type", "reason": "Content-Type must be application/json"}


def test_partitioned_ids(couch: Couch, pdb: str):
    docs = [{"_id": "a:1"}, {"_id": "nocolon"}]
    assert couch.post(f"{pdb}/_bulk_docs", {"docs": docs}).json()["error"] == "illegal_docid"
    assert couch.get(pdb).json()["doc_count"] == 0


def test_refused_by_validation_alone(couch: Couch, db: str):
    source = "function (doc) { if (doc.bad) throw({forbidden: 'no ' + doc._id}); if (doc.out) throw({unauthorized: 'log in'}) }"
    couch.put(f"{db}/_design/v", {"validate_doc_update": source})
    results = couch.post(
        f"{db}/_bulk_docs", {"docs": [{"_id": "a", "bad": 1}, {"_id": "b"}, {"_id": "c", "out": 1}]}
    ).json()
    assert results[0] == {"id": "a", "error": "forbidden", "reason": "no a"}
    assert results[1]["ok"] is True
    assert results[2] == {"id": "c", "error": "unauthorized", "reason": "log in"}
    alone = couch.put(f"{db}/d", {"bad": 1})
    assert (alone.status_code, alone.json()) == (403, {"error": "forbidden", "reason": "no d"})
    assert couch.put(f"{db}/d", {"out": 1}).status_code == 401
    replicated = {
        "new_edits": False,
        "docs": [{"_id": "e", "bad": 1, "_rev": "1-a"}, {"_id": "f", "_rev": "1-a"}],
    }
    assert couch.post(f"{db}/_bulk_docs", replicated).json() == [
        {"id": "e", "rev": "1-a", "error": "forbidden", "reason": "no e"}
    ]
    assert couch.get(f"{db}/f").status_code == 200


def test_validation_sees_the_old_document(couch: Couch, db: str):
    source = "function (doc, old, ctx) { if (old && old.locked) throw({forbidden: old._rev + ' ' + ctx.roles.join()}) }"
    couch.put(f"{db}/_design/v", {"validate_doc_update": source})
    rev = couch.put(f"{db}/a", {"locked": True}).json()["rev"]
    answer = couch.put(f"{db}/a", {"_rev": rev})
    assert answer.json() == {"error": "forbidden", "reason": f"{rev} _admin"}
    assert couch.put(f"{db}/a", {"v": 1}).json()["error"] == "conflict"


def test_invalid_design_documents(couch: Couch, db: str):
    docs = [
        {"_id": "_design/a", "views": 7},
        {"_id": "_design/b", "views": {"v": {"map": "function (doc) {}"}}},
    ]
    results = couch.post(f"{db}/_bulk_docs", {"docs": docs}).json()
    assert results[0]["error"] == "invalid_design_doc"
    assert results[0]["reason"] == "`views` field must have object type"
    assert results[1]["ok"] is True


def test_five_thousand(couch: Couch, pdb: str):
    docs = [{"_id": f"p{n % 7}:{n:05}", "n": n, "text": "x" * 100} for n in range(5000)]
    assert len(couch.post(f"{pdb}/_bulk_docs", {"docs": docs}).json()) == 5000
    assert couch.get(pdb).json()["doc_count"] == 5000
    assert couch.get(f"{pdb}/_partition/p3").json()["doc_count"] == len(range(3, 5000, 7))
    read = couch.get(f"{pdb}/_all_docs").json()
    assert [row["id"] for row in read["rows"]] == sorted(doc["_id"] for doc in docs)


def test_bulk_get(couch: Couch, db: str):
    couch.put(f"{db}/a", {"v": 1})
    rev = couch.get(f"{db}/a").json()["_rev"]
    asked = [
        {"id": "a"},
        {"id": "never"},
        {"id": "a", "rev": "1-abc"},
        {"id": "a", "rev": rev},
        {"id": "a", "rev": "bad"},
    ]
    answer = couch.post(f"{db}/_bulk_get?revs=true", {"docs": asked}, headers=JSON).json()["results"]
    assert [item["id"] for item in answer] == ["a", "never", "a", "a", "a"]
    found = {"_id": "a", "_rev": rev, "v": 1, "_revisions": {"start": 1, "ids": [rev[2:]]}}
    assert answer[0]["docs"] == [{"ok": found}]
    assert answer[1]["docs"] == [
        {"error": {"id": "never", "rev": "undefined", "error": "not_found", "reason": "missing"}}
    ]
    assert answer[2]["docs"] == [
        {"error": {"id": "a", "rev": "1-abc", "error": "not_found", "reason": "missing"}}
    ]
    assert answer[3]["docs"] == [{"ok": found}]
    assert answer[4]["docs"] == [
        {"error": {"id": "a", "rev": "bad", "error": "bad_request", "reason": "Invalid rev format"}}
    ]


def test_bulk_get_of_a_deleted_document(couch: Couch, db: str):
    couch.put(f"{db}/a", {})
    couch.delete(f"{db}/a?rev={EMPTY_REV}")
    docs = couch.post(f"{db}/_bulk_get", {"docs": [{"id": "a"}]}, headers=JSON).json()["results"][0]["docs"]
    assert docs[0]["ok"]["_deleted"] is True


def test_a_full_partition_takes_no_more(couch: Couch, pdb: str):
    if not couch.is_minicouch:
        pytest.skip("it would change the setting of a server that others use")
    setting = "/_node/_local/_config/couchdb/max_partition_size"
    before = couch.put(setting, "1000").json()
    couch.put(f"{pdb}/a:full", {"v": "x" * 1000})
    refused = couch.put(f"{pdb}/a:more", {"v": 1})
    assert refused.status_code == 403
    assert refused.json() == {
        "error": "partition_overflow",
        "reason": "Partition limit exceeded due to update on 'a:more'",
    }
    answers = couch.post(
        f"{pdb}/_bulk_docs", {"docs": [{"_id": "a:x", "v": 1}, {"_id": "b:x", "v": 1}]}
    ).json()
    assert [answer.get("error") for answer in answers] == ["partition_overflow", None]
    rev = couch.get(f"{pdb}/a:full").json()["_rev"]
    assert couch.put(f"{pdb}/a:full", {"_rev": rev, "v": "x" * 10}).status_code == 201
    couch.put(setting, before)
