"""Kept cards where money is taken with the parcels: reserved off the page with the order, once, whatever is lost or dies between."""

import secrets
from dataclasses import replace
from typing import Any

import pytest

from services.orders.actions.checkout import place_order, reconcile
from services.orders.actions.intents import Buyer
from services.orders.clients.payments import Charge, PaymentClosed, PaymentDeclined
from services.orders.clients.stripe import StripeProvider
from services.orders.dependencies import Dependencies
from services.orders.rules.identity import orderid_for
from shared.money import money
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.crashes import Dying, Killed
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn
from tests.services.orders.test_captures import cancelled, orders_settings, part, refunds_of, totals
from tests.services.orders.test_payment_pages import order_of, placed
from tests.services.orders.test_saved_methods import buy, known_as, saved

__all__ = ["orders_settings"]
TOTAL = money(1999, "EUR")


@pytest.fixture
def person(shop: Shop) -> Person:
    return shop.customer()


@pytest.fixture(params=[True, False], ids=["in parts", "once"])
def multicapture(stripe: StripeStandIn, request: pytest.FixtureRequest) -> Any:
    """Whether the account may take reserved money in parts."""
    stripe.checkout.multicapture = request.param
    yield request.param
    stripe.checkout.multicapture = False


def intents_of(stripe: StripeStandIn, orderid: str) -> list[dict[str, Any]]:
    return [each for each in stripe.intents.values() if each["metadata"]["orderid"] == orderid]


def the_card(shop: Shop, stripe: StripeStandIn, person: Person) -> str:
    """A card that this customer has kept with an order on the page."""
    known_as(shop, stripe, person)
    (method,) = saved(shop, person)
    assert method["charged_at"] == "dispatch"
    return str(method["id"])


def two_pieces(shop: Shop, person: Person, method: str) -> dict[str, Any]:
    product = shop.product(price=1000, delivery=0)
    answer = shop.order(person, {product: 2}, payment={"provider": "stripe", "saved_method": method})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_parcels_take_what_the_order_reserved(
    shop: Shop, stripe: StripeStandIn, person: Person, multicapture: bool
) -> None:
    order = two_pieces(shop, person, the_card(shop, stripe, person))
    assert (order["status"], order["payment"]["captured"], order["payment_page"]) == ("paid", False, None)
    assert (totals(order), bool(order["payment"]["capture_before"])) == ((2000, 0, 2000), True)
    (intent,) = intents_of(stripe, order["orderid"])
    assert (intent["status"], intent["amount_received"]) == ("requires_capture", 0)
    assert totals(part(shop, order["orderid"], 1).json())[1] == (1000 if multicapture else 0)
    last = part(shop, order["orderid"], 2).json()
    assert (totals(last), last["payment"]["captured"]) == ((2000, 2000, 0), True)
    assert (intent["status"], intent["amount_received"]) == ("succeeded", 2000)


def test_a_cancelled_line_is_never_taken(
    shop: Shop, stripe: StripeStandIn, person: Person, multicapture: bool
) -> None:
    order = two_pieces(shop, person, the_card(shop, stripe, person))
    cancelled(shop, person, order["orderid"])
    part(shop, order["orderid"], 1)
    (intent,) = intents_of(stripe, order["orderid"])
    assert (intent["status"], intent["amount_received"], refunds_of(stripe, intent)) == (
        "succeeded",
        1000,
        [],
    )


def test_a_cancelled_order_lets_all_go(shop: Shop, stripe: StripeStandIn, person: Person) -> None:
    order = two_pieces(shop, person, the_card(shop, stripe, person))
    answer = shop.post(person, f"/v1/orders/{order['orderid']}/cancellation", {})
    assert answer.status_code == 201, answer.text
    (intent,) = intents_of(stripe, order["orderid"])
    assert (intent["status"], refunds_of(stripe, intent)) == ("canceled", [])


def test_a_bank_that_wants_to_see_the_customer_leads_to_the_page(
    shop: Shop, stripe: StripeStandIn, person: Person
) -> None:
    """Nothing is reserved, the goods are there for the order that is paid on the page, where it is reserved after 3-D Secure."""
    customer = known_as(shop, stripe, person)
    careful, product = stripe.checkout.keep(customer, "authentication"), shop.product(stock=1)
    before = set(stripe.intents)
    refused = buy(shop, person, product, careful)
    assert (refused.status_code, refused.json()["decline_code"]) == (402, "authentication_required")
    assert {stripe.intents[each]["status"] for each in set(stripe.intents) - before} == {"canceled"}
    order = placed(shop, person, {product: 1})
    (session,) = stripe.checkout.of(order["orderid"])
    stripe.checkout.pay(session["id"], "action")
    stripe.checkout.authenticate(session["id"], passed=True)
    paid = shop.post(person, f"/v1/orders/{order['orderid']}/payment").json()
    assert (paid["status"], paid["payment"]["captured"]) == ("paid", False)


@pytest.mark.parametrize("path", ["confirm", "payment_intents", "customer"])
def test_an_answer_that_is_lost_reserves_once(
    shop: Shop, stripe: StripeStandIn, person: Person, path: str
) -> None:
    method = the_card(shop, stripe, person)
    stripe.lose_next(path)
    order = two_pieces(shop, person, method)
    assert not stripe.lost_next, "it was lost"
    assert [each["status"] for each in intents_of(stripe, order["orderid"])] == ["requires_capture"]


