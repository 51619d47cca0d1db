"""What of an order can still be sent or cancelled, as its pages offer it."""

from collections import Counter

from services.storefront.rules.variants import line_key
from services.storefront.translation import gettext_noop as _
from shared.types import Json

OPEN = ("paid", "partly_dispatched", "partly_delivered")
LABEL_STATUSES = {
    "buying": _("Being bought"),
    "bought": _("Bought"),
    "used": _("Used"),
    "unused": _("Not needed any more"),
    "cancelled": _("Cancelled"),
    "refused": _("Not sold"),
}


def left_to_send(order: Json) -> dict[str, int]:
    """How many of each product or variant, by its SKU, have neither left nor been cancelled. Gift cards go out by e-mail."""
    if order["status"] not in OPEN:
        return {}
    left = {
        line_key(item): item["quantity"] - item.get("dispatched", 0) - item.get("cancelled", 0)
        for item in order["items"]
        if not item.get("gift_card")
    }
    return {key: quantity for key, quantity in left.items() if quantity > 0}


def ready_to_send(order: Json) -> dict[str, int]:
    """`left_to_send` less what is still to come."""
    waiting = {line_key(item): item.get("waiting", 0) for item in order["items"]}
    left = left_to_send(order)
    return {key: here for key, count in left.items() if (here := count - waiting[key]) > 0}


def unlabelled(order: Json) -> dict[str, int]:
    """`ready_to_send` less what a label was bought for, or is being bought."""
    labelled = Counter[str]()
    for label in order.get("labels", []):
        if label["status"] in ("buying", "bought"):
            labelled.update({line_key(line): line["quantity"] for line in label["lines"]})
    ready = ready_to_send(order)
    return {key: rest for key, count in ready.items() if (rest := count - labelled[key]) > 0}


def cancellable_parts(order: Json) -> dict[str, int]:
    """What can be cancelled beside the whole order: nothing where one piece is all that is left of an order that can be cancelled."""
    left = left_to_send(order)
    return left if order["status"] != "paid" or sum(left.values()) > 1 else {}


def refundable_parts(order: Json) -> dict[str, int]:
    """How many of each line the shop can pay back by line: what was neither cancelled nor sent back."""
    if order["status"] in ("placed", "cancelled"):
        return {}
    left = {
        line_key(item): item["quantity"] - item.get("returned", 0) - item.get("cancelled", 0)
        for item in order["items"]
        if not item.get("gift_card")
    }
    return {key: quantity for key, quantity in left.items() if quantity > 0}
