"""However many orders wait for goods, a look at them is bounded, and after some of them each was looked at."""

import pytest

from services.orders.actions import backorders, fulfilment
from services.orders.dependencies import Dependencies
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.test_backorders import come_in, goods

ORDERS = 5


@pytest.mark.parametrize("page", [1, 2])
def test_a_look_is_bounded_and_the_next_goes_on(
    shop: Shop, deps: Dependencies, customer: Person, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    """What is five orders here is thousands in a shop. Nobody else looks meanwhile: no worker runs."""
    monkeypatch.setattr(backorders, "PAGE", page)
    monkeypatch.setattr(backorders, "MAX_PAGES", 2)
    lamp = goods(shop, 0)
    ids = [shop.placed(customer, {lamp: 1})["orderid"] for _ in range(ORDERS)]
    for orderid in ids:
        fulfilment.advance_order(deps, orderid)
    assert backorders.look_for_goods(deps) == [], "nothing has come yet"
    deps.orders.set_sweep_checkpoint(backorders.LOOK, after=None)
    assert come_in(shop, lamp, ORDERS).status_code in (200, 201)
    looks = [backorders.look_for_goods(deps) for _ in range(ORDERS // page + 1)]
    assert [orderid for look in looks for orderid in look][:ORDERS] == ids, "the oldest first, each once"
    assert max(len(look) for look in looks) <= 2 * page
    assert all(not deps.orders.order(orderid).waiting for orderid in ids)
