"""What design documents answer themselves: _show, _list, _update and _rewrite."""

import base64
from collections.abc import Iterator

import pytest

from .conftest import Couch

pytestmark = pytest.mark.conformance

DESIGN = {
    "views": {"v": {"map": "function (doc) { if (doc.n) emit(doc.n, doc._id) }", "reduce": "_count"}},
    "shows": {
        "hello": "function (doc, req) { return 'Hello ' + (doc ? doc._id : req.id) + ' ' + req.query.q }",
        "json": "function (doc, req) { return {code: 202, json: {id: req.id, cookie: req.cookie}, headers: {'X-A': 'b'}} }",
        "binary": "function (doc, req) { return {base64: 'AAEC', headers: {'Content-Type': 'image/x'}} }",
        "types": "function () { provides('html', function () { return '<p>' }); provides('json', function () { return '{}' }) }",
        "throws": "function (doc) { throw new Error('no') }",
        "loops": "function (doc) { while (true) {} }",
        "nothing": "function (doc) { return 5 }",
        "unicode": "function (doc) { return {body: '', headers: {'X-A': 'ü €'}} }",
        "broken": "function (doc) { return {base64: '%%%'} }",
        "inject": "function (doc) { return {body: '', headers: {'X-A': 'b\\r\\nX-B: c'}} }",
    },
    "updates": {
        "count": "function (doc, req) { doc = doc || {_id: req.id, n: 0}; doc.n++; return [doc, 'now ' + doc.n] }",
        "none": "function (doc, req) { return [null, {json: req.form}] }",
    },
    "lists": {
        "csv": """function (head, req) {
            start({headers: {'Content-Type': 'text/csv'}});
            var row;
            while (row = getRow()) send(row.key + ';' + row.value + '\\n');
            return 'of ' + head.total_rows;
        }""",
    },
    "rewrites": [
        {"from": "count/:id", "to": "_update/count/:id", "method": "PUT"},
        {
            "from": "from/:n",
            "to": "_view/v",
            "query": {"startkey": ":n", "reduce": "false"},
            "formats": {"n": "int"},
        },
        {"from": "again", "to": "_rewrite/again"},
        {"from": "doc/*", "to": "../../*"},
    ],
}


@pytest.fixture(scope="module")
def place(couch: Couch) -> Iterator[str]:
    path = couch.make("functions", "?q=1")
    couch.put(f"{path}/_design/d", DESIGN)
    couch.post(f"{path}/_bulk_docs", {"docs": [{"_id": name, "n": n + 1} for n, name in enumerate("abc")]})
    yield path
    couch.delete(path)


