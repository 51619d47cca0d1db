"""An order of staff whose payment link leads to Stripe's page, against a stand-in of its API."""

from datetime import timedelta

import pytest

from shared.clock import now, parse
from tests.services.orders.conftest import Shop
from tests.services.orders.draft_orders import PATH, content, made, placed
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn


@pytest.fixture(scope="module")
def orders_settings(stripe: StripeStandIn) -> dict[str, str]:
    return {"PAYMENT_PROVIDERS": "stripe", "STRIPE_URL": stripe.url, "STRIPE_API_KEY": API_KEY}


def test_a_link_leads_to_stripes_page_for_most_of_a_day(shop: Shop, stripe: StripeStandIn) -> None:
    order = placed(shop, shop.admin, made(shop, shop.admin, content(shop))["id"], "link").json()
    (session,) = stripe.checkout.of(order["orderid"])
    assert order["payment_page"]["url"] == session["url"]
    left = parse(order["payment_page"]["expires"]) - now()
    assert timedelta(hours=19) < left < timedelta(hours=24), "Stripe takes no page of more than a day"
    stripe.checkout.pay(session["id"])
    paid = shop.post(shop.admin, f"/v1/orders/{order['orderid']}/payment")
    assert (paid.json()["status"], paid.json()["payment"]["provider"]) == ("paid", "stripe")


def test_a_provider_that_is_not_connected_has_no_link(shop: Shop) -> None:
    draft = made(shop, shop.admin, content(shop))
    refused = placed(shop, shop.admin, draft["id"], "link", provider="sandbox")
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["payment.provider"])
    assert shop.get(shop.admin, f"{PATH}/{draft['id']}").json()["state"] == "open"
