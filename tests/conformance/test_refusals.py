"""What CouchDB refuses, numbers and orders it answers with: each was once otherwise here than there."""

import base64
import secrets
from typing import Any

import pytest

from .conftest import Couch

pytestmark = pytest.mark.conformance

REV, OTHER = f"1-{'a' * 32}", f"1-{'b' * 32}"
ILLEGAL = {"error": "illegal_docid", "reason": "Doc id must be of form partition:id"}
BAD_DATA = {"error": "bad_request", "reason": "Invalid attachment data for f"}


def view(couch: Couch, db: str, map_function: str, reducer: str, documents: list[dict[str, Any]]) -> str:
    """The path of a view over these documents."""
    design = {"views": {"v": {"map": map_function, "reduce": reducer}}}
    assert couch.put(f"{db}/_design/v", json=design).status_code == 201
    assert couch.post(f"{db}/_bulk_docs", json={"docs": documents}).status_code == 201
    return f"{db}/_design/v/_view/v"


BIG = "function (doc) { emit(doc._id, doc.n); }"
MOMENTS = [1_700_000_000_000, 1_700_000_000_001, 9_007_199_254_740_991]


def test_the_squares_of_moments_are_summed(couch: Couch, db: str) -> None:
    path = view(couch, db, BIG, "_stats", [{"_id": str(i), "n": n} for i, n in enumerate(MOMENTS)])
    (row,) = couch.get(path).json()["rows"]
    assert row["value"]["sum"] == sum(MOMENTS)
    assert row["value"]["sumsqr"] == sum(n * n for n in MOMENTS), "whole, not as a floating point number"
    rows = couch.get(path, params={"group": "true"}).json()["rows"]
    assert [row["value"]["sumsqr"] for row in rows] == [n * n for n in MOMENTS]


def test_the_squares_stay_whole_after_another_write(couch: Couch, db: str) -> None:
    """The index keeps sums between writes; they must not become floating point numbers there."""
    path = view(couch, db, BIG, "_stats", [{"_id": str(i), "n": MOMENTS[1]} for i in range(500)])
    assert couch.get(path).json()["rows"][0]["value"]["sumsqr"] == 500 * MOMENTS[1] ** 2
    couch.put(f"{db}/more", json={"n": 3})
    assert couch.get(path).json()["rows"][0]["value"]["sumsqr"] == 500 * MOMENTS[1] ** 2 + 9
    ranged = couch.get(path, params={"startkey": '"1"', "endkey": '"4"'}).json()["rows"][0]["value"]
    assert ranged["sumsqr"] == ranged["count"] * MOMENTS[1] ** 2


def test_stats_of_lists_and_sums_beyond_64_bits(couch: Couch, db: str) -> None:
    lists = [{"_id": str(i), "n": [n, 2]} for i, n in enumerate(MOMENTS)]
    stats = couch.get(view(couch, db, BIG, "_stats", lists)).json()["rows"][0]["value"]
    assert stats[0]["sumsqr"] == sum(n * n for n in MOMENTS)
    many = couch.make("conf")
    sums = [{"_id": str(i), "n": 9_007_199_254_740_991} for i in range(1100)]
    total = couch.get(view(couch, many, BIG, "_sum", sums)).json()["rows"][0]["value"]
    couch.delete(many)
    assert total == 1100 * 9_007_199_254_740_991


FILE = {"f.txt": {"content_type": "text/plain", "data": base64.b64encode(b"hello").decode()}}


def deleted(couch: Couch, db: str, docid: str) -> str:
    rev = couch.put(f"{db}/{docid}", json={"x": 1}).json()["rev"]
    return couch.delete(f"{db}/{docid}", params={"rev": rev}).json()["rev"]


