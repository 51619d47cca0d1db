"""Hostile input at every endpoint: an answer that names the client's mistake, never a 5xx, never a hang."""

import json
import os
import secrets
import threading

import pytest

from deploy.local.minicouch.routes import ROUTES

from .conftest import Couch

pytestmark = pytest.mark.conformance

JSON = {"Content-Type": "application/json"}
PARAMETERS = (
    "key",
    "keys",
    "startkey",
    "endkey",
    "startkey_docid",
    "limit",
    "skip",
    "group_level",
    "reduce",
    "descending",
    "since",
    "heartbeat",
    "timeout",
    "feed",
    "rev",
    "open_revs",
    "atts_since",
    "q",
    "query",
    "sort",
    "counts",
    "ranges",
    "bookmark",
    "include_docs",
    "update",
    "partition",
    "count",
    "doc_ids",
    "filter",
    "view",
    "style",
    "drilldown",
    "group_field",
)
DEEP = "[" * 200_000
BODIES = {
    "random": os.urandom(100_000),
    "broken": b'{"docs": [{"_id": "a"',
    "nan": b'{"docs": [{"_id": "a", "v": NaN}], "selector": {"a": NaN}, "keys": NaN}',
    "infinity": b'{"docs": [{"v": 1e999}], "selector": {"v": 1e999}}',
    "surrogate": b'{"docs": [{"_id": "\\ud800", "v": "\\udfff"}], "selector": {"a": "\\ud800"}}',
    "not utf-8": b'{"docs": [{"_id": "\xff\xfe"}]}',
    "deep": DEEP.encode(),
    "deep object": b'{"a":' * 5000 + b"1" + b"}" * 5000,
    "deep value": b'{"docs":[{"_id":"deep","v":'
    + b"[" * 600
    + b"]" * 600
    + b'}],"selector":'
    + b'{"$not":' * 600
    + b"1"
    + b"}" * 601,
    "nul": b"\x00" * 1000,
    "empty": b"",
    "null": b"null",
    "number": b"12345678901234567890123456789012345678901234567890",
    "string": b'"x"',
    "array": b'[1, {"_id": 3}, null]',
    "wrong types": b'{"docs": {"a": 1}, "keys": 3, "selector": [], "queries": 7, "doc_ids": "x", "index": 3, "limit": "x"}',
    "nulls": b'{"docs": [null], "keys": [null, {}], "selector": null, "queries": [null], "doc_ids": [null], "index": null}',
    "long key": json.dumps({"k" * 1_000_000: 1}).encode(),
}


@pytest.fixture(scope="module")
def place(couch: Couch):
    path = couch.make("hostile")
    made = couch.put(
        f"{path}/_design/d",
        {
            "views": {"v": {"map": "function (doc) { emit(doc._id) }"}},
            "indexes": {"i": {"index": "function (doc) { index('default', doc._id) }"}},
            "nouveau": {"i": {"index": "function (doc) { index('text', 'default', doc._id) }"}},
            "shows": {"x": "function (doc, req) { return req.body }"},
            "updates": {"x": "function (doc, req) { return [{_id: 'u', body: req.body}, 'x'] }"},
            "lists": {"x": "function (head, req) { return toJSON(req.body) }"},
            "rewrites": [{"from": "*", "to": "../../r/*"}],
        },
    )
    assert made.status_code == 201, made.text
    yield path
    assert couch.get(f"{path}/_design/d").json()["_rev"] == made.json()["rev"]
    couch.delete(path)


# What a route's parameters are in these tests. `rest` and the like are taken from what is there.
NAMES = {
    "ddoc": "d",
    "view": "v",
    "index": "i",
    "docid": "doc",
    "partition": "p",
    "attachment*": "a/b",
    "rest*": "x/v",
    "node": "_local",
    "section": "hostile",
    "key": "k",
    "database": "hostile",
    "job": "j",
    "kind": "json",
    "name": "n",
}
GET_LEFT_OUT = {
    "/_db_updates": "feed=continuous would wait",
    "/{db}/_index": "CouchDB's own answer to a bad limit is 500 invalid_list_index_params, and its suite asks for it",
}
LEFT_OUT = {
    ("DELETE", "/{db}"): "the database would be gone",
    ("DELETE", "/{db}/_design/{ddoc}"): "its functions would be gone",
    ("POST", "/_replicate"): "tested by itself: it asks other servers",
}