def test_shows(couch: Couch, place: str):
    root = f"{place}/_design/d/_show"
    answer = couch.get(f"{root}/hello/a?q=1")
    assert (answer.status_code, answer.text) == (200, "Hello a 1")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Vary"] == "Accept"
    assert (
        couch.get(f"{root}/hello/a?q=1", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    )
    assert couch.get(f"{root}/hello/none?q=1").text == "Hello none 1"
    shown = couch.get(f"{root}/json/a", headers={"Cookie": "secret=1"})
    assert (shown.status_code, shown.headers["X-A"]) == (202, "b")
    assert shown.json() == {"id": "a", "cookie": {}}
    assert couch.get(f"{root}/binary").content == base64.b64decode("AAEC")


def test_shows_by_what_the_client_takes(couch: Couch, place: str):
    root = f"{place}/_design/d/_show/types"
    for accept, kind in (
        ("text/html", "text/html; charset=utf-8"),
        ("application/json;q=0.9, text/html;q=0.1", "application/json"),
    ):
        assert couch.get(root, headers={"Accept": accept}).headers["Content-Type"] == kind
    assert couch.get(f"{root}?format=json").text == "{}"
    refused = couch.get(root, headers={"Accept": "image/png"})
    assert (refused.status_code, refused.json()["error"]) == (406, "not_acceptable")


@pytest.mark.parametrize(
    ("path", "status", "error"),
    [
        ("_show/none", 404, "not_found"),
        ("_show/", 404, "show_error"),
        ("_show/throws/a", 500, "render_error"),
        ("_show/throws/none", 404, "not_found"),
        ("_show/nothing", 500, "render_error"),
        ("_list/csv", 404, "list_error"),
        ("_list/none/v", 404, "not_found"),
        ("_list/csv/none", 404, "not_found"),
        ("_update/count/a", 405, "method_not_allowed"),
        ("_rewrite/nothing", 404, "not_found"),
        ("_rewrite/again", 400, "bad_request"),
    ],
)
def test_refusals(couch: Couch, place: str, path: str, status: int, error: str):
    answer = couch.get(f"{place}/_design/d/{path}")
    assert (answer.status_code, answer.json()["error"]) == (status, error), answer.text


def test_updates(couch: Couch, db: str):
    couch.put(f"{db}/_design/d", DESIGN)
    root = f"{db}/_design/d/_update"
    for n in (1, 2):
        answer = couch.put(f"{root}/count/a%2Fb")
        assert (answer.status_code, answer.text) == (201, f"now {n}")
        assert answer.headers["X-Couch-Id"] == "a%2Fb"
        assert couch.get(f"{db}/a%2Fb").json()["_rev"] == answer.headers["X-Couch-Update-NewRev"]
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert couch.post(f"{root}/none", data="a=1&b=x+y", headers=form).json() == {"a": "1", "b": "x y"}
    assert couch.put(f"{root}/count").status_code == 400


def test_updates_meet_validation(couch: Couch, db: str):
    couch.put(f"{db}/_design/d", DESIGN)
    couch.put(
        f"{db}/_design/v", {"validate_doc_update": "function (doc) { if (doc.n) throw {forbidden: 'no n'} }"}
    )
    answer = couch.put(f"{db}/_design/d/_update/count/a")
    assert (answer.status_code, answer.json()) == (403, {"error": "forbidden", "reason": "no n"})


def test_lists(couch: Couch, place: str):
    root = f"{place}/_design/d/_list/csv"
    answer = couch.get(f"{root}/v?reduce=false&startkey=2")
    assert (answer.text, answer.headers["Content-Type"]) == ("2;b\n3;c\nof 3", "text/csv")
    assert couch.get(f"{root}/d/v?group=true").text == "1;1\n2;1\n3;1\nof undefined"
    assert couch.post(f"{root}/v?reduce=false", {"keys": [3, 1]}).text == "3;c\n1;a\nof 3"
    assert couch.get(f"{root}/_all_docs?endkey=%22b%22").text.endswith("of 4")


def test_rewrites(couch: Couch, place: str):
    root = f"{place}/_design/d/_rewrite"
    assert [row["id"] for row in couch.get(f"{root}/from/2").json()["rows"]] == ["b", "c"]
    assert couch.get(f"{root}/doc/a").json()["_id"] == "a"
    assert couch.put(f"{root}/count/new").text == "now 1"
    couch.delete(f"{place}/new?rev={couch.get(f'{place}/new').json()['_rev']}")


def test_a_rewrite_leads_to_no_other_database(couch: Couch, db: str):
    couch.put(f"{db}/_design/d", {"rewrites": [{"from": "up", "to": "../../../_all_dbs"}]})
    for path in ("up", "other"):
        answer = couch.get(f"{db}/_design/d/_rewrite/{path}")
        assert (answer.status_code, answer.json()["error"]) == (500, "insecure_rewrite_rule")


def test_a_function_cannot_write_headers_of_its_own(couch: Couch, place: str):
    if not couch.is_minicouch:
        pytest.skip("CouchDB sends what it is given")
    assert "X-B" not in couch.get(f"{place}/_design/d/_show/inject").headers


def test_headers_are_utf_8_and_base64_is_base64(couch: Couch, place: str):
    shown = couch.get(f"{place}/_design/d/_show/unicode").headers["X-A"]
    assert shown.encode("latin-1").decode() == "ü €"
    assert couch.get(f"{place}/_design/d/_show/broken").status_code == 500


def test_a_list_has_a_head(couch: Couch, place: str):
    answer = couch.request("HEAD", f"{place}/_design/d/_list/csv/v?reduce=false")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/csv")


def test_a_callback_ends_where_the_answer_did(couch: Couch, place: str):
    option = "/_node/_local/_config/chttpd/allow_jsonp"
    couch.put(option, "true")
    for path in ("/a", "/_all_docs?limit=1", "/_changes?limit=0"):
        plain = couch.get(place + path).text
        called = couch.get(f"{place}{path}{'&' if '?' in path else '?'}callback=f").text
        assert called == f"/* CouchDB */f({plain.removesuffix(chr(10))});\n"
    couch.delete(option)
