"""How often a promotion was used: numbered slots that orders take, and which promotion a code leads to.

    code{CODE}:claim                    the promotion that a code belongs to: its id is what makes a code unique
    promotion{id}:use{n}                one of the orders that a limit allows; there are as many as it allows, or fewer until they are needed
    promotion{id}:customer{hash}-{n}    one of the orders that a customer may place with it
    order{id}:use-{promotion}-{n}       the slot that an order tries next, where the one it chose when it was priced was taken by another

A slot is taken and given back by its revision, never deleted: whoever comes with an older revision has lost it.
"""

from typing import NotRequired, TypedDict

from shared.couch import StoredDocument


class PromotionUse(StoredDocument):
    """A slot: of the order, or free. `customer` says whose it is where it is a customer's."""

    promotion: str
    number: int
    free: bool
    orderid: str
    date: str
    customer: NotRequired[str]


class CodeClaim(StoredDocument):
    """Which promotion has the code."""

    code: str
    promotion: str
    date: str


class ChosenSlot(TypedDict):
    """A slot as it was when an order chose it. Without a `number` the order chooses no more: it has ended."""

    promotion: str
    number: int
    rev: str


class PlannedUse(TypedDict):
    """That an order uses a promotion: one of its slots, if it has a limit, and one of the customer's, if they have."""

    promotion: str
    code: str
    slot: NotRequired[ChosenSlot]
    limit: NotRequired[int]
    customer: NotRequired[str]
    per_customer: NotRequired[int]


class SlotChoice(StoredDocument):
    """The `attempt`th slot that an order chose after the first."""

    orderid: str
    attempt: int
    slot: ChosenSlot
    date: str
