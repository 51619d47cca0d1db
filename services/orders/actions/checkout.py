"""Placing an order: the steps of `rules.checkout`'s table, over immutable documents.

intent (order, customer, lines: one bulk) -> stock reserved -> codes used -> gift cards spent -> charged -> payment document -> stock sold
"""

import logging
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from services.orders.actions import claims, payment_pages, saved_methods, stall_sales
from services.orders.actions.attempts import (
    Abandoned,
    AttemptClosed,
    Checkout,
    Placed,
    Request,
    unpaid,
)
from services.orders.actions.cancellation import cancel_unfulfillable
from services.orders.actions.intents import Buyer, price_request
from services.orders.actions.refunds import add_refund, settle_refunds
from services.orders.clients.payments import (
    Charge,
    PageState,
    PaymentClosed,
    PaymentDeclined,
    answer_of,
)
from services.orders.clients.services import OutOfStock, ReservationClosed
from services.orders.declarations.credits import CreditPayment
from services.orders.declarations.events import OrderPayment
from services.orders.declarations.order import Order
from services.orders.dependencies import Dependencies
from services.orders.rules.archive import placed_at
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.checkout import CHECKOUT, ENDS, ENTRIES, State, next_state
from services.orders.rules.credits import AttemptEnded, BalanceSpent, credits_of, to_charge
from services.orders.rules.identity import key_is_free_again, orderid_for
from services.orders.rules.manual_payments import needs_no_provider
from services.orders.rules.pricing import CarrierUnavailable, CodeNotValid, CodeUsedUp, PriceChanged
from services.orders.rules.pricing.tax_question import TaxUnavailable
from services.orders.rules.writing import cancellation_of, costs_of, items_of, payment_of
from shared.clock import iso, now, parse, timestamp
from shared.errors import AisleError, Conflict, Invalid, NotFound, Unavailable
from shared.idempotency import check_same

log = logging.getLogger(__name__)

MIN_DELAY, MAX_DELAY = 0.04, 0.4
FIRST_REQUEST_SECONDS = 3.0


def place_order(deps: Dependencies, buyer: Buyer, key: str, body: dict[str, Any]) -> Placed:
    """Places the order that `body` asks for, once per key. `body`: items, address or address_id, payment, expected_total.

    Raises OutOfStock, PriceChanged, PaymentDeclined, KeyReused, Invalid, or Unavailable; after the last the same
    key may be sent again. It finds the order, places it, or raises AttemptClosed where the attempt was given up meanwhile: nothing is
    charged then, and a new key orders anew.
    """
    checkout = Checkout(deps, OrderDocuments([]), Request(buyer, key, body))
    state = run(checkout, ENTRIES["request"])
    if state is State.CLOSED:
        raise AttemptClosed
    if state is State.CANCELLED:
        raise checkout.refusal or refusal_of(checkout.found)
    if state is State.REJECTED and checkout.refusal:
        raise checkout.refusal
    return Placed(checkout.found, checkout.replayed)


def record_charge(deps: Dependencies, found: OrderDocuments, charge: Charge) -> OrderDocuments:
    """What a webhook says was paid becomes the order's payment; that of an attempt that had ended is paid back."""
    if found.cancellation is not None:
        payment, _ = deps.orders.add(_payment(found.order, charge, [], sold=False))
        return pay_back(deps, found.with_document(payment))
    checkout = Checkout(deps, found, charge=charge)
    run(checkout, ENTRIES["webhook"])
    return checkout.found


def reconcile(deps: Dependencies, found: OrderDocuments, refusal: AisleError | None = None) -> OrderDocuments:
    """Ends a checkout that a crash or a lost answer left open, or that came to nothing because of `refusal`."""
    if not found.is_open:
        return found
    if "stall" in found.order:
        return stall_sales.finish(deps, found)
    checkout = Checkout(deps, found, refusal=refusal or Abandoned("No payment arrived in time."))
    run(checkout, ENTRIES["sweep"])
    return checkout.found


