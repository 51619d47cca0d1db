"""`_nouveau`: CouchDB's own text search over the same kind of index."""

from typing import Any

import pytest

pytestmark = pytest.mark.conformance

INDEX = """function (doc) {
  index('text', 'name', doc.name, {store: true});
  index('string', 'brand', doc.brand);
  index('double', 'price', doc.price);
  index('stored', 'note', 'n' + doc.price);
}"""


@pytest.fixture(scope="module")
def path(couch) -> str:
    if not couch.has_nouveau():
        pytest.skip("this server has no Nouveau")
    db = couch.make("nouveau", "?partitioned=true")
    docs = [
        {
            "_id": f"{'ab'[n % 2]}:{n}",
            "name": f"{['red', 'blue'][n % 2]} Pan {n}",
            "brand": f"B {n % 3}",
            "price": n,
        }
        for n in range(12)
    ]
    couch.post(db + "/_bulk_docs", {"docs": docs})
    index = {"all": {"index": INDEX, "default_analyzer": "standard", "field_analyzers": {"brand": "keyword"}}}
    couch.put(db + "/_design/g", {"options": {"partitioned": False}, "nouveau": index})
    couch.put(db + "/_design/p", {"nouveau": index})
    yield db
    couch.delete(db)


def ask(couch, path: str, q: str, **options: Any) -> Any:
    return couch.post(path + "/_design/g/_nouveau/all", {"q": q, **options}).json()


def ids(answer: Any) -> list[str]:
    return [hit["id"] for hit in answer["hits"]]


@pytest.mark.parametrize(
    ("q", "total"),
    [
        ("name:red", 6),
        ("name:pan AND price:[3 TO 5]", 3),
        ('brand:"B 1"', 4),
        ("brand:B\\ 1", 4),
        ("price:7", 1),
        ("name:7", 1),
        ("*:*", 12),
    ],
)
def test_queries(couch, path: str, q: str, total: int) -> None:
    answer = ask(couch, path, q)
    assert (answer["total_hits"], answer["total_hits_relation"], len(answer["hits"])) == (
        total,
        "EQUAL_TO",
        total,
    )


def test_sort_fields_documents_and_bookmarks(couch, path: str) -> None:
    first = ask(couch, path, "*:*", sort=["-brand", "price"], limit=3, include_docs=True)
    assert ids(first) == ["a:2", "b:5", "a:8"]
    assert first["hits"][0]["fields"] == {"name": "red Pan 2", "note": "n2"}
    assert first["hits"][0]["doc"]["price"] == 2
    assert ids(ask(couch, path, "*:*", sort=["-brand", "price"], limit=3, bookmark=first["bookmark"])) == [
        "b:11",
        "b:1",
        "a:4",
    ]
    assert ids(ask(couch, path, "*:*", sort="-price", limit=2)) == ["b:11", "a:10"]


def test_facets(couch, path: str) -> None:
    bands = {
        "price": [
            {"label": "low", "min": 0, "max": 5},
            {"label": "high", "min": 5, "max": 100, "min_inclusive": False},
        ]
    }
    answer = ask(couch, path, "name:red", counts=["brand"], ranges=bands)
    assert answer["counts"] == {"brand": {"B 0": 2, "B 1": 2, "B 2": 2}}
    assert answer["ranges"] == {"price": {"low": 3, "high": 3}}
    assert ask(couch, path, "*:*")["counts"] is None


def test_partitions_and_refusals(couch, path: str) -> None:
    inside = couch.post(path + "/_partition/b/_design/p/_nouveau/all", {"q": "name:pan"}).json()
    assert inside["total_hits"] == 6
    everywhere = couch.post(path + "/_design/p/_nouveau/all", {"q": "name:pan"})
    assert (everywhere.status_code, everywhere.json()["total_hits"]) == (200, 12)
    by_parameter = couch.get(path + "/_design/p/_nouveau/all?q=name:pan&partition=b").json()
    assert ids(by_parameter) == ids(inside)
    in_body = couch.post(path + "/_design/p/_nouveau/all", {"q": "name:pan", "partition": "b"}).json()
    assert in_body["total_hits"] == 12, "only the address names a partition"
    beside = couch.post(path + "/_design/p/_nouveau/all?partition=b", {"q": "name:pan"}).json()
    assert ids(beside) == ids(inside)
    for address, reason in (
        ("a/_design/p/_nouveau/all?q=x&partition=b", "Conflicting value for `partition` in query string"),
        ("_x/_design/p/_nouveau/all?q=x", "Partition must not start with an underscore"),
    ):
        refused = couch.get(f"{path}/_partition/{address}")
        assert (refused.status_code, refused.json()["reason"]) == (400, reason)
    assert couch.get(path + "/_design/g/_nouveau/all").json()["reason"] == "q parameter is mandatory"
    assert couch.get(path + "/_design/g/_nouveau/all?q=x&limit=0").status_code == 400
    assert couch.get(path + "/_design/g/_nouveau/none?q=x").status_code == 404
    assert couch.get(path + "/_design/g/_nouveau_info/all").json()["search_index"]["num_docs"] == 12


