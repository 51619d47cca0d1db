"""What erasing a person leaves of an order's documents: what was bought and paid, and no text that somebody wrote.

`views/personal.js` finds the same documents by the person.
"""

from collections.abc import Iterable
from typing import Final

from services.orders.documents import (
    CANCELLATION,
    CREDIT_ENTRY,
    CUSTOMER,
    DECISION,
    LINE_CANCELLATION,
    NOTE,
    ORDER_SUMMARY,
    REFUND,
    RETURN,
    RETURN_DECISION,
    RETURN_REQUEST,
)
from shared.couch import Document

_WITH_REASON: Final = frozenset(
    kind.name
    for kind in (CANCELLATION, DECISION, LINE_CANCELLATION, REFUND, RETURN, RETURN_DECISION, RETURN_REQUEST)
)
_PEOPLE: Final = ("user ", "guest")


def guest_key(email: str) -> str:
    """What the documents of a guest's orders are found by; however it is spelt."""
    return f"guest {email.strip().lower()}"


def recipient_key(email: str) -> str:
    """What the orders are found by whose gift cards went to this e-mail."""
    return f"recipient {email.strip().lower()}"


def without_recipient(doc: Document, moment: str) -> Document:
    """A customer's document that does not say any more to whom the gift cards went."""
    return {**doc, "gift_recipient": {"erased": moment}}


def personal(docs: Iterable[Document]) -> list[Document]:
    """Those that name a person or hold what one wrote, whom the order was for last: without that one nothing finds the others."""
    found = [doc for doc in docs if not doc.get("erased") and _is_personal(doc)]
    return sorted(found, key=lambda doc: doc["type"] == CUSTOMER.name)


def erased(doc: Document, moment: str, first: bool | None = None) -> Document:
    """Without what was written of the person or by them; of the customer nothing is left but whose order it is, of a guest whether it was
    the `first`."""
    if doc["type"] == CUSTOMER.name:
        left = CUSTOMER.build(
            doc["_id"],
            orderid=doc["orderid"],
            userid=doc["userid"],
            name="",
            email="",
            deliveryAddress=None,
            erased=moment,
            **({"first": first} if first is not None else {}),
        )
        return {**left, "_rev": doc["_rev"]}
    if doc["type"] == ORDER_SUMMARY.name:
        return {**doc, "name": "", "email": "", "words": [], "erased": moment}
    texts = dict.fromkeys(
        ("text", "note", "reason", "detail") if doc["type"] != CREDIT_ENTRY.name else ("note",), ""
    )
    return {**doc, **{name: text for name, text in texts.items() if name in doc}, "erased": moment}


def _is_personal(doc: Document) -> bool:
    if doc["type"] in _WITH_REASON:
        by = doc.get("by", "")
        return bool(doc.get("note") or (doc.get("reason") and (not by or by.startswith(_PEOPLE))))
    return doc["type"] in (CUSTOMER.name, NOTE.name, ORDER_SUMMARY.name)
