"""Money that is reserved with the order and taken at its dispatch: less what was refunded until then, once, and let go when nothing goes out."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import requests

from services.orders.actions import captures, fulfilment, sweep
from services.orders.actions.cancellation import cancel_order
from services.orders.actions.fulfilment import advance_order
from services.orders.actions.parcels import dispatch_order
from services.orders.dependencies import Dependencies
from shared.clock import now
from shared.couch import Database
from tests.people import PASSWORD, Person
from tests.services.orders.conftest import Shop
from tests.services.orders.crashes import Dying, Killed
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn
from tests.services.orders.test_payment_pages import documents, order_of, placed
from tests.waiting import settles

PARCEL = {"courier": "Owl", "courierid": "1"}


@pytest.fixture(scope="module")
def orders_settings(stripe: StripeStandIn) -> dict[str, str]:
    return {
        "PAYMENT_PROVIDERS": "stripe",
        "STRIPE_URL": stripe.url,
        "STRIPE_API_KEY": API_KEY,
        "STRIPE_WEBHOOK_SECRET": "whsec",
        "CAPTURE_AT": "dispatch",
        "STRIPE_MULTICAPTURE": "true",
        "COURIER": "manual",
    }


def reserved(
    shop: Shop, person: Person, stripe: StripeStandIn, price: int = 1000
) -> tuple[str, dict[str, Any]]:
    """An order of two pieces whose money the bank has reserved, and its payment intent."""
    order = placed(shop, person, {shop.product(price=price, delivery=0): 2})
    (session,) = stripe.checkout.of(order["orderid"])
    stripe.checkout.pay(session["id"])
    paid = shop.post(person, f"/v1/orders/{order['orderid']}/payment").json()
    assert (paid["status"], paid["payment"]["captured"]) == ("paid", False)
    assert paid["payment"]["capture_before"]
    intent = stripe.intents[session["payment_intent"]]
    assert intent["status"] == "requires_capture"
    return order["orderid"], intent


def refund(shop: Shop, orderid: str, amount: int) -> dict[str, Any]:
    answer = shop.post(
        shop.admin, f"/v1/admin/orders/{orderid}/refunds", {"amount": amount, "reason": "one less"}
    )
    assert answer.status_code == 201, answer.text
    return answer.json()


def dispatched(shop: Shop, orderid: str) -> dict[str, Any]:
    answer = shop.post(shop.admin, f"/v1/admin/orders/{orderid}/dispatch", PARCEL)
    assert answer.status_code == 201, answer.text
    return answer.json()


def refunds_of(stripe: StripeStandIn, intent: dict[str, Any]) -> list[int]:
    return [each["amount"] for each in stripe.refunds if each["payment_intent"] == intent["id"]]


def test_money_is_taken_at_dispatch(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    for _ in range(2):
        assert dispatched(shop, orderid)["payment"]["captured"] is True
    assert (intent["status"], intent["amount_received"]) == ("succeeded", 2000)
    assert refund(shop, orderid, 300)["refunds"][0]["settled"] is True
    assert refunds_of(stripe, intent) == [300]


def test_what_was_refunded_before_is_not_taken(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    assert refund(shop, orderid, 1000)["refunds"][0]["settled"] is False
    after = dispatched(shop, orderid)
    assert intent["amount_received"] == 1000
    assert [each["settled"] for each in after["refunds"]] == [True]
    assert refund(shop, orderid, 400)["refunded"] == "part"
    assert refunds_of(stripe, intent) == [400]


def test_a_line_that_is_cancelled_is_not_taken(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    productid = order_of(shop, customer, orderid)["items"][0]["productid"]
    one = {"items": [{"productid": productid, "quantity": 1}]}
    answer = shop.post(customer, f"/v1/orders/{orderid}/cancellation", one)
    assert answer.status_code == 201, answer.text
    assert [each["settled"] for each in answer.json()["refunds"]] == [False]
    after = dispatched(shop, orderid)
    assert (after["status"], intent["amount_received"]) == ("dispatched", 1000)
    assert [each["settled"] for each in after["refunds"]] == [True]
    assert refunds_of(stripe, intent) == []


def part(shop: Shop, orderid: str, number: int, quantity: int = 1) -> requests.Response:
    """So many pieces of the first line go out."""
    productid = shop.get(shop.admin, f"/v1/orders/{orderid}").json()["items"][0]["productid"]
    body = {
        "courier": "Owl",
        "courierid": str(number),
        "items": [{"productid": productid, "quantity": quantity}],
    }
    return shop.post(shop.admin, f"/v1/admin/orders/{orderid}/dispatch", body)


def cancelled(shop: Shop, person: Person, orderid: str) -> dict[str, Any]:
    """One piece of the first line is."""
    productid = order_of(shop, person, orderid)["items"][0]["productid"]
    one = {"items": [{"productid": productid, "quantity": 1}]}
    answer = shop.post(person, f"/v1/orders/{orderid}/cancellation", one)
    assert answer.status_code == 201, answer.text
    return answer.json()


def totals(order: dict[str, Any]) -> tuple[int, ...]:
    """What was reserved, what of it was taken, and what is still open."""
    return tuple(order["payment"][f"{name}_total"]["amount"] for name in ("authorized", "captured", "open"))


def test_a_card_that_is_captured_once_is_with_the_last_parcel(
    shop: Shop, customer: Person, stripe: StripeStandIn
) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    sent = part(shop, orderid, 1).json()
    assert (sent["status"], intent["amount_received"]) == ("partly_dispatched", 0)
    assert totals(sent) == (2000, 0, 2000)
    assert totals(part(shop, orderid, 2).json()) == (2000, 2000, 0)
    assert (intent["status"], intent["captures"]) == ("succeeded", [2000])


def test_what_is_cancelled_after_the_first_parcel_is_never_taken(
    shop: Shop, customer: Person, stripe: StripeStandIn
) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    part(shop, orderid, 1)
    after = cancelled(shop, customer, orderid)
    assert (after["status"], intent["captures"], refunds_of(stripe, intent)) == ("dispatched", [1000], [])
    assert [each["settled"] for each in after["refunds"]] == [True]


def test_no_parcel_goes_out_for_money_that_is_gone(
    shop: Shop, customer: Person, stripe: StripeStandIn
) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    intent["status"] = "canceled"
    answer = part(shop, orderid, 1)
    assert (answer.status_code, answer.json()["code"]) == (409, "payment_closed")
    assert order_of(shop, customer, orderid)["parcels"] == []


def test_what_has_gone_out_is_taken_before_the_bank_lets_go(
    shop: Shop, customer: Person, stripe: StripeStandIn, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a card that is captured once: what is still here is not paid for any more, and stays here."""
    orderid, intent = reserved(shop, customer, stripe)
    part(shop, orderid, 1)
    wait = advance_order(deps, orderid)
    assert wait is not None
    assert 5.9 * 86_400 < wait < 6 * 86_400
    assert intent["amount_received"] == 0
    later = now() + timedelta(days=6)
    monkeypatch.setattr(sweep, "now", lambda: later)
    assert orderid in sweep.deep_sweep(deps, frozenset())
    monkeypatch.setattr(fulfilment, "now", lambda: later)
    for _ in range(2):
        advance_order(deps, orderid)
    assert (intent["captures"], intent["status"]) == ([1000], "succeeded")
    answer = part(shop, orderid, 2)
    assert (answer.status_code, answer.json()["code"]) == (409, "payment_closed")
    assert cancelled(shop, customer, orderid)["refunds"][0]["settled"] is True
    assert refunds_of(stripe, intent) == []


