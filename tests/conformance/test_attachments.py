"""Attachments: inline, on their own, as stubs, in ranges, in multipart bodies; stored and digested as CouchDB does."""

import base64
import gzip

import pytest

from .conftest import Couch

pytestmark = pytest.mark.conformance

TEXT = b"This is a base64 encoded text"
JSON = {"Accept": "application/json"}
BYTES = {"Content-Type": "application/octet-stream"}


@pytest.fixture
def doc(couch: Couch, db: str) -> str:
    inline = {
        "foo.txt": {"content_type": "text/plain", "data": base64.b64encode(TEXT).decode()},
        "b.bin": {"data": "AAEC"},
    }
    assert (
        couch.put(f"{db}/d", {"_attachments": inline}).json()["rev"] == "1-41c37030c3a7b99e72f560af4f970350"
    )
    return f"{db}/d"


def test_stubs(couch: Couch, doc: str):
    stubs = couch.get(doc).json()["_attachments"]
    assert stubs["foo.txt"] == {
        "content_type": "text/plain",
        "revpos": 1,
        "digest": "md5-qUUYqS41RhwF0TrCsTAxFg==",
        "length": 29,
        "stub": True,
    }
    assert stubs["b.bin"]["content_type"] == "application/octet-stream"
    info = couch.get(f"{doc}?att_encoding_info=true").json()["_attachments"]["foo.txt"]
    assert (info["encoding"], info["encoded_length"]) == ("gzip", 47)


def test_inline_data(couch: Couch, doc: str):
    found = couch.get(f"{doc}?attachments=true", headers=JSON).json()["_attachments"]
    assert base64.b64decode(found["foo.txt"]["data"]) == TEXT
    rows = couch.get(f"{doc.rsplit('/', 1)[0]}/_all_docs?include_docs=true&attachments=true").json()["rows"]
    assert rows[0]["doc"]["_attachments"]["b.bin"]["data"] == "AAEC"


def test_reading_one(couch: Couch, doc: str):
    answer = couch.get(f"{doc}/foo.txt")
    assert answer.content == TEXT
    assert answer.headers["Content-Type"] == "text/plain"
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["ETag"] == '"qUUYqS41RhwF0TrCsTAxFg=="'
    plain = couch.get(f"{doc}/foo.txt", headers={"Accept-Encoding": "identity"})
    assert plain.content == TEXT
    assert "Content-Encoding" not in plain.headers
    assert couch.get(f"{doc}/foo.txt", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    missing = couch.get(f"{doc}/never")
    assert (missing.status_code, missing.json()["reason"]) == (404, "Document is missing attachment")
    assert couch.request("HEAD", f"{doc}/b.bin").headers["Content-Length"] == "3"


def test_putting_and_deleting_one(couch: Couch, db: str):
    made = couch.put(f"{db}/e/a/b.txt", data=b"one", headers={"Content-Type": "text/plain"})
    assert made.status_code == 201
    rev = made.json()["rev"]
    assert couch.get(f"{db}/e/a/b.txt").content == b"one"
    conflict = couch.put(f"{db}/e/a/b.txt", data=b"two", headers=BYTES)
    assert conflict.status_code == 409
    second = couch.put(f"{db}/e/c?rev={rev}", data=b"two", headers=BYTES).json()["rev"]
    stubs = couch.get(f"{db}/e").json()["_attachments"]
    assert {name: stub["revpos"] for name, stub in stubs.items()} == {"c": 2, "a/b.txt": 1}
    assert couch.delete(f"{db}/e/never?rev={second}").status_code == 404
    third = couch.delete(f"{db}/e/c?rev={second}")
    assert third.status_code == 200
    assert list(couch.get(f"{db}/e").json()["_attachments"]) == ["a/b.txt"]
    refused = couch.put(f"{db}/e/_x?rev={third.json()['rev']}", data=b"", headers=BYTES)
    assert refused.json()["reason"] == "Attachment name '_x' starts with prohibited character '_'"


def test_an_attachment_of_a_deleted_revision_brings_nothing_back(couch: Couch, db: str):
    rev = couch.put(f"{db}/gone", {"": "a member without a name"}).json()["rev"]
    rev = couch.put(f"{db}/gone/a?rev={rev}", data=b"one", headers=BYTES).json()["rev"]
    assert couch.get(f"{db}/gone").json()[""] == "a member without a name"
    rev = couch.delete(f"{db}/gone?rev={rev}").json()["rev"]
    assert couch.put(f"{db}/gone/a?rev={rev}", data=b"two", headers=BYTES).status_code in (201, 409)
    assert couch.get(f"{db}/gone").status_code == 404


def test_stubs_keep_attachments_through_updates(couch: Couch, doc: str):
    body = couch.get(doc).json()
    body["v"] = 2
    assert couch.put(doc, body).status_code == 201
    assert couch.get(f"{doc}/foo.txt").content == TEXT
    body = couch.get(doc).json()
    del body["_attachments"]["b.bin"]
    couch.put(doc, body)
    assert list(couch.get(doc).json()["_attachments"]) == ["foo.txt"]
    bad = couch.put(doc.replace("/d", "/new"), {"_attachments": {"x": {"stub": True}}})
    assert (bad.status_code, bad.json()["error"]) == (412, "missing_stub")


@pytest.mark.parametrize(
    ("header", "status", "content", "shown"),
    [
        ("bytes=2-5", 206, b"2345", "bytes 2-5/50"),
        ("bytes=-5", 206, b"56789", "bytes 45-49/50"),
        ("bytes=45-", 206, b"56789", "bytes 45-49/50"),
        ("bytes=48-400", 206, b"89", "bytes 48-49/50"),
        ("bytes=0-0", 206, b"0", "bytes 0-0/50"),
        ("bytes=0-", 200, b"0123456789" * 5, None),
        ("nonsense", 200, b"0123456789" * 5, None),
    ],
)
def test_ranges(couch: Couch, db: str, header: str, status: int, content: bytes, shown: str | None):
    couch.put(f"{db}/r/raw", data=b"0123456789" * 5, headers=BYTES)
    answer = couch.get(f"{db}/r/raw", headers={"Range": header})
    assert (answer.status_code, answer.content, answer.headers.get("Content-Range")) == (
        status,
        content,
        shown,
    )
    assert answer.headers["Accept-Ranges"] == "bytes"


def test_ranges_that_cannot_be(couch: Couch, db: str):
    couch.put(f"{db}/r/raw", data=b"0123456789", headers=BYTES)
    answer = couch.get(f"{db}/r/raw", headers={"Range": "bytes=5-2"})
    assert (answer.status_code, answer.json()["error"]) == (416, "requested_range_not_satisfiable")
    several = couch.get(f"{db}/r/raw", headers={"Range": "bytes=0-1,5-6"})
    assert several.status_code == 206
    assert several.headers["Content-Type"].startswith("multipart/byteranges")


def test_gzipped_by_the_client(couch: Couch, db: str):
    headers = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}
    couch.put(f"{db}/g/z", data=gzip.compress(TEXT), headers=headers)
    assert couch.get(f"{db}/g/z").content == TEXT
    assert couch.get(f"{db}/g/z", headers={"Accept-Encoding": "identity"}).content == TEXT
    other = couch.put(f"{db}/g2/z", data=b"x", headers={**headers, "Content-Encoding": "deflate"})
    assert (other.status_code, other.json()["error"]) == (415, "bad_content_type")