def requests_of_all_routes(place: str) -> list[tuple[str, str]]:
    """(method, path) of every route that takes a body, as the routing tables have them.

    What follows the head of a CONNECT is no body (RFC 9110, 9.3.6): the server reads it as a next request, and closes the connection.
    """
    found = set()
    for method, pattern, _handler, _name in ROUTES:
        if method in ("GET", "HEAD", "CONNECT") or (method, pattern) in LEFT_OUT or "_node" in pattern:
            continue
        path = pattern.replace("/{db}", place)
        for name, value in NAMES.items():
            path = path.replace("{" + name + "}", value)
        found.add((method, path))
    return sorted(found)


@pytest.mark.parametrize("name", BODIES)
def test_hostile_bodies_at_every_route(couch: Couch, place: str, name: str):
    if not couch.is_minicouch:
        pytest.skip("CouchDB itself answers 500 to some of these")
    for method, path in requests_of_all_routes(place):
        answer = couch.request(method, path, data=BODIES[name], headers=JSON, timeout=60)
        refused_by_name = answer.status_code == 501 and answer.json()["error"] == "not_implemented"
        assert answer.status_code < 500 or refused_by_name, (
            method,
            path,
            answer.status_code,
            answer.text[:300],
        )
    assert couch.get(place).status_code == 200


def test_hostile_parameters_at_every_route(couch: Couch, place: str):
    if not couch.is_minicouch:
        pytest.skip("CouchDB itself answers 500 to some of these")
    values = (
        "%ff",
        "NaN",
        "%22%5Cud800%22",
        "-1",
        "1e99",
        "99999999999999999999",
        "[" * 500,
        "null",
        "%00",
        "{}",
    )
    paths = {
        pattern.replace("/{db}", place)
        for method, pattern, _handler, _name in ROUTES
        if method == "GET" and pattern not in GET_LEFT_OUT
    }
    for path in sorted(paths):
        for name, value in NAMES.items():
            path = path.replace("{" + name + "}", value)
        for value in values:
            asked = "&".join(f"{name}={value}" for name in PARAMETERS)
            answer = couch.get(f"{path}?{asked}", timeout=60)
            refused_by_name = answer.status_code == 501 and answer.json()["error"] == "not_implemented"
            assert answer.status_code < 500 or refused_by_name, (
                path,
                value,
                answer.status_code,
                answer.text[:300],
            )


@pytest.mark.parametrize("name", ["random", "broken", "nan", "surrogate", "deep", "wrong types", "nulls"])
def test_hostile_replications(couch: Couch, name: str):
    if not couch.is_minicouch:
        pytest.skip("CouchDB itself answers 500 to some of these")
    answer = couch.post("/_replicate", data=BODIES[name], headers=JSON, timeout=60)
    assert 400 <= answer.status_code < 500, answer.text[:300]


def test_ten_megabytes_of_noise(couch: Couch, place: str):
    noise = os.urandom(10_000_000)
    for path in ("/_bulk_docs", "/_find", "/_all_docs"):
        answer = couch.post(place + path, data=noise, headers=JSON, timeout=30)
        assert answer.status_code == 400, answer.text[:300]
    assert couch.put(f"{place}/noise", data=noise, timeout=30).status_code == 400


