"""Histories that diverge: winners, open_revs, revs_info, replicated edits, stemming."""

import pytest

from .conftest import Couch

pytestmark = pytest.mark.conformance

JSON = {"Accept": "application/json"}


def revision(docid: str, history: list[str], deleted: bool = False, **body) -> dict:
    doc = {"_id": docid, "_rev": f"{len(history)}-{history[0]}", **body}
    doc["_revisions"] = {"start": len(history), "ids": history}
    return doc | ({"_deleted": True} if deleted else {})


@pytest.fixture
def diverged(couch: Couch, db: str) -> str:
    docs = [
        revision("x", ["b", "a"], v=1),
        revision("x", ["c", "a"], v=2),
        revision("x", ["d", "a"], deleted=True),
        revision("x", ["e"], v=3),
    ]
    answer = couch.post(f"{db}/_bulk_docs", {"new_edits": False, "docs": docs})
    assert (answer.status_code, answer.json()) == (201, [])
    return db


def test_the_longest_then_highest_leaf_wins(couch: Couch, diverged: str):
    doc = couch.get(f"{diverged}/x?meta=true").json()
    assert doc["_rev"] == "2-c"
    assert doc["_conflicts"] == ["2-b", "1-e"]
    assert doc["_deleted_conflicts"] == ["2-d"]
    assert doc["_revs_info"] == [{"rev": "2-c", "status": "available"}, {"rev": "1-a", "status": "missing"}]
    assert couch.get(diverged).json()["doc_count"] == 1


def test_open_revs(couch: Couch, diverged: str):
    found = couch.get(f"{diverged}/x?open_revs=all", headers=JSON).json()
    assert [item["ok"]["_rev"] for item in found] == ["1-e", "2-b", "2-c", "2-d"]
    some = couch.get(f'{diverged}/x?open_revs=["2-b","1-a","9-z"]', headers=JSON).json()
    assert some == [{"ok": {"_id": "x", "_rev": "2-b", "v": 1}}, {"missing": "1-a"}, {"missing": "9-z"}]
    mixed = couch.get(f'{diverged}/x?open_revs=["9-z","2-c","1-e","2-c"]', headers=JSON).json()
    assert [item.get("missing") or item["ok"]["_rev"] for item in mixed] == ["1-e", "2-c", "9-z"]
    assert couch.get(f"{diverged}/x?open_revs=[]", headers=JSON).json()["_rev"] == "2-c"
    latest = couch.get(f'{diverged}/x?open_revs=["1-a"]&latest=true', headers=JSON).json()
    assert [item["ok"]["_rev"] for item in latest] == ["2-b", "2-c", "2-d"]
    assert couch.get(f"{diverged}/never?open_revs=all", headers=JSON).status_code == 404
    assert couch.get(f'{diverged}/never?open_revs=["1-a"]', headers=JSON).json() == [{"missing": "1-a"}]


def test_roots_of_any_order_are_shown_oldest_first(couch: Couch, db: str):
    docs = [revision("y", ["b", "a"]), revision("y", ["f"]), revision("y", ["d", "c", "b0"])]
    couch.post(f"{db}/_bulk_docs", {"new_edits": False, "docs": docs})
    found = couch.get(f"{db}/y?open_revs=all", headers=JSON).json()
    assert [item["ok"]["_rev"] for item in found] == ["1-f", "2-b", "3-d"]


def test_an_etag_unless_conflicts_are_shown(couch: Couch, diverged: str):
    first = couch.put(f"{diverged}/plain", {}).json()["rev"]
    rev = couch.put(f"{diverged}/plain?rev={first}", {"v": 2}).json()["rev"]
    for options in ("conflicts=true", "deleted_conflicts=true", "revs=true&conflicts=true"):
        assert couch.get(f"{diverged}/plain?{options}").headers["ETag"] == f'"{rev}"'
        again = couch.get(f"{diverged}/plain?{options}", headers={"If-None-Match": f'"{rev}"'})
        assert again.status_code == 304
        assert "ETag" not in couch.get(f"{diverged}/x?{options}").headers


def test_reading_a_revision(couch: Couch, diverged: str):
    assert couch.get(f"{diverged}/x?rev=2-b").json() == {"_id": "x", "_rev": "2-b", "v": 1}
    assert couch.get(f"{diverged}/x?rev=2-d").json()["_deleted"] is True
    assert couch.get(f"{diverged}/x?rev=1-a").status_code == 404
    assert couch.get(f"{diverged}/x?rev=2-b&latest=true").json()["_rev"] == "2-c"
    assert couch.get(f"{diverged}/x?rev=2-b&revs=true").json()["_revisions"] == {
        "start": 2,
        "ids": ["b", "a"],
    }


