"""What Stripe says of a request that it refuses: its message may repeat what a customer wrote, and errors are logged and kept."""

from collections.abc import Iterator

import pytest

from services.orders.clients.stripe_api import AmountNotTaken, StripeApi, StripeRefused
from tests.services.orders.stripe_standin import API_KEY
from tests.services.orders.stripe_tax_standin import StripeTaxStandIn

EMAIL = "zephyrine@example,com"


@pytest.fixture(scope="module")
def refusing() -> Iterator[StripeTaxStandIn]:
    standin = StripeTaxStandIn()
    yield standin
    standin.close()


def refused(stripe: StripeTaxStandIn, param: str, message: str) -> StripeRefused:
    said = {"type": "invalid_request_error", "code": "parameter_invalid", "param": param, "message": message}
    stripe.break_((400, {"error": said}))
    with pytest.raises(StripeRefused) as caught:
        StripeApi(stripe.url, API_KEY).post("/v1/checkout/sessions", {"customer_email": EMAIL}, "key-1")
    return caught.value


def test_a_refusal_names_the_field_and_not_what_the_customer_wrote(refusing: StripeTaxStandIn) -> None:
    error = refused(refusing, "customer_email", f"Invalid email address: {EMAIL}")
    assert error.detail == "Stripe refused customer_email: parameter_invalid."
    assert EMAIL not in f"{error} {error.extra}"


def test_a_refused_amount_is_told_in_stripe_s_own_words(refusing: StripeTaxStandIn) -> None:
    error = refused(refusing, "amount", "Amount must be at least £0.30 gbp")
    assert isinstance(error, AmountNotTaken)
    assert error.detail == "Amount must be at least £0.30 gbp"
