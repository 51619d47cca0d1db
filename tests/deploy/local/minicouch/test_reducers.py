"""The built-in reduces: what they answer, and that joining parts gives what reducing all at once gives."""

import random

import orjson
import pytest

from deploy.local.minicouch.collation import sort_key
from deploy.local.minicouch.errors import CouchError
from deploy.local.minicouch.reducers import SUM_ERROR, Reducer, Row, built_in


def rows(*values: object, keys: list[object] | None = None) -> list[Row]:
    return [
        (orjson.dumps(keys[i] if keys else i), f"doc{i}", orjson.dumps(value))
        for i, value in enumerate(values)
    ]


def answer(name: str, *values: object, keys: list[object] | None = None) -> object:
    reducer: Reducer = built_in(name, sort_key)
    return reducer.finish(reducer.reduce([rows(*values, keys=keys)]))[0]


@pytest.mark.parametrize(
    ("values", "total"),
    [
        ([1, 2.5, -3], 0.5),
        ([[1, 2], [3], [1, 1, 1]], [5, 3, 1]),
        ([5, [1, 2]], [6, 2]),
        ([{"a": 1}, {"b": 2, "a": [1, 2]}], {"a": [2, 2], "b": 2}),
        ([{"o": {"x": 1}}, {"o": {"x": 2, "y": 3}}], {"o": {"x": 3, "y": 3}}),
        ([2**60, 2**60], 2**61),
    ],
)
def test_sum_adds_numbers_arrays_and_objects(values: list[object], total: object) -> None:
    assert answer("_sum", *values) == total


@pytest.mark.parametrize("value", ["a", None, True, ["a", 1], [[1]]])
def test_sum_refuses_with_an_error_as_the_value(value: object) -> None:
    found = answer("_sum", 1, value)
    assert found["error"] == "builtin_reduce_error"
    assert found["reason"] == SUM_ERROR


def test_a_refused_sum_stays_refused_when_it_is_joined_with_more() -> None:
    reducer = built_in("_sum", sort_key)
    bad, good = reducer.reduce([rows("a"), rows(1)])
    for order in ([bad, good], [good, bad]):
        assert reducer.rereduce([order])[0] == bad


def test_stats_of_numbers_arrays_and_stats() -> None:
    one = {"sum": 3, "count": 2, "min": 1, "max": 2, "sumsqr": 5}
    assert answer("_stats", 1, 2) == one
    assert answer("_stats", [1, 5], [2, 5])[0] == one
    assert answer("_stats", one, 4) == {"sum": 7, "count": 3, "min": 1, "max": 4, "sumsqr": 21}


@pytest.mark.parametrize("value", ["a", None, {"sum": 1}, [1, "a"]])
def test_stats_refuses_rows_that_are_no_numbers(value: object) -> None:
    with pytest.raises(CouchError, match="invalid_value"):
        built_in("_stats", sort_key).check([b"1", orjson.dumps(value)])


def test_distinct_is_exact_for_few_and_near_for_many() -> None:
    assert answer("_approx_count_distinct", 1, 1, 1, keys=["a", "b", "a"]) == 2
    many = [n % 5000 for n in range(20_000)]
    assert answer("_approx_count_distinct", *many, keys=many) == pytest.approx(5000, rel=0.06)


def test_ranked_and_first_and_last() -> None:
    assert answer("_top_2", 5, "a", 5, None, 7) == ["a", 7]
    assert answer("_bottom_2", 5, "a", 5, None, 7) == [None, 5]
    assert answer("_first", "x", "y") == "x"
    assert answer("_last", "x", "y") == "y"


@pytest.mark.parametrize("name", ["_nope", "_top_0", "_top_101", "_top_x", "_bottom_"])
def test_an_unknown_built_in_is_an_invalid_design(name: str) -> None:
    with pytest.raises(CouchError, match="invalid_design_doc"):
        built_in(name, sort_key)


@pytest.mark.parametrize(
    "name", ["_sum", "_count", "_stats", "_approx_count_distinct", "_top_3", "_first", "_last"]
)
@pytest.mark.parametrize("seed", range(5))
def test_parts_joined_are_the_whole(name: str, seed: int) -> None:
    chance = random.Random(seed)
    values = [chance.randrange(1000) for _ in range(chance.randrange(1, 700))]
    whole = rows(*values)
    cuts = sorted(chance.sample(range(len(whole) + 1), min(len(whole), 5)))
    parts = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True) if a < b]
    reducer = built_in(name, sort_key)
    joined = reducer.rereduce([reducer.reduce(parts)])
    assert reducer.finish(joined) == reducer.finish(reducer.reduce([whole]))
