"""One document at a time: revisions, refusals, headers, local documents, copies."""

import gzip
import json

import pytest

from .conftest import Couch

pytestmark = pytest.mark.conformance

EMPTY_REV = "1-967a00dff5e02add41819138abb3284d"


def error(answer) -> tuple[int, str, str]:
    body = answer.json()
    return answer.status_code, body["error"], body["reason"]


CONFLICT = (409, "conflict", "Document update conflict.")


def test_revisions_are_those_of_couchdb(couch: Couch, db: str):
    """The same edit has the same revision on every server, whatever JSON it holds."""
    assert couch.put(f"{db}/empty", {}).json() == {"ok": True, "id": "empty", "rev": EMPTY_REV}
    body = {"x": 1, "t": [1, 2, 3.5, None, True, "é"]}
    assert couch.put(f"{db}/mixed", body).json()["rev"] == "1-4b9ae39024c73f9a7868989e253619c9"
    numbers = {
        "big": 2**70,
        "negative": -5,
        "wide": 70000,
        "bytes": [1, 2, 255],
        "nested": {"a": {}, "b": []},
    }
    answer = couch.put(f"{db}/numbers", numbers)
    assert answer.status_code == 201
    assert couch.get(f"{db}/numbers").json()["nested"] == {"a": {}, "b": []}
    second = couch.put(f"{db}/empty?rev={EMPTY_REV}", {"v": 2})
    assert second.json()["rev"] == "2-39d6b69a215997ebb2e6c0b28fbd5a08"
    gone = couch.delete(f"{db}/empty?rev={second.json()['rev']}")
    assert gone.status_code == 200
    assert gone.json()["rev"].startswith("3-")


def test_writing_needs_the_current_revision(couch: Couch, db: str):
    couch.put(f"{db}/a", {"v": 1})
    rev = couch.get(f"{db}/a").json()["_rev"]
    assert error(couch.put(f"{db}/a", {"v": 2})) == CONFLICT
    assert error(couch.put(f"{db}/a", {"v": 2, "_rev": "1-abc"})) == CONFLICT
    assert error(couch.delete(f"{db}/a")) == CONFLICT
    assert couch.put(f"{db}/a", {"v": 2, "_rev": rev}).status_code == 201
    rev2 = couch.get(f"{db}/a").json()["_rev"]
    assert couch.put(f"{db}/a", {"v": 3}, headers={"If-Match": f'"{rev2}"'}).status_code == 201
    assert error(couch.put(f"{db}/a?rev=1-a", {"_rev": "1-b"})) == (
        400,
        "bad_request",
        "Document rev from request body and query string have different values",
    )
    assert error(couch.put(f"{db}/a?rev=1-a", {}, headers={"If-Match": "1-b"})) == (
        400,
        "bad_request",
        "Document rev and etag have different values",
    )


def test_a_deleted_document_can_be_made_anew(couch: Couch, db: str):
    couch.put(f"{db}/a", {})
    tombstone = couch.delete(f"{db}/a?rev={EMPTY_REV}").json()["rev"]
    assert tombstone == "2-eec205a9d413992850a6e32678485900"
    assert error(couch.get(f"{db}/a")) == (404, "not_found", "deleted")
    assert error(couch.delete(f"{db}/a")) == (404, "not_found", "deleted")
    assert error(couch.get(f"{db}/never")) == (404, "not_found", "missing")
    assert couch.get(f"{db}/a?rev={tombstone}").json() == {"_id": "a", "_rev": tombstone, "_deleted": True}
    assert error(couch.put(f"{db}/a", {"_rev": tombstone})) == CONFLICT
    assert error(couch.put(f"{db}/a", {"_deleted": True})) == CONFLICT
    assert couch.put(f"{db}/a", {"v": 2}).json()["rev"].startswith("3-")


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ('{"_foo":1}', (400, "doc_validation", "Bad special document member: _foo")),
        ("[1]", (400, "bad_request", "Document must be a JSON object")),
        ("{", (400, "bad_request", "invalid UTF-8 JSON")),
        ("", (400, "bad_request", "invalid UTF-8 JSON")),
        ('{"_rev":3}', (400, "bad_request", "Invalid rev format")),
        ('{"_rev":"x"}', (400, "bad_request", "Invalid rev format")),
        (
            '{"_revisions":{"start":"a","ids":[]}}',
            (400, "doc_validation", "_revisions.start isn't an integer."),
        ),
        ('{"_revisions":{"start":1,"ids":3}}', (400, "doc_validation", "_revisions.ids isn't a array.")),
        ('{"_revisions":{"start":1,"ids":[3]}}', (400, "doc_validation", "RevId isn't a string")),
        ('{"_deleted":3}', (400, "doc_validation", "Bad special document member: _deleted")),
        (
            '{"_attachments":{"_x":{"data":""}}}',
            (400, "bad_request", "Attachment name '_x' starts with prohibited character '_'"),
        ),
    ],
)
def test_what_is_no_document(couch: Couch, db: str, body: str, answer: tuple[int, str, str]):
    assert error(couch.put(f"{db}/a", data=body)) == answer


