"""A checkout while it is worked on, and what it can come to nothing for."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from services.orders.actions.intents import Buyer, Intent
from services.orders.clients.payments import Charge, Outcome, PaymentDeclined
from services.orders.declarations.order import Order
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from shared.errors import AisleError, Conflict
from shared.idempotency import fingerprint_of


class AttemptClosed(Conflict):
    code, title = "attempt_closed", "This attempt to order was closed"

    def __init__(self) -> None:
        super().__init__("Nothing was charged; order again with a new Idempotency-Key.")


class Abandoned(Conflict):
    code, title = "abandoned", "No payment arrived in time"


class PaymentCancelled(Conflict):
    code, title = "payment_cancelled", "The customer went back without paying"


class PaymentFailed(PaymentDeclined):
    """The customer paid by a method that takes days, and the money did not come."""

    code, title = "payment_failed", "The money did not come"


@dataclass(frozen=True)
class Placed:
    """An order, and whether an earlier request with the same key had placed it."""

    found: OrderDocuments
    replayed: bool = False


@dataclass
class Checkout:
    """One worker's view of a checkout: what was asked, what was found, what went wrong. `request` is None for webhook and sweep."""

    deps: Dependencies
    found: OrderDocuments
    request: "Request | None" = None
    intent: Intent | None = None
    charge: Charge | None = None
    refusal: AisleError | None = None
    replayed: bool = False

    @property
    def order(self) -> Order:
        return self.found.order

    def require_request(self) -> "Request":
        if self.request is None:
            raise TypeError("only a request prices, places, waits and charges")
        return self.request

    def require_intent(self) -> Intent:
        if self.intent is None:
            raise TypeError("only what is priced can be placed")
        return self.intent


@dataclass(frozen=True)
class Request:
    """Who asked for what, with which Idempotency-Key."""

    buyer: Buyer
    key: str
    body: dict[str, Any]

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_of(self.body)


def unpaid(found: OrderDocuments, outcome: Outcome) -> AisleError:
    """Why an order whose payment page has ended is not paid."""
    if found.processing is not None:
        return PaymentFailed(outcome.detail or "The bank did not send the money.")
    return Abandoned(outcome.detail or "No payment arrived in time.")