def test_a_deleted_document_that_comes_back_with_an_attachment(couch: Couch, db: str) -> None:
    """The revision id is CouchDB's own, recorded from 3.5.0, or copies filled apart would be in conflict."""
    assert deleted(couch, db, "a") == "2-d0ae140c7f7cdb92dd85a3e31ae18f0c"
    back = couch.put(f"{db}/a", json={"y": 1, "_attachments": FILE}).json()
    assert back["rev"] == "3-b76eeb2378ff989188d7d3b7f6bb1107"
    assert couch.get(f"{db}/a").json()["_attachments"]["f.txt"]["revpos"] == 1
    deleted(couch, db, "b")
    put = couch.put(f"{db}/b/f.txt", data=b"hello", headers={"Content-Type": "text/plain"}).json()
    assert put["rev"] == "3-1e8d612c848e596651ccd4004383127f"
    deleted(couch, db, "c")
    (bulk,) = couch.post(
        f"{db}/_bulk_docs", json={"docs": [{"_id": "c", "z": 1, "_attachments": FILE}]}
    ).json()
    assert bulk["rev"] == "3-d5e40fafd0078f1250d60ba92b08db5f"


@pytest.mark.parametrize("data", [5, None, True, {"a": 1}, ["x"], 1.5])
@pytest.mark.parametrize("validated", [True, False])
def test_attachment_data_that_is_no_text(couch: Couch, db: str, data: Any, validated: bool) -> None:
    if validated:
        couch.put(f"{db}/_design/v", json={"validate_doc_update": "function (now) { if (now.bad) throw 1; }"})
    answer = couch.put(f"{db}/x", json={"_attachments": {"f": {"data": data}}})
    assert (answer.status_code, answer.json()) == (400, BAD_DATA)


def test_bad_base64_comes_before_a_conflict_and_refuses_the_whole_bulk(couch: Couch, db: str) -> None:
    couch.put(f"{db}/x", json={"a": 1})
    bad = {"_attachments": {"f": {"data": "!!!"}}}
    answer = couch.put(f"{db}/x", json=bad)
    assert (answer.status_code, answer.json()) == (400, BAD_DATA)
    for docs in (
        [{"_id": "x", **bad}],
        [{"_id": "x", **bad}, {"_id": "ok"}],
        [{"_id": "ok"}, {"_id": "y", **bad}],
    ):
        answer = couch.post(f"{db}/_bulk_docs", json={"docs": docs})
        assert (answer.status_code, answer.json()) == (400, BAD_DATA)
    assert couch.get(f"{db}/ok").status_code == 404, "nothing of the request was stored"


def test_an_id_in_the_body_that_is_none_of_a_partition(couch: Couch, pdb: str) -> None:
    answer = couch.put(f"{pdb}/p:1", json={"_id": "other"})
    assert (answer.status_code, answer.json()) == (400, ILLEGAL)
    assert couch.put(f"{pdb}/p:2", json={"_id": "p:3"}).json()["id"] == "p:2", "the path wins"
    assert couch.get(f"{pdb}/p:1").status_code == 404


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "COPY", "PUT"])
@pytest.mark.parametrize("path", ["/nopart", "/nopart/f"])
def test_a_path_without_a_partition(couch: Couch, pdb: str, method: str, path: str) -> None:
    if (method, path) == ("COPY", "/nopart/f"):
        return
    options: dict[str, Any] = {"headers": {"Destination": "p:2"}} if method == "COPY" else {}
    answer = couch.request(method, f"{pdb}{path}", **options, **({"json": {}} if method == "PUT" else {}))
    assert answer.status_code == 400
    assert method == "HEAD" or answer.json() == ILLEGAL


@pytest.mark.parametrize("query", ["?rev=1-abc", "?open_revs=all", '?open_revs=["1-abc"]', "?revs=true"])
def test_a_path_without_a_partition_whatever_is_asked(couch: Couch, pdb: str, query: str) -> None:
    answer = couch.get(f"{pdb}/nopart{query}")
    assert (answer.status_code, answer.json()) == (400, ILLEGAL)


@pytest.mark.parametrize("docid", ["x", "_design/d"])
def test_two_revisions_that_differ(couch: Couch, db: str, docid: str) -> None:
    path = f"{db}/{docid}?new_edits=false"
    query = couch.put(f"{path}&rev={REV}", json={"_rev": OTHER})
    assert query.status_code == 400
    assert query.json()["reason"] == "Document rev from request body and query string have different values"
    header = couch.put(path, json={"_rev": OTHER}, headers={"If-Match": REV})
    assert (header.status_code, header.json()["reason"]) == (
        400,
        "Document rev and etag have different values",
    )
    same = couch.put(f"{path}&rev={REV}", json={"_rev": REV})
    assert (same.status_code, same.json()["rev"]) == (201, REV)


