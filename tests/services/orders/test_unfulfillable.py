"""Cancelling while others act on the same order: what a courier has stays, what is paid back is not paid back again."""

from collections.abc import Callable

import pytest

from services.orders.actions.cancellation import cancel_unfulfillable
from services.orders.actions.refunds import add_refund
from services.orders.actions.returns import refund_returns
from services.orders.dependencies import Dependencies, open_dependencies
from services.orders.documents import DESIGN, RESTOCK, RETURN, SANDBOX_LEDGER, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.pricing import QuoteRequest, initial_terms, quote
from services.orders.rules.progress import Progress, is_finished
from services.orders.rules.returns import returned_lines
from services.orders.rules.steps import plan
from services.orders.rules.writing import (
    decision_of,
    delivery_of,
    dispatch_of,
    event_fields,
    notice_of,
    payment_of,
)
from services.orders.settings import Settings
from services.orders.store.orders import row_of
from shared.clock import now
from shared.settings import load
from tests.services.orders.test_rules import TODAY, order_document, paid_order, product
from tests.waiting import Holds, holding


@pytest.fixture
def shop(prepared: Callable, environment: dict[str, str]) -> Dependencies:
    prepared(DESIGN, SANDBOX_LEDGER)
    return open_dependencies(load(Settings, environment))


@pytest.fixture
def holds(shop: Dependencies) -> Holds:
    return holding(at_once=shop.orders.database.has_one_copy)


def test_what_was_handed_over_is_not_cancelled_for_want_of_stock(shop: Dependencies, holds: Holds) -> None:
    order, payment = paid_order()
    written = [
        order,
        payment,
        decision_of(order, "dispatch", "post p1", "staff"),
        dispatch_of(order, payment, "post", "p1"),
    ]
    shop.orders.add_all(written)
    holds(lambda: len(shop.orders.order("1").documents) == len(written))
    assert cancel_unfulfillable(shop, shop.orders.order("1")).status == "dispatched"
    assert len(shop.orders.order("1").documents) == len(written)


def test_of_a_cancellation_and_a_whole_refund_at_once_only_one_pays_back(
    shop: Dependencies, holds: Holds
) -> None:
    order, payment = (
        {**doc, "_id": doc["_id"].replace("order1", "order2"), "orderid": "2"} for doc in paid_order()
    )
    shop.orders.add_all([order, payment])
    seen = OrderDocuments([order, payment])
    add_refund(shop, seen, order["total"], "all of it", "admin")
    after = add_refund(shop, seen, None, "The order was cancelled.", "cancellation")
    assert [refund["total"] for refund in after.refunds] == [order["total"]]
    holds(lambda: [refund["number"] for refund in shop.orders.order("2").refunds] == [1])


@pytest.mark.parametrize("price", [101, 102, 103, 104])
def test_what_comes_back_piece_by_piece_is_paid_back_to_the_cent(
    shop: Dependencies, holds: Holds, price: int
) -> None:
    """A tax on top of 3 x 1.01 is 0.61, three times that of 1.01 is 0.60."""
    orderid, wanted = f"pieces{price}", [{"productid": "tea", "quantity": 3}]
    priced = quote(
        QuoteRequest(wanted, TODAY), {"tea": product("tea", price)}, initial_terms(tax_included=False)
    )
    order = order_document(
        _id=order_key(orderid, "order"),
        orderid=orderid,
        basket=priced.lines,
        goods=priced.goods,
        delivery=priced.delivery,
        tax=priced.tax,
        shipping=priced.shipping,
        taxes=priced.taxes,
        total=priced.total,
    )
    payment = payment_of(order, "sandbox", "ref", order["total"], order["date"])
    lines = returned_lines(order["basket"], [], [{"productid": "tea", "quantity": 1}])
    returns = [
        RETURN.new(
            order_key(orderid, f"return{number}"),
            **event_fields(order),
            number=number,
            lines=lines,
            reason="",
            request=None,
            reference=f"return-{number}",
        )
        for number in (1, 2, 3)
    ]
    shop.orders.add_all([order, payment, *returns])
    holds(lambda: len(shop.orders.order(orderid).documents) == 5)
    refunds = refund_returns(shop, shop.orders.order(orderid)).refunds
    assert sum(refund["total"]["amount"] for refund in refunds) == priced.total["amount"]


@pytest.mark.parametrize(("productid", "finished"), [("gift", True), ("tea", False)])
def test_free_goods_that_come_back_leave_nothing_to_do(
    shop: Dependencies, holds: Holds, productid: str, finished: bool
) -> None:
    """An order with a paid and a free line; in the list as well as read whole."""
    goods = {each["productid"]: each for each in (product("tea", 500), product("gift", 0))}
    priced = quote(
        QuoteRequest([{"productid": name, "quantity": 1} for name in goods], TODAY), goods, initial_terms()
    )
    orderid = f"free{productid}"
    order = order_document(
        _id=order_key(orderid, "order"),
        orderid=orderid,
        basket=priced.lines,
        goods=priced.goods,
        delivery=priced.delivery,
        tax=priced.tax,
        shipping=priced.shipping,
        taxes=priced.taxes,
        total=priced.total,
    )
    payment = payment_of(order, "sandbox", "ref", order["total"], order["date"])
    dispatch = dispatch_of(order, payment, "post", "p1", order["date"])
    back = RETURN.new(
        order_key(orderid, "return1"),
        **event_fields(order),
        number=1,
        reference="return-1",
        reason="",
        request=None,
        lines=returned_lines(order["basket"], [], [{"productid": productid, "quantity": 1}]),
    )
    restock = RESTOCK.new(
        order_key(orderid, "return-1restocked"), **event_fields(order), reference="return-1", lines=[]
    )
    notices = [notice_of(order, kind, "sent") for kind in ("payment", "dispatch", "delivery")]
    written = [order, payment, dispatch, delivery_of(order, dispatch), back, restock, *notices]
    shop.orders.add_all(written)
    holds(lambda: len(shop.orders.order(orderid).documents) == len(written))
    found = shop.orders.order(orderid)

    def row() -> Progress | None:
        rows = map(row_of, shop.orders.orders_between("2026", "2027", limit=100).items)
        return {each[0]: each[4] for each in rows}.get(orderid)

    holds(lambda: row() == found.progress)
    assert is_finished(found.progress) is finished
    assert ("settle_refunds" not in plan(found, now(), shop.policy).due) is finished
    assert refund_returns(shop, found).refunds == [] or not finished
