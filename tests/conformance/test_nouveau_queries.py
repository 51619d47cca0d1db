"""Queries, sorts and facets of `_nouveau` by the types of fields; all of it answered so by CouchDB 3.5 with Nouveau (Lucene 9.12)."""

from typing import Any

import pytest

pytestmark = pytest.mark.conformance

INDEX = """function (doc) {
  if (doc.name) index('text', 'name', doc.name);
  if (doc.name) index('text', 'default', doc.name);
  if (doc.brand) index('string', 'brand', doc.brand, {store: true});
  if ('price' in doc) index('double', 'price', doc.price, {store: true});
  (doc.tags || []).forEach((tag) => index('string', 'tag', tag));
  (doc.sizes || []).forEach((size) => index('double', 'size', size));
  index('stored', 'note', 'n');
}"""
DOCS = [
    {"_id": "a", "name": "Red forged knife", "brand": "Acme", "price": 10, "tags": ["red", "steel"]},
    {"_id": "b", "name": "Blue pan", "brand": "Acme", "price": 20.5, "tags": ["blue"], "sizes": [3]},
    {"_id": "c", "name": "Red pan", "brand": "Bolt Works", "price": 1000000, "tags": ["red", "lid"]},
    {"_id": "d", "name": "Knife sharpener 2", "price": -5, "sizes": [10, 2]},
    {"_id": "e", "brand": "acme"},
]


@pytest.fixture(scope="module")
def path(couch) -> str:
    if not couch.has_nouveau():
        pytest.skip("this server has no Nouveau")
    db = couch.make("nouveau-queries")
    couch.post(db + "/_bulk_docs", {"docs": DOCS})
    couch.put(db + "/_design/g", {"nouveau": {"all": {"index": INDEX}}})
    yield db
    couch.delete(db)


def ask(couch, path: str, q: str, **options: Any) -> Any:
    return couch.post(path + "/_design/g/_nouveau/all", {"q": q, **options})


def ids(answer: Any) -> str:
    return "".join(hit["id"] for hit in answer.json()["hits"])


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("price:10", "a"),
        ('price:"10"', "a"),
        ("price:10abc", "a"),
        ("price:10~", "a"),
        ("price:\\-5", "d"),
        ("price:1e1", ""),
        ("price:1,000,000", "c"),
        ("price:[1,000 TO 2,000,000]", "c"),
        ("price>10", "bc"),
        ("price >= 10", "abc"),
        ("price<10", "d"),
        ("price<=10", "ad"),
        ("price=10", "a"),
        ("brand=acme", "e"),
        ("brand:[* TO *]", "abce"),
        ("brand:Acme", "e"),
        ("brand:[1 TO 2]", ""),
        ("name:[1 TO 3]", "d"),
        ("name:/KNI.*/", "ad"),
        ("name:knifes~", "ad"),
        ("brand:acm~", "abe"),
        ("name:red~0", "ac"),
        ("red ~0.9", "ac"),
        ("red : pan", ""),
    ],
)
def test_what_is_found(couch, path: str, q: str, found: str) -> None:
    answer = ask(couch, path, q)
    assert answer.status_code == 200, answer.json()
    assert "".join(sorted(ids(answer))) == found


@pytest.mark.parametrize(
    ("q", "reason"),
    [
        ("price:abc", 'Could not parse text "abc" using java.text.DecimalFormat'),
        ("price:[-Infinity TO 0]", 'Could not parse text "-Infinity" using java.text.DecimalFormat'),
        ("price:*", 'Could not parse text "*" using java.text.DecimalFormat'),
        ("name:*fe", "Leading wildcard is not allowed: name:*fe"),
        ("*", "Leading wildcard is not allowed: default:*"),
        (
            'brand:"Bolt Works"',
            'field "brand" was indexed without position data; cannot run PhraseQuery (phrase=brand:"bolt works")',
        ),
        ("", "Syntax Error, cannot parse :  "),
        ("(red", "Syntax Error, cannot parse (red:  "),
        ("red AND", "Syntax Error, cannot parse red AND:  "),
        ("price:-5", "Syntax Error, cannot parse price:-5:  "),
        ("price:>10", "Syntax Error, cannot parse price:>10:  "),
        ("name:red:blue", "Syntax Error, cannot parse name:red:blue:  "),
        ("name:[a TO]", "Syntax Error, cannot parse name:[a TO]:  "),
        ("me@example.com", "Syntax Error, cannot parse me@example.com:  "),
        ("red~1.5", "Syntax Error, cannot parse red~1.5:  "),
        ("red^2~1", "Syntax Error, cannot parse red^2~1:  "),
        (
            'name:"red',
            'Syntax Error, cannot parse name:"red: Lexical error at line 1, column 10.  Encountered: <EOF> after prefix "\\"red" '
            "(in lexical state 2) ",
        ),
        (
            "red } pan",
            "Syntax Error, cannot parse red } pan: Lexical error at line 1, column 5.  Encountered: '125' (125), (in lexical state 2) ",
        ),
    ],
)
def test_what_is_refused(couch, path: str, q: str, reason: str) -> None:
    answer = ask(couch, path, q)
    assert (answer.status_code, answer.json()) == (400, {"error": "bad_request", "reason": reason})


