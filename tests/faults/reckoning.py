"""What must be true of the books once everything is at rest, reckoned from the stored documents alone."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from services.orders.documents import NUMBER_PARTITION
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.summaries import summary_document
from tests.faults.codes import wrong_uses
from tests.faults.shop import BreakableShop

Doc = dict[str, Any]
COMPLETE = ("customer", "delivery", "dispatch", "item1", "order", "payment")
COMPLETE_NOTICES = {"payment", "dispatch", "delivery"}
REPEATED = ("notice", "slotchoice", "settlement", "refund")
"""Types of which an order of one line may have more than one document."""


@dataclass
class Books:
    """All documents of the orders, of the chains of credit and of the provider, as they are stored now."""

    orders: dict[str, dict[str, Doc]] = field(default_factory=lambda: defaultdict(dict))
    chains: dict[str, list[Doc]] = field(default_factory=lambda: defaultdict(list))
    uses: list[Doc] = field(default_factory=list)
    charged: Counter[str] = field(default_factory=Counter)
    charges: Counter[str] = field(default_factory=Counter)

    @property
    def sold(self) -> set[str]:
        return {
            orderid
            for orderid, docs in self.orders.items()
            if "payment" in docs and "cancellation" not in docs
        }


def books_of(shop: BreakableShop) -> Books:
    found = Books()
    for doc in shop.documents(shop.orders()):
        partition, _, key = doc["_id"].partition(":")
        if partition.startswith("order") and partition != NUMBER_PARTITION:
            found.orders[partition.removeprefix("order")][key] = doc
        elif doc.get("type") == "creditentry":
            found.chains[f"{partition} {doc['currency']}"].append(doc)
        elif doc.get("type") == "promotionuse":
            found.uses.append(doc)
    for doc in shop.documents(shop.ledger()):
        if doc["type"] == "charge" and doc["status"] == "paid":
            found.charges[doc["orderid"]] += 1
            found.charged[doc["orderid"]] += doc["total"]["amount"]
        elif doc["type"] == "ledgerrefund":
            found.charged[doc["orderid"]] -= doc["total"]["amount"]
    return found


def problems(books: Books) -> dict[str, str]:
    """By order or chain, what is not as it should be; nothing where all agrees."""
    found = wrong_uses(books.uses, books.orders)
    moved = _moved(books)
    for orderid, docs in books.orders.items():
        if problem := _problem(books, orderid, docs, moved[orderid]):
            found[orderid] = problem
    for orderid in books.charged.keys() - books.orders.keys():
        found[orderid] = "charged without an order"
    for orderid in moved.keys() - books.orders.keys() - {""}:
        found[orderid] = "spent without an order"
    for name, entries in books.chains.items():
        if problem := _broken(entries):
            found[name] = problem
    return found


def _moved(books: Books) -> dict[str, Counter[str]]:
    """By order, what it has taken out of each chain."""
    moved: dict[str, Counter[str]] = defaultdict(Counter)
    for entries in books.chains.values():
        for entry in entries:
            moved[entry.get("orderid", "")][f"{entry['kind']} {entry['id']}"] -= entry["delta"]
    return moved


def _problem(books: Books, orderid: str, docs: dict[str, Doc], moved: Counter[str]) -> str:
    if "order" not in docs:
        return f"{sorted(docs)} without an order"
    order, is_sold = docs["order"], orderid in books.sold
    if "payment" not in docs and "cancellation" not in docs:
        return "no outcome"
    credits = {f"{each['kind']} {each['id']}": each["amount"]["amount"] for each in order.get("credits", [])}
    to_charge = order["total"]["amount"] - sum(credits.values())
    if books.charges[orderid] > 1:
        return "charged twice"
    if books.charged[orderid] != (to_charge if is_sold else 0):
        return f"{books.charged[orderid]} are kept at the provider"
    if +moved != (Counter(credits) if is_sold else Counter()):
        return f"took {dict(moved)} of credits, not {credits if is_sold else 0}"
    kinds = Counter(doc["type"] for doc in docs.values() if doc["type"] not in REPEATED)
    if twice := [kind for kind, times in kinds.items() if times > 1]:
        return f"{twice} twice"
    if changed := written_twice(docs):
        return f"{changed} written twice"
    if problem := summary_problem(docs):
        return problem
    return _incomplete(docs, order["total"]) if is_sold else ""


def written_twice(docs: dict[str, Doc]) -> list[str]:
    """The keys of an order's documents that were changed; its summary alone may be."""
    return [key for key, doc in docs.items() if key != "summary" and not doc["_rev"].startswith("1-")]


def summary_problem(docs: dict[str, Doc]) -> str:
    """What the desk lists of an order must be what its documents say."""
    if "summary" not in docs:
        return "no summary"
    made = summary_document(OrderDocuments(list(docs.values())))
    differing = [name for name, value in made.items() if docs["summary"].get(name) != value]
    return f"the summary has other {differing}" if differing else ""


def _incomplete(docs: dict[str, Doc], total: Doc) -> str:
    notices = {doc["kind"] for doc in docs.values() if doc["type"] == "notice"}
    if docs["payment"]["total"] != total:
        return "not all is paid"
    if lacking := [key for key in COMPLETE if key not in docs] or sorted(COMPLETE_NOTICES - notices):
        return f"{lacking} missing"
    return ""


def _broken(entries: list[Doc]) -> str:
    """A chain is numbered without a gap, each entry says what all up to it add up to, and none leaves less than nothing."""
    balance = 0
    for number, entry in enumerate(sorted(entries, key=lambda each: each["number"]), 1):
        balance += entry["delta"]
        if entry["number"] != number:
            return f"entry {number} is missing"
        if balance < 0 or entry["balance"] != balance:
            return f"entry {number} says {entry['balance']}, they add up to {balance}"
    return ""
