"""An order's documents to its summary, and what a customer's name and e-mail are found by."""

import re
import unicodedata
from itertools import combinations
from typing import Any, Final

from services.orders.declarations.summaries import OrderSummary
from services.orders.documents import ORDER_SUMMARY, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.margin import margin_of
from services.orders.rules.parcel_answers import timeline
from services.orders.rules.parcel_labels import label_work
from services.orders.rules.progress import (
    PAID,
    PARTLY_DELIVERED,
    PARTLY_DISPATCHED,
    Progress,
    is_dispatched,
    number_of,
    progress_of,
    refunded_of,
    returned_of,
    status_of,
)
from shared.couch import Document
from shared.money import money

MAX_WORDS: Final = 4
STALL: Final = "stall"
"""The channel of what was sold at stalls; all else was sold in the shop."""
_WORD = re.compile(r"[^\W_]+")


def summary_document(found: OrderDocuments, first: bool | None = None) -> OrderSummary:
    """The same for everybody who reads the same documents; with the revision of the one that is there. `first`: whether a paid order is its
    customer's first; None where that is not known."""
    order, customer, payment = found.order, found.customer, found.payment
    progress = progress_of(found.documents)
    status, name, email, stall = status_of(progress), "", "", order.get("stall", {}).get("name", "")
    if customer is not None:
        name, email = customer["name"], customer["email"]
    summary = ORDER_SUMMARY.build(
        order_key(order["orderid"], "summary"),
        orderid=order["orderid"],
        number=number_of(progress),
        userid=order["userid"],
        placed=order["date"],
        currency=order["total"]["currency"],
        status=status,
        refunded=refunded_of(progress),
        returned=returned_of(progress),
        open_returns=progress.open_returns,
        **({"waiting": waiting} if (waiting := sum(found.waiting.values())) and found.payment else {}),
        **({"label_work": True} if label_work(found) else {}),
        awaiting_dispatch=status in (PAID, PARTLY_DISPATCHED, PARTLY_DELIVERED)
        and not is_dispatched(progress),
        total=order["total"],
        paid=progress.paid,
        repaid=progress.refunded,
        units=progress.units,
        discounts=sum(each["amount"]["amount"] for each in order.get("discounts", [])),
        dates={step["status"]: step["date"] for step in _timeline(found, progress)},
        name=name,
        email=email,
        products=_products(order["basket"]),
        words=search_keys(name, email) + stall_keys(stall),
        **({"stall": stall} if stall else {}),
        **({"revenue": payment["total"]["amount"] - payment.get("gift_cards_sold", 0)} if payment else {}),
        **({"margin": margin} if (margin := margin_of(found)) else {}),
        events=progress.unsummarised + (found.summary["events"] if found.summary else 0),
        **({"erased": customer["erased"]} if customer and customer.get("erased") else {}),
    )
    if found.summary:
        summary["_rev"] = found.summary["_rev"]
    return with_first(summary, first)


def with_first(summary: OrderSummary, first: bool | None) -> OrderSummary:
    """A summary that was made before it was known whether the order is its customer's first."""
    return summary if first is None else {**summary, "first": first}


def known_first(found: OrderDocuments) -> bool | None:
    """Whether it is its customer's first order, as the summary that is there says."""
    return found.summary.get("first") if found.summary else None


def is_current(found: OrderDocuments, summary: OrderSummary) -> bool:
    """Whether this is what is stored."""
    return found.summary == summary


def listed(summary: Document) -> dict[str, Any]:
    """One line of the desk's list of orders."""
    return {
        "orderid": summary["orderid"],
        "number": summary["number"],
        "userid": summary["userid"],
        "name": summary["name"] or None,
        "email": summary["email"] or None,
        "date": summary["placed"],
        "status": summary["status"],
        "refunded": summary["refunded"],
        "returned": summary["returned"],
        "open_returns": summary["open_returns"],
        "waiting": summary.get("waiting", 0),
        "total": money(summary["total"]["amount"], summary["currency"]),
        "units": summary["units"],
        "first_order": summary.get("first"),
        "stall": summary.get("stall"),
    }


def search_keys(name: str, email: str) -> list[str]:
    """Every choice of the name's words, in one order, and the e-mail: a query of some of them is one key."""
    words = words_of(name)
    chosen = {" ".join(some) for size in range(1, len(words) + 1) for some in combinations(words, size)}
    return sorted(chosen | ({email.strip().lower()} - {""}))


def stall_keys(stall: str) -> list[str]:
    """Of a sale at a stall what all of these, and those of this stall, are found by: no word of a name has a colon."""
    return [channel_key(STALL), channel_key(f"{STALL}:{stall}")] if stall else []


def channel_key(channel: str) -> str:
    """What `stall`, or `stall:` with the name of one, asks for among `stall_keys`."""
    kind, _, name = channel.partition(":")
    return f"{kind}:{' '.join(name.casefold().split())}"


def search_key(q: str) -> str:
    """What a query asks for among `search_keys`; empty when it has no word."""
    return q.strip().lower() if "@" in q else " ".join(words_of(q))


def words_of(name: str) -> list[str]:
    """The words of a name without capitals and accents, in alphabetical order; of a long name the first and the last."""
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    words = list(dict.fromkeys(_WORD.findall(plain)))
    if len(words) > MAX_WORDS:
        words = [*words[: MAX_WORDS - 1], words[-1]]
    return sorted(words)


def _timeline(found: OrderDocuments, progress: Progress) -> list[dict[str, str]]:
    return timeline(found.documents, found.parcels, all_sent=is_dispatched(progress))


def _products(basket: Any) -> list[str]:
    """Productids and SKUs, each once."""
    named = {line["productid"] for line in basket} | {line["sku"] for line in basket if line.get("sku")}
    return sorted(named)