def test_a_cancelled_order_lets_the_money_go(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    refund(shop, orderid, 500)
    answer = shop.post(customer, f"/v1/orders/{orderid}/cancellation", {})
    assert answer.status_code == 201, answer.text
    assert intent["status"] == "canceled"
    assert [each["settled"] for each in answer.json()["refunds"]] == [True, True]
    assert refunds_of(stripe, intent) == []


def test_money_that_the_bank_has_let_go_keeps_the_goods_here(
    shop: Shop, customer: Person, stripe: StripeStandIn
) -> None:
    orderid, intent = reserved(shop, customer, stripe)
    intent["status"] = "canceled"
    answer = shop.post(shop.admin, f"/v1/admin/orders/{orderid}/dispatch", PARCEL)
    assert (answer.status_code, answer.json()["code"]) == (409, "payment_closed")
    assert order_of(shop, customer, orderid)["dispatch"] is None
    assert shop.post(customer, f"/v1/orders/{orderid}/cancellation", {}).status_code == 201
    assert order_of(shop, customer, orderid)["refunds"][0]["settled"] is True


def test_the_desk_names_what_soon_expires(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    waiting, taken, ended = (reserved(shop, customer, stripe)[0] for _ in range(3))
    dispatched(shop, taken)
    shop.post(customer, f"/v1/orders/{ended}/cancellation", {})

    def listed(days: int) -> list[str]:
        answer = shop.get(shop.admin, "/v1/admin/authorizations", params={"days": days})
        assert answer.status_code == 200, answer.text
        return [each["orderid"] for each in answer.json()["items"]]

    settles(lambda: waiting in listed(8))
    settles(lambda: not {taken, ended} & set(listed(8)))
    assert waiting not in listed(3)
    assert shop.get(customer, "/v1/admin/authorizations").status_code == 403


@pytest.mark.parametrize("moment", ["decided", "captured"])
def test_a_dispatch_that_died(
    shop: Shop, customer: Person, stripe: StripeStandIn, deps: Dependencies, database: Database, moment: str
) -> None:
    """Between the decision and the money, and between the money and its document."""
    orderid, intent = reserved(shop, customer, stripe)
    pages = deps.providers["stripe"].hosted
    dying = Dying(pages, "capture", before=moment == "decided")

    class Provider:
        name, hosted = "stripe", dying

    with pytest.raises(Killed):
        dispatch_order(
            replace(deps, providers={"stripe": Provider()}), deps.orders.order(orderid), "Owl", "1", "user x"
        )
    refund(shop, orderid, 100)
    dispatched(shop, orderid)
    assert intent["amount_received"] - sum(refunds_of(stripe, intent)) == 1900
    written = documents(database, orderid)
    assert all(doc["_rev"].startswith("1-") for key, doc in written.items() if key != "summary")


def test_cancelled_between_the_money_and_the_parcel(
    shop: Shop, customer: Person, stripe: StripeStandIn, deps: Dependencies
) -> None:
    """The money was taken, the goods did not go out: it is paid back, not let go."""
    orderid, intent = reserved(shop, customer, stripe)
    stale = deps.orders.order(orderid)
    captures.capture_for_parcel(deps, deps.orders.order(orderid))
    cancel_order(deps, stale, "user x", "")
    advance_order(deps, orderid)
    assert intent["amount_received"] - sum(refunds_of(stripe, intent)) == 0
    assert order_of(shop, customer, orderid)["status"] == "cancelled"


def test_a_card_is_kept_and_forgotten_with_its_owner(
    shop: Shop, stripe: StripeStandIn, database: Database
) -> None:
    person, product = shop.customer(), shop.product()
    placed(shop, person, {product: 1})
    assert not stripe.checkout.customers, "nothing is kept unasked"
    order = placed(shop, person, {product: 1}, payment={"provider": "stripe", "save_method": True})
    (session,) = stripe.checkout.of(order["orderid"])
    stripe.checkout.pay(session["id"])
    ((ref, known),) = stripe.checkout.customers.items()
    assert known["userid"] == person.userid
    assert stripe.checkout.cards == {ref: 1}
    later = placed(shop, person, {product: 1})
    (session,) = stripe.checkout.of(later["orderid"])
    assert session["customer"] == ref, "kept cards are offered"
    assert session["intent_data"]["setup_future_usage"] is None, "and this one is not kept"
    key = f"customer{person.userid}:stripe"
    assert database.get(key)["provider_ref"] == ref
    erased = person.delete(f"{shop.users}/v1/users/me", json={"current_password": PASSWORD}, timeout=60)
    assert erased.status_code == 204, erased.text
    assert not stripe.checkout.customers
    assert not stripe.checkout.cards
    assert (database.get(key)["provider_ref"], database.get(key)["forgotten"]) == ("", True)
