"""Keeps `order{id}:summary` what the order's other documents say, and makes those of orders from before there were any."""

import time
from collections.abc import Callable
from typing import Any, Final, cast

from services.orders.actions.first_orders import first_orders
from services.orders.declarations.summaries import OrderSummary
from services.orders.dependencies import Dependencies
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.summaries import is_current, known_first, summary_document
from services.orders.store import SummaryStore
from shared.couch import Document, UpdateConflict
from shared.errors import Unavailable
from shared.waiting import device_mark

BATCH: Final = 1000
"""Documents that are read at once."""
SLICE_SECONDS: Final = 5.0
"""The background job works so long at a time, and leaves the database as long to others."""
MAX_ATTEMPTS = 5
SHAPE: Final = 3
"""Of what a summary says: 2 has `first` and `revenue`, 3 `margin`. Those of an older shape are made again in the background."""


def summarise(deps: Dependencies, found: OrderDocuments) -> None:
    """Writes the summary unless it is there as it should be: 1 write for all that happened since it was written. Devices of the customer that
    wait for changes hear of it."""
    for _ in range(MAX_ATTEMPTS):
        if not found.exists:
            return
        summary = summary_document(found, _first(deps.summaries, found))
        if is_current(found, summary):
            return
        try:
            deps.summaries.put(summary)
        except UpdateConflict:
            found = deps.orders.order(found.order["orderid"])
            continue
        return _tell_devices(deps, summary)
    raise Unavailable("Others are changing this order just now.")


def add_with_summary(
    deps: Dependencies, found: OrderDocuments, made: Callable[[], Document]
) -> OrderDocuments:
    """Adds the document that `made` gives and writes the summary beside it: 1 write, unless somebody else has changed the summary.

    What the summary needs to know is asked before: where `made` sends an e-mail, the next thing is that it is written.
    """
    first = _first(deps.summaries, found)
    doc = made()
    summary = summary_document(found.with_document(doc), first)
    stored, revision = deps.orders.add_beside(doc, cast(Document, summary))
    found = found.with_document(stored)
    if revision is None:
        return found
    _tell_devices(deps, summary)
    return found.with_document({**summary, "_rev": revision})


def _tell_devices(deps: Dependencies, summary: OrderSummary) -> None:
    if summary["userid"]:
        deps.marks.change([device_mark(summary["userid"])])


def _first(store: SummaryStore, found: OrderDocuments) -> bool | None:
    """Asked once for each order: an earlier one that comes later writes the summary itself."""
    known = known_first(found)
    return known if known is not None else first_orders(store, [found]).get(found.order["orderid"])


def summarise_order(deps: Dependencies, orderid: str) -> None:
    """The same for an order that nobody has read. 1 partition query."""
    summarise(deps, deps.orders.order(orderid))


def are_complete(state: dict[str, Any]) -> bool:
    """Whether every order has its summary of today's shape."""
    return state.get("schema") == SHAPE and bool(state.get("finished"))


def unlisted(state: dict[str, Any]) -> int | None:
    """How many orders may be missing in lists of summaries; None while nobody has counted them."""
    if are_complete(state):
        return 0
    return max(0, state["total"] - state["orders"]) if "total" in state else None


def begin_complete(store: SummaryStore) -> None:
    """A database without orders lacks nothing."""
    if not store.state() and not store.number_of_orders():
        store.set_state(schema=SHAPE, finished=True, after="", orders=0, written=0, total=0)


def complete(store: SummaryStore, seconds: float = SLICE_SECONDS) -> None:
    """The background job: goes on for so long where the last one ended. 1 read when all is done."""
    state, ends = store.state(), time.monotonic() + seconds
    if are_complete(state):
        return
    if state.get("schema") != SHAPE:
        _restart(store)
    while not are_complete(_continue(store)) and time.monotonic() < ends:
        continue


def rebuild(store: SummaryStore, progress: Callable[[str], None]) -> int:
    """Makes every summary anew from the order's documents; how many were not as they should be."""
    state = _restart(store)
    while not are_complete(state):
        state = _continue(store)
        progress(
            f"orders: {state['orders']} of {state['total']} orders summarised, {state['written']} written"
        )
    return int(state["written"])


def _restart(store: SummaryStore) -> dict[str, Any]:
    values = {"after": "", "orders": 0, "written": 0, "finished": False, "total": store.number_of_orders()}
    store.set_state(schema=SHAPE, **values)
    return {**values, "schema": SHAPE}


def _continue(store: SummaryStore) -> dict[str, Any]:
    """The next orders; where it ended is written after them, so that a killed job does them again."""
    state = store.state()
    found, following = store.whole_orders(state["after"], limit=BATCH)
    firsts = first_orders(store, found)
    made = [(order, summary_document(order, firsts.get(order.order["orderid"]))) for order in found]
    wrong = [summary for order, summary in made if not is_current(order, summary)]
    values = {
        "after": following or "",
        "orders": state["orders"] + len(found),
        "written": state["written"] + (store.put_many(wrong) if wrong else 0),
        "finished": following is None,
    }
    store.set_state(**values)
    return state | values
