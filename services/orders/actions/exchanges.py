"""The order with which other goods are sent for those that came back.

The refund of the return is decided first and says how much of it pays for that order. Then the goods that were kept become its goods, it
is placed under an id that follows from the return, and it is paid: by the refund alone, or on a payment page for what it costs more. Last
is written how that ended; until then nothing of the refund is paid back. Each step is found done when it is repeated.
"""

import logging

from services.orders.actions import payment_pages
from services.orders.actions.attempts import Abandoned
from services.orders.actions.checkout import reconcile, record_charge
from services.orders.actions.exchange_offers import give_up, keep_on, page_provider, quote_offer
from services.orders.actions.goods_costs import costs_now
from services.orders.actions.refunds import settle_refunds, share_of
from services.orders.clients.payments import Charge, PaymentClosed, PaymentDeclined
from services.orders.clients.services import ReservationClosed
from services.orders.declarations.events import Refund
from services.orders.declarations.exchanges import (
    OFFERED,
    PAID,
    SOLD_OUT,
    UNPAID,
    ExchangeOffer,
    ExchangeShare,
    OfferedLine,
)
from services.orders.declarations.order import ORDER_CONTENT, Order, name_of
from services.orders.dependencies import Dependencies
from services.orders.documents import CUSTOMER, ORDER, RETURN_EXCHANGE, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.credits import NO_PROVIDER, is_covered, paid_by_credits, to_charge
from services.orders.rules.exchanges import (
    exchanged,
    lines_to_send,
    moved_money,
    not_sent,
    stock_of,
)
from services.orders.rules.order_returns import EXCHANGED_KEY, OFFERED_KEY, RECEIVED, REFUSED, OrderReturn
from services.orders.rules.writing import costs_of, event_fields, items_of
from shared.clock import timestamp
from shared.couch import Document
from shared.money import money

log = logging.getLogger(__name__)

UNNEEDED = "unneeded"
"""The reference under which the goods go back that were kept for what did not come."""


def share_for(
    deps: Dependencies, found: OrderDocuments, back: OrderReturn, amount: int
) -> ExchangeShare | None:
    """What of a refund of `amount` pays for the goods that are sent instead; None where nothing came for which there are any."""
    lines = lines_to_send(back.offer, back.refunded_lines) if back.offer else []
    if back.offer is None or not lines:
        return None
    worth = min(amount, share_of(found, exchanged(back.offer, back.refunded_lines))[0])
    priced = quote_offer(deps, found, lines, worth)
    paid = min(worth, priced.total["amount"])
    return {
        "orderid": back.offer["orderid"],
        "amount": money(paid, priced.total["currency"]),
        "order": {
            "basket": priced.lines,
            "goods": priced.goods,
            **({"discounts": priced.discounts} if priced.discounts else {}),
            "delivery": priced.delivery,
            "tax": priced.tax,
            "shipping": priced.shipping,
            "taxes": priced.taxes,
            "total": priced.total,
        },
    }


