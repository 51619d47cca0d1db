"""An order's way from placed to delivered, as the page draws it."""

from collections import Counter
from dataclasses import dataclass

from services.storefront.rules.variants import line_key
from services.storefront.translation import gettext, gettext_noop
from shared.clock import now, parse
from shared.types import Json

STEPS = ("placed", "paid", "dispatched", "delivered")
FINAL_STATUSES = frozenset({"delivered", "cancelled", "returned", "refunded"})
STATUS_LABELS = {
    "placed": gettext_noop("Placed"),
    "paid": gettext_noop("Paid"),
    "waiting": gettext_noop("Still to come"),
    "partly_dispatched": gettext_noop("A part is on its way"),
    "dispatched": gettext_noop("On its way"),
    "partly_delivered": gettext_noop("Partly delivered"),
    "delivered": gettext_noop("Delivered"),
    "cancelled": gettext_noop("Cancelled"),
    "partly_cancelled": gettext_noop("Partly cancelled"),
    "returned": gettext_noop("Returned"),
    "partly_returned": gettext_noop("Partly returned"),
    "return_requested": gettext_noop("Return requested"),
    "refunded": gettext_noop("Refunded"),
    "partly_refunded": gettext_noop("Partly refunded"),
    "failed": gettext_noop("Payment failed"),
}
STATUS_STYLES = {
    "delivered": "good",
    "paid": "warn",
    "waiting": "warn",
    "placed": "warn",
    "cancelled": "bad",
    "failed": "bad",
    "returned": "bad",
    "refunded": "bad",
}

RETURN_REASONS = (
    "",
    gettext_noop("Does not fit"),
    gettext_noop("Not as described"),
    gettext_noop("Damaged when it arrived"),
    gettext_noop("Another thing was sent"),
    gettext_noop("Changed my mind"),
)


@dataclass(frozen=True)
class Step:
    """One stop of the timeline; `date` is None while it is still to come."""

    status: str
    label: str
    date: str | None
    bad: bool


def label(status: str) -> str:
    known = STATUS_LABELS.get(status)
    return gettext(known) if known else status.replace("_", " ").capitalize()


def style(status: str) -> str:
    return STATUS_STYLES.get(status, "")


def steps(order: Json) -> list[Step]:
    """What has happened, in its order, then what is still to come while the order is alive."""
    end = {"cancelled": label("failed")} if failed(order) else {}
    if order.get("returned") == "part":
        end["returned"] = label("partly_returned")
    happened = [
        Step(
            each["status"],
            end.get(each["status"], label(each["status"])),
            each["date"],
            style(each["status"]) == "bad",
        )
        for each in order["timeline"]
    ]
    if settled(order):
        return happened
    known = {step.status for step in happened}
    return happened + [Step(status, label(status), None, False) for status in STEPS if status not in known]


def settled(order: Json) -> bool:
    """Nothing more comes by itself."""
    return order["status"] in FINAL_STATUSES or order["status"] == "failed"


def failed(order: Json) -> bool:
    """Whether it never became an order: declined or sold out, and nothing charged."""
    return order["status"] == "cancelled" and not order.get("payment")


def returnable(order: Json) -> dict[str, int]:
    """How many of each product or variant, by its SKU, can still be sent back: all of it may come in several parcels."""
    if order["status"] not in ("partly_delivered", "delivered", "returned") or _is_past(
        order.get("returnable_until")
    ):
        return {}
    back = Counter[str]()
    for line in (line for each in order["returns"] if each["status"] != "refused" for line in each["lines"]):
        back[line_key(line)] += line["quantity"]
    left = {
        line_key(item): item.get("delivered", item["quantity"]) - back[line_key(item)]
        for item in order["items"]
        if not item.get("gift_card")
    }
    return {key: quantity for key, quantity in left.items() if quantity > 0}


def _is_past(moment: str | None) -> bool:
    return moment is not None and parse(moment) < now()
