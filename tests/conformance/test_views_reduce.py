"""Reduced views over raw HTTP: built-in and custom reduces, grouping, ranges, refusals."""

import random
from typing import Any

import pytest

from .conftest import Couch
from .views import design, fill

pytestmark = pytest.mark.conformance
DATES = "function (doc) { emit([doc.currency, doc.y, doc.m], doc.total); }"


def rows(couch: Couch, path: str, parameters: str = "") -> list[Any]:
    answer = couch.get(f"{path}?{parameters}")
    assert answer.status_code == 200, answer.text
    return [(row["key"], row["value"]) for row in answer.json()["rows"]]


@pytest.fixture
def sales(couch: Couch, db: str) -> str:
    """Twelve sales: two currencies, two years, three months, totals 1..12. Gives the path of the view."""
    docs = [
        {"currency": currency, "y": year, "m": month, "total": n + 1}
        for n, (currency, year, month) in enumerate(
            (c, y, m) for c in ("EUR", "GBP") for y in (2023, 2024) for m in (1, 2, 3)
        )
    ]
    fill(couch, db, docs)
    return design(couch, db, "s", sales={"map": DATES, "reduce": "_sum"}) + "/sales"


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ("", [(None, 78)]),
        ("group=false", [(None, 78)]),
        ("group_level=0", [(None, 78)]),
        ("group_level=1", [(["EUR"], 21), (["GBP"], 57)]),
        (
            "group_level=2",
            [(["EUR", 2023], 6), (["EUR", 2024], 15), (["GBP", 2023], 24), (["GBP", 2024], 33)],
        ),
        ("group=true&group_level=1", [(["EUR"], 21), (["GBP"], 57)]),
        ("group_level=1&descending=true", [(["GBP"], 57), (["EUR"], 21)]),
        ("group_level=2&skip=1&limit=2", [(["EUR", 2024], 15), (["GBP", 2023], 24)]),
        ('startkey=["EUR",2024]&endkey=["EUR",2024,{}]', [(None, 15)]),
        (
            'startkey=["EUR",2023,2]&endkey=["EUR",2024,2]&group_level=2',
            [(["EUR", 2023], 5), (["EUR", 2024], 9)],
        ),
        ('startkey=["EUR",2024,3]&inclusive_end=false&endkey=["GBP",2023,2]', [(None, 13)]),
        ('startkey=["GBP"]&group_level=2', [(["GBP", 2023], 24), (["GBP", 2024], 33)]),
        (
            'descending=true&startkey=["EUR",2023,3]&group_level=3&limit=2',
            [(["EUR", 2023, 3], 3), (["EUR", 2023, 2], 2)],
        ),
        ('key=["GBP",2024,1]', [(None, 10)]),
        ('startkey=["ZZZ"]', []),
        ("limit=0", []),
        (
            'group=true&keys=[["GBP",2024,3],["nope"],["EUR",2023,1]]',
            [(["GBP", 2024, 3], 12), (["EUR", 2023, 1], 1)],
        ),
    ],
)
def test_groups_and_ranges(couch: Couch, sales: str, parameters: str, wanted: list[Any]) -> None:
    assert rows(couch, sales, parameters) == wanted


def test_an_empty_reduction_has_no_rows(couch: Couch, sales: str) -> None:
    assert couch.get(f'{sales}?startkey=["ZZZ"]').text == '{"rows":[\r\n\r\n]}\n'


def test_rows_without_reducing(couch: Couch, sales: str) -> None:
    answer = couch.get(f"{sales}?reduce=false&limit=1&include_docs=true").json()
    assert (answer["total_rows"], answer["rows"][0]["doc"]["total"]) == (12, 1)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ("include_docs=true", "`include_docs` is invalid for reduce"),
        ("conflicts=true", "`conflicts` is invalid for reduce views."),
        ("keys=[1,2]", "Multi-key fetches for reduce views must use `group=true`"),
        ("group=false&group_level=2", "Can't specify group=false and group_level>0 at the same time"),
        ("group_level=x", 'Invalid value for integer: "x"'),
    ],
)
def test_refusals(couch: Couch, sales: str, parameters: str, reason: str) -> None:
    answer = couch.get(f"{sales}?{parameters}")
    assert (answer.status_code, answer.json()["reason"]) == (400, reason)


def emitting(couch: Couch, db: str, expression: str, reduce: str) -> str:
    source = f"function (doc) {{ emit(doc.k, {expression}); }}"
    return design(couch, db, f"e{random.randrange(10**9)}", v={"map": source, "reduce": reduce}) + "/v"


@pytest.fixture
def three(couch: Couch, db: str) -> str:
    fill(
        couch,
        db,
        [{"_id": "a", "k": "x", "n": 1}, {"_id": "b", "k": "y", "n": 2.5}, {"_id": "c", "k": "x", "n": -3}],
    )
    return db


