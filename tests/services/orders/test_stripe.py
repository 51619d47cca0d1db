"""Stripe's adapter against a stand-in that checks what Stripe checks: keys, forms, idempotency, who was first, signatures."""

import json
import secrets
import time

import pytest

from services.orders.clients.payments import (
    Charge,
    PaymentClosed,
    PaymentDeclined,
    PaymentEvent,
    ProviderUnavailable,
)
from services.orders.clients.signatures import BadSignature, sign
from services.orders.clients.stripe import StripeProvider
from services.orders.clients.stripe_api import StripeRefused
from shared.errors import BadRequest
from shared.money import Money, money
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn

TOTAL = money(1999, "EUR")


@pytest.fixture
def provider(stripe: StripeStandIn) -> StripeProvider:
    return StripeProvider(stripe.url, API_KEY, ("whsec_test",), 300)


@pytest.fixture
def orderid() -> str:
    return secrets.token_hex(13)


def intents_of(stripe: StripeStandIn, orderid: str) -> list[dict]:
    return [intent for intent in stripe.intents.values() if intent["metadata"]["orderid"] == orderid]


def test_an_order_is_charged_once_however_often_it_is_asked(
    provider: StripeProvider, stripe: StripeStandIn, orderid: str
) -> None:
    charge = provider.charge(orderid, TOTAL, "pm_card_visa")
    assert isinstance(charge, Charge)
    assert charge.total == TOTAL
    assert provider.charge(orderid, TOTAL, "pm_card_visa") == charge
    assert provider.find(orderid, TOTAL) == charge
    assert provider.close(orderid, TOTAL) == charge
    assert [intent["status"] for intent in intents_of(stripe, orderid)] == ["succeeded"]


def test_a_declined_card(provider: StripeProvider, orderid: str) -> None:
    for _ in range(2):
        with pytest.raises(PaymentDeclined) as declined:
            provider.charge(orderid, TOTAL, "pm_card_declined")
        assert declined.value.extra["decline_code"] == "insufficient_funds"
    assert provider.find(orderid, TOTAL) is None


@pytest.mark.parametrize("token", ["pm_unknown", "pm_\r\nX-Injected: 1", "pm_\u20ac"])
def test_a_payment_method_that_is_none_is_declined(
    provider: StripeProvider, orderid: str, token: str
) -> None:
    """The token is the customer's text: whatever it holds, the answer is theirs and not our fault."""
    with pytest.raises(PaymentDeclined):
        provider.charge(orderid, TOTAL, token)


def test_a_closed_order_is_never_charged(
    provider: StripeProvider, stripe: StripeStandIn, orderid: str
) -> None:
    assert provider.close(orderid, TOTAL) is None
    assert provider.close(orderid, TOTAL) is None
    with pytest.raises(PaymentClosed):
        provider.charge(orderid, TOTAL, "pm_card_visa")
    assert [intent["status"] for intent in intents_of(stripe, orderid)] == ["canceled"]


def test_a_lost_answer_is_found_again(provider: StripeProvider, stripe: StripeStandIn, orderid: str) -> None:
    with pytest.raises(ProviderUnavailable):
        provider.charge(orderid, TOTAL, "pm_lost")
    charge = provider.charge(orderid, TOTAL, "pm_lost")
    assert charge.total == TOTAL
    assert len(intents_of(stripe, orderid)) == 1


@pytest.mark.parametrize("ask", ["find", "close"])
def test_a_charge_is_found_when_stripe_has_forgotten_its_key(
    provider: StripeProvider, stripe: StripeStandIn, orderid: str, ask: str
) -> None:
    """The worker was away for more than a day; asked a second time, the key is that of another intent."""
    with pytest.raises(ProviderUnavailable):
        provider.charge(orderid, TOTAL, "pm_lost")
    (charged,) = intents_of(stripe, orderid)
    stripe.forget_keys()
    for _ in range(2):
        assert getattr(provider, ask)(orderid, TOTAL).ref == charged["id"]
    assert provider.close(orderid, TOTAL).ref == charged["id"]
    assert sorted(intent["status"] for intent in intents_of(stripe, orderid)) == ["canceled", "succeeded"]


