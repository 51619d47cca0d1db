"""`_find` and `_explain`: operators, ordering, bookmarks, partitions, warnings and refusals, on both servers."""

from typing import Any

import pytest

pytestmark = pytest.mark.conformance

MIXED = [1, "a", None, True, [1], {"q": 1}, 2.5, "B", False]
DOCS = [
    {
        "_id": f"d{n:02d}",
        "n": n,
        "even": n % 2 == 0,
        "word": ["a", "A", "ä", "a b", "aa", "b"][n % 6],
        "in": {"deep": n % 3, "list": [n, n + 1]},
        "mixed": MIXED[n % len(MIXED)],
    }
    for n in range(20)
] + [{"_id": "odd", "parts": [{"k": 1}, {"k": 2}], "in": 3, "map": {"x": 1, "y": 2}}]


@pytest.fixture(scope="module")
def filled(couch) -> str:
    db = couch.make("find")
    assert couch.post(db + "/_bulk_docs", {"docs": DOCS}).status_code == 201
    for name, fields in (("n", ["n"]), ("word", ["word"]), ("mixed", ["mixed"]), ("even_n", ["even", "n"])):
        body = {"index": {"fields": fields}, "ddoc": name, "name": name}
        assert couch.post(db + "/_index", body).json()["result"] == "created"
    partial = {"fields": ["n"], "partial_filter_selector": {"even": True}}
    couch.post(db + "/_index", {"index": partial, "ddoc": "evens", "name": "evens"})
    yield db
    couch.delete(db)


def ids(couch, db: str, selector: Any, **options: Any) -> list[str]:
    answer = couch.post(db + "/_find", {"selector": selector, "limit": 100, **options}).json()
    return [doc["_id"] for doc in answer["docs"]]


def numbers(*wanted: int) -> list[str]:
    return [f"d{n:02d}" for n in wanted]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ({"n": {"$gt": 3, "$lte": 6}}, numbers(4, 5, 6)),
        ({"n": {"$gt": 6, "$lt": 3}}, []),
        ({"n": {"$in": [1, 5, 99]}}, numbers(1, 5)),
        ({"in.list": {"$in": [1, 99]}}, numbers(0, 1)),
        ({"in.list": {"$all": [3, 4]}}, numbers(3)),
        ({"in.list": {"$size": 2}, "n": {"$lt": 2}}, numbers(0, 1)),
        ({"in.list": {"$elemMatch": {"$gte": 18, "$lt": 20}}}, numbers(17, 18, 19)),
        ({"in.list.0": 7}, numbers(7)),
        ({"in": {"deep": 1}, "n": {"$lt": 5}}, numbers(1, 4)),
        ({"parts": {"$allMatch": {"k": {"$gt": 0}}}}, ["odd"]),
        ({"parts": {"$elemMatch": {"k": 3}}}, []),
        ({"map": {"$keyMapMatch": {"$eq": "y"}}}, ["odd"]),
        ({"n": {"$mod": [7, 3]}}, numbers(3, 10, 17)),
        ({"word": {"$regex": "^a.b$"}, "n": {"$lt": 10}}, numbers(3, 9)),
        ({"word": {"$beginsWith": "a"}, "n": {"$lt": 6}}, numbers(0, 3, 4)),
        ({"n": {"$exists": False}}, ["odd"]),
        ({"in.deep": {"$exists": False}}, []),  # the path leads into a number: neither there nor missing
        ({"nothing": {"$ne": 1}}, []),
        ({"$not": {"n": {"$gt": 2}}}, numbers(0, 1, 2)),
        ({"$nor": [{"n": {"$gt": 4}}, {"even": True}]}, numbers(1, 3)),
        ({"$or": [{"n": 2}, {"word": "b", "n": {"$lt": 6}}]}, numbers(2, 5)),
        ({"$or": []}, []),
        ({"mixed": {"$type": "object"}}, numbers(5, 14)),
        ({"mixed": {"$eq": None}}, numbers(2, 11)),
    ],
)
def test_operators(couch, filled: str, selector: Any, found: list[str]) -> None:
    assert ids(couch, filled, selector) == found
    assert sorted(ids(couch, filled, selector, use_index="n")) == found


def test_sort_is_by_collation(couch, filled: str) -> None:
    words = couch.post(
        filled + "/_find",
        {"selector": {"word": {"$gt": None}, "n": {"$lt": 6}}, "sort": ["word"], "fields": ["word"]},
    ).json()["docs"]
    assert [doc["word"] for doc in words] == ["a", "A", "ä", "a b", "aa", "b"]