@pytest.mark.parametrize(
    "path",
    [
        "/%ff",
        "/%zz",
        "/%",
        "/%00",
        "/_all_docs?startkey=%ff",
        "/_all_docs?startkey=%zz",
        "/_all_docs?keys=%5B",
        "/_all_docs?limit=99999999999999999999999",
        "/_all_docs?skip=-99999999999999999999",
        "/_all_docs?limit=1e3",
        "/_all_docs?limit=",
        "/_all_docs?key=",
        "/_all_docs?startkey=%22%5Cud800%22",
        "/_changes?since=-1",
        "/_changes?since=x",
        "/_changes?since=1-%ff",
        "/_changes?limit=-1",
        "/_changes?limit=99999999999999999999999",
        "/_changes?heartbeat=0",
        "/_changes?timeout=x",
        "/_changes?feed=longpoll&timeout=-1",
        "/_changes?filter=a/b/c",
        "/_changes?filter=_view&view=%ff",
        "/doc?rev=%ff",
        "/doc?rev=99999999999999999999-a",
        "/doc?open_revs=%5B1%5D",
        "/doc?open_revs=%7B%7D",
        "/doc?atts_since=3",
        "/doc/%ff",
        "/_design/%ff",
        "/_local/%ff",
        "/_partition/%ff/_all_docs",
        "/" + "x" * 7000,
        "/_design/d/_view/v?startkey=%ff",
        "/_design/d/_view/v?keys=1",
        "/_design/d/_view/v?limit=x",
        "/_design/d/_view/v?group_level=-1",
        "//////",
        "/..%2f..%2fetc",
        "/?q=%ff",
    ],
)
def test_hostile_paths(couch: Couch, place: str, path: str):
    if not couch.is_minicouch:
        pytest.skip("CouchDB itself answers 500 to some of these")
    for method in ("GET", "PUT", "DELETE"):
        if method == "DELETE" and path in ("//////", "/?q=%ff"):
            continue
        answer = couch.request(method, place + path, data=b"{}" if method == "PUT" else None, timeout=20)
        assert answer.status_code < 500, (method, answer.text[:300])
    assert couch.get(place).status_code == 200


def test_hostile_headers(couch: Couch, place: str):
    for headers in (
        {"Authorization": "Basic !!!"},
        {"Authorization": "Basic " + "QQ=="},
        {"Cookie": "AuthSession=%ff"},
        {"Cookie": "AuthSession=YTpiOmM"},
        {"If-Match": '"x"'},
        {"If-None-Match": ",,,"},
        {"Range": "bytes=a-b"},
        {"Accept": "\xff"},
        {"X-Couch-Request-ID": "a b"},
    ):
        auth = None if "Authorization" in headers or "Cookie" in headers else couch.auth
        answer = couch.put(f"{place}/h", {}, headers=headers, auth=auth)
        assert answer.status_code < 500, (headers, answer.text[:300])


def test_too_long_a_url(couch: Couch, place: str):
    assert couch.get(f"{place}/{'x' * 9000}").status_code in (400, 404, 414)


def test_a_database_dropped_under_its_writers(couch: Couch):
    """Whoever still writes gets a 404 or an answer, never a failure."""
    path = f"/race{secrets.token_hex(4)}"
    answers: list[int] = []

    def write(name: int) -> None:
        mine = Couch(couch.url, couch.auth)
        answers.extend(mine.put(f"{path}/{name}-{n}", {}).status_code for n in range(60))

    writers = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for writer in writers:
        writer.start()
    for _ in range(10):
        couch.put(path)
        couch.delete(path)
    for writer in writers:
        writer.join()
    couch.delete(path)
    if couch.is_minicouch:
        assert set(answers) <= {201, 404}


def test_hostile_multipart(couch: Couch, place: str):
    if not couch.is_minicouch:
        pytest.skip("CouchDB itself answers 500 to some of these")
    for kind in ("multipart/related", "multipart/related;boundary=", 'multipart/related;boundary="a"'):
        for body in (
            b"",
            b"--a",
            b"--a\r\n\r\n{}\r\n--a--",
            b'--a\r\n\r\n{"_attachments":{"x":{"follows":true,"length":5}}}\r\n--a--',
        ):
            answer = couch.put(f"{place}/m", data=body, headers={"Content-Type": kind})
            assert answer.status_code < 500, (kind, body, answer.text[:300])
