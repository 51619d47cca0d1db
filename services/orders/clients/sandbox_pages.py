"""The sandbox's payment page, for laptops and tests: a page of the storefront with the test cards, kept in the sandbox's own ledger."""

import hmac
from typing import Final
from urllib.parse import quote, urlencode

from services.orders.clients.payments import (
    Capture,
    Outcome,
    PageState,
    PaymentClosed,
    PaymentPage,
    SavedMethod,
)
from services.orders.clients.sandbox import SandboxLedger, charge_of
from services.orders.rules.payment_pages import Purchase
from shared.clock import iso, now

PATH: Final = "/checkout/sandbox"


class SandboxPages:
    """A `HostedProvider`: who comes first, the customer's card or the end of the page, is decided in the ledger."""

    def __init__(self, ledger: SandboxLedger, storefront_url: str, secret: str) -> None:
        self._ledger, self._storefront, self._secret = ledger, storefront_url.rstrip("/"), secret

    def open_page(self, purchase: Purchase) -> PaymentPage:
        if self.outcome(purchase, "").state is PageState.ENDED:
            raise PaymentClosed("This order was closed before it was paid; place it again.")
        query = urlencode({"key": page_key(self._secret, purchase.orderid)})
        url = f"{self._storefront}{PATH}/{quote(purchase.orderid, safe='')}?{query}"
        return PaymentPage(f"sandbox-{purchase.orderid}", url, iso(purchase.expires))

    def outcome(self, purchase: Purchase, ref: str) -> Outcome:
        recorded = self._ledger.charge(purchase.orderid)
        if recorded is None:
            return Outcome(PageState.OPEN if now() < purchase.expires else PageState.ENDED)
        if recorded["status"] != "paid":
            return Outcome(PageState.ENDED)
        return Outcome(PageState.PAID, charge_of(recorded))

    def complete(self, purchase: Purchase, ref: str) -> Outcome:
        return self.outcome(purchase, ref)

    def end_page(self, purchase: Purchase, ref: str) -> Outcome:
        self._ledger.record(purchase.orderid, "void", None)
        return self.outcome(purchase, ref)

    def capture(self, orderid: str, ref: str, capture: Capture) -> str:
        """The sandbox takes all money at once."""
        return ref

    def holds(self, ref: str) -> bool:
        return False

    def release(self, orderid: str, ref: str) -> str | None:
        return None

    def add_customer(self, userid: str, email: str, name: str) -> str:
        return ""

    def saved_methods(self, customer: str) -> tuple[SavedMethod, ...]:
        return ()

    def remove_customer(self, ref: str) -> None:
        return None


def page_key(secret: str, orderid: str) -> str:
    """What the address of an order's page holds, so that nobody guesses it."""
    return hmac.digest(secret.encode(), f"sandbox payment {orderid}".encode(), "sha256").hex()[:40]