@pytest.mark.parametrize(
    ("locale", "q", "found"),
    [
        ("de", "price:20,5", "b"),
        ("de", "price:1.000.000", "c"),
        ("de", "price:[10.5 TO 30]", ""),
        ("fr", "price:20,5", "b"),
        ("us", "price:20.5", "b"),
        ("de-CH", "price:10,5", "a"),
    ],
)
def test_numbers_are_read_in_the_locale(couch, path: str, locale: str, q: str, found: str) -> None:
    assert ids(ask(couch, path, q, locale=locale)) == found


@pytest.mark.parametrize(
    ("sort", "found"),
    [
        ("brand", "dabce"),
        ("-tag", "acbde"),
        ("-size", "bdace"),
        ("+price", "deabc"),
        ("-_id", "edcba"),
        (["price", "-_id"], "deabc"),
        ("nothing", "abcde"),
        (["relevance", "-price"], "cbaed"),
    ],
)
def test_sorts(couch, path: str, sort: Any, found: str) -> None:
    assert ids(ask(couch, path, "*:*", sort=sort)) == found


def test_pages_sorted_by_ids(couch, path: str) -> None:
    first = ask(couch, path, "*:*", sort="_id", limit=3)
    second = ask(couch, path, "*:*", sort="_id", limit=3, bookmark=first.json()["bookmark"])
    assert (ids(first), ids(second)) == ("abc", "de")


@pytest.mark.parametrize(
    ("sort", "reason"),
    [
        ("name", "can't sort on field name"),
        ("note", "can't sort on field note"),
        ("--price", "--price is not a valid sort parameter"),
        ("price<number>", "price<number> is not a valid sort parameter"),
        ("", "sort[0].<list element> must not be empty"),
    ],
)
def test_sorts_that_are_none(couch, path: str, sort: str, reason: str) -> None:
    answer = ask(couch, path, "*:*", sort=sort)
    assert (answer.status_code, answer.json()["reason"]) == (400, reason)


def test_what_a_hit_was_sorted_by(couch, path: str) -> None:
    hit = ask(couch, path, "price:10", sort=["brand", "-price", "nothing"]).json()["hits"][0]
    assert hit["order"] == [
        {"@type": "string", "value": "Acme"},
        {"@type": "double", "value": 10.0},
        {"@type": "null", "value": None},
        {"@type": "string", "value": "a"},
    ]
    by_relevance = ask(couch, path, "price:10").json()["hits"][0]["order"]
    assert by_relevance == [{"@type": "float", "value": 1.0}, {"@type": "string", "value": "a"}]
    by_id = ask(couch, path, "price:10", sort="_id").json()["hits"][0]["order"]
    assert by_id == [{"@type": "string", "value": "a"}]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"counts": ["name"]},
            "unexpected docvalues type NONE for field 'name' (expected one of [SORTED, SORTED_SET]). Re-index with correct docvalues type.",
        ),
        (
            {"counts": ["price"]},
            "unexpected docvalues type SORTED_NUMERIC for field 'price' (expected one of [SORTED, SORTED_SET]). "
            "Re-index with correct docvalues type.",
        ),
        (
            {"ranges": {"brand": [{"label": "x", "min": 0}]}},
            "unexpected docvalues type SORTED_SET for field 'brand' (expected one of [SORTED_NUMERIC, NUMERIC]). "
            "Re-index with correct docvalues type.",
        ),
        ({"counts": [""]}, "counts[0].<list element> must not be empty"),
        ({"counts": "brand"}, "invalid UTF-8 JSON"),
        ({"ranges": []}, "invalid UTF-8 JSON"),
        ({"ranges": {"price": [{"label": "x", "min": "y"}]}}, "Unable to process JSON"),
        ({"ranges": {"price": [{"label": "x", "min_inclusive": "y"}]}}, "Unable to process JSON"),
        ({"limit": "2"}, 'Invalid value for limit: <<"2">>'),
        ({"limit": 0}, "limit parameter must be greater than zero"),
        ({"top_n": 1.5}, "Invalid value for top_n: 1.5"),
        ({"include_docs": "true"}, 'Invalid value for include_docs: <<"true">>'),
        ({"locale": 1}, "Invalid value for locale: 1"),
        ({"q": 1}, "Invalid value for query: 1"),
    ],
)
def test_options_that_are_none(couch, path: str, options: Any, reason: str) -> None:
    answer = ask(couch, path, **{"q": "*:*", **options})
    assert (answer.status_code, answer.json()["reason"]) == (400, reason)