@pytest.mark.parametrize(
    ("expression", "reduce", "total", "x"),
    [
        ("doc.n", "_sum", 0.5, -2),
        ("[doc.n, 1]", "_sum", [0.5, 3], [-2, 2]),
        ("doc.n > 0 ? [1] : [1, 1, 1]", "_sum", [3, 1, 1], [2, 1, 1]),
        ("doc.n > 0 ? 1 : [1, 1]", "_sum", [3, 1], [2, 1]),
        ("{n: doc.n, o: {c: 1}}", "_sum", {"n": 0.5, "o": {"c": 3}}, {"n": -2, "o": {"c": 2}}),
        ("doc", "_count", 3, 2),
        (
            "doc.n",
            "_stats",
            {"sum": 0.5, "count": 3, "min": -3, "max": 2.5, "sumsqr": 16.25},
            {"sum": -2, "count": 2, "min": -3, "max": 1, "sumsqr": 10},
        ),
        (
            "[doc.n, 1]",
            "_stats",
            [
                {"sum": 0.5, "count": 3, "min": -3, "max": 2.5, "sumsqr": 16.25},
                {"sum": 3, "count": 3, "min": 1, "max": 1, "sumsqr": 3},
            ],
            [
                {"sum": -2, "count": 2, "min": -3, "max": 1, "sumsqr": 10},
                {"sum": 2, "count": 2, "min": 1, "max": 1, "sumsqr": 2},
            ],
        ),
        ("null", "_approx_count_distinct", 2, 1),
        ("doc.n", "_top_2", [2.5, 1], [1, -3]),
        ("doc.n", "_bottom_1", [-3], [-3]),
        ("doc.n", "_first", 1, 1),
        ("doc.n", "_last", 2.5, -3),
        ("doc.n", "function (keys, values, rereduce) { return sum(values); }", 0.5, -2),
        ("doc.n", "function (keys, values, re) { return re ? sum(values) : values.length; }", 3, 2),
        ("doc.n", "function (keys, values) { throw 'x'; }", None, None),
    ],
)
def test_reduces(couch: Couch, three: str, expression: str, reduce: str, total: Any, x: Any) -> None:
    path = emitting(couch, three, expression, reduce)
    assert rows(couch, path) == [(None, total)]
    assert rows(couch, path, 'group=true&key="x"') == [("x", x)]


@pytest.mark.parametrize("expression", ["'text'", "null", "true", "[doc.n, [1]]"])
def test_a_sum_over_what_is_no_number_is_an_error_as_the_value(
    couch: Couch, three: str, expression: str
) -> None:
    ((_, value),) = rows(couch, emitting(couch, three, expression, "_sum"))
    assert value["error"] == "builtin_reduce_error"
    assert value["reason"].startswith(
        "The _sum function requires that map values be numbers, arrays of numbers, or objects."
    )


@pytest.mark.parametrize("expression", ["'text'", "null", "{sum: 1}"])
def test_stats_over_what_is_no_number_fails(couch: Couch, three: str, expression: str) -> None:
    answer = couch.get(emitting(couch, three, expression, "_stats"))
    assert (answer.status_code, answer.json()["error"]) == (500, "invalid_value")


def test_a_reduce_that_does_not_shrink_is_refused(couch: Couch, three: str) -> None:
    answer = couch.get(emitting(couch, three, "doc.n", "function () { return new Array(9000).join('x'); }"))
    (row,) = answer.json()["rows"]
    assert (answer.status_code, row["error"]) == (200, "reduce_overflow_error")
    assert row["reason"].startswith("Reduce output must shrink more rapidly")


CHECKED = """function (keys, values, rereduce) {
  if (rereduce ? keys !== null : keys.length !== values.length || keys[0].length !== 2) throw 'bad arguments';
  return rereduce ? sum(values) : values.length;
}"""


@pytest.mark.parametrize("reduce", ["_sum", "_stats", "_count", CHECKED])
def test_many_rows_reduce_like_a_plain_loop(couch: Couch, db: str, reduce: str) -> None:
    chance = random.Random(5)
    docs = [{"_id": f"{n:04}", "k": [n % 3, n % 7, n % 11], "n": chance.randrange(100)} for n in range(1500)]
    for start in range(0, len(docs), 500):
        fill(couch, db, docs[start : start + 500])
    path = emitting(couch, db, "doc.n", reduce)

    def expected(chosen: list[dict[str, Any]]) -> Any:
        values = [doc["n"] for doc in chosen]
        if reduce == "_sum":
            return sum(values)
        if reduce == "_stats":
            squares = sum(v * v for v in values)
            return {
                "sum": sum(values),
                "count": len(values),
                "min": min(values),
                "max": max(values),
                "sumsqr": squares,
            }
        return len(values)

    def check() -> None:
        assert rows(couch, path) == [(None, expected(docs))]
        for level in (1, 2, 3):
            groups: dict[tuple[int, ...], list[dict[str, Any]]] = {}
            for doc in docs:
                groups.setdefault(tuple(doc["k"][:level]), []).append(doc)
            wanted = [(list(key), expected(groups[key])) for key in sorted(groups)]
            assert rows(couch, path, f"group_level={level}") == wanted
        inside = [doc for doc in docs if [0, 3] <= doc["k"] <= [1, 5, 4]]
        assert rows(couch, path, "startkey=[0,3]&endkey=[1,5,4]") == [(None, expected(inside))]

    check()
    revs = {row["id"]: row["value"]["rev"] for row in couch.get(f"{db}/_all_docs").json()["rows"]}
    changed = chance.sample(range(1500), 40)
    fill(couch, db, [docs[n] | {"_rev": revs[f"{n:04}"], "_deleted": True} for n in changed[:20]])
    for n in changed[20:]:
        docs[n]["k"], docs[n]["n"] = [n % 5, 1, 1], 1000
    fill(couch, db, [docs[n] | {"_rev": revs[f"{n:04}"]} for n in changed[20:]])
    docs[:] = [doc for n, doc in enumerate(docs) if n not in changed[:20]]
    check()


def test_several_reduced_queries(couch: Couch, sales: str) -> None:
    queries = [{"group_level": 1}, {"reduce": False, "limit": 1}, {"key": ["EUR", 2023, 3]}]
    first, second, third = couch.post(f"{sales}/queries", {"queries": queries}).json()["results"]
    assert [row["value"] for row in first["rows"]] == [21, 57]
    assert second["total_rows"] == 12
    assert third["rows"] == [{"key": None, "value": 3}]
    shared = couch.post(f"{sales}/queries?group=false&keys=[1,2]", {"queries": queries}).json()["results"]
    assert [len(result["rows"]) for result in shared] == [2, 1, 1]
