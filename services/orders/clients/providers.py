"""The table of payment providers: how each name in PAYMENT_PROVIDERS is made from the settings.

A new one is a module with a `Provider` (see `payments`), a row here, and its settings.
"""

from collections.abc import Callable, Mapping
from typing import Final

from services.orders.clients.payments import Provider
from services.orders.clients.paypal import PayPalProvider
from services.orders.clients.sandbox import SandboxLedger, SandboxProvider
from services.orders.clients.sandbox_pages import SandboxPages
from services.orders.clients.stripe import StripeProvider
from services.orders.settings import ORDER, PAYPAL, SANDBOX, STRIPE, Settings


def _sandbox(settings: Settings, ledger: SandboxLedger) -> Provider:
    pages = SandboxPages(ledger, settings.storefront_url, settings.secret_key)
    return SandboxProvider(ledger, settings.sandbox_webhook_secret, settings.webhook_tolerance_seconds, pages)


def _stripe(settings: Settings, ledger: SandboxLedger) -> Provider:
    return StripeProvider(
        settings.stripe_url,
        settings.stripe_api_key,
        settings.stripe_webhook_secrets,
        settings.webhook_tolerance_seconds,
        captures=settings.capture_at == ORDER,
        several_captures=settings.stripe_multicapture,
    )


def _paypal(settings: Settings, ledger: SandboxLedger) -> Provider:
    return PayPalProvider(
        settings.paypal_url, settings.paypal_client_id, settings.paypal_secret, settings.paypal_webhook_id
    )


PROVIDERS: Final[Mapping[str, Callable[[Settings, SandboxLedger], Provider]]] = {
    SANDBOX: _sandbox,
    STRIPE: _stripe,
    PAYPAL: _paypal,
}
