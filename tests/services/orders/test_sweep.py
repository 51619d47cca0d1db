"""The bounded sweep reaches every order, however many there are and whatever hangs before them."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from services.orders.actions import sweep as sweeps
from services.orders.dependencies import Dependencies, open_dependencies
from services.orders.documents import DESIGN, SANDBOX_LEDGER, order_key
from services.orders.settings import Settings
from shared.clock import iso, now
from shared.settings import load
from tests.services.orders.test_rules import order_document


@pytest.fixture
def shop(prepared: Callable, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Dependencies:
    """Pages of two orders, two pages a sweep: what is four orders here is twenty thousand in a shop."""
    prepared(DESIGN, SANDBOX_LEDGER)
    monkeypatch.setattr(sweeps, "PAGE", 2)
    monkeypatch.setattr(sweeps, "MAX_PAGES", 2)
    return open_dependencies(load(Settings, environment))


@pytest.mark.parametrize("sweep", [sweeps.sweep, sweeps.deep_sweep])
@pytest.mark.parametrize("apart", [timedelta(), timedelta(hours=1)])
def test_orders_behind_many_that_hang_are_reached_too(
    shop: Dependencies, sweep: Callable, apart: timedelta
) -> None:
    """Placed one after another, or all at one moment as an imported day is; again and again from the oldest on."""
    orderids = [f"{sweep.__name__}{apart.seconds}n{number}".replace("_", "") for number in range(6)]
    first = now() - timedelta(days=6)
    for number, orderid in enumerate(orderids):
        date = iso(first + number * apart)
        shop.orders.add(order_document(_id=order_key(orderid, "order"), orderid=orderid, date=date))
    shop.orders.set_sweep_checkpoint(sweeps.SWEEP, placed=iso(first), oldest=None, after=None)
    found = [orderid for _ in range(20) for orderid in sweep(shop, frozenset())]
    assert min(found.count(orderid) for orderid in orderids) >= 2
