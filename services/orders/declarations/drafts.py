"""Draft orders: what staff write down for a customer on the phone, until it is placed as an order."""

from typing import Any, NotRequired, TypedDict

from shared.couch import StoredDocument
from shared.money import Money

PLACED, PLACING, OPEN = "placed", "placing", "open"


class ManualDiscount(TypedDict):
    """What staff take off: an `amount`, or `basis_points` of the price. The customer reads the `reason`."""

    amount: NotRequired[Money]
    basis_points: NotRequired[int]
    reason: str


class DraftItem(TypedDict):
    """So many of a product or variant (`productid` is its SKU where it has one), at the shop's price, at the `price` of one that was agreed
    for the `reason`, or with a `discount` of its own."""

    productid: str
    quantity: int
    price: NotRequired[Money]
    reason: NotRequired[str]
    discount: NotRequired[ManualDiscount]


class ChosenGiftCard(TypedDict):
    """A gift card by its id, which nobody gets to its code from, and what customers call it."""

    id: str
    name: str


class Placement(TypedDict):
    """How a draft is being placed: while it has one it does not change, so that whoever goes on with it places the same order.

    `payment` {kind, reference, provider}, `expected_total`: what whoever places it has seen; `attempt` is part of the order's idempotency key: another one begins when one came to nothing.
    """

    payment: dict[str, str]
    by: str
    date: str
    attempt: int
    expected_total: Money | None


class PlacedOrder(TypedDict):
    orderid: str
    number: str | None


class DraftOrder(StoredDocument):
    """An order as staff make it: nothing is reserved, and no code is used.

    `userid`, or `email` and `name` of a guest. `any_discount`: an admin wrote what is taken off, so that the limit of staff does not hold.
    `attempts`: how many attempts to place it came to nothing. It is removed at `expires`.
    """

    id: str
    userid: str | None
    email: str
    name: str
    items: list[DraftItem]
    discount: ManualDiscount | None
    address: Any
    shipping: str
    codes: list[str]
    gift_cards: list[ChosenGiftCard]
    currency: str
    language: str
    note: str
    any_discount: bool
    attempts: int
    created: str
    created_by: str
    edited: str
    edited_by: str
    expires: str
    placing: NotRequired[Placement]
    order: NotRequired[PlacedOrder]


CONTENT: tuple[str, ...] = (
    "userid",
    "email",
    "name",
    "items",
    "discount",
    "address",
    "shipping",
    "codes",
    "gift_cards",
    "currency",
    "language",
    "note",
)
"""What staff write of a draft."""


def state_of(draft: DraftOrder) -> str:
    """`open`, `placing` (somebody's attempt is on its way, or broke off), or `placed`."""
    if "order" in draft:
        return PLACED
    return PLACING if "placing" in draft else OPEN
