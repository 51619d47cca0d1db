"""Checkout as a table: which step follows which outcome, who may repeat it, and how it ends.

The order's id follows from the customer and the Idempotency-Key, and it is the key of the reservation and of the
charge; so a step that is repeated, by the same request, another one, the webhook or the sweep, is found done.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple


class State(StrEnum):
    """Where a checkout is. The last five are ends."""

    REQUESTED = "requested"
    NOT_PRICED = "not priced"
    PRICED = "priced"
    REPEATED = "repeated"
    COMPLETE = "complete"
    PLACED = "placed"
    RESERVED = "reserved"
    CLAIMED = "claimed"
    CHARGED = "charged"
    GIVEN_UP = "given up"
    AWAITING = "awaiting payment"
    PAID = "paid"
    CANCELLED = "cancelled"
    CLOSED = "closed"
    REJECTED = "rejected"


class Row(NamedTuple):
    """`step` is done in a state; its outcome names the next one. `repeatable`: why doing it twice does no harm."""

    step: str
    outcomes: Mapping[str, State]
    repeatable: str


CHECKOUT: Final[Mapping[State, Row]] = {
    State.REQUESTED: Row(
        "price",
        {"priced": State.PRICED, "refused": State.NOT_PRICED},
        "reads only: one look-up of all products, one read of the customer",
    ),
    State.NOT_PRICED: Row(
        "find",
        {"found": State.REPEATED, "absent": State.REJECTED},
        "reads only: a key that was used is answered with its order, whatever the products are now",
    ),
    State.PRICED: Row(
        "place",
        {"written": State.PLACED, "found": State.REPEATED},
        "the order document is the claim on the key: one request writes it, all others find it",
    ),
    State.REPEATED: Row(
        "complete",
        {"completed": State.COMPLETE},
        "adds what a crash left out of the first bulk, under fixed ids",
    ),
    State.COMPLETE: Row(
        "wait",
        {
            "paid": State.PAID,
            "cancelled": State.CANCELLED,
            "open": State.PLACED,
            "unusable": State.REJECTED,
            "charged": State.CHARGED,
            "page": State.AWAITING,
            "ended": State.GIVEN_UP,
        },
        "reads only: the first request gets a few seconds to end by itself, and a payment page is asked what came of it",
    ),
    State.PLACED: Row(
        "reserve",
        {"reserved": State.RESERVED, "out_of_stock": State.GIVEN_UP, "gone": State.CLOSED},
        "the reservation is keyed by the order id",
    ),
    State.RESERVED: Row(
        "claim",
        {
            "claimed": State.CLAIMED,
            "covered": State.CHARGED,
            "taken": State.GIVEN_UP,
            "closed": State.CLOSED,
        },
        "what gift cards and store credit pay, and each use of a code, is keyed by the order id, and so is that the attempt has ended",
    ),
    State.CLAIMED: Row(
        "charge",
        {
            "charged": State.CHARGED,
            "page": State.AWAITING,
            "declined": State.GIVEN_UP,
            "closed": State.CLOSED,
        },
        "the provider charges an order id once, or opens one page for it, and is asked again when its answer is lost",
    ),
    State.CHARGED: Row(
        "record_payment",
        {"recorded": State.PAID, "goods_gone": State.CANCELLED},
        "selling is keyed by the order id, and the payment document has a fixed id",
    ),
    State.GIVEN_UP: Row(
        "abandon",
        {
            "cancelled": State.CANCELLED,
            "charged": State.CHARGED,
            "processing": State.AWAITING,
            "open": State.REJECTED,
        },
        "the provider decides whether a charge or the end came first; release and cancellation have fixed ids",
    ),
}

ENDS: Final = frozenset(State) - CHECKOUT.keys()

ENTRIES: Final[Mapping[str, State]] = {
    "request": State.REQUESTED,
    "webhook": State.CHARGED,
    "sweep": State.GIVEN_UP,
}
"""Where each of those who may work on a checkout begins."""


def next_state(state: State, outcome: str) -> State:
    """Raises KeyError for an outcome that the table does not know."""
    return CHECKOUT[state].outcomes[outcome]