def pay_back(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """The attempt had ended when its money came: no goods, and all of the money back."""
    deps.products.release(found.order["orderid"], found.order["basket"])
    found = add_refund(deps, found, None, "It was paid after the order had ended.", "cancellation")
    return settle_refunds(deps, found)


def run(checkout: Checkout, state: State) -> State:
    """Does the steps of the table from `state` on; the end they lead to."""
    while state not in ENDS:
        outcome = STEPS[CHECKOUT[state].step](checkout)
        state = next_state(state, outcome)
    return state


def refusal_of(found: OrderDocuments) -> AisleError:
    """The error that a cancelled attempt was answered with."""
    refusals = (OutOfStock, PaymentDeclined, BalanceSpent, CodeUsedUp, CodeNotValid, PriceChanged)
    known = {refusal.code: refusal for refusal in refusals}
    cancellation = found.cancellation
    kind = known.get(cancellation["reason"]) if cancellation else None
    return kind(cancellation["detail"]) if cancellation and kind else AttemptClosed()


def _price(checkout: Checkout) -> str:
    request = checkout.require_request()
    try:
        checkout.intent = price_request(checkout.deps, request.buyer, request.body)
    except (Conflict, Invalid, NotFound, CarrierUnavailable, TaxUnavailable) as refusal:
        checkout.refusal = refusal
        return "refused"
    return "priced"


def _find(checkout: Checkout) -> str:
    _, checkout.found = _latest(checkout)
    return "found" if checkout.found.exists else "absent"


def _place(checkout: Checkout) -> str:
    """Under the key's first id; where that order is older than a key is kept, under the next one."""
    request = checkout.require_request()
    if _written(checkout, orderid_for(request.buyer.owner, request.key)):
        return "written"
    orderid, checkout.found = _latest(checkout)
    if not checkout.found.exists and _written(checkout, orderid):
        return "written"
    if not checkout.found.exists:
        checkout.found = checkout.deps.orders.order(orderid)
    return "found"


def _written(checkout: Checkout, orderid: str) -> bool:
    number = checkout.deps.order_numbers.take()
    docs = checkout.require_intent().documents(orderid, checkout.require_request().fingerprint, number)
    if not checkout.deps.orders.place(docs):
        return False
    checkout.found = OrderDocuments(docs)
    return True


def _latest(checkout: Checkout) -> tuple[str, OrderDocuments]:
    """The order that this key stands for today, or the id that it would get."""
    request, generation = checkout.require_request(), 1
    while True:
        orderid = orderid_for(request.buyer.owner, request.key, generation)
        found = checkout.deps.orders.order(orderid)
        placed = placed_at(found)
        if placed is None or not key_is_free_again(placed, now()):
            return orderid, found
        generation += 1


def _complete(checkout: Checkout) -> str:
    """Checks that the body is the same, and adds the customer and the lines that a crash left out of the first bulk."""
    request, found = checkout.require_request(), checkout.found
    paid = found.payment is not None
    closed = found.cancellation is not None and not paid
    orderid = found.order["orderid"]
    awaiting = found.session is not None and found.is_open
    check_same(
        found.order["fingerprint"],
        request.fingerprint,
        orderid=orderid,
        paid=paid,
        closed=closed,
        awaiting=awaiting,
    )
    checkout.replayed = True
    if checkout.intent and not paid:
        _, customer, *_ = checkout.intent.documents(
            orderid, request.fingerprint, found.order.get("number") or ""
        )
        there = {doc["_id"] for doc in found.documents}
        first = [customer, *items_of(found.order), *costs_of(orderid, checkout.intent.priced.costs)]
        missing = [doc for doc in first if doc["_id"] not in there]
        if missing:
            checkout.deps.orders.add_all(missing)
            checkout.found = OrderDocuments([*found.documents, *missing])
    return "completed"


def _wait(checkout: Checkout) -> str:
    """While the request that placed the order may still be at work, its outcome is waited for."""
    placed, pause = min(parse(checkout.order["date"]), now()), MIN_DELAY
    until = placed + timedelta(seconds=FIRST_REQUEST_SECONDS)
    while checkout.found.is_open and checkout.found.session is None and now() < until:
        time.sleep(pause)
        pause = min(pause * 2, MAX_DELAY)
        checkout.found = checkout.deps.orders.order(checkout.order["orderid"])
    if _is_cancelled_by_shop(checkout.found):
        checkout.refusal = None
        return "cancelled"
    if checkout.found.payment is not None:
        return "paid"
    if checkout.found.session is not None and checkout.found.is_open:
        return _look_up_page(checkout)
    return "unusable" if checkout.found.customer is None else "open"


def _look_up_page(checkout: Checkout) -> str:
    """What the customer did on the payment page before sending the order again."""
    checkout.found, outcome = payment_pages.look_up(checkout.deps, checkout.found)
    if outcome.charge is not None:
        checkout.charge = outcome.charge
        return "charged"
    if outcome.state is not PageState.ENDED:
        return "page"
    checkout.refusal = unpaid(checkout.found, outcome)
    return "ended"


def _reserve(checkout: Checkout) -> str:
    """Keeps the goods for this order."""
    deps, order = checkout.deps, checkout.order
    expires = (
        payment_pages.reserved_until(deps, checkout.found)
        if order.get("hosted")
        else iso(now() + timedelta(seconds=deps.settings.reservation_seconds))
    )
    try:
        again = checkout.replayed or checkout.request is None
        deps.products.reserve(order["orderid"], order["basket"], expires, again=again)
    except OutOfStock as refusal:
        checkout.refusal = refusal
        return "out_of_stock"
    except ReservationClosed:
        return "gone"
    return "reserved"


def _claim(checkout: Checkout) -> str:
    """Takes what the order needs besides goods; where nothing is left to pay then, no provider is asked."""
    chains = checkout.intent.chains if checkout.intent and not checkout.replayed else {}
    try:
        claims.take(checkout.deps, checkout.found, chains)
    except AttemptEnded:
        return _closed(checkout)
    except (Conflict, Invalid) as refusal:
        checkout.refusal = refusal
        return "taken"
    if not needs_no_provider(checkout.order):
        return "claimed"
    checkout.charge = _without_provider(checkout.order)
    return "covered"


def _without_provider(order: Order) -> Charge:
    """What is paid without a provider: nothing where gift cards and store credit pay, else what staff have taken."""
    return Charge(order.get("payment_reference", ""), to_charge(order), timestamp())


def _charge(checkout: Checkout) -> str:
    """Asks again when the answer is lost: the provider charges an order once."""
    if checkout.order.get("hosted"):
        return _open_page(checkout)
    order, payment = checkout.order, checkout.require_request().body["payment"]
    provider = checkout.deps.provider(order["provider"])
    try:
        token, customer = saved_methods.token_of(checkout.deps, order, payment)
        checkout.charge = answer_of(
            lambda: provider.charge(order["orderid"], to_charge(order), token, customer)
        )
    except PaymentDeclined as refusal:
        checkout.refusal = refusal
        return "declined"
    except PaymentClosed:
        return _closed(checkout)
    return "charged"


def _closed(checkout: Checkout) -> str:
    """The attempt was ended while this request was at work: what it took afterwards goes back, too."""
    claims.give_back(checkout.deps, checkout.found)
    return "closed"


def _open_page(checkout: Checkout) -> str:
    """The customer pays on the provider's page: the request ends here, and the order waits."""
    try:
        checkout.found = answer_of(lambda: payment_pages.open_page(checkout.deps, checkout.found))
    except PaymentDeclined as refusal:
        checkout.refusal = refusal
        return "declined"
    except PaymentClosed:
        return _closed(checkout)
    return "page"


def _record_payment(checkout: Checkout) -> str:
    """Marks the stock as sold and writes the payment document; cancelled and paid back if the goods are gone by now."""
    deps, order, charge = checkout.deps, checkout.order, checkout.charge
    if charge is None:
        raise TypeError("nothing was charged")
    sold, gone = _sell(deps, order)
    held = checkout.request is not None or claims.are_held(deps, checkout.found)
    if not held:
        claims.give_back(deps, checkout.found)
    payment = _payment(order, charge, credits_of(order) if held else [], sold=sold)
    checkout.found = checkout.found.with_document(deps.orders.add(payment)[0])
    if order["userid"]:
        deps.recent.remember(order["userid"], [order["orderid"]])
    if gone or not held:
        reason = BalanceSpent.code if not held else OutOfStock.code
        checkout.found = cancel_unfulfillable(deps, checkout.found, reason)
    checkout.refusal = None
    return "goods_gone" if _is_cancelled_by_shop(checkout.found) else "recorded"


def _payment(order: Order, charge: Charge, credits: list[CreditPayment], *, sold: bool) -> OrderPayment:
    before = None if charge.captured else charge.capture_before
    return payment_of(
        order,
        order["provider"],
        charge.ref,
        charge.total,
        charge.date,
        sold=sold,
        capture_before=before,
        several_captures=charge.several,
        credits=credits,
    )


def _sell(deps: Dependencies, order: Order) -> tuple[bool, bool]:
    """Whether the stock is marked as sold, and whether the goods are gone."""
    try:
        deps.products.confirm(order["orderid"], order["basket"])
    except ReservationClosed:
        return False, True
    except Unavailable:
        log.warning("order %s: the worker will mark the stock as sold", order["orderid"])
        return False, False
    return True, False


def _abandon(checkout: Checkout) -> str:
    """Ends an unpaid attempt: closed at the provider, stock released, written down. What cannot be ended now is left to the sweep."""
    try:
        return _undo(checkout)
    except Unavailable:
        if checkout.request is None:
            raise
        log.warning("order %s stays open for reconciliation", checkout.order["orderid"])
        return "open"


def _undo(checkout: Checkout) -> str:
    deps, order, refusal = checkout.deps, checkout.order, checkout.refusal
    if refusal is None:
        raise TypeError("an attempt is given up for a reason")
    if order.get("hosted"):
        checkout.found, outcome = payment_pages.end_page(deps, checkout.found)
        if outcome.state is PageState.PROCESSING:
            return "processing"
        checkout.charge = outcome.charge
    elif needs_no_provider(order):
        checkout.charge = _without_provider(order) if claims.end(deps, checkout.found) else None
    else:
        checkout.charge = deps.provider(order["provider"]).close(order["orderid"], to_charge(order))
    if checkout.charge is not None:
        if len(checkout.found.items) < len(order["basket"]):
            deps.orders.add_all(items_of(order))
        return "charged"
    claims.give_back(deps, checkout.found)
    deps.products.release(order["orderid"], order["basket"])
    cancellation = cancellation_of(order, refusal.code, refusal.detail, "shop", was_paid=False)
    checkout.found = checkout.found.with_document(deps.orders.add(cancellation)[0])
    return "cancelled"


def _is_cancelled_by_shop(found: OrderDocuments) -> bool:
    return found.cancellation is not None and found.cancellation["by"] == "shop"


STEPS: Mapping[str, Callable[[Checkout], str]] = {
    "price": _price,
    "find": _find,
    "place": _place,
    "complete": _complete,
    "wait": _wait,
    "reserve": _reserve,
    "claim": _claim,
    "charge": _charge,
    "record_payment": _record_payment,
    "abandon": _abandon,
}
