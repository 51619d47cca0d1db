"""An exchange whose process dies after any of its steps, and is then asked for again: one order, paid once, and nothing kept for nobody."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from services.orders.actions import fulfilment, return_requests
from services.orders.dependencies import Dependencies
from shared.couch import Database
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.crashes import Killed
from tests.services.orders.test_exchanges import asked, bought, kept_of, same_price


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    return {"COURIER": "manual"}


pytestmark = pytest.mark.faults
STEPS = ("add", "place", "reserve", "keep_on", "confirm", "take_back", "release")
MAX_STEPS = 60


class DyingAfter:
    """Passes calls on, and dies right after the one that makes `left` nothing; all that share `left` count together."""

    def __init__(self, real: Any, left: list[int]) -> None:
        self._real, self._left = real, left

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._real, name)
        if name not in STEPS:
            return attribute

        def call(*args: Any, **kwargs: Any) -> Any:
            answer = attribute(*args, **kwargs)
            self._left[0] -= 1
            if not self._left[0]:
                raise Killed
            return answer

        return call


def dying(deps: Dependencies, after: int) -> Dependencies:
    left = [after]
    stores = replace(deps.stores, orders=DyingAfter(deps.orders, left))
    return replace(deps, stores=stores, products=DyingAfter(deps.products, left))


def test_an_exchange_that_dies_after_any_step_is_one_order_when_it_is_asked_for_again(
    shop: Shop, customer: Person, deps: Dependencies, ledger: Database
) -> None:
    product = same_price(shop, stock=100)
    small, large = f"{product}-M", f"{product}-L"
    kills = 0
    for after in range(1, MAX_STEPS):
        order = bought(shop, customer, small, 2)
        orderid = order["orderid"]
        assert asked(shop, customer, order, small, large, 2).status_code == 201
        died = [_survives(deps, after, step) for step in _acts(orderid, small)]
        kills += sum(died)
        for _ in range(2):
            fulfilment.advance_order(deps, orderid)
        (back,) = deps.orders.order(orderid).order_returns
        assert back.offer is not None
        assert back.exchanged is not None
        linked = deps.orders.order(back.offer["orderid"])
        fulfilment.advance_order(deps, linked.order["orderid"])
        assert (linked.status, back.exchanged["outcome"]) == ("paid", "paid"), after
        assert [line["quantity"] for line in linked.order["basket"]] == [1]
        found = deps.orders.order(orderid)
        assert all(found.settled(refund) for refund in found.refunds)
        assert len(found.refunds) == 1
        assert kept_of(ledger, order) == order["total"]["amount"]
        assert shop.stock(large) == 100 - after, after
        if not any(died):
            break
    assert kills >= 8


def _acts(orderid: str, sku: str) -> list[Callable[[Dependencies], object]]:
    """One of the two pieces comes back."""
    items = [{"productid": sku, "quantity": 1, "condition": "resaleable"}]
    return [
        lambda deps: return_requests.approve_return(deps, deps.orders.order(orderid), "1", "user 1"),
        lambda deps: return_requests.receive_return(deps, deps.orders.order(orderid), "1", items, "user 1"),
    ]


def _survives(deps: Dependencies, after: int, act: Callable[[Dependencies], object]) -> bool:
    """Whether the act died before it was done again."""
    try:
        act(dying(deps, after))
    except Killed:
        act(deps)
        return True
    return False
