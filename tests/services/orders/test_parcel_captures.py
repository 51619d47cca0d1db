"""Reserved money that the provider takes in parts: each parcel its lines' share, cancelled lines none, every cent once."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from services.orders.actions.parcels import dispatch_order
from services.orders.actions.refunds import add_refund, settle_refunds
from services.orders.dependencies import Dependencies
from shared.couch import Database
from shared.money import money
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.crashes import Dying, Killed
from tests.services.orders.stripe_standin import StripeStandIn
from tests.services.orders.test_captures import (
    cancelled,
    orders_settings,
    part,
    refund,
    refunds_of,
    reserved,
    totals,
)
from tests.services.orders.test_payment_pages import documents, order_of, placed

__all__ = ["orders_settings"]
PIECE = 1000


@pytest.fixture(autouse=True)
def multicapture(stripe: StripeStandIn) -> Iterator[None]:
    """The account has the feature."""
    stripe.checkout.multicapture = True
    yield
    stripe.checkout.multicapture = False


def test_each_parcel_takes_its_share(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    for _ in range(2):
        assert totals(part(shop, orderid, 1).json()) == (2000, PIECE, PIECE)
    assert (intent["status"], intent["captures"]) == ("requires_capture", [PIECE])
    last = part(shop, orderid, 2).json()
    assert (totals(last), last["payment"]["captured"]) == ((2000, 2000, 0), True)
    assert (intent["status"], intent["captures"]) == ("succeeded", [PIECE, PIECE])


def test_a_line_that_is_cancelled_is_let_go_and_one_that_was_taken_is_paid_back(
    shop: Shop, customer: Person, stripe: StripeStandIn
) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    part(shop, orderid, 1)
    after = cancelled(shop, customer, orderid)
    assert [each["settled"] for each in after["refunds"]] == [True]
    assert (intent["status"], intent["captures"], refunds_of(stripe, intent)) == ("succeeded", [PIECE, 0], [])
    assert totals(after) == (2000, PIECE, 0)
    refund(shop, orderid, 300)
    assert refunds_of(stripe, intent) == [300]


def test_a_refund_between_parcels_is_paid_back_at_once(
    shop: Shop, customer: Person, stripe: StripeStandIn
) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    part(shop, orderid, 1)
    assert refund(shop, orderid, 400)["refunds"][0]["settled"] is True
    assert refunds_of(stripe, intent) == [400]
    part(shop, orderid, 2)
    assert intent["captures"] == [PIECE, PIECE]


def test_a_refund_before_the_first_parcel_is_not_taken(
    shop: Shop, customer: Person, stripe: StripeStandIn
) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    assert refund(shop, orderid, 400)["refunds"][0]["settled"] is False
    part(shop, orderid, 1)
    assert (intent["captures"], order_of(shop, customer, orderid)["refunds"][0]["settled"]) == ([600], True)
    part(shop, orderid, 2)
    assert (intent["captures"], refunds_of(stripe, intent)) == ([600, PIECE], [])


@pytest.mark.parametrize("days", [0, 2], ids=["at once", "after the key is forgotten"])
@pytest.mark.parametrize("moment", ["decided", "taken", "written"])
def test_a_parcel_that_died_takes_its_share_once(
    shop: Shop,
    customer: Person,
    stripe: StripeStandIn,
    deps: Dependencies,
    database: Database,
    moment: str,
    days: int,
) -> None:
    """Between the decision and the money, between the money and its document, and before the parcel."""
    orderid, intent = reserved(shop, customer, stripe)
    found = deps.orders.order(orderid)
    key = found.order["basket"][0]["productid"]
    dying = Dying(deps.providers["stripe"].hosted, "capture", before=moment == "decided")

    class Provider:
        name, hosted = "stripe", dying

    broken = replace(deps, providers={"stripe": Provider()})
    if moment == "written":
        broken = replace(deps, stores=replace(deps.stores, orders=After(deps.orders, "paymentcaptured")))
    with pytest.raises(Killed):
        dispatch_order(broken, found, "Owl", "1", "user x", items=[{"productid": key, "quantity": 1}])
    if days:
        stripe.forget_keys()
    assert part(shop, orderid, 1).status_code == 201
    assert intent["captures"] == [PIECE]
    part(shop, orderid, 2)
    assert intent["captures"] == [PIECE, PIECE]
    written = documents(database, orderid)
    assert all(doc["_rev"].startswith("1-") for name, doc in written.items() if name != "summary")


def test_a_refund_that_died_is_paid_back_once(
    shop: Shop, customer: Person, stripe: StripeStandIn, deps: Dependencies
) -> None:
    """After the decision that it is paid back, before its settlement: a parcel in between does not deduct it again."""
    orderid, intent = reserved(shop, customer, stripe)
    part(shop, orderid, 1)
    dying = replace(deps, stores=replace(deps.stores, orders=After(deps.orders, "paymentcapture")))
    found = add_refund(deps, deps.orders.order(orderid), money(400, "GBP"), "late", "admin")
    with pytest.raises(Killed):
        settle_refunds(dying, found)
    part(shop, orderid, 2)
    assert (intent["captures"], refunds_of(stripe, intent)) == ([PIECE, PIECE], [400])


def test_the_last_part_that_the_provider_takes_is_kept_for_the_last_parcel(
    shop: Shop, customer: Person, stripe: StripeStandIn, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four parcels of a provider that takes three parts: the third parcel goes with its money reserved, the last one takes it too."""
    monkeypatch.setattr("services.orders.rules.captures.MAX_CAPTURES", 3)
    monkeypatch.setattr("tests.services.orders.stripe_standin.MOST_CAPTURES", 3)
    product = shop.product(price=PIECE, delivery=0)
    orderid = placed(shop, customer, {product: 4})["orderid"]
    (session,) = stripe.checkout.of(orderid)
    stripe.checkout.pay(session["id"])
    shop.post(customer, f"/v1/orders/{orderid}/payment")
    intent, taken = stripe.intents[session["payment_intent"]], []
    for number in range(1, 5):
        items = [{"productid": product, "quantity": 1}]
        dispatch_order(deps, deps.orders.order(orderid), "Owl", str(number), "user x", items=items)
        taken.append(intent["amount_received"])
    assert taken == [1000, 2000, 2000, 4000]
    assert (intent["status"], intent["captures"]) == ("succeeded", [1000, 1000, 2000])


def test_an_answer_that_is_lost_takes_once(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    stripe.lose.append(f"/v1/payment_intents/{intent['id']}/capture")
    assert part(shop, orderid, 1).status_code in (201, 503)
    assert not stripe.lose
    assert part(shop, orderid, 1).status_code == 201
    assert intent["captures"] == [PIECE]


def test_goods_that_come_back_between_parcels_are_paid_back(
    shop: Shop, customer: Person, stripe: StripeStandIn
) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    part(shop, orderid, 1)
    shop.post(shop.admin, f"/v1/admin/orders/{orderid}/delivery", {})
    key = order_of(shop, customer, orderid)["items"][0]["productid"]
    shop.sent_back(customer, orderid, {key: 1})
    assert (refunds_of(stripe, intent), intent["captures"]) == ([PIECE], [PIECE])
    part(shop, orderid, 2)
    assert intent["captures"] == [PIECE, PIECE]


class After:
    """A store that dies right after it has written a document of a type."""

    def __init__(self, real: Any, type_: str) -> None:
        self._real, self._type = real, type_

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def add(self, doc: Any) -> Any:
        written = self._real.add(doc)
        if doc["type"] == self._type:
            raise Killed
        return written
