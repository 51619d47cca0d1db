"""A person's orders handed out, and a person taken out of them: the order stays, its `:customer` document is overwritten."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from services.orders.actions.code_uses import forget_customer_uses
from services.orders.actions.drafts import summary
from services.orders.actions.first_orders import first_orders, forget_guest
from services.orders.actions.gift_cards import store_credit_history
from services.orders.actions.notes import note_answer
from services.orders.actions.payment_pages import forget_customers
from services.orders.dependencies import Dependencies
from services.orders.documents import CUSTOMER, DRAFT_ORDER
from services.orders.rules.archive import archived_answer, archived_of
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.erasure import erased, guest_key, personal, recipient_key, without_recipient
from services.orders.rules.order_answers import whole_order
from services.orders.rules.order_errors import OrderBehind
from services.orders.rules.summaries import known_first
from services.orders.store import Key
from shared.clock import timestamp
from shared.couch import Document
from shared.errors import TooLarge

PAGE = 100
MAX_GUEST_ORDERS = 1000
MAX_DRAFTS = 1000
"""Of a person; among all that names them drafts are the first, by their ids."""


def export_orders(deps: Dependencies, userid: str) -> dict[str, Any]:
    """Every order of a person, whole, what staff drafted for them, and their store credit with all that happened to it."""
    orders = [_exported(deps.orders.order(orderid)) for orderid in _orderids(deps, userid)]
    drafts = _drafts_among(deps.orders.personal_documents(userid, limit=MAX_DRAFTS))
    return {"items": orders, "drafts": drafts, "store_credit": store_credit_history(deps, userid)["items"]}


def export_guest(deps: Dependencies, email: str) -> dict[str, Any]:
    """The orders that were made, and drafted by staff, for a guest with this e-mail, whole. 1 global query and 1 partition query an order. Raises TooLarge."""
    customers = deps.orders.personal_documents(guest_key(email), limit=MAX_GUEST_ORDERS + 1)
    orderids = _orderids_of(customers)
    if len(orderids) > MAX_GUEST_ORDERS:
        raise TooLarge(f"More than {MAX_GUEST_ORDERS} orders were made with this e-mail.")
    orders = [_exported(deps.orders.order(orderid)) for orderid in orderids]
    return {"items": orders, "drafts": _drafts_among(customers), "store_credit": []}


def anonymise(deps: Dependencies, userid: str, email: str = "") -> int:
    """Takes name, e-mail and address out of a person's orders, and of those that a guest with their `email` made, whom they sent gift
    cards, and what staff and they themselves wrote; how many orders were changed. May be repeated.

    That their uses of promotions were theirs is forgotten, too, and what jobs that failed for their orders said. The payment providers forget them first, and old revisions are removed.
    Raises ProviderUnavailable: the worker goes on with it.
    """
    forget_customers(deps, userid)
    changed: set[str] = set()
    moment = timestamp()
    while named := deps.orders.personal_documents(userid, limit=PAGE):
        named = _without_drafts(deps, named)
        forget_customer_uses(deps, _orderids_of(named))
        _forget_credit_notes(deps, _orderids_of(named), moment)
        deps.dead_letters.forget(_orderids_of(named), moment)
        deps.orders.overwrite_personal([erased(doc, moment) for doc in named])
        changed.update(doc["orderid"] for doc in named if doc["type"] == CUSTOMER.name)
    of_guest = anonymise_guest(deps, email) if email else 0
    deps.orders.compact()
    return len(changed) + of_guest


def anonymise_guest(deps: Dependencies, email: str) -> int:
    """The same for the orders that guests made with this e-mail, and who got others' gift cards with it; it is the whole erasure of somebody
    without an account. Raises OrderBehind: ask again."""
    changed: set[str] = set()
    moment = timestamp()
    while customers := deps.orders.personal_documents(guest_key(email), limit=PAGE):
        orderids = _orderids_of(_without_drafts(deps, customers))
        forget_customer_uses(deps, orderids)
        _forget_credit_notes(deps, orderids, moment)
        deps.dead_letters.forget(orderids, moment)
        orders = [OrderDocuments(deps.orders.documents_of(orderid)) for orderid in orderids]
        if not all(found.customer for found in orders):
            raise OrderBehind
        firsts = first_orders(deps.summaries, orders)
        for orderid, found in zip(orderids, orders, strict=True):
            first = firsts.get(orderid, known_first(found))
            named = [erased(doc, moment, first) for doc in personal(found.documents)]
            deps.orders.overwrite_personal(named[:-1])
            deps.orders.overwrite_personal(named[-1:])
        changed.update(orderids)
    while sent := deps.orders.personal_documents(recipient_key(email), limit=PAGE):
        deps.orders.overwrite_personal([without_recipient(doc, moment) for doc in sent])
        changed.update(doc["_id"] for doc in sent)
    forget_guest(deps.summaries, email)
    deps.orders.compact()
    return len(changed)


def _without_drafts(deps: Dependencies, named: Sequence[Document]) -> list[Document]:
    """Draft orders are removed; the documents that are left. 1 write where there are any. Raises Unavailable."""
    drafts = [doc for doc in named if doc["type"] == DRAFT_ORDER.name]
    if drafts:
        deps.orders.overwrite_personal(
            [{"_id": doc["_id"], "_rev": doc["_rev"], "_deleted": True} for doc in drafts]
        )
    return [doc for doc in named if doc["type"] != DRAFT_ORDER.name]


def _orderids_of(docs: Iterable[Document]) -> list[str]:
    return list(dict.fromkeys(doc["orderid"] for doc in docs if doc.get("orderid")))


def _forget_credit_notes(deps: Dependencies, orderids: Sequence[str], moment: str) -> None:
    """Why something of these orders was paid back to gift cards and store credit: entries keep a copy of it."""
    for order in deps.orders.headers(orderids).values():
        for credit in order.get("credits", []):
            entries = deps.credits.entries_of_order(credit, order["orderid"])
            deps.orders.overwrite_personal([erased(entry, moment) for entry in entries if entry["note"]])


def has_bought(deps: Dependencies, userid: str, productid: str) -> bool:
    """Whether this person has paid for this product: what a review asks."""
    return deps.orders.bought(userid, productid)


def _drafts_among(docs: Iterable[Document]) -> list[dict[str, Any]]:
    return [summary(draft) for draft in DRAFT_ORDER.among(docs)]


def _exported(found: OrderDocuments) -> dict[str, Any]:
    """Of an archived order what is not in the archive: in it nobody is named."""
    if archived := archived_of(found):
        notes = [note_answer(note) for note in found.notes]
        return {**archived_answer(archived, found.customer), "notes": notes}
    recipient = found.customer and found.customer.get("gift_recipient")
    notes = [note_answer(note) for note in found.notes]
    return {
        **whole_order(found),
        "notes": notes,
        **({"gift_recipient": recipient} if recipient and "email" in recipient else {}),
    }


def _orderids(deps: Dependencies, userid: str) -> Iterator[str]:
    after: Key | None = None
    while True:
        page = deps.orders.orders_of_a_customer(userid, limit=PAGE, after=after, allow_stale=False)
        yield from (item["key"][2] for item in page.items)
        if page.next is None:
            return
        after = page.next
