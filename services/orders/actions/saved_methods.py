"""Cards that customers keep at a provider: shown at the checkout, and charged there without its page."""

from dataclasses import asdict
from typing import Any

from services.orders.clients.payments import CardNotSaved
from services.orders.declarations.order import Order
from services.orders.dependencies import Dependencies
from shared.couch import Doc


def saved_methods(deps: Dependencies, userid: str) -> list[Doc]:
    """1 partition query, and one call to each provider that knows the customer. Raises ProviderUnavailable."""
    return [
        {"provider": known["provider"], **asdict(method), "charged_at": deps.settings.capture_at}
        for known in deps.orders.payment_customers(userid)
        if known["provider_ref"] and known["provider"] in deps.providers
        for method in deps.hosted(known["provider"]).saved_methods(known["provider_ref"])
    ]


def token_of(deps: Dependencies, order: Order, payment: dict[str, Any]) -> tuple[str, str]:
    """What is charged, and whose it is where it is saved: 1 read then. Raises CardNotSaved where the buyer keeps nothing."""
    if "saved_method" not in payment:
        return payment["token"], ""
    userid, provider = order["userid"], order["provider"]
    known = deps.orders.payment_customer(userid, provider) if userid else None
    if known is None or not known["provider_ref"]:
        raise CardNotSaved
    return payment["saved_method"], known["provider_ref"]
