"""Which of several revisions of a promotion's use stays: replicas wrote apart, or a refused writer died before it took its own back."""

from collections.abc import Collection, Mapping, Sequence
from enum import Enum

from services.orders.declarations.promotions import PromotionUse


class Standing(Enum):
    """An order's: who has paid was told that it has its use; one that is open may have been refused."""

    PAID = "paid"
    OPEN = "open"
    ENDED = "ended"


def kept_use(
    leaves: Sequence[PromotionUse], standing: Mapping[str, Standing], elsewhere: Collection[str]
) -> PromotionUse | None:
    """The revision that stays; None while it cannot be told, because several orders are open. Orders that are `elsewhere` have another
    slot of the promotion: this one was refused them."""
    held = [
        leaf
        for leaf in leaves
        if not leaf["free"]
        and standing[leaf["orderid"]] is not Standing.ENDED
        and leaf["orderid"] not in elsewhere
    ]
    paid = [leaf for leaf in held if standing[leaf["orderid"]] is Standing.PAID]
    if not paid and len({leaf["orderid"] for leaf in held}) > 1:
        return None
    free = [leaf for leaf in leaves if leaf["free"]]
    return min(paid or held or free or leaves, key=lambda leaf: (leaf["date"], leaf["_rev"]))
