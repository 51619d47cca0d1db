"""To whom the gift cards that an order bought go by e-mail, and when they went: for the buyer and staff alone. A third person's address is
in no list of orders, so no device keeps it, and in no event."""

from typing import Any, Final

from services.orders.declarations.order import Customer
from services.orders.documents import GIFT_CARDS_SENT, RESENT_EMAIL
from services.orders.rules.assembly import OrderDocuments
from shared.couch import Document

GIFT_CARDS: Final = "gift-cards"
"""The kind of the e-mail with their codes."""
NOBODY: Final = "nobody"
"""What became of an e-mail whose customer was erased before it went out."""


def bought_gift_cards(found: OrderDocuments) -> bool:
    return any(line.get("gift_card") for line in found.order["basket"])


def gift_card_delivery(found: OrderDocuments) -> dict[str, Any] | None:
    """{email, name?, sent}: `sent` is when the last e-mail to this address went out, None while none has; None of an order without gift
    cards, and of one whose customer was erased, or who got them."""
    customer = found.customer
    if customer is None or not customer["email"] or not bought_gift_cards(found):
        return None
    recipient = customer.get("gift_recipient") or {}
    since = customer.get("gift_recipient_since", "")
    sent = [doc["date"] for doc in found.documents if _is_sent(doc) and doc["date"] >= since]
    if "erased" in recipient and sent:
        return None
    return {
        "email": recipient.get("email") or customer["email"],
        **({"name": recipient["name"]} if recipient.get("name") else {}),
        "sent": max(sent, default=None),
    }


def corrected(customer: Customer, email: str, name: str, moment: str) -> Customer | None:
    """The customer's document with another recipient, who gets the same message; None where it is that one already."""
    known = customer.get("gift_recipient") or {}
    recipient = {"email": email, **({"name": name} if name else {})}
    if "message" in known:
        recipient["message"] = known["message"]
    if recipient == known:
        return None
    return {**customer, "gift_recipient": recipient, "gift_recipient_since": moment}


def _is_sent(doc: Document) -> bool:
    if doc["type"] == GIFT_CARDS_SENT.name:
        return bool(doc["message_id"] != NOBODY)
    return bool(doc["type"] == RESENT_EMAIL.name and doc["kind"] == GIFT_CARDS)
