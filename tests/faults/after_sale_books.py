"""What must be true of parcels, cancelled lines and returns once everything is at rest, reckoned from the stored documents alone."""

from collections import Counter
from typing import Any

from tests.faults.reckoning import Books, summary_problem, written_twice

Doc = dict[str, Any]


def after_sale_problems(books: Books, price: int) -> dict[str, str]:
    """By order, what is not as it should be: of goods at `price` each, bought in one line."""
    found = {}
    for orderid, docs in books.orders.items():
        if problem := _problem(books, orderid, docs, price):
            found[orderid] = problem
    return found


def put_back(books: Books) -> int:
    """How many pieces of all orders are to be in stock again."""
    return sum(
        line["quantity"]
        for docs in books.orders.values()
        for doc in docs.values()
        if doc["type"] in ("linecancellation", "return")
        for line in doc["lines"]
        if line.get("condition") != "damaged"
    )


def _problem(books: Books, orderid: str, docs: dict[str, Doc], price: int) -> str:
    order = docs["order"]
    (line,) = order["basket"]
    sent, cancelled, received = (
        _pieces(docs, kind) for kind in ("orderdispatch", "linecancellation", "return")
    )
    if sent + cancelled != line["quantity"]:
        return f"{sent} sent and {cancelled} cancelled of {line['quantity']}"
    deliveries = _count(docs, "orderdelivery")
    if _count(docs, "orderdispatch") != deliveries:
        return f"{deliveries} parcels have arrived"
    refunds = [doc for doc in docs.values() if doc["type"] == "refund"]
    decided = sum(refund["total"]["amount"] for refund in refunds)
    if decided != price * (cancelled + received):
        return f"{decided} are to be paid back for {cancelled + received} pieces"
    if books.charged[orderid] != order["total"]["amount"] - decided:
        return f"{books.charged[orderid]} are kept at the provider"
    if any(f"{refund['reference']}settled" not in docs for refund in refunds):
        return "a refund is not settled"
    if twice := [key for key, times in Counter(refund["cause"] for refund in refunds).items() if times > 1]:
        return f"{twice} paid back twice"
    ended = [doc["reference"] for doc in docs.values() if doc["type"] in ("linecancellation", "return")]
    if lacking := [each for each in ended if f"{each}restocked" not in docs]:
        return f"{lacking} not in stock again"
    if changed := written_twice(docs):
        return f"{changed} written twice"
    return _lacking_notices(docs) or summary_problem(docs)


def _lacking_notices(docs: dict[str, Doc]) -> str:
    notices = {doc["kind"] for doc in docs.values() if doc["type"] == "notice"}
    kinds = {"payment"} | {key for key in docs if key.startswith(("dispatch", "delivery"))}
    kinds |= {doc["reference"] for doc in docs.values() if doc["type"] == "linecancellation"}
    kinds |= {
        f"{doc['reference']}{event}"
        for doc in docs.values()
        if doc["type"] == "returnrequest"
        for event in ("requested", "decision", "ended")
    }
    return f"no e-mail of {sorted(kinds - notices)}" if kinds - notices else ""


def _pieces(docs: dict[str, Doc], kind: str) -> int:
    found = [doc for doc in docs.values() if doc["type"] == kind]
    whole = sum(line["quantity"] for line in docs["order"]["basket"])
    return sum(line.get("quantity", whole) for doc in found for line in doc.get("lines", [{}]))


def _count(docs: dict[str, Doc], kind: str) -> int:
    return sum(doc["type"] == kind for doc in docs.values())