def test_values_of_all_types_have_one_order(couch, filled: str) -> None:
    body = {"selector": {"mixed": {"$exists": True}, "n": {"$lt": 9}}, "sort": ["mixed"], "fields": ["mixed"]}
    found = [doc["mixed"] for doc in couch.post(filled + "/_find", body).json()["docs"]]
    assert found == [None, False, True, 1, 2.5, "a", "B", [1], {"q": 1}]
    body["sort"] = [{"mixed": "desc"}]
    assert [doc["mixed"] for doc in couch.post(filled + "/_find", body).json()["docs"]] == found[::-1]


@pytest.mark.parametrize("sort", [None, [{"n": "asc"}], [{"n": "desc"}]])
@pytest.mark.parametrize(
    "selector", [{"n": {"$gte": 3}}, {"even": True, "n": {"$gt": 1}}, {"in.deep": {"$gte": 0}}]
)
def test_bookmarks_lead_through_everything_once(couch, filled: str, sort: Any, selector: Any) -> None:
    if sort is not None and "n" not in selector:
        selector = {**selector, "n": {"$exists": True}}
    body = {"selector": selector, "limit": 4} | ({"sort": sort} if sort else {})
    pages, bookmark = [], None
    while True:
        answer = couch.post(filled + "/_find", body | {"bookmark": bookmark}).json()
        if not answer["docs"]:
            break
        pages += [doc["_id"] for doc in answer["docs"]]
        bookmark = answer["bookmark"]
    whole = {"limit": 100} | ({"sort": sort} if sort else {})
    assert pages == ids(couch, filled, selector, **whole)
    assert len(pages) == len(set(pages)) > 4


def test_skip_limit_and_fields(couch, filled: str) -> None:
    body = {
        "selector": {"n": {"$gte": 2}},
        "sort": ["n"],
        "skip": 3,
        "limit": 2,
        "fields": ["n", "in.deep", "in.list.0"],
    }
    answer = couch.post(filled + "/_find", body).json()
    assert answer["docs"] == [
        {"n": 5, "in": {"deep": 2, "list": {"0": 5}}},
        {"n": 6, "in": {"deep": 0, "list": {"0": 6}}},
    ]


def test_partial_index_serves_only_who_names_it(couch, filled: str) -> None:
    plan = couch.post(filled + "/_explain", {"selector": {"n": 4}}).json()
    assert plan["index"]["name"] == "n"
    plan = couch.post(filled + "/_explain", {"selector": {"n": 4}, "use_index": "evens"}).json()
    assert plan["index"]["name"] == "evens"
    assert ids(couch, filled, {"n": {"$lt": 5}}, use_index="evens") == numbers(0, 2, 4)


def test_covering_index_and_statistics(couch, filled: str) -> None:
    body = {"selector": {"n": {"$lt": 3}}, "fields": ["_id", "n"], "execution_stats": True}
    answer = couch.post(filled + "/_find", body).json()
    assert answer["docs"] == [{"_id": "d00", "n": 0}, {"_id": "d01", "n": 1}, {"_id": "d02", "n": 2}]
    assert answer["execution_stats"]["total_docs_examined"] == 0
    assert answer["execution_stats"]["results_returned"] == 3
    assert couch.post(filled + "/_explain", body).json()["covering"] is True


def test_warnings(couch, filled: str) -> None:
    none = couch.post(filled + "/_find", {"selector": {"in.deep": 1}}).json()["warning"]
    assert none.startswith("No matching index found, create an index to optimize query time.")
    answer = couch.post(filled + "/_find", {"selector": {"n": 3}, "use_index": ["word", "word"]}).json()
    assert (
        answer["warning"] == "_design/word, word was not used because it is not a valid index for this query."
    )
    assert len(answer["docs"]) == 1


