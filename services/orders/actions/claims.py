"""What a checkout takes beside the goods before it is charged, and what goes back when it comes to nothing."""

from collections.abc import Mapping

from services.orders.actions import code_uses, credits
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.credits import AttemptEnded, Chain, credits_of, key_of


def take(deps: Dependencies, found: OrderDocuments, known: Mapping[str, Chain]) -> None:
    """The counted uses of promotions, then what gift cards and store credit pay of the order, in their order; once.

    Raises CodeUsedUp, CodeNotValid, PriceChanged, BalanceSpent, AttemptEnded.

    `known`: the chains as they were read when the order was priced, by id.
    """
    order = found.order
    if not code_uses.take(deps, found):
        raise AttemptEnded("This attempt to order was ended; order again with a new Idempotency-Key.")
    by = f"user {order['userid']}" if order["userid"] else "guest"
    for credit in credits_of(order):
        credits.spend(deps, credit, order["orderid"], by, known.get(credit["id"]))


def give_back(deps: Dependencies, found: OrderDocuments) -> None:
    """Everything that the order took, once; what it has not taken by now it can't take any more."""
    for credit in reversed(credits_of(found.order)):
        credits.give_back(deps, credit, found.order["orderid"])
    code_uses.give_back(deps, found)


def end(deps: Dependencies, found: OrderDocuments) -> bool:
    """Of an order that leaves nothing to pay: whether its credits have paid it. If not, from now on they can't.

    They are spent in their order, so that the last one decides.
    """
    paid = credits_of(found.order)
    return bool(paid) and credits.close(deps, paid[-1], found.order["orderid"])


def are_held(deps: Dependencies, found: OrderDocuments) -> bool:
    """Whether all that the order was to take is taken and was not given back."""
    return all(
        deps.credits.chain(key_of(credit)).spent_by(found.order["orderid"])
        for credit in credits_of(found.order)
    )
