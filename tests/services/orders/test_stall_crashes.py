"""A sale at a stall whose recording was killed in the middle: brought to its end by the device or the worker, and no piece taken twice."""

import secrets
from dataclasses import replace
from datetime import timedelta

import pytest

from services.orders.actions import fulfilment
from services.orders.actions.stall_sales import record_sale
from services.orders.dependencies import Dependencies
from services.orders.rules.identity import orderid_for
from services.orders.schemas.stall import StallSale
from shared.clock import now, parse
from tests.services.orders.conftest import Shop
from tests.services.orders.crashes import Dying, Killed
from tests.services.orders.stall import level, recorded, sale
from tests.services.orders.test_code_uses import left_behind

STEPS = ("place", "sell_anyway", "stall", "add_all", "add")


def dying(deps: Dependencies, step: str) -> Dependencies:
    if step == "sell_anyway":
        return replace(deps, products=Dying(deps.products, step))
    if step == "stall":
        return replace(deps, stores=replace(deps.stores, stall=Dying(deps.stall, "add")))
    return replace(deps, stores=replace(deps.stores, orders=Dying(deps.orders, step)))


@pytest.mark.parametrize("who", ["device", "worker"])
@pytest.mark.parametrize("step", STEPS)
def test_a_killed_sale_is_brought_to_its_end_once(
    shop: Shop, deps: Dependencies, step: str, who: str
) -> None:
    product, key = shop.product(stock=1), secrets.token_hex(8)
    body = sale({product: (2, 1250)}, stall=f"Killed {step} {who}")
    with pytest.raises(Killed):
        record_sale(dying(deps, step), key, StallSale().load(body), "user clerk")
    orderid = orderid_for("stall", key)
    if who == "worker":
        assert now() - parse(body["sold_at"]) > timedelta(seconds=deps.settings.attempt_seconds)
        fulfilment.advance_order(deps, orderid)
    order = recorded(shop, shop.admin, body, key)
    assert order["orderid"] == orderid
    assert (order["status"], order["payment"]["provider"]) == ("delivered", "cash")
    assert [line["quantity"] for line in order["oversold"]["lines"]] == [1]
    assert level(shop, product) == -1
    entries, _ = deps.stall.day(order["stall"]["day"])
    assert [each["oversold"] for each in entries if each["orderid"] == orderid] == [1]


def test_a_reservation_that_ran_out_before_it_was_sold_is_taken_again(shop: Shop, deps: Dependencies) -> None:
    product, key = shop.product(stock=1), secrets.token_hex(8)
    body = sale({product: (1, 1250)})
    with pytest.raises(Killed):
        record_sale(dying(deps, "place"), key, StallSale().load(body), "user clerk")
    found = left_behind(deps, orderid_for("stall", key))
    basket = found.order["basket"]
    deps.products.reserve(found.order["orderid"], basket, found.order["date"], again=False)
    deps.products.release(found.order["orderid"], basket)
    other = recorded(shop, shop.admin, sale({product: (1, 1250)}))
    assert "oversold" not in other
    order = recorded(shop, shop.admin, body, key)
    assert order["status"] == "delivered"
    assert level(shop, product) == -1