REFUSED = [
    ({"selector": {"n": {"$regex": 1}}}, "invalid_operator", "Invalid operator: $regex"),
    ({"selector": {"n": {"$regex": "("}}}, "bad_arg", "Bad argument for operator $regex: <<40>>"),
    ({"selector": {"$gt": 1}}, "invalid_selector", "One or more conditions is missing a field name."),
    ({"selector": {"n": {"$zz": 1}}}, "invalid_operator", "Invalid operator: $zz"),
    ({"selector": {"n": {"$where": 1}}}, "not_supported", "Unsupported operator: $where"),
    (
        {"selector": {"n": {"$in": {"a": [1, "é", None, 1e20]}}}},
        "bad_arg",
        "Bad argument for operator $in: {[{<<97>>,[1,<<195,169>>,null,1.0e20]}]}",
    ),
    ({"selector": 3}, "invalid_selector_json", "Selector must be a JSON object, not: 3"),
    ({}, "missing_required_key", "Missing required key: selector"),
    ({"selector": {}, "zz": 1}, "invalid_key", "Invalid key zz for this request."),
    (
        {"selector": {}, "limit": -1},
        "invalid_non_neg_integer",
        "-1 is not an integer greater than or equal to zero",
    ),
    ({"selector": {}, "fields": 3}, "invalid_fields", "Fields must be an array of strings, not: 3"),
    ({"selector": {"n": 3}, "fields": [""]}, "invalid_field_name", "Invalid field name: "),
    ({"selector": {}, "sort": [{"a": "asc"}, {"b": "desc"}]}, "unsupported_mixed_sort", None),
    (
        {"selector": {}, "sort": ["n"]},
        "no_usable_index",
        "No index exists for this sort, try indexing by the sort fields.",
    ),
    ({"selector": {}, "bookmark": "xx"}, "invalid_bookmark", 'Invalid bookmark value: "xx"'),
    ({"selector": {}, "use_index": "a/b/c"}, "invalid_index_name", "Invalid index name: <<97,47,98,47,99>>"),
    (
        {"selector": {"n": 1}, "use_index": "word", "allow_fallback": False},
        "invalid_index",
        "_design/word specified by `use_index` could not be found or it is not suitable.",
    ),
]


@pytest.mark.parametrize(("body", "error", "reason"), REFUSED, ids=[error for _, error, _ in REFUSED])
def test_refusals(couch, filled: str, body: Any, error: str, reason: str | None) -> None:
    if body.get("sort") == ["n"]:
        body = {"selector": {}, "sort": ["without index"]}
    answer = couch.post(filled + "/_find", body)
    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert reason is None or answer.json()["reason"] == reason


def test_the_answer_to_the_byte(couch, filled: str) -> None:
    answer = couch.post(
        filled + "/_find", {"selector": {"n": {"$in": [1, 2]}}, "fields": ["_id"], "limit": 5, "sort": ["n"]}
    )
    assert answer.content.startswith(b'{"docs":[\r\n{"_id":"d01"},\r\n{"_id":"d02"}\r\n],\r\n"bookmark": "')
    assert answer.content.endswith(b'"}\r\n\n')
    nothing = couch.post(filled + "/_find", {"selector": {"n": 99}})
    assert nothing.content == b'{"docs":[\r\n],\r\n"bookmark": "nil"}\r\n\n'
    assert couch.post(filled + "/_find", {"selector": {"$or": []}}).content == b'{"docs":[\r\n]}\r\n\n'


def test_explain(couch, filled: str) -> None:
    body = {"selector": {"n": {"$gt": 3}}, "use_index": [], "sort": [{"n": "desc"}]}
    plan = couch.post(filled + "/_explain", body).json()
    assert plan["selector"] == {"n": {"$gt": 3}}
    assert plan["mrargs"]["start_key"] == ["<MAX>"]
    assert plan["mrargs"]["end_key"] == [3]
    assert plan["mrargs"]["direction"] == "rev"
    rejected = {found["index"]["name"]: found["analysis"] for found in plan["index_candidates"]}
    assert rejected["evens"]["reasons"] == [{"name": "is_partial"}]
    assert rejected["word"]["reasons"] == [{"name": "field_mismatch"}]
    assert rejected["_all_docs"]["usable"] is False or rejected["_all_docs"]["reasons"] == [
        {"name": "unfavored_type"}
    ]


def test_explain_of_what_text_indexes_cannot_do(couch, filled: str) -> None:
    """A server that has text indexes says what fields they hold of a selector, even if it has none: it takes no operator that they do not know."""
    by_key, has_text = {"$keyMapMatch": {"$eq": "y"}}, "nouveau" in couch.get("/").json()["features"]
    for selector in (
        {"map": by_key},
        {"map": {"$not": by_key}},
        {"list": {"$elemMatch": by_key}},
        {"$or": [{"map": by_key}, {"_id": "odd"}]},
    ):
        answer = couch.post(filled + "/_explain", {"selector": selector})
        if has_text:
            assert answer.status_code == 400
            assert answer.json() == {
                "error": "invalid_operator",
                "reason": "Invalid text operator: $keyMapMatch",
            }
        else:
            assert answer.json()["index"]["name"] == "_all_docs"
    assert ids(couch, filled, {"map": by_key}) == ["odd"], "a query takes it"
    for condition in ({"$mod": [2, 1]}, {"$type": "string"}, {"$size": 2}, {"$beginsWith": "x"}):
        answer = couch.post(filled + "/_explain", {"selector": {"word": condition}})
        assert answer.status_code == 200, condition