def test_ids(couch: Couch, db: str):
    reserved = (400, "illegal_docid", "Only reserved document ids may start with underscore.")
    assert error(couch.put(f"{db}/_foo", {})) == reserved
    assert error(couch.post(db, {"_id": "_x"})) == reserved
    assert error(couch.post(db, {"_id": 3})) == (400, "illegal_docid", "Document id must be a string")
    assert error(couch.post(db, {"_id": ""})) == (400, "illegal_docid", "Document id must not be empty")
    for path, docid in [("a%2Fb", "a/b"), ("%C3%A9", "é"), ("a%20b", "a b"), ("a%3Fb", "a?b")]:
        assert couch.put(f"{db}/{path}", {}).json()["id"] == docid
        assert couch.get(f"{db}/{path}").json()["_id"] == docid
    made = couch.post(db, {"a": 1}).json()
    assert len(made["id"]) == 32
    assert couch.put(f"{db}/other", {"_id": "ignored"}).json()["id"] == "other"


def test_ids_of_a_partitioned_database(couch: Couch, pdb: str):
    assert error(couch.put(f"{pdb}/nocolon", {})) == (
        400,
        "illegal_docid",
        "Doc id must be of form partition:id",
    )
    assert error(couch.put(f"{pdb}/a:", {})) == (400, "illegal_docid", "Document id must not be empty")
    assert error(couch.put(f"{pdb}/:x", {})) == (400, "illegal_partition", "Partition must not be empty")
    assert couch.put(f"{pdb}/a:b:c", {}).status_code == 201
    assert couch.put(f"{pdb}/_design/d", {}).status_code == 201
    assert couch.get(f"{pdb}/_partition/a").json()["doc_count"] == 1
    assert error(couch.get(f"{pdb}/_partition/_a")) == (
        400,
        "illegal_partition",
        "Partition must not start with an underscore",
    )
    unknown = couch.get(f"{pdb}/_partition/never").json()
    assert (unknown["doc_count"], unknown["doc_del_count"], unknown["partition"]) == (0, 0, "never")


def test_partition_counts_follow_edits(couch: Couch, pdb: str):
    couch.put(f"{pdb}/p:a", {})
    couch.put(f"{pdb}/p:b", {})
    couch.delete(f"{pdb}/p:a?rev={EMPTY_REV}")
    info = couch.get(f"{pdb}/_partition/p").json()
    assert (info["doc_count"], info["doc_del_count"]) == (1, 1)
    whole = couch.get(pdb).json()
    assert (whole["doc_count"], whole["doc_del_count"], whole["props"]) == (1, 1, {"partitioned": True})


def test_headers_and_conditional_reads(couch: Couch, db: str):
    answer = couch.put(f"{db}/a", {})
    assert answer.headers["ETag"] == f'"{EMPTY_REV}"'
    assert answer.headers["Location"].endswith(f"{db}/a")
    read = couch.get(f"{db}/a")
    assert read.headers["ETag"] == f'"{EMPTY_REV}"'
    assert read.headers["Content-Type"] == "application/json"
    assert read.headers["Cache-Control"] == "must-revalidate"
    assert read.headers["X-Couch-Request-ID"]
    assert (
        couch.get(f"{db}/a", headers={"X-Couch-Request-ID": "abc-1"}).headers["X-Couch-Request-ID"] == "abc-1"
    )
    same = couch.get(f"{db}/a", headers={"If-None-Match": f'"{EMPTY_REV}"'})
    assert (same.status_code, same.content) == (304, b"")
    head = couch.request("HEAD", f"{db}/a")
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["Content-Length"]) == len(read.content)


def test_method_not_allowed(couch: Couch, db: str):
    answer = couch.request("PATCH", f"{db}/a", json={})
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "DELETE,GET,HEAD,POST,PUT,COPY"
    assert couch.request("PATCH", db).json()["reason"] == "Only DELETE,GET,HEAD,POST allowed"


def test_gzip_bodies(couch: Couch, db: str):
    packed = gzip.compress(json.dumps({"v": 1}).encode())
    sent = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    assert couch.put(f"{db}/a", data=packed, headers=sent).status_code == 201
    assert couch.get(f"{db}/a").json()["v"] == 1
    assert (
        couch.post(f"{db}/_bulk_docs", data=gzip.compress(b'{"docs":[{}]}'), headers=sent).status_code == 201
    )
    assert error(couch.put(f"{db}/b", data=b"{}", headers=sent)) == (
        400,
        "bad_request",
        "Request body is not properly gzipped.",
    )
    other = couch.put(f"{db}/b", data=b"{}", headers={"Content-Encoding": "br"})
    assert error(other) == (415, "bad_content_type", "br is not a supported content encoding.")


def test_chunked_bodies(couch: Couch, db: str):
    pieces = (piece for piece in [b'{"a"', b":1", b"}"])
    assert couch.put(f"{db}/a", data=pieces).status_code == 201


