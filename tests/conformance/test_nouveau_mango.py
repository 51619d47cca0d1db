"""Mango indexes of type nouveau: `_index`, `_find` and `_explain` over Nouveau."""

from typing import Any

import pytest

pytestmark = pytest.mark.conformance

FIELDS = [
    {"name": "foo", "type": "string"},
    {"name": "bar", "type": "number"},
    {"name": "baz", "type": "string"},
]
DOCS = [
    {"_id": "doc1", "foo": "baz", "bar": 0, "baz": "there"},
    {"_id": "doc2", "foo": "foobar", "bar": 100, "baz": "hi"},
    {"_id": "doc3", "foo": "bar", "bar": 12.0, "baz": "hello"},
    {"_id": "doc4", "foo": "foo", "bar": 42, "baz": "hello there"},
]


@pytest.fixture(autouse=True)
def _with_nouveau(couch) -> None:
    if not couch.has_nouveau():
        pytest.skip("this server has no Nouveau")


@pytest.fixture(scope="module")
def path(couch) -> str:
    if not couch.has_nouveau():
        pytest.skip("this server has no Nouveau")
    db = couch.make("nouveau-mango")
    couch.post(db + "/_bulk_docs", {"docs": DOCS})
    made = couch.post(db + "/_index", index(fields=FIELDS))
    assert made.json() == {"result": "created", "id": "_design/d", "name": "n"}
    yield db
    couch.delete(db)


def index(**definition: Any) -> dict[str, Any]:
    return {"type": "nouveau", "ddoc": "d", "name": "n", "index": definition}


def find(couch, path: str, selector: Any, **options: Any) -> list[str]:
    answer = couch.post(path + "/_find", {"selector": selector, **options})
    assert answer.status_code == 200, answer.json()
    assert "warning" not in answer.json(), "the index answers it"
    return [doc["_id"] for doc in answer.json()["docs"]]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ({"bar": {"$gt": 5}}, "234"),
        ({"bar": {"$gte": 12, "$lte": 42}}, "34"),
        ({"bar": {"$in": [0, 42]}}, "14"),
        ({"foo": "foo"}, "4"),
        ({"foo": {"$ne": "foo"}}, "123"),
        ({"foo": {"$gte": "bar", "$lt": "foo"}}, "13"),
        ({"foo": {"$regex": "^fo"}}, "24"),
        ({"foo": {"$beginsWith": "fo"}}, "24"),
        ({"foo": {"$exists": True}}, "1234"),
        ({"$text": "hello"}, "34"),
        ({"$text": "HELLO there"}, "4"),
        ({"$and": [{"foo": "foo"}, {"$text": "hello"}]}, "4"),
    ],
)
def test_what_is_found(couch, path: str, selector: Any, found: str) -> None:
    assert sorted(find(couch, path, selector)) == [f"doc{number}" for number in found]


@pytest.mark.parametrize(
    ("sort", "found"),
    [
        ([{"bar:number": "asc"}], "1342"),
        ([{"bar:number": "desc"}], "2431"),
        ([{"foo:string": "asc"}], "3142"),
        (["other:string"], "1234"),
    ],
)
def test_sorts(couch, path: str, sort: Any, found: str) -> None:
    assert find(couch, path, {"bar": {"$gte": 0}}, sort=sort) == [f"doc{number}" for number in found]


def test_limit_skip_and_statistics(couch, path: str) -> None:
    selector = {"bar": {"$gte": 0}}
    assert find(couch, path, selector, limit=2, skip=1, sort=["bar:number"]) == ["doc3", "doc4"]
    stats = couch.post(path + "/_find", {"selector": selector, "execution_stats": True}).json()
    assert stats["execution_stats"]["total_keys_examined"] == 0
    assert stats["execution_stats"]["total_docs_examined"] == 4


def test_what_explain_says(couch, path: str) -> None:
    asked = {"selector": {"bar": {"$gt": 5}}, "sort": [{"foo:string": "desc"}]}
    answer = couch.post(path + "/_explain", asked).json()
    assert answer["index"]["type"] == "nouveau"
    assert (answer["query"], answer["partition"], answer["sort"]) == (
        "(bar_3anumber:{5 TO *])",
        None,
        ["-foo_3astring"],
    )
    hints = {"type": "nouveau", "indexable_fields": ["bar"], "unindexable_fields": []}
    assert hints in answer["selector_hints"]


