"""Orders that wait for goods: what the stock's chain says of them is written down, once, whoever asks and however often."""

from collections.abc import Iterator, Sequence
from typing import Final

from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.backorders import backordered, next_wait
from services.orders.store import Choice
from shared.couch import Doc
from shared.errors import Conflict

PAGE = 100
MAX_PAGES = 5
LOOK: Final = "orders-waiting-for-goods"
FIRST_TIME, LAST_TIME = "0000", "9999"


class GoodsWaiting(Conflict):
    code, title = "goods_waiting", "Goods of this order are still to come"


def check_stock(deps: Dependencies, found: OrderDocuments) -> OrderDocuments:
    """Asks how many pieces of the order wait, and writes what is new. 1 call, and 1 write where something is."""
    order = found.order
    if not found.may_wait or order.get("imported"):
        return found
    said = deps.products.waiting({order["orderid"]: backordered(order["basket"])})[order["orderid"]]
    return _written(deps, found, said)


def look_for_goods(deps: Dependencies) -> list[str]:
    """Ids of orders whose goods have come, wholly or in part, the oldest first: that is written by then.

    Looks at so many orders a time, and goes on behind them the next time; which of them get what came says the stock's chain, whoever is
    looked at first. 1 read, and for each hundred orders that wait 1 global query, 1 read and 1 call.
    """
    begun = deps.orders.sweep_checkpoint(LOOK).get("after")
    found: list[str] = []
    after = begun
    for _ in range(MAX_PAGES):
        page = deps.summaries.orders_chosen(
            Choice(waiting=True), FIRST_TIME, LAST_TIME, limit=PAGE, after=after, oldest_first=True
        )
        found += _come(deps, _waiting(page.items))
        after = page.next
        if after is None:
            break
    if after != begun:
        deps.orders.set_sweep_checkpoint(LOOK, after=after)
    return found


def _waiting(summaries: Sequence[Doc]) -> dict[str, int]:
    """How many pieces wait, by order id; a row may be of an order that waits no more."""
    return {each["orderid"]: each["waiting"] for each in summaries if each.get("waiting")}


def _come(deps: Dependencies, waiting: dict[str, int]) -> Iterator[str]:
    if not waiting:
        return
    headers = deps.orders.headers(list(waiting))
    baskets = {orderid: backordered(order["basket"]) for orderid, order in headers.items()}
    said = deps.products.waiting(baskets)
    for orderid, count in waiting.items():
        if orderid in said and sum(said[orderid].values()) < count:
            found = deps.orders.order(orderid)
            if len(_written(deps, found, said[orderid]).waits) > len(found.waits):
                yield orderid


def _written(deps: Dependencies, found: OrderDocuments, said: dict[str, int]) -> OrderDocuments:
    """Another may have written the same number: what it says counts, and the next look finds what is new since."""
    wait = next_wait(found.order, found.waits, said)
    return found if wait is None else found.with_document(deps.orders.add(wait)[0])