def test_multipart_related(couch: Couch, db: str):
    body = (
        b'--abc\r\nContent-Type: application/json\r\n\r\n{"_attachments":{"a":{"follows":true,"length":3,'
        b'"content_type":"text/plain"},"b":{"follows":true,"length":2}}}\r\n'
        b"--abc\r\n\r\nxyz\r\n--abc\r\n\r\nuv\r\n--abc--"
    )
    sent = couch.put(f"{db}/m", data=body, headers={"Content-Type": 'multipart/related;boundary="abc"'})
    assert sent.status_code == 201, sent.text
    assert couch.get(f"{db}/m/a").content == b"xyz"
    assert couch.get(f"{db}/m/b").content == b"uv"
    read = couch.get(f"{db}/m?attachments=true", headers={"Accept": "multipart/related"})
    assert read.headers["Content-Type"].startswith("multipart/related")
    assert b'"follows":true' in read.content
    assert b"uv\r\n--" in read.content
    mixed = couch.get(f"{db}/m?attachments=true&open_revs=all", headers={"Accept": "multipart/mixed"})
    assert mixed.headers["Content-Type"].startswith("multipart/mixed")


def test_only_newer_attachments_are_sent(couch: Couch, doc: str):
    rev = couch.get(doc).json()["_rev"]
    couch.put(f"{doc}/new?rev={rev}", data=b"new", headers=BYTES)
    found = couch.get(f'{doc}?atts_since=["{rev}"]', headers=JSON).json()["_attachments"]
    assert found["foo.txt"]["stub"] is True
    assert base64.b64decode(found["new"]["data"]) == b"new"


def test_design_documents_have_them_too(couch: Couch, db: str):
    couch.put(f"{db}/_design/d/page.html", data=b"<p>", headers={"Content-Type": "text/html"})
    answer = couch.get(f"{db}/_design/d/page.html")
    assert (answer.content, answer.headers["Content-Type"]) == (b"<p>", "text/html")