def test_the_rev_of_the_query_is_the_newest_of_the_history_given(couch: Couch, db: str) -> None:
    history = {"_rev": f"2-{'c' * 32}", "_revisions": {"start": 2, "ids": ["c" * 32, "b" * 32]}}
    path = f"{db}/x?new_edits=false&rev="
    assert couch.put(f"{path}{REV}", json=history).status_code == 400
    assert couch.put(f"{path}2-{'c' * 32}", json=history).json()["rev"] == f"2-{'c' * 32}"


def names(answer: Any) -> list[str]:
    return [row["id"] for row in answer.json()["results"]]


def test_a_negative_limit_of_changes_is_none(couch: Couch, db: str) -> None:
    couch.post(f"{db}/_bulk_docs", json={"docs": [{"_id": name} for name in "abc"]})
    for limit in ("-1", "-5"):
        assert len(names(couch.get(f"{db}/_changes", params={"limit": limit}))) == 3
    assert len(names(couch.get(f"{db}/_changes", params={"limit": "0"}))) <= 1


def test_changes_that_a_client_has_already(couch: Couch, db: str) -> None:
    couch.put(f"{db}/a", json={})
    etag = couch.get(f"{db}/_changes").headers["ETag"]
    for known in (etag, f'"another", {etag}'):
        again = couch.get(f"{db}/_changes", headers={"If-None-Match": known})
        assert (again.status_code, again.text, again.headers["ETag"]) == (304, "", etag)
    assert couch.post(f"{db}/_changes", json={}, headers={"If-None-Match": etag}).status_code == 304
    waiting = couch.get(f"{db}/_changes?feed=longpoll&timeout=100", headers={"If-None-Match": etag})
    assert waiting.status_code == 200, "only the plain feed has an ETag"
    couch.put(f"{db}/b", json={})
    changed = couch.get(f"{db}/_changes", headers={"If-None-Match": etag})
    assert (changed.status_code, changed.headers["ETag"] != etag) == (200, True)


@pytest.mark.parametrize("name", ["limit", "skip", "group_level"])
def test_a_number_in_a_body_is_no_text(couch: Couch, db: str, name: str) -> None:
    path = view(couch, db, BIG, "_sum", [{"_id": "a", "n": 1}])
    bodies = (path, {name: "1"}), (f"{path}/queries", {"queries": [{name: "1"}]})
    for where, body in bodies:
        answer = couch.post(where, json=body)
        assert answer.status_code == 400
        assert answer.json()["reason"] == 'Invalid value for integer: <<"1">>'
    assert couch.get(path, params={name: "1", "group": "true"}).status_code == 200


@pytest.mark.parametrize("path", ["_view/v", "_view", "_view/v/x"])
@pytest.mark.parametrize("method", ["PUT", "DELETE", "COPY", "OPTIONS"])
def test_methods_that_a_view_does_not_know(couch: Couch, db: str, method: str, path: str) -> None:
    view(couch, db, BIG, "_sum", [])
    answer = couch.request(method, f"{db}/_design/v/{path}", headers={"Destination": "x"})
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET,POST,HEAD")
    assert answer.json()["reason"] == "Only GET,POST,HEAD allowed"


def test_a_view_without_a_name(couch: Couch, db: str) -> None:
    view(couch, db, BIG, "_sum", [])
    assert couch.get(f"{db}/_design/v/_view").status_code == 405
    assert couch.put(f"{db}/_design/v/_info", json={}).headers["Allow"] == "GET"


def place(couch: Couch, db: str) -> int:
    return int(str(couch.get(db).json()["update_seq"]).split("-")[0])


@pytest.fixture
def one_shard(couch: Couch) -> Any:
    """A database whose sequence is one number on both servers."""
    path = couch.make("conf", "?q=1")
    yield path
    couch.delete(path)