def test_revs_diff(couch: Couch, diverged: str):
    answer = couch.post(f"{diverged}/_revs_diff", {"x": ["2-b", "3-q", "1-z"], "y": ["1-a"]}).json()
    assert answer["y"] == {"missing": ["1-a"]}
    assert sorted(answer["x"]["missing"]) == ["1-z", "3-q"]
    assert answer["x"]["possible_ancestors"] == ["2-c", "2-b", "1-e", "2-d"]
    assert couch.post(f"{diverged}/_revs_diff", {"x": ["2-b"]}).json() == {}


def test_deleting_the_winner_brings_the_next(couch: Couch, diverged: str):
    assert couch.delete(f"{diverged}/x?rev=2-c").status_code == 200
    assert couch.get(f"{diverged}/x").json()["_rev"] == "2-b"
    assert couch.delete(f"{diverged}/x?rev=2-b").status_code == 200
    assert couch.get(f"{diverged}/x").json()["_rev"] == "1-e"
    assert couch.delete(f"{diverged}/x?rev=1-e").status_code == 200
    assert couch.get(f"{diverged}/x").json()["reason"] == "deleted"
    info = couch.get(diverged).json()
    assert (info["doc_count"], info["doc_del_count"]) == (0, 1)


def test_a_losing_branch_may_grow_and_win(couch: Couch, diverged: str):
    new = couch.put(f"{diverged}/x", {"_rev": "1-e", "v": 4})
    assert new.status_code == 201
    grown = couch.put(f"{diverged}/x", {"_rev": new.json()["rev"], "v": 5}).json()["rev"]
    assert couch.get(f"{diverged}/x").json()["_rev"] == grown
    assert couch.get(f"{diverged}/x?conflicts=true").json()["_conflicts"] == ["2-c", "2-b"]


def test_replicated_edits_are_idempotent(couch: Couch, diverged: str):
    before = couch.get(diverged).json()["update_seq"].split("-")[0]
    doc = revision("x", ["b", "a"], v=1)
    assert couch.post(f"{diverged}/_bulk_docs", {"new_edits": False, "docs": [doc]}).json() == []
    assert couch.get(diverged).json()["update_seq"].split("-")[0] == before


def test_a_missing_history_is_completed(couch: Couch, db: str):
    couch.post(f"{db}/_bulk_docs", {"new_edits": False, "docs": [{"_id": "x", "_rev": "3-c"}]})
    couch.post(f"{db}/_bulk_docs", {"new_edits": False, "docs": [revision("x", ["d", "c", "b", "a"])]})
    doc = couch.get(f"{db}/x?revs=true&conflicts=true").json()
    assert doc["_revisions"]["ids"] == ["d", "c", "b", "a"]
    assert "_conflicts" not in doc


def test_replicated_edits_need_a_revision(couch: Couch, db: str):
    answer = couch.post(f"{db}/_bulk_docs", {"new_edits": False, "docs": [{"_id": "x"}]})
    assert answer.status_code == 400
    assert (
        answer.json()["reason"]
        == "When `new_edits: false`, the document needs `_rev` or `_revisions` specified"
    )
    assert couch.put(f"{db}/x?new_edits=false", {"_rev": "1-abd"}).json()["rev"] == "1-abd"


def test_stemming(couch: Couch, db: str):
    assert couch.put(f"{db}/_revs_limit", data="3").json() == {"ok": True}
    rev = None
    for number in range(6):
        rev = couch.put(f"{db}/x", {"n": number, **({"_rev": rev} if rev else {})}).json()["rev"]
    revisions = couch.get(f"{db}/x?revs=true").json()["_revisions"]
    assert (revisions["start"], len(revisions["ids"])) == (6, 3)


def test_purging_the_winner_brings_the_next(couch: Couch, diverged: str):
    purged = couch.post(f"{diverged}/_purge", {"x": ["2-c"]}).json()["purged"]
    assert purged == {"x": ["2-c"]}
    assert couch.get(f"{diverged}/x?conflicts=true").json() == {
        "_id": "x",
        "_rev": "2-b",
        "v": 1,
        "_conflicts": ["1-e"],
    }