def test_what_was_left_open_is_closed_when_stripe_has_forgotten_its_key(
    provider: StripeProvider, stripe: StripeStandIn, orderid: str
) -> None:
    with pytest.raises(PaymentDeclined):
        provider.charge(orderid, TOTAL, "pm_card_declined")
    stripe.forget_keys()
    assert provider.close(orderid, TOTAL) is None
    assert [intent["status"] for intent in intents_of(stripe, orderid)] == ["canceled", "canceled"]


def test_a_refund_is_found_when_stripe_has_forgotten_its_key(
    provider: StripeProvider, stripe: StripeStandIn, orderid: str
) -> None:
    charge = provider.charge(orderid, TOTAL, "pm_card_visa")
    first = provider.refund(orderid, charge.ref, "refund-a", money(500, "EUR"))
    stripe.forget_keys()
    assert provider.refund(orderid, charge.ref, "refund-a", money(500, "EUR")) == first
    assert provider.refund(orderid, charge.ref, "refund-b", money(500, "EUR")) != first
    assert len([refund for refund in stripe.refunds if refund["payment_intent"] == charge.ref]) == 2


def test_a_refund_is_paid_once_for_each_key(
    provider: StripeProvider, stripe: StripeStandIn, orderid: str
) -> None:
    charge = provider.charge(orderid, TOTAL, "pm_card_visa")
    refs = [
        provider.refund(orderid, charge.ref, key, money(500, "EUR"))
        for key in ("refund1", "refund1", "refund2")
    ]
    assert refs[0] == refs[1] != refs[2]
    assert [refund["amount"] for refund in stripe.refunds if refund["payment_intent"] == charge.ref] == [
        500,
        500,
    ]


@pytest.mark.parametrize("total", [money(29, "GBP"), money(1995, "KWD")], ids=str)
def test_an_amount_that_stripe_does_not_take_is_declined_and_closed(
    provider: StripeProvider, stripe: StripeStandIn, orderid: str, total: Money
) -> None:
    """Less than Stripe's least, and the third decimal: nothing was made that could be charged later."""
    for _ in range(2):
        with pytest.raises(PaymentDeclined, match="cannot be paid by card"):
            provider.charge(orderid, total, "pm_card_visa")
        assert provider.find(orderid, total) is None
        assert provider.close(orderid, total) is None
    assert intents_of(stripe, orderid) == []


def test_wrong_settings_are_our_fault_and_an_absent_stripe_is_nobodys(
    stripe: StripeStandIn, orderid: str
) -> None:
    with pytest.raises(StripeRefused):
        StripeProvider(stripe.url, "sk_wrong", (), 300).charge(orderid, TOTAL, "pm_card_visa")
    with pytest.raises(ProviderUnavailable):
        StripeProvider("http://127.0.0.1:9", API_KEY, (), 300).charge(orderid, TOTAL, "pm_card_visa")


def test_events_are_read_only_with_stripes_signature(provider: StripeProvider) -> None:
    event = {
        "type": "payment_intent.succeeded",
        "data": {"object": {"id": "pi_1", "metadata": {"orderid": "o1"}}},
    }
    body = json.dumps(event).encode()
    assert provider.event({"Stripe-Signature": sign("whsec_test", body)}, body) == PaymentEvent(
        "o1", "payment_intent.succeeded"
    )
    foreign = json.dumps({"type": "invoice.paid", "data": {"object": {"metadata": {}}}}).encode()
    assert provider.event({"Stripe-Signature": sign("whsec_test", foreign)}, foreign) is None
    for header in (sign("other", body), sign("whsec_test", body, int(time.time()) - 400), ""):
        with pytest.raises(BadSignature):
            provider.event({"Stripe-Signature": header}, body)
    with pytest.raises(BadRequest):
        provider.event({"Stripe-Signature": sign("whsec_test", b"[]")}, b"[]")
