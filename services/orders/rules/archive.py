"""Which orders may be archived, which of their documents go into the archive, and what stays in their place.

Documents that name a person, or hold what people wrote, stay where erasing somebody finds them: an archive has none of them.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import orjson

from services.orders.declarations.archive import ArchivedOrder
from services.orders.declarations.order import Customer
from services.orders.documents import (
    ARCHIVED_ORDER,
    COSTS,
    CREDIT_NOTE,
    CUSTOMER,
    INVOICE,
    LINE_ITEM,
    NOTE,
    NUMBER_REQUEST,
    ORDER,
    ORDER_SUMMARY,
    SLOT_CHOICE,
    order_key,
)
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.erasure import personal
from services.orders.rules.progress import CANCELLED, DELIVERED, RETURNED, is_finished
from shared.clock import iso
from shared.couch import Document

QUIET: Final = timedelta(days=100)
"""Nothing has happened to an order for so long: as far back as the worker looks for unfinished ones."""
ENDED: Final = (DELIVERED, CANCELLED, RETURNED)

_STAYING: Final = frozenset(kind.name for kind in (CUSTOMER, NOTE, ORDER_SUMMARY, ARCHIVED_ORDER))
_UNCOUNTED: Final = frozenset(
    kind.name for kind in (LINE_ITEM, COSTS, INVOICE, CREDIT_NOTE, NUMBER_REQUEST, SLOT_CHOICE)
)
"""What no list or report adds up."""
_KEPT: Final = (
    *("type", "date", "total", "units", "number", "imported"),
    *("gift_cards_sold", "cause", "by_hand", "by", "link", "refund_first", "requested", "decision", "change"),
    *(
        "notify",
        "kind",
        "payment_date",
        "dispatch_date",
        "was_paid",
        "taxes",
        "uses",
        "credits",
        "fingerprint",
    ),
)
_KEPT_OF_LINES: Final = ("productid", "sku", "name", "quantity", "amount", "condition")


def moved(docs: Iterable[Document]) -> list[Document]:
    """Those that go into an archive, in the order of their ids, without revisions."""
    found = [doc for doc in docs if doc["type"] not in _STAYING and "erased" not in doc]
    written = {doc["_id"] for doc in personal(found)}
    going = [doc for doc in found if doc["_id"] not in written]
    return sorted((without_revision(doc) for doc in going), key=lambda doc: str(doc["_id"]))


def without_revision(doc: Document) -> Document:
    return {name: value for name, value in doc.items() if name not in ("_rev", "_conflicts")}


def checksum(docs: Sequence[Document]) -> str:
    """The same for the same documents, whatever their revisions."""
    text = orjson.dumps([without_revision(doc) for doc in docs], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()


def reason_to_stay(docs: Sequence[Document], moment: datetime) -> str:
    """Why an order is not archived; "" where nothing speaks against it."""
    found = OrderDocuments(docs)
    if not found.exists:
        return "it has no order document"
    if any("_conflicts" in doc for doc in docs):
        return "replicas wrote a document of it differently"
    progress = found.progress
    if found.status not in ENDED or not is_finished(progress):
        return "it is not finished"
    if progress.open_returns > 0:
        return "a return of it is open"
    if found.summary is None or progress.unsummarised:
        return "its summary is not up to date"
    if max(str(doc.get("date", "")) for doc in docs) > iso(moment - QUIET):
        return f"something happened to it less than {QUIET.days} days ago"
    return ""


def archived_order(docs: Sequence[Document], archive: str, moment: datetime) -> ArchivedOrder:
    """What stays of an order, of which these are all documents, once those that `moved` names are in the file `archive`."""
    found, going = OrderDocuments(docs), moved(docs)
    order = found.order
    return ARCHIVED_ORDER.build(
        order_key(order["orderid"], "archived"),
        orderid=order["orderid"],
        userid=order["userid"],
        number=order.get("number"),
        placed=order["date"],
        currency=order["total"]["currency"],
        status=found.status,
        total=order["total"],
        file=archive,
        documents=len(going),
        sha256=checksum(going),
        events=[_event(doc) for doc in going if doc["type"] not in _UNCOUNTED],
        date=iso(moment),
    )


def archived_of(found: OrderDocuments) -> ArchivedOrder | None:
    """What stays of an order whose documents lie in an archive; such a one does not `exist`."""
    docs = (doc for doc in found.documents if doc["type"] == ARCHIVED_ORDER.name)
    return None if found.exists else ARCHIVED_ORDER.typed(next(docs, None))


def is_archived(found: OrderDocuments) -> bool:
    """Whether its documents were read from an archive: then they are only looked at."""
    return any(doc["type"] == ARCHIVED_ORDER.name for doc in found.documents)


def placed_at(found: OrderDocuments) -> str | None:
    """When an order was placed, archived or not; None where there is none."""
    archived = archived_of(found)
    return archived["placed"] if archived else found.order["date"] if found.exists else None


def archived_answer(archived: ArchivedOrder, customer: Customer | None) -> dict[str, Any]:
    """What can still be said of it without the archive."""
    names = ("name", "email", "deliveryAddress")
    return {
        "orderid": archived["orderid"],
        "number": archived["number"],
        "userid": archived["userid"],
        "date": archived["placed"],
        "status": archived["status"],
        "total": archived["total"],
        **{name: customer[name] if customer else None for name in names},  # type: ignore[literal-required]  # names of its fields
    }


def header_of(archived: ArchivedOrder) -> Document:
    """What stays of its `order` document."""
    event = next(event for event in archived["events"] if event["type"] == ORDER.name)
    return {"orderid": archived["orderid"], "userid": archived["userid"], **event}


def _event(doc: Document) -> dict[str, Any]:
    event = {name: doc[name] for name in _KEPT if name in doc}
    if "lines" in doc:
        event["lines"] = [
            {name: line[name] for name in _KEPT_OF_LINES if name in line} for line in doc["lines"]
        ]
    return event
