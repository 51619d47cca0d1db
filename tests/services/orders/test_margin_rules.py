"""The figures of an order's margin by day, from its documents alone."""

import random
from typing import Any

import pytest

from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.margin import margin_of


def money(amount: int) -> dict[str, Any]:
    return {"amount": amount, "currency": "GBP"}


def doc(key: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"_id": f"order1:{key}", "type": kind, "orderid": "1", **fields}


def line(sku: str, quantity: int, gross: int, base: int, **more: Any) -> dict[str, Any]:
    tax = {"base": money(base), "amount": money(gross - base)}
    return {"productid": sku, "quantity": quantity, "total": money(gross), "tax": tax, **more}


def placed(*basket: dict[str, Any], costs: dict[str, int] | None = None) -> list[dict[str, Any]]:
    found = [
        doc("order", "order", basket=list(basket), date="2026-03-01T10:00:00Z"),
        doc("payment", "orderpayment", date="2026-03-01T10:00:01Z"),
    ]
    return [*found, doc("costs", "ordercosts", costs=costs)] if costs else found


def back(number: int, sku: str, quantity: int, condition: str = "resaleable") -> list[dict[str, Any]]:
    """Goods that came back on a day of their own, and their refund on the day after."""
    reference = f"return-{number}"
    lines = [{"productid": sku, "quantity": quantity, "amount": 1, "condition": condition}]
    receipt = doc(f"return{number}", "return", number=number, reference=reference, lines=lines)
    refund = doc(
        f"refund{number}", "refund", number=number, reference=reference, cause=reference, total=money(1)
    )
    return [receipt | {"date": f"2026-04-{number:02d}T10:00:00Z"}, refund | {"date": "2026-05-01T10:00:00Z"}]


def days(documents: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        each["date"]: {name: value for name, value in each.items() if name != "date"}
        for each in margin_of(OrderDocuments(documents))
    }


def test_goods_of_unknown_cost_are_counted_and_gift_cards_are_not() -> None:
    card = line("card", 1, 5000, 5000, gift_card=True)
    found = days(placed(line("pan", 2, 2400, 2000), line("lid", 3, 360, 300), card, costs={"pan": 400}))
    sold = {"units": 5, "known_units": 2, "sales": 2300, "known_sales": 2000, "cost": 800}
    assert found == {"2026-03-01": sold}


def test_nothing_is_said_of_an_order_that_is_not_paid() -> None:
    assert days(placed(line("pan", 1, 1, 1))[:1]) == {}


def test_damaged_goods_have_cost_what_they_have_cost() -> None:
    order = placed(line("pan", 3, 1200, 1000), costs={"pan": 100})
    found = days([*order, *back(1, "pan", 1), *back(2, "pan", 1, "damaged")])
    assert found["2026-04-01"] == {"units": -1, "known_units": -1, "cost": -100}
    assert found["2026-04-02"] == {"units": -1, "known_units": -1}
    assert found["2026-05-01"] == {"sales": -666, "known_sales": -666}


@pytest.mark.parametrize(("paid_back", "less"), [(240, 200), (999_999, 1500)])
def test_an_amount_that_is_paid_back_is_a_part_of_all_goods(paid_back: int, less: int) -> None:
    """Without its tax, and never more than is left of the goods: the rest was delivery."""
    order = placed(line("pan", 1, 1200, 1000), line("lid", 1, 600, 500), costs={"pan": 300})
    taxes = [{"amount": money(paid_back - paid_back * 5 // 6)}]
    refund = doc("refund1", "refund", number=1, reference="refund-1", cause="admin", total=money(paid_back))
    found = days([*order, refund | {"date": "2026-03-09T10:00:00Z", "taxes": taxes}])
    assert found["2026-03-09"] == {"sales": -less, "known_sales": -(1000 * less // 1500)}


def test_a_cancelled_order_has_sold_nothing() -> None:
    order = placed(line("pan", 2, 1200, 1000), costs={"pan": 300})
    refund = doc("refund1", "refund", number=1, reference="r", cause="cancellation", total=money(1200))
    ended = doc("cancellation", "cancellation", date="2026-03-02T10:00:00Z", was_paid=True)
    found = days([*order, refund | {"date": "2026-03-02T09:00:00Z"}, ended])
    assert {name: sum(day.get(name, 0) for day in found.values()) for name in found["2026-03-01"]} == {
        "units": 0,
        "known_units": 0,
        "sales": 0,
        "known_sales": 0,
        "cost": 0,
    }


@pytest.mark.parametrize("seed", range(50))
def test_what_came_back_in_parts_leaves_nothing(seed: int) -> None:
    """Whatever the parts, whatever does not divide."""
    chance = random.Random(seed)
    quantity = chance.randint(1, 9)
    base = chance.randint(0, 10_000)
    documents = placed(line("pan", quantity, base + 7, base), costs={"pan": chance.randint(1, 999)})
    number, left = 0, quantity
    while left:
        number, part = number + 1, chance.randint(1, left)
        left -= part
        documents += back(number, "pan", part)
    sums = [
        sum(day.get(name, 0) for day in days(documents).values())
        for name in ("units", "known_units", "sales", "known_sales", "cost")
    ]
    assert sums == [0] * 5


@pytest.mark.parametrize(("status", "left"), [("submitted", 0), ("rejected", 320)])
def test_a_return_label_is_counted_beside_the_margin(status: str, left: int) -> None:
    """What nobody has used is taken off again, where the carrier pays it back."""
    fields = {"reference": "return-9", "date": "2026-06-01T10:00:00Z"}
    request = doc("returnrequest1", "returnrequest", number=1, lines=[], **fields)
    label = doc("return-9label", "returnlabel", cost=money(320), **fields)
    refund = doc(
        "return-9labelrefund", "labelrefund", status=status, **fields | {"date": "2026-07-01T10:00:00Z"}
    )
    found = days([*placed(line("pan", 1, 120, 100)), request, label, refund])
    assert found["2026-06-01"] == {"labels": 320}
    assert sum(day.get("labels", 0) for day in found.values()) == left