@pytest.mark.parametrize("days", [0, 2], ids=["soon", "after the key is forgotten"])
@pytest.mark.parametrize("reserved_first", [False, True])
def test_the_sweep_finds_what_died(
    shop: Shop, stripe: StripeStandIn, person: Person, deps: Dependencies, days: int, reserved_first: bool
) -> None:
    """Died before the bank was asked, the order ends; after it, it is paid, with the money still reserved."""
    method, product, key = the_card(shop, stripe, person), shop.product(), secrets.token_hex(8)
    dying = Dying(deps.providers["stripe"], "charge", before=not reserved_first)
    buyer = Buyer(person.userid)
    body = {
        "items": [{"productid": product, "quantity": 1}],
        "address": {"line1": "1 Lane", "city": "Leeds", "postcode": "LS1 4DY", "country": "GB"},
        "payment": {"provider": "stripe", "saved_method": method},
    }
    with pytest.raises(Killed):
        place_order(replace(deps, providers={"stripe": dying}), buyer, key, body)
    if days:
        stripe.forget_keys()
    orderid = orderid_for(buyer.owner, key)
    for _ in range(2):
        reconcile(deps, deps.orders.order(orderid))
    after = order_of(shop, person, orderid)
    live = [each for each in intents_of(stripe, orderid) if each["status"] != "canceled"]
    if reserved_first:
        assert (after["status"], after["payment"]["captured"]) == ("paid", False)
        assert [each["status"] for each in live] == ["requires_capture"]
        assert part(shop, orderid, 1).json()["payment"]["captured"] is True
    else:
        assert (after["status"], live, shop.stock(product)) == ("cancelled", [], 100)


class TestAdapter:
    """Who was first is Stripe's to say: it would cancel reserved money as well."""

    @pytest.fixture
    def provider(self, stripe: StripeStandIn) -> StripeProvider:
        return StripeProvider(stripe.url, API_KEY, (), 300, captures=False)

    def test_reserved_money_is_a_charge_that_closing_finds(
        self, provider: StripeProvider, stripe: StripeStandIn
    ) -> None:
        orderid = secrets.token_hex(8)
        charge = provider.charge(orderid, TOTAL, "pm_card_visa")
        assert (charge.captured, charge.several, bool(charge.capture_before)) == (False, False, True)
        for ask in (provider.find, provider.close, provider.close):
            assert ask(orderid, TOTAL) == charge
        assert [each["status"] for each in intents_of(stripe, orderid)] == ["requires_capture"]

    def test_what_was_closed_is_never_reserved(self, provider: StripeProvider, stripe: StripeStandIn) -> None:
        orderid = secrets.token_hex(8)
        assert provider.close(orderid, TOTAL) is None
        with pytest.raises(PaymentClosed):
            provider.charge(orderid, TOTAL, "pm_card_visa")

    def test_a_declined_card_is_closed(self, provider: StripeProvider, stripe: StripeStandIn) -> None:
        orderid = secrets.token_hex(8)
        with pytest.raises(PaymentDeclined):
            provider.charge(orderid, TOTAL, "pm_card_declined")
        assert provider.close(orderid, TOTAL) is None
        assert [each["status"] for each in intents_of(stripe, orderid)] == ["canceled"]

    @pytest.mark.parametrize("first", ["charge", "close"])
    def test_who_has_read_the_intent_before_the_other_acts_does_not_undo_it(
        self, provider: StripeProvider, stripe: StripeStandIn, monkeypatch: pytest.MonkeyPatch, first: str
    ) -> None:
        """Closing reads that nothing is reserved; then it is; then closing cancels, or the other way about."""
        orderid, other = secrets.token_hex(8), StripeProvider(stripe.url, API_KEY, (), 300, captures=False)
        post, charged = provider._api.post, list[Charge]()

        def late(path: str, *args: Any) -> Any:
            if path.endswith("/cancel" if first == "charge" else "/confirm"):
                monkeypatch.undo()
                if first == "charge":
                    charged.append(other.charge(orderid, TOTAL, "pm_card_visa"))
                else:
                    assert other.close(orderid, TOTAL) is None
            return post(path, *args)

        monkeypatch.setattr(provider._api, "post", late)
        if first == "charge":
            assert [provider.close(orderid, TOTAL)] == charged
        else:
            with pytest.raises(PaymentClosed):
                provider.charge(orderid, TOTAL, "pm_card_visa")
        statuses = [each["status"] for each in intents_of(stripe, orderid)]
        assert statuses == ["requires_capture" if first == "charge" else "canceled"]

    def test_settings_that_changed_meanwhile_meet_the_same_intent(self, stripe: StripeStandIn) -> None:
        orderid = secrets.token_hex(8)
        first = StripeProvider(stripe.url, API_KEY, (), 300).charge(orderid, TOTAL, "pm_card_visa")
        later = StripeProvider(stripe.url, API_KEY, (), 300, captures=False, several_captures=True)
        assert later.close(orderid, TOTAL) == first
        assert first.captured
        assert len(intents_of(stripe, orderid)) == 1
