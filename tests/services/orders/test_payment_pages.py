"""Orders paid on Stripe's page, against a stand-in of its API: whatever is lost, late, doubled or the other way round, an order is
paid once or its goods go back. No worker runs here: `sweep` is the worker's own action.
"""

import json
import secrets
from collections.abc import Callable
from typing import Any

import pytest
import requests

from services.orders.actions import fulfilment, webhooks
from services.orders.actions.checkout import place_order
from services.orders.actions.intents import Buyer
from services.orders.clients.payments import PaymentEvent, ProviderUnavailable
from services.orders.clients.signatures import sign
from services.orders.dependencies import Dependencies
from services.orders.rules.identity import orderid_for
from shared.clock import timestamp
from shared.couch import Database
from tests.people import Person
from tests.services.orders.conftest import Shop, checkout
from tests.services.orders.crashes import Dying, Killed
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn

SECRETS = ("whsec_new", "whsec_old")


@pytest.fixture(scope="module")
def orders_settings(stripe: StripeStandIn) -> dict[str, str]:
    return {
        "PAYMENT_PROVIDERS": "sandbox,stripe",
        "STRIPE_URL": stripe.url,
        "STRIPE_API_KEY": API_KEY,
        "STRIPE_WEBHOOK_SECRET": ",".join(SECRETS),
    }


