"""An order's way from placed to delivered, as the page draws it."""

from dataclasses import dataclass

STEPS = ("placed", "paid", "dispatched", "delivered")
SETTLED = frozenset({"delivered", "cancelled", "returned", "refunded"})
WORDS = {
    "placed": "Placed",
    "paid": "Paid",
    "dispatched": "On its way",
    "delivered": "Delivered",
    "cancelled": "Cancelled",
    "returned": "Returned",
    "refunded": "Refunded",
    "partly_refunded": "Partly refunded",
    "failed": "Payment failed",
}
MOODS = {
    "delivered": "good",
    "paid": "warn",
    "placed": "warn",
    "cancelled": "bad",
    "failed": "bad",
    "returned": "bad",
    "refunded": "bad",
}


@dataclass(frozen=True)
class Step:
    """One stop of the timeline; `date` is None while it is still to come."""

    status: str
    word: str
    date: str | None
    bad: bool


def word(status: str) -> str:
    return WORDS.get(status, status.replace("_", " ").capitalize())


def mood(status: str) -> str:
    return MOODS.get(status, "")


def steps(order: dict) -> list[Step]:
    """What has happened, in its order, then what is still to come while the order is alive."""
    happened = [
        Step(each["status"], word(each["status"]), each["date"], mood(each["status"]) == "bad")
        for each in order["timeline"]
    ]
    known = {step.status for step in happened}
    if known & (SETTLED - {"delivered"}) or "failed" in known:
        return happened
    return happened + [Step(status, word(status), None, False) for status in STEPS if status not in known]


def settled(order: dict) -> bool:
    """Nothing more comes by itself."""
    return order["status"] in SETTLED or order["status"] == "failed"
