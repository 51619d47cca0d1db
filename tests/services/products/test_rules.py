"""The rules without a server: what a product may be, how categories become partitions, how a chain goes on."""

import pytest

from services.products.documents import movement_of, partition_of, price_change_id, product_of_review
from services.products.rules import ledger
from services.products.rules.categories import Categories, tree
from services.products.rules.facets import PRICE_BANDS
from services.products.rules.ledger import Head, Line, OutOfStock
from services.products.rules.prices import PriceContext
from services.products.rules.product import (
    BadProduct,
    checked,
    complete,
    deduplicate_moved,
    document,
    public_json,
    still_matches,
)
from services.products.rules.searching import rank_ties
from services.products.rules.typos import is_slip, one_typo_apart, two_edits_apart
from tests.services.products.conftest import product

P = Line("p", ("A",), 0)

WRONG = [
    ({"price": None}, "price"),
    ({"price": {"amount": 9.5, "currency": "GBP"}}, "price"),
    ({"price": {"amount": -1, "currency": "GBP"}}, "price"),
    ({"price": {"amount": True, "currency": "GBP"}}, "price"),
    ({"price": {"amount": 1, "currency": "XXX"}}, "price"),
    ({"delivery": {"amount": 1, "currency": "EUR"}}, "delivery"),
    ({"productid": "a:b"}, "productid"),
    ({"productid": "import"}, "productid"),
    ({"productid": ""}, "productid"),
    ({"taxonomy": []}, "taxonomy"),
    ({"taxonomy": ["A", " "]}, "taxonomy"),
    ({"taxonomy": ["A#B"]}, "taxonomy"),
    ({"taxonomy": "A"}, "taxonomy"),
    ({"taxonomy": ["é" * 150] * 6}, "taxonomy"),
    ({"name": "  "}, "name"),
    ({"name": "a\x00b"}, "name"),
    ({"stock": -1}, "stock"),
    ({"stock": "3"}, "stock"),
    ({"image": "javascript:alert(1)"}, "image"),
    ({"colour": "red"}, "colour"),
]


@pytest.mark.parametrize(("change", "field"), WRONG)
def test_a_wrong_field_is_named(change: dict, field: str):
    with pytest.raises(BadProduct) as refused:
        checked(product("p") | change)
    assert list(refused.value.errors) == [field]
    assert refused.value.detail.startswith(field)


def test_text_is_trimmed_and_what_is_left_out_is_empty():
    content, stock, _ = checked(
        {"productid": "p", "taxonomy": [" A "], "name": " N ", "price": {"amount": 1, "currency": "JPY"}}
    )
    assert (content["taxonomy"], content["name"], content["brand"], content["colours"], stock) == (
        ["A"],
        "N",
        "",
        [],
        None,
    )
    assert complete(content)["delivery"] == {"amount": 0, "currency": "JPY"}


@pytest.mark.parametrize(
    ("taxonomy", "partition"),
    [
        (["Home", "Kitchen & Dining"], "Home#Kitchen & Dining"),
        (["a:b"], "a%3Ab"),
        (["a%3Ab"], "a%253Ab"),
        (["100% wool"], "100% wool"),
        (["_a", "_b"], "%5Fa#_b"),
        (["%5Fa"], "%255Fa"),
    ],
)
def test_every_category_has_a_partition_of_its_own(taxonomy: list[str], partition: str):
    assert partition_of(taxonomy) == partition


def test_which_documents_change_what_a_product_shows():
    assert movement_of("A#B:p1:stock:000000002") == ("A#B:p1", "", 2)
    assert movement_of("A#B:p1:sku:red:stock:000000012") == ("A#B:p1", "red", 12)
    assert product_of_review("A#B:p1:review:u1") == "A#B:p1"
    for other in (
        "A#B:p1",
        "A#B:p1:stock:000000001",
        "A#B:p1:order:o1",
        price_change_id(["A"], "p1", "d"),
        "_design/x",
    ):
        assert movement_of(other) is product_of_review(other) is None
    assert movement_of("A#B:p1:review:u1") is product_of_review("A#B:p1:stock:000000002") is None


def test_a_movement_is_the_next_slot_and_never_below_zero():
    doc = ledger.movement(Head(4, 3), P, -3, ledger.RESERVED, "m", "d", orderid="o")
    assert (doc["_id"], doc["level"]) == ("A:p:stock:000000005", 0)
    with pytest.raises(OutOfStock) as short:
        ledger.movement(ledger.after(doc), P, -1, ledger.RESERVED, "m", "d")
    assert short.value.extra["items"] == [{"productid": "p", "available": 0}]


def leaf(mark: str, level: int, orderid: str) -> dict:
    return {"slot": 2, "mark": mark, "level": level, "orderid": orderid}