def test_document_ids_compare_by_code_point(couch, db: str) -> None:
    couch.post(db + "/_bulk_docs", {"docs": [{"_id": name} for name in "aAbB"]})
    assert ids(couch, db, {"_id": {"$lt": "a"}}) == ["A", "B"]
    assert ids(couch, db, {"_id": {"$gt": "A"}}) == ["B", "a", "b"]


def test_a_pattern_that_explodes_is_no_match(couch, db: str) -> None:
    couch.post(
        db + "/_bulk_docs", {"docs": [{"_id": "a", "text": "a" * 40 + "!"}, {"_id": "b", "text": "aaa"}]}
    )
    assert ids(couch, db, {"text": {"$regex": "^(a|aa|a)+$"}}) == ["b"]


def test_partitions(couch, pdb: str) -> None:
    docs = [{"_id": f"{p}:{n}", "n": n, "p": p} for p in ("a", "ab", "b c") for n in range(5)]
    couch.post(pdb + "/_bulk_docs", {"docs": docs})
    couch.post(pdb + "/_index", {"index": {"fields": ["n"]}, "ddoc": "in", "name": "in"})
    couch.post(
        pdb + "/_index", {"index": {"fields": ["n"]}, "ddoc": "all", "name": "all", "partitioned": False}
    )
    inside = pdb + "/_partition/b%20c/_find"
    answer = couch.post(inside, {"selector": {"n": {"$gt": 1}}, "sort": [{"n": "desc"}], "limit": 2}).json()
    assert [doc["_id"] for doc in answer["docs"]] == ["b c:4", "b c:3"]
    answer = couch.post(
        inside, {"selector": {"n": {"$gt": 1}}, "sort": [{"n": "desc"}], "bookmark": answer["bookmark"]}
    ).json()
    assert [doc["_id"] for doc in answer["docs"]] == ["b c:2"]
    assert ids(couch, pdb, {"n": 3}, sort=["n"]) == ["a:3", "ab:3", "b c:3"]
    assert ids(couch, pdb, {"n": 3}, partition="a") == ["a:3"]
    assert couch.post(pdb + "/_partition/nobody/_find", {"selector": {}}).json()["docs"] == []
    plan = couch.post(pdb + "/_partition/a/_explain", {"selector": {"n": 3}}).json()
    assert (plan["index"]["name"], plan["mrargs"]["partition"]) == ("in", "a")
    refused = couch.post(inside, {"selector": {"p": 3}, "sort": ["p"]}).json()
    assert refused["reason"] == "No partitioned index exists for this sort, try indexing by the sort fields."
    refused = couch.post(pdb + "/_find", {"selector": {"p": 3}, "sort": ["p"]}).json()
    assert refused["reason"] == "No global index exists for this sort, try indexing by the sort fields."


def test_updates_and_deletions_reach_the_index(couch, db: str) -> None:
    couch.post(db + "/_index", {"index": {"fields": ["n"]}, "ddoc": "n"})
    rev = couch.put(db + "/x", {"n": 1}).json()["rev"]
    assert ids(couch, db, {"n": 1}) == ["x"]
    rev = couch.put(db + "/x", {"n": 2, "_rev": rev}).json()["rev"]
    assert (ids(couch, db, {"n": 1}), ids(couch, db, {"n": 2})) == ([], ["x"])
    couch.delete(f"{db}/x?rev={rev}")
    assert ids(couch, db, {"n": {"$gt": 0}}) == []


def test_conflicts_are_shown_on_request(couch, db: str) -> None:
    couch.put(db + "/x", {"n": 1})
    other = {"_id": "x", "_rev": "1-00000000000000000000000000000abc", "n": 1}
    couch.post(db + "/_bulk_docs", {"docs": [other], "new_edits": False})
    (plain,) = couch.post(db + "/_find", {"selector": {"n": 1}}).json()["docs"]
    assert "_conflicts" not in plain
    (shown,) = couch.post(db + "/_find", {"selector": {"n": 1}, "conflicts": True}).json()["docs"]
    assert shown["_conflicts"] == ["1-00000000000000000000000000000abc"]


@pytest.mark.parametrize("wrap", ['{"a":{"$eq":%s1%s}}', '{"a":{"$in":[%s1%s]}}'])
def test_deep_nesting_is_refused(couch, db: str, wrap: str) -> None:
    if not couch.is_minicouch:
        pytest.skip("CouchDB has no such limit")
    selector = wrap % ("[" * 900, "]" * 900)
    answer = couch.post(
        db + "/_find", data=f'{{"selector":{selector}}}', headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 400
