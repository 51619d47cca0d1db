"""Cancelling while others act on the same order: what a courier has stays, what is paid back is not paid back again."""

from collections.abc import Callable

import pytest

from services.orders.actions.cancellation import cancel_unfulfillable
from services.orders.actions.refunds import add_refund
from services.orders.actions.returns import refund_returns
from services.orders.actions.shop import Shop, open_shop
from services.orders.documents import DESIGN, RETURN, SANDBOX_LEDGER, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.pricing import Terms, quote
from services.orders.rules.returns import returned_lines
from services.orders.rules.writing import decision_of, dispatch_of, event_fields, payment_of
from services.orders.settings import Settings
from shared.settings import load
from tests.services.orders.test_rules import order_document, paid_order, product


@pytest.fixture
def shop(prepared: Callable, environment: dict[str, str]) -> Shop:
    prepared(DESIGN, SANDBOX_LEDGER)
    return open_shop(load(Settings, environment))


def test_what_was_handed_over_is_not_cancelled_for_want_of_stock(shop: Shop) -> None:
    order, payment = paid_order()
    written = [
        order,
        payment,
        decision_of(order, "dispatch", "post p1", "staff"),
        dispatch_of(order, payment, "post", "p1"),
    ]
    shop.orders.add_all(written)
    assert cancel_unfulfillable(shop, shop.orders.order("1")).status == "dispatched"
    assert len(shop.orders.order("1").documents) == len(written)


def test_of_a_cancellation_and_a_whole_refund_at_once_only_one_pays_back(shop: Shop) -> None:
    order, payment = (
        {**doc, "_id": doc["_id"].replace("order1", "order2"), "orderid": "2"} for doc in paid_order()
    )
    shop.orders.add_all([order, payment])
    seen = OrderDocuments([order, payment])
    add_refund(shop, seen, order["total"], "all of it", "admin")
    after = add_refund(shop, seen, None, "The order was cancelled.", "cancellation")
    assert [refund["total"] for refund in after.refunds] == [order["total"]]
    assert [refund["number"] for refund in shop.orders.order("2").refunds] == [1]


@pytest.mark.parametrize("price", [101, 102, 103, 104])
def test_what_comes_back_piece_by_piece_is_paid_back_to_the_cent(shop: Shop, price: int) -> None:
    """A tax on top of 3 x 1.01 is 0.61, three times that of 1.01 is 0.60."""
    orderid, wanted = f"pieces{price}", [{"productid": "tea", "quantity": 3}]
    priced = quote(wanted, {"tea": product("tea", price)}, Terms(tax_included=False))
    order = order_document(
        _id=order_key(orderid, "order"), orderid=orderid, basket=priced.lines, goods=priced.goods,
        delivery=priced.delivery, tax=priced.tax, total=priced.total,
    )  # fmt: skip
    payment = payment_of(order, "sandbox", "ref", order["total"], order["date"])
    lines = returned_lines(order["basket"], [], [{"productid": "tea", "quantity": 1}])
    returns = [
        RETURN.new(
            order_key(orderid, f"return{number}"), **event_fields(order), number=number, lines=lines, reason="",
            request=None, reference=f"return-{number}",
        )
        for number in (1, 2, 3)
    ]  # fmt: skip
    shop.orders.add_all([order, payment, *returns])
    refunds = refund_returns(shop, shop.orders.order(orderid)).refunds
    assert sum(refund["total"]["amount"] for refund in refunds) == priced.total["amount"]
