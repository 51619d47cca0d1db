"""_all_docs with every parameter, for the database and for a partition."""

import pytest

from .conftest import Couch

pytestmark = pytest.mark.conformance

IDS = ["_design/d", "a", "b", "c", "ä"]


@pytest.fixture(scope="module")
def place(couch: Couch):
    path = couch.make("alldocs")
    couch.post(f"{path}/_bulk_docs", {"docs": [{"_id": docid, "v": docid} for docid in [*IDS, "gone"]]})
    rev = couch.get(f"{path}/gone").json()["_rev"]
    couch.delete(f"{path}/gone?rev={rev}")
    yield path
    couch.delete(path)


@pytest.fixture(scope="module")
def parts(couch: Couch):
    path = couch.make("alldocsp", "?partitioned=true")
    docs = [{"_id": f"{part}:{n}"} for part in ("p", "p#q", "q") for n in range(4)]
    couch.post(f"{path}/_bulk_docs", {"docs": docs})
    yield path
    couch.delete(path)


def rows(couch: Couch, path: str, **params) -> tuple[list[str], int | None]:
    answer = couch.get(path, params=params)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    return [row.get("id", row["key"]) for row in body["rows"]], body["offset"]


@pytest.mark.parametrize(
    ("params", "ids", "offset"),
    [
        ({}, IDS, 0),
        ({"limit": 2}, IDS[:2], 0),
        ({"limit": 0}, [], 0),
        ({"skip": 2}, IDS[2:], 2),
        ({"skip": 100}, [], 5),
        ({"startkey": '"b"'}, IDS[2:], 2),
        ({"start_key": '"b"', "limit": 1}, ["b"], 2),
        ({"startkey": '"aa"'}, IDS[2:], 2),
        ({"startkey": '"b"', "skip": 1}, IDS[3:], 3),
        ({"endkey": '"b"'}, IDS[:3], 0),
        ({"endkey": '"b"', "inclusive_end": "false"}, IDS[:2], 0),
        ({"startkey": '"a"', "endkey": '"b"'}, ["a", "b"], 1),
        ({"key": '"b"'}, ["b"], 2),
        ({"key": '"never"'}, [], 4),
        ({"key": '"gone"'}, [], 4),
        ({"key": "7"}, [], 0),
        ({"startkey": "7"}, IDS, 0),
        ({"startkey": '"c"', "endkey": '"a"'}, [], 3),
        ({"descending": "true"}, IDS[::-1], 0),
        ({"descending": "true", "startkey": '"b"'}, ["b", "a", "_design/d"], 2),
        ({"descending": "true", "endkey": '"b"', "inclusive_end": "false"}, ["ä", "c"], 0),
        ({"descending": "true", "startkey": '"c"', "endkey": '"a"', "limit": 2}, ["c", "b"], 1),
    ],
)
def test_ranges(couch: Couch, place: str, params: dict, ids: list[str], offset: int):
    assert rows(couch, f"{place}/_all_docs", **params) == (ids, offset)


def test_rows(couch: Couch, place: str):
    body = couch.get(f"{place}/_all_docs?key=%22a%22&include_docs=true&update_seq=true").json()
    assert body["total_rows"] == 5
    assert body["update_seq"].partition("-")[0] == "7"
    row = body["rows"][0]
    assert row["value"] == {"rev": row["doc"]["_rev"]}
    assert row["doc"]["v"] == "a"