def test_facets_without_bounds_and_of_fields_that_no_document_has(couch, path: str) -> None:
    bands = [{"label": "any", "min": None}, {"label": "high", "min": 10, "min_inclusive": False}]
    answer = ask(couch, path, "*:*", counts=["tag", "nothing"], ranges={"price": bands}).json()
    assert answer["counts"] == {"nothing": {}, "tag": {"blue": 1, "lid": 1, "red": 2, "steel": 1}}
    assert answer["ranges"] == {"price": {"any": 4, "high": 2}}


@pytest.mark.parametrize(
    ("query", "error", "reason"),
    [
        ("q=x&limit=0", "bad_request", "limit must be greater than 0"),
        ("q=x&limit=y", "query_parse_error", "limit parameter must be an integer"),
        ("q=x&update=y", "query_parse_error", 'Invalid value for update: "y"'),
        ("", "query_parse_error", "q parameter is mandatory"),
    ],
)
def test_options_of_the_address(couch, path: str, query: str, error: str, reason: str) -> None:
    answer = couch.get(f"{path}/_design/g/_nouveau/all?{query}")
    assert (answer.status_code, answer.json()) == (400, {"error": error, "reason": reason})


def test_an_index_that_is_not_there(couch, path: str) -> None:
    answer = couch.get(path + "/_design/g/_nouveau/none?q=x")
    assert (answer.status_code, answer.json()["reason"]) == (404, "none not found.")


def test_a_partition_where_there_are_none(couch, path: str) -> None:
    answer = couch.get(path + "/_design/g/_nouveau/all?q=*:*&partition=x")
    assert (answer.status_code, answer.json()["total_hits"]) == (200, 0)


def test_a_field_has_one_type(couch) -> None:
    if not couch.has_nouveau():
        pytest.skip("this server has no Nouveau")
    db = couch.make("nouveau-types")
    function = "function (doc) { index(doc.type, 'value', doc.value); }"
    couch.put(db + "/_design/g", {"nouveau": {"all": {"index": function}}})
    couch.put(db + "/a", {"type": "string", "value": "x"})
    assert ids(ask(couch, db, "value:x")) == "a"
    couch.put(db + "/b", {"type": "double", "value": 1})
    answer = ask(couch, db, "value:x")
    assert (answer.status_code, answer.json()["reason"]) == (400, "field value is of type DOUBLE not STRING")
    couch.delete(db)


def test_info_knows_of_purges_and_how_long_one_waited(couch, path: str) -> None:
    db = couch.make("nouveau-purge")
    couch.put(db + "/_design/g", {"nouveau": {"all": {"index": INDEX}}})
    rev = couch.put(db + "/a", {"brand": "Acme"}).json()["rev"]
    assert ask(couch, db, "*:*").json()["update_latency"] > 0
    couch.post(db + "/_purge", {"a": [rev]})
    assert ask(couch, db, "*:*").json()["total_hits"] == 0
    index = couch.get(db + "/_design/g/_nouveau_info/all").json()["search_index"]
    assert (index["num_docs"], index["purge_seq"]) == (0, 1)
    couch.delete(db)
