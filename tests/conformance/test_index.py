"""`_index`: what is created, listed, deleted and refused, on both servers."""

from typing import Any

import pytest

pytestmark = pytest.mark.conformance


def test_create_is_idempotent_and_named_like_couchdb(couch, db: str) -> None:
    name = "3d4fdc43057b07474cd610d0ad5761ead92400bf"
    body = {"index": {"fields": ["n"]}}
    assert couch.post(db + "/_index", body).json() == {
        "result": "created",
        "id": f"_design/{name}",
        "name": name,
    }
    assert couch.post(db + "/_index", body).json() == {
        "result": "exists",
        "id": f"_design/{name}",
        "name": name,
    }


def test_the_design_document_and_the_list(couch, db: str) -> None:
    index = {"fields": ["n", {"a.b": "asc"}], "partial_filter_selector": {"n": {"$gt": 2}, "x": 1}}
    couch.post(db + "/_index", {"index": index, "ddoc": "foo", "name": "bar"})
    normal = {"$and": [{"n": {"$gt": 2}}, {"x": {"$eq": 1}}]}
    stored = couch.get(db + "/_design/foo").json()
    assert stored["language"] == "query"
    assert stored["views"]["bar"] == {
        "map": {"fields": {"n": "asc", "a.b": "asc"}, "partial_filter_selector": normal},
        "reduce": "_count",
        "options": {"def": index},
    }
    listed = couch.get(db + "/_index").json()
    assert listed == {
        "total_rows": 2,
        "indexes": [
            {"ddoc": None, "name": "_all_docs", "type": "special", "def": {"fields": [{"_id": "asc"}]}},
            {
                "ddoc": "_design/foo",
                "name": "bar",
                "type": "json",
                "partitioned": False,
                "def": {"fields": [{"n": "asc"}, {"a.b": "asc"}], "partial_filter_selector": normal},
            },
        ],
    }
    assert len(couch.get(db + "/_index?limit=1&skip=1").json()["indexes"]) == 1


def test_partitioned_option(couch, pdb: str, db: str) -> None:
    couch.post(pdb + "/_index", {"index": {"fields": ["n"]}, "ddoc": "in"})
    couch.post(pdb + "/_index", {"index": {"fields": ["n"]}, "ddoc": "all", "partitioned": False})
    listed = {index["ddoc"]: index for index in couch.get(pdb + "/_index").json()["indexes"]}
    assert listed["_design/in"]["partitioned"] is True
    assert listed["_design/all"]["partitioned"] is False
    refused = couch.post(pdb + "/_index", {"index": {"fields": ["m"]}, "ddoc": "all", "partitioned": True})
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_partitioned_option")
    assert couch.post(db + "/_index", {"index": {"fields": ["n"]}, "partitioned": True}).status_code == 500


def test_delete_and_bulk_delete(couch, db: str) -> None:
    for name in ("a", "b", "c"):
        couch.post(db + "/_index", {"index": {"fields": [name]}, "ddoc": name, "name": name})
    assert couch.delete(db + "/_index/a/json/a").json() == {"ok": True}
    assert couch.get(db + "/_design/a").status_code == 404
    assert couch.delete(db + "/_index/_design/b/json/b").json() == {"ok": True}
    assert couch.delete(db + "/_index/b/json/b").status_code == 404
    answer = couch.post(db + "/_index/_bulk_delete", {"docids": ["_design/c", "nope"]}).json()
    assert answer == {
        "success": [{"id": "_design/c", "ok": True}],
        "fail": [{"id": "_design/nope", "error": "not_found"}],
    }
    assert couch.get(db + "/_index").json()["total_rows"] == 1


def test_two_indexes_in_one_design_document(couch, db: str) -> None:
    for name in ("a", "b"):
        couch.post(db + "/_index", {"index": {"fields": [name]}, "ddoc": "both", "name": name})
    couch.delete(db + "/_index/both/json/a")
    assert list(couch.get(db + "/_design/both").json()["views"]) == ["b"]


REFUSED = [
    (
        {"index": {"fields": ["n"]}, "name": ""},
        "invalid_empty_string",
        "Index name or ddoc cannot be empty string",
    ),
    ({"index": {"fields": ["n"]}, "ddoc": 5}, "invalid_string", "Invalid string: 5"),
    ({"index": []}, "invalid_index", "JSON indexes must be an object, not: []"),
    ({"index": {"fields": ["n"], "x": 1}}, "invalid_key", "Invalid key x for this request."),
    ({"index": {}}, "missing_required_key", "Missing required key: fields"),
    ({}, "missing_required_key", "Missing required key: index"),
    ({"index": {"fields": ["n"]}, "type": "geo"}, "invalid_index", "Invalid type for index: geo"),
    ({"index": {"fields": "a"}}, "invalid_sort_json", 'Sort must be an array of sort specs, not: <<"a">>'),
    ({"index": {"fields": ["n"]}, "w": 0}, "invalid_pos_integer", "0 is not an integer greater than zero"),
    ({"index": {"fields": ["n", {"b": "desc"}]}}, "unsupported_mixed_sort", None),
]


@pytest.mark.parametrize(("body", "error", "reason"), REFUSED, ids=[error for _, error, _ in REFUSED])
def test_refusals(couch, db: str, body: Any, error: str, reason: str | None) -> None:
    answer = couch.post(db + "/_index", body)
    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert reason is None or answer.json()["reason"] == reason


def test_other_paths_and_methods(couch, db: str) -> None:
    assert couch.get(db + "/_index/a/b/c/d").status_code == 404
    assert couch.get(db + "/_find").status_code == 405
    assert couch.put(db + "/_explain").status_code == 405
    assert couch.post(db + "/_find", data="{}", headers={"Content-Type": "text/plain"}).status_code == 415


def test_information_on_a_mango_index(couch, db: str) -> None:
    couch.post(db + "/_index", {"index": {"fields": ["n"]}, "ddoc": "by_n", "name": "by_n"})
    couch.post(db + "/_bulk_docs", {"docs": [{"_id": f"d{n}", "n": n} for n in range(5)]})
    assert len(couch.post(db + "/_find", {"selector": {"n": {"$gte": 0}}}).json()["docs"]) == 5
    info = couch.get(db + "/_design/by_n/_info").json()["view_index"]
    assert info["language"] == "query"
    assert info["update_seq"] == 6
    assert len(info["signature"]) == 32
    assert info["sizes"]["file"] > 0
