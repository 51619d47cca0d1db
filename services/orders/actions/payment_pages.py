"""Payments on the provider's page: opened once the goods are reserved; what the customer did there is asked of the provider.

The return of the browser, the webhook and the sweep all do the same, in any order, twice or never: the provider's answer decides,
and every document has a fixed id.
"""

import logging

from services.orders.clients.payments import Outcome, PageState
from services.orders.clients.services import ReservationClosed
from services.orders.declarations.order import Order
from services.orders.dependencies import Dependencies
from services.orders.documents import PAYMENT_CUSTOMER, PROCESSING, SESSION, order_key, payment_customer_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.payment_pages import Purchase, page_expires, page_lifetime, purchase_of
from services.orders.rules.writing import event_fields
from services.orders.settings import ORDER
from shared.clock import iso, timestamp

log = logging.getLogger(__name__)


def open_page(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The order with the page on which it is paid. Raises PaymentDeclined, PaymentClosed, ProviderUnavailable."""
    order = found.order
    if order.get("saves_card"):
        _add_customer(deps, found)
    page = deps.hosted(order["provider"]).open_page(_purchase(deps, found))
    session = SESSION.build(
        order_key(order["orderid"], "session"),
        **event_fields(order),
        provider=order["provider"],
        provider_ref=page.ref,
        url=page.url,
        expires=page.expires,
        **({"link": True} if order.get("payment_link") else {}),
    )
    return found.with_document(deps.orders.add(session)[0])


def reserved_until(deps: Dependencies, found: OrderDocuments) -> str:
    """For as long as the page can be paid, and a third longer: by then the sweep has seen to it."""
    seconds = _seconds(deps, found.order)
    return iso(page_expires(found.order, seconds) + page_lifetime(seconds) / 3)


def look_up(deps: Dependencies, found: OrderDocuments, session: str = "") -> tuple[OrderDocuments, Outcome]:
    """What became of the page; `session` is its reference where an event brings it before it is stored."""
    pages = deps.hosted(found.order["provider"])
    ask = pages.complete if found.is_open else pages.outcome
    outcome = ask(_purchase(deps, found), session or _ref(found))
    return _noted(deps, found, outcome)


def end_page(deps: Dependencies, found: OrderDocuments) -> tuple[OrderDocuments, Outcome]:
    """Makes sure that nobody pays any more. PROCESSING and PAID are what was first."""
    outcome = deps.hosted(found.order["provider"]).end_page(_purchase(deps, found), _ref(found))
    return _noted(deps, found, outcome)


def _noted(deps: Dependencies, found: OrderDocuments, outcome: Outcome) -> tuple[OrderDocuments, Outcome]:
    """Money that takes days is written down, and its goods are kept as sold: reserved they would go back too soon."""
    order = found.order
    if outcome.state is not PageState.PROCESSING or found.processing is not None or not found.is_open:
        return found, outcome
    try:
        deps.products.confirm(order["orderid"], order["basket"])
    except ReservationClosed:
        log.warning("order %s: its goods are gone while its payment is under way", order["orderid"])
    doc = PROCESSING.build(
        order_key(order["orderid"], "processing"),
        **event_fields(order),
        provider=order["provider"],
        provider_ref=_ref(found),
    )
    return found.with_document(deps.orders.add(doc)[0]), outcome


def forget_customers(deps: Dependencies, userid: str) -> None:
    """Every provider forgets this person and their cards. Raises Unavailable while one does not answer. May be repeated."""
    for known in deps.orders.payment_customers(userid):
        if known.get("forgotten"):
            continue
        deps.hosted(known["provider"]).remove_customer(known["provider_ref"])
        deps.orders.replace({**known, "provider_ref": "", "forgotten": True})


def _add_customer(deps: Dependencies, found: OrderDocuments) -> None:
    """Nothing is kept where it cannot be written down: erasing the person has to find it."""
    order, customer = found.order, found.customer
    userid = order["userid"]
    if userid is None or customer is None or deps.orders.payment_customer(userid, order["provider"]):
        return
    ref = deps.hosted(order["provider"]).add_customer(userid, customer["email"], customer["name"])
    if ref:
        doc = PAYMENT_CUSTOMER.build(
            payment_customer_key(userid, order["provider"]),
            userid=userid,
            provider=order["provider"],
            provider_ref=ref,
            date=timestamp(),
        )
        deps.orders.add(doc)


def _purchase(deps: Dependencies, found: OrderDocuments) -> Purchase:
    settings, order = deps.settings, found.order
    known = deps.orders.payment_customer(order["userid"], order["provider"]) if order["userid"] else None
    return purchase_of(
        found,
        settings.storefront_url,
        _seconds(deps, order),
        captures=settings.capture_at == ORDER,
        several_captures=settings.stripe_multicapture,
        customer=known["provider_ref"] if known else "",
    )


def _seconds(deps: Dependencies, order: Order) -> float:
    """A page that is sent by e-mail is open for longer."""
    settings = deps.settings
    return settings.payment_link_seconds if order.get("payment_link") else settings.payment_page_seconds


def _ref(found: OrderDocuments) -> str:
    return found.session["provider_ref"] if found.session else ""