def settle_exchanges(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """Goes on with each exchange that was decided, as far as it can be today."""
    for refund in found.refunds:
        if found.awaits_exchange(refund):
            found = _settle(deps, found, refund)
    return found


def keep_kept(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """What an approval promised is kept on; what nothing came back for can be sold again."""
    for back in found.order_returns:
        if back.offer is None or all(found.noticed(kind) for kind in back.notices):
            continue
        if back.status == REFUSED or (back.status == RECEIVED and not _is_sent(back, back.offer)):
            give_up(deps, back.offer)
        elif back.status != RECEIVED and not back.is_refunded_first:
            keep_on(deps, back)
    return found


def pay_exchange(deps: Dependencies, linked: OrderDocuments) -> OrderDocuments:
    """The returned goods pay for the order, or a page is opened for what it costs more."""
    if not linked.is_open or linked.session is not None:
        return linked
    if is_covered(linked.order):
        return record_charge(deps, linked, Charge("", to_charge(linked.order), timestamp()))
    try:
        return payment_pages.open_page(deps, linked)
    except (PaymentDeclined, PaymentClosed) as refusal:
        return reconcile(deps, linked, Abandoned(refusal.detail))


def report_exchange(deps: Dependencies, linked: OrderDocuments) -> OrderDocuments:
    """The order of the goods that came back goes on, once it is known whether this one is paid."""
    origin = linked.order.get("exchange_of")
    if origin is not None:
        settle_refunds(deps, settle_exchanges(deps, deps.orders.order(origin["orderid"])))
    return linked


def _settle(deps: Dependencies, found: OrderDocuments, refund: Refund) -> OrderDocuments:
    share = refund["exchange"]
    linked = deps.orders.order(share["orderid"])
    if not linked.exists:
        back = next(each for each in found.order_returns if each.reference == refund["cause"])
        if back.offer is None:
            raise TypeError("an exchange without an offer")
        if found.customer is None or found.customer.get("erased"):
            give_up(deps, back.offer)
            return _noted(deps, found, refund, UNPAID)
        if not _take_goods(deps, back.offer, lines_to_send(back.offer, back.refunded_lines)):
            return _noted(deps, found, refund, SOLD_OUT)
        docs = _documents(deps, found, refund, back)
        linked = OrderDocuments(docs) if deps.orders.place(docs) else deps.orders.order(share["orderid"])
    linked = pay_exchange(deps, linked)
    if linked.cancellation is not None and not linked.cancellation["was_paid"]:
        return _noted(deps, found, refund, UNPAID)
    return _noted(deps, found, refund, OFFERED if linked.payment is None else PAID)


def _take_goods(deps: Dependencies, offer: ExchangeOffer, lines: list[OfferedLine]) -> bool:
    """Whether what was kept is there still. It is sold to the order; what nothing came back for goes back."""
    try:
        deps.products.confirm(offer["orderid"], stock_of(offer["lines"]))
    except ReservationClosed:
        log.warning("order %s: what was kept for an exchange is gone", offer["orderid"])
        give_up(deps, offer)
        return False
    if unneeded := not_sent(offer, lines):
        deps.products.take_back(offer["orderid"], unneeded, UNNEEDED)
    return True


def _documents(
    deps: Dependencies, found: OrderDocuments, refund: Refund, back: OrderReturn
) -> list[Document]:
    """The order first: who writes it has placed it."""
    share, origin, customer = refund["exchange"], found.order, found.customer
    if customer is None:
        raise TypeError("nobody gets the goods")
    credits, _, _ = moved_money(refund)
    orderid, left = share["orderid"], share["order"]["total"]["amount"] - paid_by_credits(credits)
    content = {name: origin[name] for name in ORDER_CONTENT.writable if name in origin}  # type: ignore[literal-required]  # the declared names
    order: Order = ORDER.build(
        order_key(orderid, "order"),
        orderid=orderid,
        number=deps.order_numbers.take(),
        userid=origin["userid"],
        **share["order"],
        date=timestamp(),
        provider=page_provider(deps, found) if left else NO_PROVIDER,
        fingerprint="",
        exchange_of={
            "orderid": origin["orderid"],
            "number": name_of(origin),
            "return_number": back.number,
        },
        **({"credits": credits} if credits else {}),
        **({"hosted": True} if left else {}),
        **content,
    )
    buyer = CUSTOMER.build(
        order_key(orderid, "customer"),
        orderid=orderid,
        userid=origin["userid"],
        name=customer["name"],
        email=customer["email"],
        deliveryAddress=customer["deliveryAddress"],
        **({"mail_limited": True} if customer.get("mail_limited") else {}),
    )
    return [order, buyer, *items_of(order), *costs_of(orderid, costs_now(deps, order))]


def _noted(deps: Dependencies, found: OrderDocuments, refund: Refund, outcome: str) -> OrderDocuments:
    key = OFFERED_KEY if outcome == OFFERED else EXCHANGED_KEY
    doc = RETURN_EXCHANGE.build(
        order_key(found.order["orderid"], f"{refund['cause']}{key}"),
        **event_fields(found.order),
        reference=refund["cause"],
        outcome=outcome,
        exchange=refund["exchange"]["orderid"],
    )
    if key == OFFERED_KEY and found.has(doc["_id"]):
        return found
    return found.with_document(deps.orders.add(doc)[0])


def _is_sent(back: OrderReturn, offer: ExchangeOffer) -> bool:
    return bool(lines_to_send(offer, back.refunded_lines))