def test_a_slot_in_doubt_counts_with_its_lowest_level():
    """Or with that before it, for perhaps none of them stays."""
    took, came = {**leaf("a", 7, "x"), "delta": -2}, {**leaf("b", 14, "y"), "delta": 5}
    assert ledger.head_of([took, came]) == Head(2, 7)
    assert ledger.head_of([came, {**came, "level": 12, "delta": 3}]) == Head(2, 9)
    assert [ledger.head_of([came]), ledger.head_of([came], is_sure=False)] == [Head(2, 14), Head(2, 9)]


@pytest.mark.parametrize(
    ("outcomes", "later", "gone"),
    [
        ({}, set(), []),
        ({}, {"b"}, ["b"]),
        ({"x": "sold"}, set(), ["b"]),
        ({"y": "expired"}, set(), ["b"]),
        ({"x": "released", "y": "expired"}, set(), ["b"]),
        ({"x": "sold", "y": "sold"}, set(), []),
        ({"x": "expired"}, {"a"}, ["a"]),
    ],
)
def test_who_loses_a_slot_is_written_down(outcomes: dict, later: set, gone: list):
    leaves = [leaf("a", 7, "x"), leaf("b", 4, "y")]
    assert [each["mark"] for each in ledger.losers(leaves, outcomes, later)] == gone


def test_an_edit_is_matched_by_content_alone():
    content = complete(checked(product("p")).content)
    doc = document(content, "d", stock=3)
    _, read = public_json(doc, PriceContext())
    assert still_matches(read, {**doc, "stock": 9})
    assert still_matches(f'"x.y", {read}', doc)
    assert still_matches("*", doc)
    assert not still_matches(read, {**doc, "name": "Other"})


def test_while_it_moves_a_product_is_where_it_goes_to():
    old, new = (
        {"_id": "A:p", "productid": "p", "edited": "1"},
        {"_id": "B:p", "productid": "p", "edited": "2", "moved_from": "A:p"},
    )
    assert deduplicate_moved([old, new]) == deduplicate_moved([new, old]) == [new]


def test_a_tree_counts_upwards():
    rows = [{"key": ["A"], "value": 1}, {"key": ["A", "B", "C"], "value": 2}]
    menu = tree(rows, (), Categories([]))
    assert (menu["count"], menu["children"][0]["count"], menu["children"][0]["children"][0]["count"]) == (
        3,
        3,
        2,
    )


@pytest.mark.parametrize(
    "pair", [("sofa", "sofaa"), ("sofa", "soa"), ("sofa", "sfoa"), ("sofa", "sofe"), ("sofa", "xsofa")]
)
def test_one_typo(pair: tuple[str, str]):
    assert one_typo_apart(*pair)
    assert one_typo_apart(*pair[::-1])


@pytest.mark.parametrize("pair", [("sofa", "sofa"), ("sofa", "safo"), ("sofa", "sofabe"), ("ab", "cd")])
def test_not_one_typo(pair: tuple[str, str]):
    assert not one_typo_apart(*pair)


@pytest.mark.parametrize(
    "pair", [("wathc", "watch"), ("braclet", "bracelet"), ("sttool", "stool"), ("kelz", "kielz")]
)
def test_slips_of_the_fingers(pair: tuple[str, str]):
    assert is_slip(*pair)
    assert is_slip(*pair[::-1])


@pytest.mark.parametrize(
    "pair", [("shift", "shirt"), ("part", "party"), ("trend", "trendy"), ("lamb", "lamp"), ("mug", "mug")]
)
def test_other_words_are_no_slips(pair: tuple[str, str]):
    assert not is_slip(*pair)
    assert not is_slip(*pair[::-1])


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("sunglases", "sunglasses", True),
        ("sunglsaes", "sunglasses", True),
        ("umberlla", "umbrella", True),
        ("unbrela", "umbrella", True),
        ("curtian", "curtain", True),
        ("curtain", "curtain", True),
        ("necklace", "bracelet", False),
        ("keyboard", "cardboard", False),
        ("abc", "abcdef", False),
    ],
)
def test_two_edits(one: str, other: str, near: bool):
    assert two_edits_apart(one, other) is near
    assert two_edits_apart(other, one) is near


def test_every_price_is_in_one_band():
    for price in (0, 999, 1000, 1999, 2000, 123456, 10**12):
        assert sum(band.min <= price <= band.max for band in PRICE_BANDS) == 1


def test_of_equals_what_is_in_stock_and_better_rated_comes_first_within_its_score():
    docs = [
        {"_id": name, "stock": stock, "rank": rank}
        for name, stock, rank in (("a", 1, 0), ("b", 0, 5), ("c", 3, 2.5), ("d", 1, 4), ("e", 1, 1))
    ]
    ordered = rank_ties(docs, [9.0, 7.10001, 7.1, 7.1, 2.0])
    assert [doc["_id"] for doc in ordered] == ["a", "d", "c", "b", "e"]
    assert rank_ties(docs, ()) == docs
