"""The whole shop as `make run` starts it, selling through the stand-in for Stripe: what it takes is three settings, and its address."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

from services.orders.clients.signatures import sign
from tests.bench.running import Shop, running_shop
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn

WEBHOOK_SECRET = "whsec_of_this_shop"


@dataclass
class StripeShop:
    """The shop and the stand-in; `told` counts the events that were sent to its webhook."""

    shop: Shop
    stripe: StripeStandIn
    told: int = 0

    @property
    def base(self) -> str:
        return self.shop.urls["storefront"]

    def tell_events(self) -> list[int]:
        """Sends what has happened at Stripe since to the webhook; the answers' statuses."""
        events, self.told = self.stripe.checkout.events[self.told :], len(self.stripe.checkout.events)
        return [self._tell(event) for event in events]

    def _tell(self, event: dict) -> int:
        body = json.dumps(event).encode()
        headers = {"Stripe-Signature": sign(WEBHOOK_SECRET, body), "Content-Type": "application/json"}
        url = f"{self.shop.urls['orders']}/v1/webhooks/payments/stripe"
        return requests.post(url, data=body, headers=headers, timeout=30).status_code


@contextmanager
def stripe_shop(folder: Path, **settings: str) -> Iterator[StripeShop]:
    """`settings` are added to the three."""
    stripe = StripeStandIn()
    three = {
        "PAYMENT_PROVIDERS": "stripe",
        "STRIPE_API_KEY": API_KEY,
        "STRIPE_WEBHOOK_SECRET": WEBHOOK_SECRET,
    }
    address = {"STRIPE_URL": stripe.url, "PAYMENT_PAGE_ORIGINS": stripe.url}
    try:
        with running_shop(folder, **three, **address, **settings) as running:
            yield StripeShop(running, stripe)
    finally:
        stripe.close()
