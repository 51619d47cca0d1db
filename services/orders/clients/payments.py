"""What the shop asks of a payment provider; the order id is every provider's idempotency key.

charge  pays once per order, however often it is asked
close   makes sure that nothing will be charged any more, and tells what was charged before
refund  pays back once per refund key
"""

from dataclasses import dataclass
from typing import Protocol

from services.orders.clients.signatures import Headers
from shared.errors import Conflict, PaymentRequired, Unavailable
from shared.money import Money


class PaymentDeclined(PaymentRequired):
    code, title = "payment_declined", "The payment was declined"


class PaymentClosed(Conflict):
    """The order was closed at the provider before this charge."""

    code, title = "payment_closed", "This order can no longer be paid"


class ProviderUnavailable(Unavailable):
    """No answer, or none that says what happened: ask again, or reconcile."""

    code, title = "payment_provider_unavailable", "The payment provider does not answer"


@dataclass(frozen=True)
class Charge:
    """Money that was taken."""

    ref: str
    total: Money
    date: str


@dataclass(frozen=True)
class PaymentEvent:
    """What a verified webhook tells: something happened to this order's payment; the provider is asked what."""

    orderid: str
    kind: str


class Provider(Protocol):
    """One payment provider."""

    name: str

    def charge(self, orderid: str, total: Money, token: str) -> Charge:
        """Raises PaymentDeclined, PaymentClosed or ProviderUnavailable."""

    def find(self, orderid: str, total: Money) -> Charge | None:
        """What was charged for this order, if anything."""

    def close(self, orderid: str, total: Money) -> Charge | None:
        """After this nothing is charged for the order; the charge if one was first."""

    def refund(self, orderid: str, ref: str, key: str, total: Money) -> str:
        """The provider's reference of the refund."""

    def event(self, headers: Headers, body: bytes) -> PaymentEvent | None:
        """The event in a webhook, None for one that is of no interest. Raises BadSignature."""