def test_words_of_a_text_are_no_phrase(couch, path: str) -> None:
    answer = couch.post(path + "/_find", {"selector": {"baz": "hello there"}})
    assert (answer.status_code, answer.json()["error"]) == (500, "nouveau_search_error")
    assert answer.json()["reason"] == (
        'bad_request: field "baz_3astring" was indexed without position data; cannot run PhraseQuery '
        '(phrase=baz_3astring:"hello there")'
    )


def test_the_design_document(couch, path: str) -> None:
    stored = couch.get(path + "/_design/d").json()
    assert stored["nouveau"]["n"] == {
        "index": {
            "default_analyzer": "keyword",
            "default_field": {},
            "partial_filter_selector": {},
            "selector": {},
            "fields": FIELDS,
            "index_array_lengths": True,
        },
        "analyzer": {"name": "perfield", "default": "keyword", "fields": {"$default": "standard"}},
    }
    shown = couch.get(path + "/_index").json()["indexes"][1]
    assert (shown["type"], shown["def"]["fields"]) == (
        "nouveau",
        [{"foo": "string"}, {"bar": "number"}, {"baz": "string"}],
    )


def test_two_indexes_and_taking_one_away(couch) -> None:
    db = couch.make("nouveau-mango-two")
    couch.post(db + "/_bulk_docs", {"docs": DOCS})
    for name in ("d", "d2"):
        couch.post(db + "/_index", index(fields=FIELDS) | {"ddoc": name})
    selector = {"bar": {"$gt": 5}}
    refused = couch.post(db + "/_find", {"selector": selector})
    assert (refused.status_code, refused.json()["error"]) == (400, "multiple_nouveau_indexes")
    assert len(find(couch, db, selector, use_index="d2")) == 3
    assert couch.delete(db + "/_index/d2/text/n").status_code == 404
    assert couch.delete(db + "/_index/d2/nouveau/n").json() == {"ok": True}
    assert len(find(couch, db, selector)) == 3
    couch.delete(db)


@pytest.mark.parametrize("fields", [["foo"], [{"name": "foo"}], [{"name": "foo", "type": "bad"}]])
def test_fields_that_are_none(couch, path: str, fields: Any) -> None:
    answer = couch.post(path + "/_index", index(fields=fields))
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_index_fields_definition")
    assert '"boolean,number,string or text"' in answer.json()["reason"]


@pytest.mark.parametrize(
    ("fields", "document", "selector"),
    [
        ([{"name": "a.b", "type": "string"}], {"a": {"b": "c"}}, {"a.b": "c"}),
        ([{"name": "_id", "type": "string"}], {}, {"_id": "x"}),
        (FIELDS, {"foo": ["a", "b"]}, {"foo": "a"}),
    ],
)
def test_what_cannot_be_indexed(couch, fields: Any, document: Any, selector: Any) -> None:
    db = couch.make("nouveau-mango-bad")
    couch.put(db + "/x", document)
    couch.post(db + "/_index", index(fields=fields))
    asked = {"selector": selector, "use_index": "d"}
    answer = couch.post(db + "/_find", asked)
    assert (answer.status_code, answer.json()["error"]) == (500, "nouveau_search_error")
    couch.delete(db)


def test_partitions(couch) -> None:
    db = couch.make("nouveau-mango-parts", "?partitioned=true")
    couch.post(db + "/_bulk_docs", {"docs": [doc | {"_id": f"{doc['foo'][0]}:{doc['_id']}"} for doc in DOCS]})
    couch.post(db + "/_index", index(fields=FIELDS))
    selector = {"bar": {"$gt": 5}}
    assert sorted(find(couch, db + "/_partition/f", selector)) == ["f:doc2", "f:doc4"]
    assert find(couch, db + "/_partition/b", selector) == ["b:doc3"]
    couch.delete(db)