def test_copy(couch: Couch, db: str):
    couch.put(f"{db}/a", {"v": 1})
    copied = couch.request("COPY", f"{db}/a", headers={"Destination": "b"})
    assert copied.status_code == 201
    assert couch.get(f"{db}/b").json()["v"] == 1
    assert error(couch.request("COPY", f"{db}/a", headers={"Destination": "b"})) == CONFLICT
    again = couch.request("COPY", f"{db}/a", headers={"Destination": f"b?rev={copied.json()['rev']}"})
    assert again.status_code == 201
    local = couch.request("COPY", f"{db}/a", headers={"Destination": "_local/l"})
    assert local.json()["rev"] == "0-1"
    assert couch.get(f"{db}/_local/l").json()["v"] == 1
    assert couch.get(db).json()["doc_count"] == 2
    assert error(couch.request("COPY", f"{db}/a")) == (
        400,
        "bad_request",
        "Destination header is mandatory for COPY.",
    )


def test_local_documents(couch: Couch, db: str):
    assert couch.put(f"{db}/_local/l", {"a": 1}).json()["rev"] == "0-1"
    assert couch.put(f"{db}/_local/l", {"a": 2, "_rev": "0-4"}).json()["rev"] == "0-5"
    assert couch.get(f"{db}/_local/l").json() == {"_id": "_local/l", "_rev": "0-5", "a": 2}
    assert couch.get(db).json()["doc_count"] == 0
    assert couch.get(f"{db}/_changes").json()["results"] == []
    assert [row["id"] for row in couch.get(f"{db}/_local_docs").json()["rows"]] == ["_local/l"]
    assert couch.delete(f"{db}/_local/l").json() == {"ok": True, "id": "_local/l", "rev": "0-0"}
    assert error(couch.get(f"{db}/_local/l")) == (404, "not_found", "missing")


def test_a_document_that_is_too_large(couch: Couch, db: str):
    answer = couch.put(f"{db}/big", {"text": "x" * 8_000_100})
    assert error(answer) == (413, "document_too_large", "")


def test_numbers_and_text_come_back(couch: Couch, db: str):
    body = {
        "float": 0.1,
        "small": 1e-7,
        "zero": 0,
        "negative": -0.5,
        "text": '\u0000\u001f"\\/é€😀',
        "true": True,
    }
    couch.put(f"{db}/a", body)
    read = couch.get(f"{db}/a").json()
    assert {key: read[key] for key in body} == body


def test_databases(couch: Couch, db: str):
    assert error(couch.put(db)) == (
        412,
        "file_exists",
        "The database could not be created, the file already exists.",
    )
    assert error(couch.get("/never_made")) == (404, "not_found", "Database does not exist.")
    assert error(couch.put("/Upper"))[:2] == (400, "illegal_database_name")
    assert error(couch.put("/other?partitioned=x")) == (400, "bad_request", "Invalid `partitioned` parameter")
    assert error(couch.delete(f"{db}?rev=1-a"))[:2] == (400, "bad_request")
    assert db[1:] in couch.get("/_all_dbs").json()
    infos = couch.post("/_dbs_info", {"keys": [db[1:], "nothing"]}).json()
    assert infos[0]["info"]["db_name"] == db[1:]
    assert infos[1] == {"key": "nothing", "error": "not_found"}
    slash = "/conf%2Fwith%2Fslashes"
    assert couch.put(slash).status_code == 201
    assert couch.get(slash).json()["db_name"] == "conf/with/slashes"
    assert couch.delete(slash).json() == {"ok": True}


def test_purge(couch: Couch, db: str):
    couch.put(f"{db}/a", {})
    answer = couch.post(f"{db}/_purge", {"a": [EMPTY_REV, "9-z"], "b": ["1-a"]})
    assert answer.status_code == 201
    assert answer.json() == {"purge_seq": None, "purged": {"a": [EMPTY_REV], "b": []}}
    assert error(couch.get(f"{db}/a")) == (404, "not_found", "missing")
    info = couch.get(db).json()
    assert (info["doc_count"], info["doc_del_count"]) == (0, 0)
    assert couch.put(f"{db}/a", {}).json()["rev"] == EMPTY_REV


@pytest.mark.parametrize("rev", ["0-abc", "1-abc", "2-967a00dff5e02add41819138abb3284d"])
def test_a_revision_of_a_document_that_is_not_there_is_a_conflict(couch: Couch, db: str, rev: str) -> None:
    answer = couch.put(f"{db}/new", {"_rev": rev})
    assert (answer.status_code, answer.json()["error"]) == (409, "conflict")
    (row,) = couch.post(f"{db}/_bulk_docs", {"docs": [{"_id": "new", "_rev": rev}]}).json()
    assert row["error"] == "conflict"
    assert couch.get(f"{db}/new").status_code == 404


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_local_documents_have_no_attachments(couch: Couch, db: str, method: str) -> None:
    answer = couch.request(method, f"{db}/_local/x/file", data="x" if method == "PUT" else None)
    assert (answer.status_code, answer.json()["reason"]) == (
        400,
        "_local documents do not accept attachments.",
    )
