"""What promotions take off: random ones against a reckoning of their own, and what a code is refused for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.orders.rules.pricing import (
    CodeNotValid,
    Destination,
    Quote,
    QuoteRequest,
    Shopper,
    Terms,
    quote,
)
from services.orders.rules.pricing.promotions import (
    AmountOff,
    BuyGet,
    FreeDelivery,
    Percent,
    Promotion,
    promotions,
)
from services.orders.rules.pricing.rates import FlatRate
from services.orders.rules.pricing.terms import ShippingMethod, TaxRate
from shared.money import CURRENCIES, money
from tests.services.orders.random_promotions import DISCOUNTED, reckoned, some_promotions

NOW = "2026-11-22T12:00:00.000Z"
POST = ShippingMethod("post", "Post", FlatRate(dict.fromkeys(CURRENCIES, 400)))
EXPRESS = ShippingMethod("express", "Express", FlatRate(dict.fromkeys(CURRENCIES, 900)))


def product(
    name: str, price: int, currency: str = "GBP", path: tuple[str, ...] = ("Home",)
) -> dict[str, Any]:
    return {
        "productid": name,
        "taxonomy": list(path),
        "name": name,
        "price": money(price, currency),
        "delivery": None,
    }


def priced(
    goods: dict[str, tuple[dict[str, Any], int]], all: list[Promotion], *codes: str, **who: Any
) -> Quote:
    """Of products and their quantities, taxed at 20 % that the prices hold."""
    terms = Terms("GB", (POST, EXPRESS), (TaxRate("VAT", 200_000, True),), promotions(all))
    items = [{"productid": key, "quantity": quantity} for key, (_, quantity) in goods.items()]
    moment = who.pop("moment", NOW)
    shopper = Shopper(moment, codes, **who)
    products = {key: each for key, (each, _) in goods.items()}
    return quote(QuoteRequest(items, moment[:10], Destination("GB"), shopper=shopper), products, terms)


def offer(*actions: Any, id: str = "a", **more: Any) -> Promotion:
    return Promotion(id, 1, f"Offer {id}", actions, **more)


def off(found: Quote) -> list[int]:
    return [discount["amount"]["amount"] for discount in found.discounts]


def shares(found: Quote) -> list[int]:
    return [line["discount"]["amount"] for line in found.lines]


@given(
    st.sampled_from(DISCOUNTED),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 12)), min_size=1, max_size=6),
    some_promotions(),
    st.booleans(),
)
def test_random_promotions_take_off_what_another_reckoning_says(
    currency: str, goods: list[tuple[int, int]], all: list[Promotion], tens: bool
) -> None:
    """To the last minor unit, in currencies of two, no and three digits; nothing ever falls below 0."""
    if tens:
        goods = [(price * 10, quantity) for price, quantity in goods]
    stocked = {
        f"p{number}": (product(f"p{number}", price, currency), quantity)
        for number, (price, quantity) in enumerate(goods)
    }
    found = priced(stocked, all)
    lines = [
        {"productid": f"p{number}", "quantity": quantity, "price": price * quantity}
        for number, (price, quantity) in enumerate(goods)
    ]
    assert off(found) == reckoned(lines, all, currency)
    left = [line["total"]["amount"] - line.get("discount", {"amount": 0})["amount"] for line in found.lines]
    assert left == [line["price"] for line in lines]
    assert min(left) >= 0
    assert sum(left) == found.goods["amount"] - sum(off(found))
    assert found.total["amount"] == sum(left) + found.delivery["amount"]
    assert (
        sum(row["base"]["amount"] + row["amount"]["amount"] for row in found.taxes) == found.total["amount"]
    )
    assert found.delivery["amount"] in (0, 400)


def test_ten_percent_are_shared_among_the_lines_and_tax_is_due_on_the_rest() -> None:
    goods = {"cup": (product("cup", 333), 1), "pot": (product("pot", 1001), 2)}
    found = priced(goods, [offer(Percent(1000), codes=("TEN",))], " ten ")
    assert (off(found), shares(found)) == ([234], [33, 201])
    assert found.discounts[0]["code"] == "TEN"
    assert found.total["amount"] == 333 + 2002 - 234 + 400
    assert found.tax["total"]["amount"] == round((333 + 2002 - 234 + 400) / 6)


def test_an_amount_off_more_than_there_is_leaves_the_delivery_to_pay() -> None:
    found = priced({"cup": (product("cup", 300), 1)}, [offer(AmountOff(5000, "GBP"))])
    assert (off(found), found.total["amount"]) == ([300], 400)


def test_three_for_two_takes_the_cheapest() -> None:
    goods = {
        "cup": (product("cup", 300), 2),
        "pot": (product("pot", 900), 2),
        "mat": (product("mat", 100), 1),
    }
    found = priced(goods, [offer(BuyGet(2, 1))])
    assert (off(found), shares(found)) == ([100], [0, 0, 100])
    found = priced(goods | {"mat": (product("mat", 100), 2)}, [offer(BuyGet(2, 1, 5000))])
    assert off(found) == [100]


def test_free_delivery_is_of_the_methods_it_names_and_the_usual_one_stays_chosen() -> None:
    goods = {"cup": (product("cup", 300), 1)}
    found = priced(goods, [offer(FreeDelivery(), codes=("FREE",))], "FREE")
    assert (found.shipping["id"], found.delivery["amount"], off(found)) == ("post", 0, [0])
    assert found.discounts[0]["free_delivery"]
    assert [option["price"]["amount"] for option in found.shipping_options] == [0, 0]
    found = priced(goods, [offer(FreeDelivery(frozenset({"post"})))])
    assert [option["price"]["amount"] for option in found.shipping_options] == [0, 900]


def test_free_delivery_is_used_by_an_order_whose_delivery_it_makes_cheaper() -> None:
    """Not by one that is collected, or goes by a method that it does not name."""
    goods = {"cup": (product("cup", 300), 1)}
    assert priced(goods, [offer(FreeDelivery(), codes=("FREE",))], "FREE").promotions
    other = priced(goods, [offer(FreeDelivery(frozenset({"van"})), codes=("FREE",))], "FREE")
    assert (other.shipping["id"], other.delivery["amount"], other.promotions) == ("post", 400, ())
    both = priced(goods, [offer(Percent(1000), FreeDelivery(frozenset({"van"})), codes=("FREE",))], "FREE")
    assert len(both.promotions) == 1


def test_promotions_act_on_the_goods_they_name() -> None:
    goods = {
        "pan": (product("pan", 1000, path=("Home", "Kitchen", "Pans")), 1),
        "sofa": (product("sofa", 5000, path=("Home", "Living")), 1),
        "shirt-m": (product("shirt", 2000, path=("Clothes",)), 1),
    }
    assert shares(priced(goods, [offer(Percent(1000), categories=(("Home", "Kitchen"),))])) == [100, 0, 0]
    assert shares(priced(goods, [offer(Percent(1000), products=frozenset({"shirt-m"}))])) == [0, 0, 200]
    assert shares(priced(goods, [offer(Percent(1000), products=frozenset({"shirt"}))])) == [0, 0, 200]
    assert not priced(goods, [offer(Percent(1000), categories=(("Home", "Kit"),))]).discounts


def test_what_does_not_combine_stands_alone_and_a_code_comes_first() -> None:
    goods = {"cup": (product("cup", 1000), 1)}
    automatic = offer(Percent(1000), id="auto", combines=False)
    code = offer(Percent(2000), id="code", codes=("TWENTY",), combines=False)
    assert off(priced(goods, [automatic, code])) == [100]
    assert off(priced(goods, [automatic, code], "TWENTY")) == [200]
    higher = offer(Percent(1000), id="auto", combines=False, priority=1)
    with pytest.raises(CodeNotValid) as refused:
        priced(goods, [higher, code], "TWENTY")
    assert refused.value.extra["reason"] == "not_combinable"
    both = [offer(Percent(1000), id="x", codes=("A1",)), offer(Percent(1000), id="y", codes=("B1",))]
    assert off(priced(goods, both, "A1", "B1")) == [100, 90]


REFUSED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("expired", {"ends": "2026-11-21"}, {}),
    ("expired", {"ends": "2026-11-22T12:00:00Z"}, {"moment": "2026-11-22T12:00:01.000Z"}),
    ("expired", {"active": False}, {}),
    ("not_yet", {"starts": "2026-11-23"}, {}),
    ("not_for_you", {"groups": frozenset({"trade"})}, {"group": "staff"}),
    ("first_order_only", {"first_order": True}, {}),
    ("not_first_order", {"first_order": True}, {"has_account": True}),
    ("minimum_not_reached", {"minimums": {"GBP": 1001}}, {}),
    ("other_currency", {"minimums": {"EUR": 1}}, {}),
    ("not_these_products", {"products": frozenset({"pot"})}, {}),
    ("not_these_products", {"products": frozenset({"free"})}, {}),
]


@pytest.mark.parametrize(("reason", "conditions", "who"), REFUSED)
def test_a_code_is_refused_with_the_reason(
    reason: str, conditions: dict[str, Any], who: dict[str, Any]
) -> None:
    goods = {"cup": (product("cup", 1000), 1), "free": (product("free", 0), 1)}
    with pytest.raises(CodeNotValid) as refused:
        priced(goods, [offer(Percent(1000), codes=("TEN",), **conditions)], "TEN", **who)
    assert refused.value.extra["reason"] == reason
    assert "codes.0" in refused.value.errors
    automatic = offer(Percent(1000), **conditions)
    assert not priced(goods, [automatic], **who).discounts, "what applies by itself is no error"


def test_conditions_that_hold_are_met_to_the_last_unit_and_day() -> None:
    goods = {"cup": (product("cup", 1000), 1)}
    held: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"ends": "2026-11-22"}, {"moment": "2026-11-22T23:59:59.999Z"}),
        ({"starts": "2026-11-22"}, {"moment": "2026-11-22T00:00:00.000Z"}),
        ({"groups": frozenset({"trade"})}, {"group": "trade"}),
        ({"first_order": True}, {"is_first_order": True}),
        ({"minimums": {"GBP": 1000}}, {}),
    ]
    for conditions, who in held:
        code = offer(Percent(1000), codes=("TEN",), **conditions)
        assert off(priced(goods, [code], "ten", **who)) == [100], conditions


def test_a_code_that_was_typed_twice_is_used_once() -> None:
    goods = {"cup": (product("cup", 1000), 1)}
    found = priced(goods, [offer(Percent(1000), codes=("TEN",))], "TEN", " ten ")
    assert [(each["code"], each["amount"]["amount"]) for each in found.discounts] == [("TEN", 100)]


def test_an_unknown_code_is_named_by_its_place() -> None:
    goods = {"cup": (product("cup", 1000), 1)}
    with pytest.raises(CodeNotValid) as refused:
        priced(goods, [offer(Percent(1000), codes=("TEN",))], "TEN", "NOPE")
    assert (refused.value.extra["reason"], list(refused.value.errors)) == ("unknown", ["codes.1"])
