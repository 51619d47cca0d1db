"""A person's orders handed out, and a person taken out of them: the order stays, its `:customer` document is overwritten."""

from collections.abc import Iterator
from typing import Any

from services.orders.actions.code_uses import forget_customer_uses
from services.orders.actions.gift_cards import store_credit_history
from services.orders.actions.notes import note_answer
from services.orders.actions.payment_pages import forget_customers
from services.orders.dependencies import Dependencies
from services.orders.documents import CUSTOMER, NOTE, ORDER_SUMMARY, RETURN_REQUEST
from services.orders.rules.assembly import OrderDocuments, whole_order
from services.orders.store import Key
from shared.clock import timestamp
from shared.couch import Document

PAGE = 100


def export_orders(deps: Dependencies, userid: str) -> dict[str, Any]:
    """Every order of a person, whole, and their store credit with all that happened to it."""
    orders = [_exported(deps.orders.order(orderid)) for orderid in _orderids(deps, userid)]
    return {"items": orders, "store_credit": store_credit_history(deps, userid)["items"]}


def anonymise(deps: Dependencies, userid: str) -> int:
    """Takes name, e-mail and address out of a person's orders, whom they sent gift cards, and what staff and they themselves noted;
    how many orders were changed. May be repeated.

    That their uses of promotions were theirs is forgotten, too. The payment providers forget them first. Raises ProviderUnavailable: the worker goes on with it.
    """
    forget_customers(deps, userid)
    changed, moment = 0, timestamp()
    while named := deps.orders.personal_documents(userid, limit=PAGE):
        forget_customer_uses(deps, list(dict.fromkeys(doc["orderid"] for doc in named)))
        deps.orders.overwrite_personal([_erased(doc, moment) for doc in named])
        changed += sum(doc["type"] == CUSTOMER.name for doc in named)
    return changed


def has_bought(deps: Dependencies, userid: str, productid: str) -> bool:
    """Whether this person has paid for this product: what a review asks."""
    return deps.orders.bought(userid, productid)


def _exported(found: OrderDocuments) -> dict[str, Any]:
    recipient = found.customer and found.customer.get("gift_recipient")
    notes = [note_answer(note) for note in found.notes]
    return {**whole_order(found), "notes": notes, **({"gift_recipient": recipient} if recipient else {})}


def _erased(doc: Document, moment: str) -> Document:
    """Without what was written of the person: notes are emptied, of the customer nothing is left but whose order it is."""
    if doc["type"] == NOTE.name:
        return {**doc, "text": "", "erased": moment}
    if doc["type"] == ORDER_SUMMARY.name:
        return {**doc, "name": "", "email": "", "words": [], "erased": moment}
    if doc["type"] == RETURN_REQUEST.name:
        return {**doc, "note": "", "erased": moment}
    erased = CUSTOMER.build(
        doc["_id"],
        orderid=doc["orderid"],
        userid=doc["userid"],
        name="",
        email="",
        deliveryAddress=None,
        erased=moment,
    )
    return {**erased, "_rev": doc["_rev"]}


def _orderids(deps: Dependencies, userid: str) -> Iterator[str]:
    after: Key | None = None
    while True:
        page = deps.orders.orders_of_a_customer(userid, limit=PAGE, after=after, allow_stale=False)
        yield from (item["key"][2] for item in page.items)
        if page.next is None:
            return
        after = page.next