def test_keys(couch: Couch, place: str):
    asked = {"keys": ["c", "gone", "never", 7, "a", "c"]}
    body = couch.post(f"{place}/_all_docs", asked).json()
    assert body["offset"] is None
    found = body["rows"]
    assert [row["key"] for row in found] == asked["keys"]
    assert found[1]["value"]["deleted"] is True
    assert found[2] == {"key": "never", "error": "not_found"}
    assert found[3] == {"key": 7, "error": "not_found"}
    with_docs = couch.post(f"{place}/_all_docs?include_docs=true", {"keys": ["gone", "a"]}).json()["rows"]
    assert with_docs[0]["doc"] is None
    assert with_docs[1]["doc"]["_id"] == "a"
    part = couch.get(f'{place}/_all_docs?keys=["a","b","c"]&skip=1&limit=1').json()["rows"]
    assert [row["id"] for row in part] == ["b"]
    back = couch.get(f'{place}/_all_docs?keys=["a","b"]&descending=true').json()["rows"]
    assert [row["id"] for row in back] == ["b", "a"]
    assert couch.post(f"{place}/_all_docs", {"keys": []}).json()["rows"] == []


@pytest.mark.parametrize(
    ("query", "error", "reason"),
    [
        ("limit=-1", "query_parse_error", 'Invalid value for positive integer: "-1"'),
        ("limit=x", "query_parse_error", 'Invalid value for integer: "x"'),
        ("descending=maybe", "query_parse_error", 'Invalid boolean parameter: "maybe"'),
        ("startkey=b", "bad_request", "invalid UTF-8 JSON"),
        ("keys=3", "bad_request", "`keys` parameter must be an array."),
        (
            'keys=["a","b"]&startkey="b"',
            "query_parse_error",
            "`keys` is incompatible with `key`, `start_key` and `end_key`",
        ),
        ("reduce=true", "query_parse_error", "Reduce is invalid for map-only views."),
        ("group=true", "query_parse_error", "Invalid use of grouping on a map view."),
        ("group_level=1", "query_parse_error", "Invalid use of grouping on a map view."),
        ("partition=b", "query_parse_error", "`partition` parameter is not supported on this db"),
        ("stale=foo", "query_parse_error", "Invalid value for `stale`."),
        ("update=foo", "query_parse_error", "Invalid value for `update`."),
    ],
)
def test_refusals(couch: Couch, place: str, query: str, error: str, reason: str):
    answer = couch.get(f"{place}/_all_docs?{query}")
    assert (answer.status_code, answer.json()) == (400, {"error": error, "reason": reason})


def test_body_parameters(couch: Couch, place: str):
    assert [
        r["id"] for r in couch.post(f"{place}/_all_docs", {"start_key": "b", "limit": 1}).json()["rows"]
    ] == ["b"]
    assert (
        couch.post(f"{place}/_all_docs", {"keys": "x"}).json()["reason"]
        == "`keys` body member must be an array."
    )
    assert (
        couch.post(f"{place}/_all_docs", {"limit": "1"}).json()["reason"]
        == 'Invalid value for integer: <<"1">>'
    )
    assert couch.post(f"{place}/_all_docs", []).json()["reason"] == "Request body must be a JSON object"


def test_queries(couch: Couch, place: str):
    asked = {"queries": [{"limit": 1}, {"keys": ["a", "never"]}, {"key": "b"}]}
    results = couch.post(f"{place}/_all_docs/queries", asked).json()["results"]
    assert [len(result["rows"]) for result in results] == [1, 2, 1]
    assert (
        couch.post(f"{place}/_all_docs/queries", {}).json()["reason"]
        == "POST body must include `queries` parameter."
    )


def test_design_docs(couch: Couch, place: str):
    body = couch.get(f"{place}/_design_docs?include_docs=true").json()
    assert (body["total_rows"], [row["id"] for row in body["rows"]]) == (1, ["_design/d"])
    assert body["rows"][0]["doc"]["v"] == "_design/d"


