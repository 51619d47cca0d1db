"""What a checkout takes beside the goods before it is charged, and what goes back when it comes to nothing."""

from collections.abc import Mapping
from typing import Final

from services.orders.actions import code_uses, credits
from services.orders.declarations.order import Order
from services.orders.dependencies import Dependencies
from services.orders.documents import ATTEMPT_OUTCOME, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.credits import AttemptEnded, BalanceSpent, Chain, credits_of, is_covered
from services.orders.rules.manual_payments import is_manual
from services.orders.rules.writing import event_fields

ENDED: Final = "This attempt to order was ended; order again with a new Idempotency-Key."


def take(deps: Dependencies, found: OrderDocuments, known: Mapping[str, Chain]) -> None:
    """The counted uses of promotions, then what gift cards and store credit pay of the order, in their order; once.

    Raises CodeUsedUp, CodeNotValid, PriceChanged, BalanceSpent, AttemptEnded.

    `known`: the chains as they were read when the order was priced, by id.
    """
    order = found.order
    if not code_uses.take(deps, found):
        raise AttemptEnded(ENDED)
    for credit in credits_of(order):
        credits.spend(deps, credit, order["orderid"], spender(order), known.get(credit["id"]))
    if _is_decided_here(found) and not _decided_paid(deps, found, paid=True):
        raise AttemptEnded(ENDED)


def give_back(deps: Dependencies, found: OrderDocuments) -> None:
    """Everything that the order took, once; what it has not taken by now it can't take any more. Goods that came back have paid an exchange:
    their own order pays that back."""
    for credit in [] if found.order.get("exchange_of") else reversed(credits_of(found.order)):
        credits.give_back(deps, credit, found.order["orderid"])
    code_uses.give_back(deps, found)


def end(deps: Dependencies, found: OrderDocuments) -> bool:
    """Of an order that no provider is asked for: whether its credits or staff have paid it, or it is placed without any. If not, from now on it can't be.

    They are spent in their order, so that the last one decides.
    """
    if _is_decided_here(found):
        return _decided_paid(deps, found, paid=False)
    return credits.close(deps, credits_of(found.order)[-1], found.order["orderid"])


def are_held(deps: Dependencies, found: OrderDocuments) -> bool:
    """Whether the order has all credits that it was to take and that were not given back. What it lost to another order, where both wrote the
    same entry, it takes again while there is enough."""
    order = found.order
    if order.get("exchange_of"):
        return True
    try:
        for credit in credits_of(order):
            credits.spend(deps, credit, order["orderid"], spender(order))
    except (AttemptEnded, BalanceSpent):
        return False
    return True


def record(deps: Dependencies, found: OrderDocuments) -> None:
    """What gift cards and store credit paid of a paid order stands in their chains. 1 partition query for each."""
    order = found.order
    for credit in [] if order.get("exchange_of") else found.require_payment().get("credits", []):
        credits.record_spent(deps, credit, order["orderid"], spender(order))


def spender(order: Order) -> str:
    """Who spends, as entries name them."""
    return f"user {order['userid']}" if order["userid"] else "guest"


def _is_decided_here(found: OrderDocuments) -> bool:
    """Whether neither a provider nor a gift card says if it is paid: it is free, or staff have the money."""
    order = found.order
    return is_manual(order) or (is_covered(order) and not credits_of(order))


def _decided_paid(deps: Dependencies, found: OrderDocuments, *, paid: bool) -> bool:
    """Who comes first decides. 1 write."""
    outcome = ATTEMPT_OUTCOME.build(
        order_key(found.order["orderid"], "outcome"), **event_fields(found.order), paid=paid
    )
    return deps.orders.add(outcome)[0]["paid"]