@pytest.fixture
def sweep(deps: Dependencies, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """What the worker does for an order when everything that can fall due has."""

    def swept(orderid: str) -> None:
        monkeypatch.setattr(fulfilment, "now", lambda: _later())
        fulfilment.advance_order(deps, orderid)

    return swept


def _later() -> Any:
    from datetime import timedelta

    from shared.clock import now

    return now() + timedelta(hours=2)


def body(items: dict[str, int], **more: Any) -> dict[str, Any]:
    return checkout(items, **{"payment": {"provider": "stripe"}, **more})


def placed(
    shop: Shop, person: requests.Session, items: dict[str, int], key: str = "", **more: Any
) -> dict[str, Any]:
    answer = shop.order(person, items, key, **{"payment": {"provider": "stripe"}, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def tell(shop: Shop, event: dict[str, Any], secret: str = SECRETS[0]) -> requests.Response:
    """Stripe's webhook."""
    sent = json.dumps(event).encode()
    headers = {"Stripe-Signature": sign(secret, sent), "Content-Type": "application/json"}
    return requests.post(f"{shop.orders}/v1/webhooks/payments/stripe", data=sent, headers=headers, timeout=30)


def events_of(stripe: StripeStandIn, orderid: str) -> list[dict[str, Any]]:
    return [
        each for each in stripe.checkout.events if each["data"]["object"]["metadata"]["orderid"] == orderid
    ]


def documents(database: Database, orderid: str) -> dict[str, dict[str, Any]]:
    return {doc["_id"].partition(":")[2]: doc for doc in database.partition(f"order{orderid}").all()}


def order_of(shop: Shop, person: requests.Session, orderid: str) -> dict[str, Any]:
    return shop.get(person, f"/v1/orders/{orderid}").json()


def test_paid_on_the_page_and_told_by_the_return(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    product = shop.product(price=1250, delivery=250, stock=5)
    order = placed(shop, customer, {product: 2})
    assert (order["status"], order["payment"]) == ("placed", None)
    (session,) = stripe.checkout.of(order["orderid"])
    assert order["payment_page"]["url"] == session["url"]
    assert session["amount_total"] == order["total"]["amount"] == 2750
    assert session["success_url"].endswith(f"/checkout/paid/{order['orderid']}")
    assert shop.stock(product) == 3
    for _ in range(2):
        assert shop.post(customer, f"/v1/orders/{order['orderid']}/payment").json()["status"] == "placed"
    stripe.checkout.pay(session["id"])
    for _ in range(2):
        paid = shop.post(customer, f"/v1/orders/{order['orderid']}/payment")
        assert paid.status_code == 200, paid.text
        assert paid.json()["status"] == "paid"
    assert paid.json()["payment"]["captured"] is True
    assert paid.json()["payment_page"] is None
    assert shop.stock(product) == 3


@pytest.mark.parametrize("order_of_events", ["as sent", "reversed", "twice"])
def test_the_webhook_alone_pays_the_order_once(
    shop: Shop, customer: Person, stripe: StripeStandIn, database: Database, order_of_events: str
) -> None:
    order = placed(shop, customer, {shop.product(): 1})
    (session,) = stripe.checkout.of(order["orderid"])
    stripe.checkout.pay(session["id"], "declined")
    stripe.checkout.pay(session["id"], "action")
    stripe.checkout.authenticate(session["id"], passed=True)
    events = events_of(stripe, order["orderid"])
    told = {"as sent": events, "reversed": events[::-1], "twice": events * 2}[order_of_events]
    for number, event in enumerate(told):
        answer = tell(shop, event, SECRETS[number % 2])
        assert answer.status_code == 200, answer.text
    docs = documents(database, order["orderid"])
    assert docs["payment"]["provider_ref"] == session["payment_intent"]
    assert docs["payment"]["_rev"].startswith("1-")
    assert "cancellation" not in docs


def test_an_event_of_a_session_that_stripe_does_not_know_changes_nothing_and_is_not_sent_again(
    shop: Shop, customer: Person, stripe: StripeStandIn, caplog: pytest.LogCaptureFixture, deps: Dependencies
) -> None:
    """Rightly signed: one secret serves two accounts, or an account's test mode besides. Stripe repeats for days what is not answered 2xx."""
    order = placed(shop, customer, {shop.product(): 1})
    [session] = stripe.checkout.of(order["orderid"])
    foreign = {
        "type": "checkout.session.completed",
        "data": {
            "object": {
                "id": "cs_unknown",
                "object": "checkout.session",
                "metadata": {"orderid": order["orderid"]},
            }
        },
    }
    answer = tell(shop, foreign)
    assert (answer.status_code, answer.json()) == (200, {"status": "received"}), answer.text
    webhooks.payment_event(deps, "stripe", PaymentEvent(order["orderid"], foreign["type"], "cs_unknown"))
    assert "Stripe knows no session cs_unknown" in caplog.text
    assert order_of(shop, customer, order["orderid"])["status"] == "placed"
    stripe.checkout.pay(session["id"])
    assert tell(shop, events_of(stripe, order["orderid"])[-1]).status_code == 200
    assert order_of(shop, customer, order["orderid"])["status"] == "paid"


def test_an_event_that_is_not_stripes_is_refused(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    order = placed(shop, customer, {shop.product(): 1})
    forged = {
        "type": "checkout.session.completed",
        "data": {
            "object": {"id": "cs_x", "object": "checkout.session", "metadata": {"orderid": order["orderid"]}}
        },
    }
    assert tell(shop, forged, "whsec_another").status_code == 401
    assert order_of(shop, customer, order["orderid"])["status"] == "placed"


def test_nobody_returns_and_no_event_comes(
    shop: Shop, customer: Person, stripe: StripeStandIn, sweep: Callable[[str], None]
) -> None:
    product = shop.product(stock=5)
    paid, unpaid = placed(shop, customer, {product: 1}), placed(shop, customer, {product: 2})
    stripe.checkout.pay(stripe.checkout.of(paid["orderid"])[0]["id"])
    for each in (paid, unpaid, paid, unpaid):
        sweep(each["orderid"])
    assert order_of(shop, customer, paid["orderid"])["payment"] is not None
    ended = order_of(shop, customer, unpaid["orderid"])
    assert (ended["status"], ended["payment"]) == ("cancelled", None)
    assert stripe.checkout.of(unpaid["orderid"])[0]["status"] == "expired"
    assert shop.stock(product) == 4


def test_an_expired_page_gives_the_stock_back(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    product = shop.product(stock=2)
    order = placed(shop, customer, {product: 2})
    (session,) = stripe.checkout.of(order["orderid"])
    stripe.checkout.expire(session, {})
    for event in events_of(stripe, order["orderid"]) * 2:
        assert tell(shop, event).status_code == 200
    assert order_of(shop, customer, order["orderid"])["status"] == "cancelled"
    assert shop.stock(product) == 2


def test_going_back_without_paying(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    product = shop.product(stock=1)
    order = placed(shop, customer, {product: 1})
    (session,) = stripe.checkout.of(order["orderid"])
    stripe.checkout.pay(session["id"], "declined")
    for _ in range(2):
        back = shop.post(customer, f"/v1/orders/{order['orderid']}/payment/cancellation")
        assert back.status_code == 200, back.text
        assert back.json()["status"] == "cancelled"
        assert back.json()["cancellation"]["detail"] == "Your card was declined."
    assert session["status"] == "expired"
    assert shop.stock(product) == 1
    stripe.checkout.pay(session["id"])
    assert stripe.intents[session["payment_intent"]]["status"] == "canceled"


def test_going_back_after_paying_changes_nothing(shop: Shop, customer: Person, stripe: StripeStandIn) -> None:
    order = placed(shop, customer, {shop.product(): 1})
    stripe.checkout.pay(stripe.checkout.of(order["orderid"])[0]["id"])
    back = shop.post(customer, f"/v1/orders/{order['orderid']}/payment/cancellation").json()
    assert (back["status"], back["cancellation"]) == ("paid", None)


def test_an_order_that_is_sent_again_leads_to_the_same_page(
    shop: Shop, customer: Person, stripe: StripeStandIn
) -> None:
    product, key = shop.product(), secrets.token_hex(8)
    first = placed(shop, customer, {product: 1}, key)
    again = placed(shop, customer, {product: 1}, key)
    assert (again["orderid"], again["payment_page"]) == (first["orderid"], first["payment_page"])
    other = shop.order(customer, {product: 2}, key, payment={"provider": "stripe"})
    assert (other.status_code, other.json()["awaiting"], other.json()["paid"]) == (422, True, False)
    stripe.checkout.pay(stripe.checkout.of(first["orderid"])[0]["id"])
    assert placed(shop, customer, {product: 1}, key)["status"] == "paid"
    assert len(stripe.checkout.of(first["orderid"])) == 1


def test_a_page_whose_answer_was_lost_is_met_again(
    shop: Shop, customer: Person, stripe: StripeStandIn
) -> None:
    stripe.lose.append("/v1/checkout/sessions")
    order = placed(shop, customer, {shop.product(): 1})
    assert len(stripe.checkout.of(order["orderid"])) == 1


@pytest.mark.parametrize("arrived", [True, False])
def test_money_that_takes_days(
    shop: Shop, customer: Person, stripe: StripeStandIn, database: Database, deps: Dependencies, arrived: bool
) -> None:
    product = shop.product(stock=3)
    order = placed(shop, customer, {product: 3})
    (session,) = stripe.checkout.of(order["orderid"])
    stripe.checkout.pay(session["id"], "processing")
    waiting = shop.post(customer, f"/v1/orders/{order['orderid']}/payment").json()
    assert (waiting["status"], waiting["payment_processing"], waiting["payment_page"]) == (
        "placed",
        True,
        None,
    )
    back = shop.post(customer, f"/v1/orders/{order['orderid']}/payment/cancellation").json()
    assert back["status"] == "placed", "the money is on its way"
    deps.products.confirm(order["orderid"], deps.orders.header(order["orderid"])["basket"])
    stripe.checkout.settle(session["id"], arrived=arrived)
    for event in events_of(stripe, order["orderid"])[::-1]:
        assert tell(shop, event).status_code == 200
    known = order_of(shop, customer, order["orderid"])
    assert known["status"] == ("paid" if arrived else "cancelled")
    assert shop.stock(product) == (0 if arrived else 3)
    if not arrived:
        fulfilment.advance_order(deps, order["orderid"])
        fulfilment.advance_order(deps, order["orderid"])
        assert documents(database, order["orderid"])["notice-payment_failed"]["message_id"] == "sent"


STEPS = ("intent", "reservation", "page", "session")


@pytest.mark.parametrize("then", ["repeated", "swept"])
@pytest.mark.parametrize("step", STEPS)
def test_a_checkout_that_died_before_the_customer_saw_the_page(
    shop: Shop,
    customer: Person,
    stripe: StripeStandIn,
    deps: Dependencies,
    sweep: Callable[[str], None],
    step: str,
    then: str,
) -> None:
    product, key, request = shop.product(stock=3), secrets.token_hex(8), None
    request = body({product: 1})
    with pytest.raises(Killed):
        place_order(dying(deps, step), Buyer(customer.userid), key, request)
    orderid = orderid_for(customer.userid, key)
    if then == "repeated":
        order = placed(shop, customer, {product: 1}, key)
        assert order["orderid"] == orderid
        assert order["payment_page"] is not None
        assert len(stripe.checkout.of(orderid)) == 1
        assert shop.stock(product) == 2
        return
    sweep(orderid)
    sweep(orderid)
    assert order_of(shop, customer, orderid)["status"] == "cancelled"
    assert [each["status"] for each in stripe.checkout.of(orderid)] in ([], ["expired"])
    assert shop.stock(product) == 3


def dying(deps: Dependencies, step: str) -> Dependencies:
    from dataclasses import replace

    if step == "intent":
        return replace(deps, stores=replace(deps.stores, orders=Dying(deps.orders, "place")))
    if step == "reservation":
        return replace(deps, products=Dying(deps.products, "reserve"))
    if step == "session":
        return replace(deps, stores=replace(deps.stores, orders=Dying(deps.orders, "add")))
    provider = deps.providers["stripe"]

    class Pages:
        name, hosted = "stripe", Dying(provider.hosted, "open_page")

    return replace(deps, providers={"stripe": Pages()})


def test_stripe_away_leaves_nothing_claimed(
    shop: Shop, customer: Person, stripe: StripeStandIn, deps: Dependencies, sweep: Callable[[str], None]
) -> None:
    product, key = shop.product(stock=1), secrets.token_hex(8)
    stripe.away = True
    try:
        answer = shop.order(customer, {product: 1}, key, payment={"provider": "stripe"})
        assert (answer.status_code, answer.json()["code"]) == (503, "payment_provider_unavailable")
        orderid = orderid_for(customer.userid, key)
        with pytest.raises(ProviderUnavailable):
            sweep(orderid)
    finally:
        stripe.away = False
    sweep(orderid)
    assert shop.stock(product) == 1
    assert order_of(shop, customer, orderid)["status"] == "cancelled"


def test_what_stripe_does_not_take_is_refused_and_given_back(shop: Shop, customer: Person) -> None:
    """Money of three decimals ends in a nought there."""
    product = shop.product(stock=1, price=1001, delivery=0, currency="KWD")
    answer = shop.order(customer, {product: 1}, payment={"provider": "stripe"})
    assert (answer.status_code, answer.json()["code"]) == (402, "payment_declined")
    assert shop.stock(product) == 1
    elsewhere = placed(shop, customer, {product: 1}, payment={"provider": "sandbox"})
    assert "/checkout/sandbox/" in elsewhere["payment_page"]["url"]


def test_refunds_and_cancellation_of_what_was_paid_on_a_page(
    shop: Shop, customer: Person, stripe: StripeStandIn
) -> None:
    product = shop.product(price=1000, delivery=0, stock=3)
    order = placed(shop, customer, {product: 2})
    (session,) = stripe.checkout.of(order["orderid"])
    stripe.checkout.pay(session["id"])
    shop.post(customer, f"/v1/orders/{order['orderid']}/payment")
    key = {"Idempotency-Key": secrets.token_hex(8)}
    for _ in range(2):
        answer = shop.post(
            shop.admin,
            f"/v1/admin/orders/{order['orderid']}/refunds",
            {"amount": 500, "reason": "late"},
            headers=key,
        )
        assert answer.status_code == 201, answer.text
    shop.post(customer, f"/v1/orders/{order['orderid']}/cancellation", {})
    refunds = [
        each["amount"] for each in stripe.refunds if each["payment_intent"] == session["payment_intent"]
    ]
    assert refunds == [500, 1500]
    assert shop.stock(product) == 3


def test_a_payment_after_the_end_is_paid_back(
    shop: Shop, customer: Person, stripe: StripeStandIn, deps: Dependencies, database: Database
) -> None:
    """It cannot happen while Stripe keeps to its word that an ended page takes no money: here it does not."""
    product = shop.product(stock=1)
    order = placed(shop, customer, {product: 1})
    (session,) = stripe.checkout.of(order["orderid"])
    shop.post(customer, f"/v1/orders/{order['orderid']}/payment/cancellation")
    session["status"] = "open"
    stripe.checkout.pay(session["id"])
    assert tell(shop, events_of(stripe, order["orderid"])[-1]).status_code == 200
    known = order_of(shop, customer, order["orderid"])
    assert (known["status"], known["refunded"]) == ("cancelled", "whole")
    assert [each["payment_intent"] for each in stripe.refunds][-1] == session["payment_intent"]
    assert shop.stock(product) == 1


def test_an_order_waiting_for_its_payment_is_not_in_the_history(shop: Shop, stripe: StripeStandIn) -> None:
    person = shop.customer()
    order = placed(shop, person, {shop.product(): 1})
    listed = shop.get(person, "/v1/orders", params={"failed": "false"}).json()["items"]
    assert [each["orderid"] for each in listed] == []
    stripe.checkout.pay(stripe.checkout.of(order["orderid"])[0]["id"])
    shop.post(person, f"/v1/orders/{order['orderid']}/payment")
    listed = shop.get(person, "/v1/orders", params={"failed": "false"}).json()["items"]
    assert [(each["orderid"], each["status"]) for each in listed] == [(order["orderid"], "paid")]
    assert timestamp() > order["date"]
