"""The sandbox's payment page: what it shows, and a test card that pays there."""

import hmac
from typing import Any

from services.orders.actions.hosted_payments import refresh_payment
from services.orders.actions.reading import NoSuchOrder, any_order
from services.orders.clients.payments import answer_of
from services.orders.clients.sandbox_pages import page_key
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.credits import to_charge
from services.orders.rules.order_answers import payment_page
from services.orders.settings import SANDBOX


def page_of(deps: Dependencies, orderid: str, key: str) -> dict[str, Any]:
    """What the page shows. 1 partition query. Raises NoSuchOrder for another key."""
    return _shown(_found(deps, orderid, key))


def pay(deps: Dependencies, orderid: str, key: str, token: str) -> dict[str, Any]:
    """Pays with a test card. Raises PaymentDeclined, PaymentClosed, ProviderUnavailable, NoSuchOrder."""
    found = _found(deps, orderid, key)
    if found.is_open:
        provider = deps.provider(SANDBOX)
        answer_of(lambda: provider.charge(orderid, to_charge(found.order), token))
    return _shown(refresh_payment(deps, found))


def _found(deps: Dependencies, orderid: str, key: str) -> OrderDocuments:
    expected = page_key(deps.settings.secret_key, orderid)
    if SANDBOX not in deps.providers or not hmac.compare_digest(expected.encode(), key.encode()):
        raise NoSuchOrder("There is no such payment page.")
    found = any_order(deps, orderid)
    if not found.order.get("hosted") or found.order["provider"] != SANDBOX:
        raise NoSuchOrder("There is no such payment page.")
    return found


def _shown(found: OrderDocuments) -> dict[str, Any]:
    order = found.order
    return {
        "orderid": order["orderid"],
        "number": order.get("number"),
        "total": to_charge(order),
        "open": payment_page(found) is not None,
        "paid": found.payment is not None,
    }