def test_leaves_of_one_bulk_are_one_change(couch: Couch, one_shard: str) -> None:
    leaves = [{"_id": "x", "_rev": f"1-{letter * 32}"} for letter in "abcd"]
    for _ in range(2):
        couch.post(f"{one_shard}/_bulk_docs", json={"new_edits": False, "docs": leaves})
        assert place(couch, one_shard) == 1
    couch.post(f"{one_shard}/_bulk_docs", json={"docs": [{"_id": "a"}, {"_id": "a"}, {"_id": "b"}]})
    assert place(couch, one_shard) == 3
    couch.post(
        f"{one_shard}/_bulk_docs",
        json={
            "new_edits": False,
            "docs": [
                {"_id": "x", "_revisions": {"start": 2, "ids": [end * 32, start * 32]}}
                for end, start in ("fa", "eb")
            ]
            + [{"_id": "y", "_rev": REV}],
        },
    )
    assert place(couch, one_shard) == 5
    assert names(couch.get(f"{one_shard}/_changes")) == ["a", "b", "x", "y"]


@pytest.mark.parametrize("new_edits", [True, False])
def test_changes_of_one_bulk_are_in_the_order_of_their_ids(
    couch: Couch, one_shard: str, new_edits: bool
) -> None:
    given = ["z", "B", "é", "a", "_design/x", "b10", "b1", "C"]
    revision = {} if new_edits else {"_rev": REV}
    docs = [{"_id": docid, **revision} for docid in given]
    answer = couch.post(f"{one_shard}/_bulk_docs", json={"new_edits": new_edits, "docs": docs}).json()
    assert not new_edits or [row["id"] for row in answer] == given, (
        "the answer keeps the order of the request"
    )
    assert names(couch.get(f"{one_shard}/_changes")) == sorted(given, key=str.encode)


CONFIG = "/_node/_local/_config"


@pytest.mark.parametrize("section", ["daemons", "external", "query_servers", "httpd_global_handlers"])
def test_sections_that_are_not_changed_over_http(couch: Couch, section: str) -> None:
    for method, options in (("PUT", {"json": "v"}), ("DELETE", {})):
        answer = couch.request(method, f"{CONFIG}/{section}/{secrets.token_hex(4)}", **options)
        assert answer.status_code == 403
        assert answer.json() == {
            "error": "forbidden",
            "reason": "Config section blacklisted for modification over HTTP API.",
        }


def test_reloading_and_malformed_settings(couch: Couch) -> None:
    reloaded = couch.post(f"{CONFIG}/_reload")
    assert (reloaded.status_code, reloaded.json()) == (200, {"ok": True})
    asked = couch.get(f"{CONFIG}/_reload")
    assert (asked.status_code, asked.headers["Allow"]) == (405, "POST")
    number = couch.put(f"{CONFIG}/conformance/x", json=1)
    assert (number.status_code, number.json()["reason"]) == (400, "a JSON string expected")
    broken = couch.put(f"{CONFIG}/conformance/a%0Ab", json="v")
    assert (broken.status_code, broken.json()["reason"]) == (400, "Invalid configuration key")


@pytest.mark.parametrize("what", ["_security", "_revs_limit"])
def test_a_member_changes_no_settings(couch: Couch, db: str, what: str) -> None:
    """CouchDB refuses it with a 500 of its own; what counts is that nothing is changed."""
    name = f"conf{secrets.token_hex(4)}"
    user = {"name": name, "password": "pw", "roles": ["staff"], "type": "user"}
    made = couch.put(f"/_users/org.couchdb.user:{name}", json=user).json()
    couch.put(f"{db}/_security", json={"admins": {"names": [], "roles": []}, "members": {"roles": ["staff"]}})
    before = couch.get(f"{db}/{what}").json()
    body = {"admins": {"names": [name]}} if what == "_security" else 7
    assert couch.put(f"{db}/{what}", json=body, auth=(name, "pw")).status_code in (401, 403, 500)
    assert couch.get(f"{db}/{what}").json() == before
    couch.delete(f"/_users/org.couchdb.user:{name}", params={"rev": made["rev"]})
