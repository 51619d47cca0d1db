"""Lines of an order that wait for goods: how many pieces, and what can be sent meanwhile.

The stock's chain knows who waits (`services.products.rules.backorders`); an order keeps what it said, each time in a document of its own
with the next number. It never says more than the one before: goods that an order was told are here stay its own.
"""

from collections.abc import Mapping, Sequence

from services.orders.declarations.events import StockWait
from services.orders.declarations.order import Order
from services.orders.declarations.parts import Line, line_key
from services.orders.documents import STOCK_WAIT, order_key
from services.orders.rules.writing import event_fields

Quantities = dict[str, int]


def may_wait(basket: Sequence[Line]) -> bool:
    """Whether goods of this order are sold beyond their stock."""
    return any("backorder" in line for line in basket)


def backordered(basket: Sequence[Line]) -> list[Line]:
    """The lines whose goods are sold beyond their stock."""
    return [line for line in basket if "backorder" in line]


def waiting_now(basket: Sequence[Line], waits: Sequence[StockWait], left: Quantities) -> Quantities:
    """How many of each line wait, of those that are `left` to send. Before the chain was asked it is what the price list knew."""
    known: Mapping[str, int] = (
        waits[-1]["waiting"]
        if waits
        else {line_key(line): line["backorder"]["waiting"] for line in backordered(basket)}
    )
    return {key: count for key, rest in left.items() if (count := min(known.get(key, 0), rest)) > 0}


def ready_now(basket: Sequence[Line], waits: Sequence[StockWait], left: Quantities) -> Quantities:
    """How many of each line can be sent: nothing of an order whose goods may wait before the chain was asked."""
    if may_wait(basket) and not waits:
        return {}
    waiting = waiting_now(basket, waits, left)
    return {key: ready for key, rest in left.items() if (ready := rest - waiting.get(key, 0)) > 0}


def next_wait(order: Order, waits: Sequence[StockWait], said: Quantities) -> StockWait | None:
    """What is to be written of what the chain says; None where that is known."""
    before = waits[-1]["waiting"] if waits else None
    waiting = {key: count for key, count in said.items() if count}
    if before is not None:
        waiting = {key: min(count, before[key]) for key, count in waiting.items() if key in before}
        if waiting == before:
            return None
    number = len(waits) + 1
    return STOCK_WAIT.build(
        order_key(order["orderid"], f"waiting{number}"),
        **event_fields(order),
        number=number,
        waiting=waiting,
        change=sum(waiting.values()) - sum((before or {}).values()),
    )