def test_standard_analysis_has_no_stop_words(couch) -> None:
    if not couch.has_nouveau():
        pytest.skip("this server has no Nouveau")
    db = couch.make("nouveau-stopwords")
    couch.post(db + "/_bulk_docs", {"docs": [{"_id": "a", "name": "Pan for the oven"}]})
    function = "function (doc) { index('text', 'name', doc.name); }"
    couch.put(
        db + "/_design/g",
        {
            "nouveau": {
                "all": {"index": function},
                "named": {"index": function, "default_analyzer": "standard"},
            }
        },
    )
    for index in ("all", "named"):
        for word in ("for", "the", "pan"):
            found = couch.post(f"{db}/_design/g/_nouveau/{index}", {"q": f"name:{word}"}).json()
            assert ids(found) == ["a"], (index, word)
    couch.delete(db)


def test_a_field_whose_name_it_does_not_take_keeps_the_index_from_being_built(couch) -> None:
    if not couch.has_nouveau():
        pytest.skip("this server has no Nouveau")
    db = couch.make("nouveau-names")
    function = "function (doc) { index('string', '$a_1', 'a'); index('double', doc.name, 1); }"
    couch.put(db + "/_design/g", {"nouveau": {"all": {"index": function}}})
    couch.post(db + "/_bulk_docs", {"docs": [{"_id": "a", "name": "price_GBP"}]})
    assert ids(ask(couch, db, "*:*")) == ["a"]
    couch.post(db + "/_bulk_docs", {"docs": [{"_id": "b", "name": "price.GBP"}]})
    refused = couch.post(db + "/_design/g/_nouveau/all", {"q": "*:*"})
    assert (refused.status_code, refused.json()["error"]) == (400, "bad_request")
    assert refused.json()["reason"] == r'fields[1].name must match "^\$?[a-zA-Z][a-zA-Z0-9_]*$"'
    couch.delete(db)


@pytest.mark.parametrize(
    ("analyzer", "text", "tokens"),
    [
        ("standard", "The red Pans", ["the", "red", "pans"]),
        ("english", "The red Pans", ["red", "pan"]),
        ("keyword", "Red Pan", ["Red Pan"]),
        ("simple_asciifolding", "Café 9", ["cafe"]),
        ("simple_asciifolding", "Ærøskøbing Straße ひらがな", ["aeroskobing", "strasse", "ひらがな"]),
        ("english", "generously happily one x-ray", ["gener", "happili", "on", "x", "rai"]),
        (
            "english",
            "relational conditions flies agreed hopping adoption",
            ["relat", "condit", "fli", "agre", "hop", "adopt"],
        ),
        ("standard", "x" * 300 + " y", ["x" * 255, "x" * 45, "y"]),
    ],
)
def test_analysis(couch, path: str, analyzer: str, text: str, tokens: list[str]) -> None:
    answer = couch.post("/_nouveau_analyze", {"analyzer": analyzer, "text": text})
    assert (answer.status_code, answer.json()) == (200, {"tokens": tokens})


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"text": "a"}, "'text' and 'analyzer' fields must be non-empty strings"),
        ({"analyzer": "standard"}, "'text' and 'analyzer' fields must be non-empty strings"),
        ({"analyzer": "none", "text": "a"}, "none is not a valid analyzer name"),
        ({"analyzer": "portuguese", "text": "a"}, "portuguese is not a valid analyzer name"),
        ({"analyzer": "standard", "text": ""}, "text must not be empty"),
        ({"analyzer": "", "text": "a"}, "analyzer must not be empty"),
    ],
)
def test_what_cannot_be_analyzed(couch, path: str, body: Any, reason: str) -> None:
    answer = couch.post("/_nouveau_analyze", body)
    assert (answer.status_code, answer.json()) == (400, {"error": "bad_request", "reason": reason})


def test_analysis_is_asked_by_post(couch, path: str) -> None:
    assert couch.get("/_nouveau_analyze").status_code == 405