def test_a_partition(couch: Couch, parts: str):
    path = f"{parts}/_partition/p/_all_docs"
    every = [f"p:{n}" for n in range(4)]
    assert rows(couch, path)[0] == every
    assert rows(couch, path, descending="true")[0] == every[::-1]
    assert rows(couch, path, startkey='"p:2"')[0] == every[2:]
    assert rows(couch, path, startkey='"a"', endkey='"z"')[0] == every
    assert rows(couch, path, key='"q:1"')[0] == []
    assert rows(couch, path, limit=1, skip=1)[0] == ["p:1"]
    assert rows(couch, f"{parts}/_all_docs", partition="p")[0] == every
    assert rows(couch, f"{parts}/_partition/p%23q/_all_docs")[0] == [f"p#q:{n}" for n in range(4)]
    assert rows(couch, f"{parts}/_partition/never/_all_docs")[0] == []
    posted = couch.post(path, {"include_docs": True, "limit": 2}).json()["rows"]
    assert [row["doc"]["_id"] for row in posted] == every[:2]


def test_partition_refusals(couch: Couch, parts: str, place: str):
    def reason(path: str) -> tuple[int, str]:
        answer = couch.get(path)
        return answer.status_code, answer.json()["reason"]

    assert reason(f"{place}/_partition/p/_all_docs") == (400, "database is not partitioned")
    assert reason(f"{parts}/_partition/_p/_all_docs") == (400, "Partition must not start with an underscore")
    assert reason(f"{parts}/_partition/p%3Aq/_all_docs") == (400, "Partition must not contain a colon")
    assert reason(f"{parts}/_partition/p/_all_docs?partition=q") == (
        400,
        "Conflicting value for `partition` in query string",
    )
    assert reason(f"{parts}/_partition/p/_nothing") == (404, "missing")
    assert reason(f"{parts}/_partition") == (400, "invalid_partition_req")


def test_document_ids_bound_what_keys_leave_open(couch: Couch, place: str):
    def found(query: str) -> list[str]:
        return [row["id"] for row in couch.get(f"{place}/_all_docs?{query}").json()["rows"]]

    every = found("")
    assert found(f"startkey_docid={every[2]}") == every[2:]
    assert found(f"end_key_doc_id={every[2]}") == every[:3]
    assert found(f"endkey_docid={every[2]}&inclusive_end=false") == every[:2]
    assert found(f"descending=true&startkey_docid={every[2]}") == every[2::-1]
    assert found(f'startkey="{every[1]}"&startkey_docid={every[2]}') == every[1:]
    backwards = couch.get(f"{place}/_design_docs?descending=true&startkey_docid=zz").json()
    assert backwards["offset"] >= 0
    assert len(backwards["rows"]) == 1


def test_which_keys_stand_beside_a_range(couch: Couch, place: str):
    def status(body: dict, query: str = "") -> int:
        return couch.post(f"{place}/_all_docs{query}", body).status_code

    assert status({"keys": [], "startkey": "a"}) == status({"startkey": "b", "keys": ["a"]}) == 200
    assert status({"keys": ["a"], "startkey": "b"}) == status({"keys": ["a"]}, '?startkey="b"') == 400
    assert status({"keys": ["a", "b"]}, '?endkey="b"') == status({"keys": None}) == 400
    asked = {"queries": [{"endkey": [], "key": "b"}, {"keys": ["a", "b"]}, {}]}
    answers = couch.post(f'{place}/_all_docs/queries?startkey="a"&limit=2', asked)
    assert answers.status_code == 400
    answers = couch.post(f'{place}/_all_docs/queries?keys=["a","b"]&limit=1', asked).json()["results"]
    assert [len(answer["rows"]) for answer in answers] == [1, 1, 1]
    assert answers[0]["rows"][0]["id"] == "b"


def test_several_queries_of_a_partition(couch: Couch, parts: str):
    asked = {"queries": [{"limit": 2}, {"startkey": "p:2"}, {"descending": True, "limit": 1}]}
    answers = couch.post(f"{parts}/_partition/p/_all_docs/queries", asked).json()["results"]
    assert [[row["id"] for row in answer["rows"]] for answer in answers] == [
        ["p:0", "p:1"],
        ["p:2", "p:3"],
        ["p:3"],
    ]
