"""Collation keys: CouchDB's order of values, ICU's order of strings."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.local.minicouch.collation import compare, sort_key, string_key
from deploy.local.minicouch.collation.unicode import unicode_key

ORDERED: list[Any] = [
    None,
    False,
    True,
    -(10**400),
    -(2**80),
    -(2**53) - 1,
    -1.5,
    -1,
    0,
    0.5,
    1,
    2**53,
    2**53 + 1,
    2**53 + 2,
    2**64,
    2**64 + 1,
    10**300,
    10**400,
    "",
    "_",
    "-",
    "1",
    "a",
    "A",
    "ä",
    "a b",
    "aa",
    "æ",
    "b",
    "B",
    "z",
    "я",
    "ぁ",
    "あ",
    "中",
    "\uffff",
    [],
    [None],
    ["a"],
    ["a", 1],
    ["b"],
    ["b", "c"],
    ["b", "c", "a"],
    ["b", "d"],
    ["b", "d", "e"],
    {},
    {"a": 1},
    {"a": 2},
    {"b": 1},
    {"b": 2},
    {"b": 2, "a": 1},
    {"b": 2, "c": 2},
]
ASCII_ORDER = (
    "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ"
)

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def test_types_and_values_in_couchdbs_order() -> None:
    keys = [sort_key(value) for value in ORDERED]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)


def test_ascii_characters_in_icus_order() -> None:
    assert "".join(sorted(ASCII_ORDER, key=sort_key)) == ASCII_ORDER


def test_what_icu_ignores_makes_no_difference() -> None:
    assert compare("a\u0000b", "ab") == 0
    assert compare("a\u200db", "ab") == 0


def test_accents_and_case_decide_only_when_letters_do_not() -> None:
    assert sorted(["côté", "Cote", "cote", "coté", "côte", "coten"], key=sort_key) == [
        "cote",
        "Cote",
        "coté",
        "côte",
        "côté",
        "coten",
    ]


def test_composed_and_decomposed_text_are_equal() -> None:
    assert string_key("é") == string_key("e\u0301")
    assert string_key("각") == string_key("\u1100\u1161\u11a8")


def test_letters_with_a_place_of_their_own_are_not_their_parts() -> None:
    assert sorted(["й", "к", "и", "иа"], key=sort_key) == ["и", "иа", "й", "к"]


@pytest.mark.parametrize("text", ["plain", "With Case", "x_y-z", ""])
def test_the_ascii_path_agrees_with_the_table(text: str) -> None:
    assert string_key(text) == unicode_key(text)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=6))
def test_the_ascii_path_agrees_with_the_table_for_any_text(text: str) -> None:
    assert string_key(text) == unicode_key(text)


@given(st.lists(st.integers() | st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2))
def test_numbers_go_by_value(pair: list[float]) -> None:
    left, right = pair
    expected = (left > right) - (left < right)
    assert compare(left, right) == expected or math.isclose(left, right, rel_tol=1e-15)


@given(st.lists(values, max_size=4), st.lists(values, max_size=4))
def test_arrays_go_element_by_element(left: list[Any], right: list[Any]) -> None:
    first = next((compare(a, b) for a, b in zip(left, right, strict=False) if compare(a, b)), None)
    expected = first if first is not None else (len(left) > len(right)) - (len(left) < len(right))
    assert compare(left, right) == expected


@given(st.lists(values, min_size=1, max_size=4), values)
def test_a_longer_array_stays_inside_the_range_of_its_beginning(beginning: list[Any], more: Any) -> None:
    prefix = sort_key(beginning)[:-1]
    assert prefix < sort_key([*beginning, more]) < prefix + b"\xff"


def test_only_json_has_a_key() -> None:
    with pytest.raises(TypeError):
        sort_key(object())
