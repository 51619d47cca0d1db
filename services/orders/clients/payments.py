"""What the shop asks of a payment provider; the order id is every provider's idempotency key.

charge  pays once per order, however often it is asked
close   makes sure that nothing will be charged any more, and tells what was charged before
refund  pays back once per refund key

A provider with a payment page of its own is a `HostedProvider` besides: the customer pays there, and what became of it is asked.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol, TypeVar

from services.orders.clients.signatures import Headers
from services.orders.rules.payment_pages import Purchase
from shared.errors import AisleError, Conflict, PaymentRequired, Unavailable
from shared.money import Money

T = TypeVar("T")

MAX_ATTEMPTS: Final = 3
RETRY_SECONDS: Final = 0.04


class PaymentDeclined(PaymentRequired):
    code, title = "payment_declined", "The payment was declined"


class CardNotSaved(PaymentDeclined):
    """No bank was asked: the customer does not keep this card at the provider any more."""

    def __init__(self) -> None:
        super().__init__("This card is not saved any more. Choose another.", decline_code="card_not_saved")


class PaymentClosed(Conflict):
    """The order was closed at the provider before this charge."""

    code, title = "payment_closed", "This order can no longer be paid"


class ProviderUnavailable(Unavailable):
    """No answer, or none that says what happened: ask again, or reconcile."""

    code, title = "payment_provider_unavailable", "The payment provider does not answer"


class NoSuchPage(AisleError):
    """The provider knows no page by this reference: it is of another account of the shop's, or of its test mode."""

    code, title = "payment_provider_refused", "The payment provider refused our request"


@dataclass(frozen=True)
class FailedRefund:
    """`total` of the refund with this `reference` of ours has not arrived; `ref` is the provider's."""

    reference: str
    ref: str
    total: Money


class RefundFailed(AisleError):
    """A refund was asked for, and will not arrive: all of it or parts, named in `parts`. Asking again changes nothing."""

    code, title = "refund_failed", "The payment provider could not pay back"

    def __init__(self, parts: Sequence[FailedRefund]) -> None:
        super().__init__("The payment provider could not pay this back.")
        self.parts = tuple(parts)


@dataclass(frozen=True)
class Charge:
    """Money that was taken, or with `captured` False only reserved, until `capture_before`; `several`: it can be taken in parts."""

    ref: str
    total: Money
    date: str
    captured: bool = True
    capture_before: str = ""
    several: bool = False


@dataclass(frozen=True)
class Capture:
    """`total` of an order's reserved money is taken, after `before` (minor units) was taken by captures of lower `number`.
    With a `final` one the rest is let go."""

    number: int
    total: Money
    before: int = 0
    final: bool = True

    @property
    def is_only(self) -> bool:
        """Whether it is all that is ever taken."""
        return self.number == 1 and self.final

    @property
    def key(self) -> str:
        """By which a provider knows a capture that is asked for again."""
        return "capture" if self.number == 1 else f"capture{self.number}"


@dataclass(frozen=True)
class PaymentEvent:
    """What a verified webhook tells: something happened to this order's payment; the provider is asked what.
    Of a `failed_refund` it was asked before."""

    orderid: str
    kind: str
    session: str = ""
    failed_refund: FailedRefund | None = None


@dataclass(frozen=True)
class SavedMethod:
    """A card that a customer keeps at the provider: what it is charged by, and as customers know it. `expires`: 2027-12."""

    id: str
    brand: str
    last4: str
    expires: str


@dataclass(frozen=True)
class PaymentPage:
    """Where a customer pays, until when."""

    ref: str
    url: str
    expires: str


class PageState(StrEnum):
    """What became of a payment page. PROCESSING: the customer has done everything, the money may come within days."""

    OPEN = "open"
    PROCESSING = "processing"
    PAID = "paid"
    ENDED = "ended"


@dataclass(frozen=True)
class Outcome:
    """A page's state, the charge of a paid one, and in the provider's words why the last try to pay failed."""

    state: PageState
    charge: Charge | None = None
    detail: str = ""


class Provider(Protocol):
    """One payment provider."""

    name: str

    @property
    def hosted(self) -> "HostedProvider | None":
        """Its payment pages, if it has any."""

    def step(self, currency: str) -> int:
        """What every amount of a currency is a multiple of, in minor units."""

    def charge(self, orderid: str, total: Money, token: str, customer: str = "") -> Charge:
        """`customer`: whose saved method `token` is, as `add_customer` named them. Raises PaymentDeclined, PaymentClosed or ProviderUnavailable."""

    def find(self, orderid: str, total: Money) -> Charge | None:
        """What was charged for this order, if anything."""

    def close(self, orderid: str, total: Money) -> Charge | None:
        """After this nothing is charged for the order; the charge if one was first."""

    def refund(self, orderid: str, ref: str, key: str, total: Money) -> str:
        """The provider's reference of the refund."""

    def event(self, headers: Headers, body: bytes) -> PaymentEvent | None:
        """The event in a webhook, None for one that is of no interest. Raises BadSignature."""


class HostedProvider(Protocol):
    """The pages of a provider on which customers pay. `ref` is the page's reference, "" when it was lost on the way."""

    def open_page(self, purchase: Purchase) -> PaymentPage:
        """The order's one page, however often it is asked. Raises PaymentDeclined for an order that it does not take,
        PaymentClosed when the page has ended, ProviderUnavailable."""

    def outcome(self, purchase: Purchase, ref: str) -> Outcome:
        """What has become of the page; changes nothing. Raises NoSuchPage."""

    def complete(self, purchase: Purchase, ref: str) -> Outcome:
        """The same, after carrying out a payment that the customer has approved, where the provider leaves that to the shop."""

    def end_page(self, purchase: Purchase, ref: str) -> Outcome:
        """After this nothing is paid on the page any more: ENDED, or PAID or PROCESSING when that was first."""

    def capture(self, orderid: str, ref: str, capture: Capture) -> str:
        """Takes so much of the reserved money, once for each number; the reference of what was taken. Only money of a charge with
        `several` is taken by more than one. Raises PaymentClosed when it is not reserved any more, ProviderUnavailable."""

    def holds(self, ref: str) -> bool:
        """Whether money is still reserved."""

    def release(self, orderid: str, ref: str) -> str | None:
        """Lets all reserved money go; the reference of that, None when some of it was captured before."""

    def add_customer(self, userid: str, email: str, name: str) -> str:
        """The reference of a customer who may keep cards; "" of a provider that keeps none."""

    def saved_methods(self, customer: str) -> tuple[SavedMethod, ...]:
        """What this customer has agreed to be shown again; nothing of a provider that keeps none."""

    def remove_customer(self, ref: str) -> None:
        """Forgets a customer with all their cards; a second time changes nothing."""


def answer_of(ask: Callable[[], T]) -> T:
    """A provider's answer, asked for again when it is lost. Raises ProviderUnavailable after MAX_ATTEMPTS."""
    for _ in range(MAX_ATTEMPTS - 1):
        with suppress(ProviderUnavailable):
            return ask()
        time.sleep(RETRY_SECONDS)
    return ask()
