"""The products that a user looked at lately, on all their devices: 20 of them, for 30 days."""

from datetime import timedelta

from services.users.dependencies import JobDependencies
from services.users.documents import (
    VIEWED_PRODUCT,
    VIEWED_PRODUCT_FIELDS,
    ViewedProduct,
    blanked,
    seen_partition,
)
from shared.clock import iso, now, timestamp
from shared.couch import Doc, document_id

MAX_PRODUCTS = 20
KEPT = timedelta(days=30)


def viewed_products(deps: JobDependencies, userid: str) -> list[Doc]:
    """Newest first. 1 partition query."""
    return [VIEWED_PRODUCT_FIELDS.shown(doc) for doc in _latest(deps, userid)[:MAX_PRODUCTS]]


def add(deps: JobDependencies, userid: str, productid: str) -> None:
    """Notes that a product was looked at, and forgets the oldest beyond 20. 1 partition query, 1 write."""
    present = deps.store.seen_by(userid)
    docid = document_id(seen_partition(userid), productid)
    doc = VIEWED_PRODUCT.build(
        docid, userid=userid, productid=productid, viewed=timestamp(), expires=iso(now() + KEPT)
    )
    if known := next((each for each in present if each["_id"] == docid), None):
        doc["_rev"] = known["_rev"]
    others = sorted((each for each in present if each["_id"] != docid), key=_viewed, reverse=True)
    gone = [
        {"_id": each["_id"], "_rev": each["_rev"], "_deleted": True} for each in others[MAX_PRODUCTS - 1 :]
    ]
    deps.store.put_many([doc, *gone])  # who noted the same product just now was not earlier by much


def clear(deps: JobDependencies, userid: str) -> None:
    """Overwrites all, then deletes it; may be repeated. 1 partition query, and 2 writes where there is any."""
    docs = deps.store.documents_seen_by(userid)
    if docs:
        written = deps.store.put_many(blanked(doc) for doc in docs)
        deps.store.put_many({"_id": row.id, "_rev": row.rev, "_deleted": True} for row in written if row.rev)


def _latest(deps: JobDependencies, userid: str) -> list[ViewedProduct]:
    moment = timestamp()
    return sorted(
        (doc for doc in deps.store.seen_by(userid) if doc["expires"] > moment), key=_viewed, reverse=True
    )


def _viewed(doc: ViewedProduct) -> tuple[str, str]:
    return doc["viewed"], doc["productid"]
