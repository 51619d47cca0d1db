"""A category as a database that devices keep a copy of: what they are shown, and the revisions that they are told.

Only the shop writes it, so a document has one line of revisions and the id of each follows from its number: nothing of its history is
stored, and whatever revision a device has is among those before the newest one.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from services.products.declarations.category_sync import ToldDocument
from services.products.declarations.product import Product
from services.products.rules.prices import PriceContext
from services.products.rules.product import public
from shared.couch import Doc
from shared.replication import digest_of, number_since

MAX_KEPT_PRODUCTS: Final = 500
MAX_KEPT_BYTES: Final = 2_000_000
MAX_TOMBSTONES: Final = 1000
MAX_HISTORY: Final = 100
"""Revisions named before a document's newest. Who was away for more changes of one product keeps an older branch beside the newest one;
what is there at all is what the document `category` lists."""
PRODUCT_PREFIX: Final = "product-"
ABOUT: Final = "category"


@dataclass(frozen=True)
class ToldCategory:
    """What was told of a category's documents, by id. A sequence counts within its `epoch`: to numbers of another one all is new."""

    epoch: str
    sequence: int
    entries: Mapping[str, ToldDocument]

    def since(self, text: str) -> int:
        """The number in a client's `since`; 0 for one of another epoch. Raises ValueError for what is none."""
        return number_since(text, self.epoch, self.sequence)

    def named(self, number: int) -> str:
        return f"{number}-{self.epoch}"


def shown_documents(category: str, products: Iterable[Product], context: PriceContext) -> dict[str, Doc]:
    """What devices see of a category: {id: content}. As many products as fit, in the order given, and which these are."""
    shown: dict[str, Doc] = {}
    listed: list[str] = []
    size, complete = 0, True
    for doc in products:
        content = {"type": "product", **public(doc, context)}
        size += len(orjson.dumps(content))
        if len(listed) >= MAX_KEPT_PRODUCTS or size > MAX_KEPT_BYTES:
            complete = False
            break
        listed.append(doc["productid"])
        shown[PRODUCT_PREFIX + doc["productid"]] = content
    shown[ABOUT] = {
        "type": ABOUT,
        "category": category,
        "productids": listed,
        "complete": complete,
        "most_products": MAX_KEPT_PRODUCTS,
        "most_bytes": MAX_KEPT_BYTES,
    }
    return shown


def revision(docid: str, number: int) -> str:
    return f"{number}-{_name(docid, number)}"


def revisions(docid: str, number: int) -> Doc:
    """The newest revision with those before it, as `_revisions` has them."""
    oldest = max(number - MAX_HISTORY, 0)
    return {"start": number, "ids": [_name(docid, each) for each in range(number, oldest, -1)]}


def was_told(docid: str, entry: ToldDocument | None, rev: str) -> bool:
    """Whether this is, or may have been, a revision of a document."""
    number, _, name = rev.partition("-")
    if entry is None or not number.isdecimal() or len(number) > 9:
        return False
    return 0 < int(number) <= entry["number"] and name == _name(docid, int(number))


def observed(told: ToldCategory, shown: Mapping[str, Doc], first: int) -> ToldCategory:
    """What is told of documents with these contents: what differs gets the next number, what is gone a tombstone. The same object when
    there is nothing new.

    `first` is the number that a document begins with: higher than what a state that was lost may have told.
    """
    new: dict[str, ToldDocument] = {}
    for docid, content in sorted(shown.items()):
        before, digest = told.entries.get(docid), digest_of(content)
        if before is None or before.get("deleted") or before["digest"] != digest:
            new[docid] = {"seq": 0, "number": _next(before, first), "digest": digest}
    for docid, before in sorted(told.entries.items()):
        if docid not in shown and not before.get("deleted"):
            new[docid] = {"seq": 0, "number": _next(before, first), "digest": "", "deleted": True}
    if not new:
        return told
    for place, entry in enumerate(new.values(), 1):
        entry["seq"] = told.sequence + place
    return ToldCategory(
        told.epoch, told.sequence + len(new), _without_oldest_tombstones({**told.entries, **new})
    )


def united(versions: list[Mapping[str, Any]]) -> dict[str, Any]:
    """One state of what two replicas told apart: of each document a number above both, without a digest, in an epoch of its
    own: the next pull tells all of it anew."""
    entries: dict[str, ToldDocument] = {}
    for version in versions:
        for docid, entry in version["entries"].items():
            known = entries.get(docid)
            number = max(entry["number"], known["number"] if known else 0) + 1
            untold: ToldDocument = {"seq": entry["seq"], "number": number, "digest": ""}
            entries[docid] = untold
    epochs = " ".join(sorted(version["epoch"] for version in versions))
    return {
        **versions[-1],
        "epoch": hashlib.md5(epochs.encode(), usedforsecurity=False).hexdigest()[:12],
        "sequence": max(version["sequence"] for version in versions),
        "entries": entries,
    }


def _next(before: ToldDocument | None, first: int) -> int:
    return first if before is None else before["number"] + 1


def _without_oldest_tombstones(entries: dict[str, ToldDocument]) -> dict[str, ToldDocument]:
    gone = sorted((entry["seq"], docid) for docid, entry in entries.items() if entry.get("deleted"))
    for _, docid in gone[:-MAX_TOMBSTONES]:
        del entries[docid]
    return entries


def _name(docid: str, number: int) -> str:
    """Each of its own: PouchDB looks for whether a revision is a deletion by this name alone."""
    return hashlib.md5(f"{number} {docid}".encode(), usedforsecurity=False).hexdigest()[:8]
