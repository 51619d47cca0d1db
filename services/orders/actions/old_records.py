"""Removes what has been kept for as long as the settings say: dead letters, computed reports, to whom figures were sent, given-up checkouts.

Each run does a bounded piece, and the next one goes on. Killed anywhere it leaves what the next run finds again; run twice at once, both
remove the same. Payments, refunds, invoices, the audit trail and closings are never removed.
"""

from datetime import datetime, timedelta
from typing import Final

from services.orders.dependencies import Dependencies
from services.orders.rules.old_records import (
    LOOKED_AT,
    ended_dead_letters,
    in_order_of_removal,
    is_given_up,
    may_be_given_up,
)
from services.orders.rules.progress import Progress
from services.orders.settings import SANDBOX
from shared.clock import iso
from shared.couch import Document

AT_ONCE: Final = 500
"""Documents that one write removes."""
ROWS: Final = 1000
ORDERS: Final = 100
"""Given-up checkouts, and reports, of one run: each is 1 partition query."""
GIVEN_UP_CHECKPOINT: Final = "given-up-checkouts"
REPORTS_CHECKPOINT: Final = "old-reports"
BEGINNING: Final = "0000"


def remove_old_records(deps: Dependencies, moment: datetime) -> int:
    """The job: how many documents it removed. At most 3 global queries, 2 * ORDERS + 1 partition queries and some writes."""
    return (
        remove_dead_letters(deps, moment)
        + remove_daily_figures(deps, moment)
        + remove_reports(deps, moment)
        + remove_given_up(deps, moment)
    )


def remove_dead_letters(deps: Dependencies, moment: datetime) -> int:
    """Sent again or not: the worker looks for nothing of that age any more. 1 partition query, 1 write where there are any."""
    before = _before(moment, deps.settings.dead_letter_days, at_least=LOOKED_AT)
    if before is None:
        return 0
    return deps.old_records.remove(ended_dead_letters(deps.old_records.dead_letters(), before))


def remove_daily_figures(deps: Dependencies, moment: datetime) -> int:
    """1 global query, 1 write where there are any."""
    before = _before(moment, deps.settings.report_days)
    if before is None:
        return 0
    return deps.old_records.remove(deps.old_records.daily_figures(before[:10], limit=AT_ONCE))


def remove_reports(deps: Dependencies, moment: datetime) -> int:
    """Those that somebody asked for; they can be asked for again. Closings stay. 1 read, 1 global query, 1 partition query and 1 write a report."""
    before = _before(moment, deps.settings.report_days)
    if before is None:
        return 0
    since = deps.orders.sweep_checkpoint(REPORTS_CHECKPOINT).get("since", BEGINNING)
    removed = 0
    rows = deps.old_records.reports(since, before, limit=ORDERS)
    for _, reportid in rows:
        if reportid is not None:
            docs = deps.old_records.report(reportid)
            parts = [doc for doc in docs if doc["type"] != "reportrequest"]
            removed += deps.old_records.remove(parts)
            removed += deps.old_records.remove([doc for doc in docs if doc["type"] == "reportrequest"])
    if rows:
        deps.orders.set_sweep_checkpoint(REPORTS_CHECKPOINT, since=rows[-1][0])
    return removed


def remove_given_up(deps: Dependencies, moment: datetime) -> int:
    """Checkouts that ended without money. 1 read, 1 global query, 1 partition query a checkout, 2 writes for all of them."""
    before = _before(moment, deps.settings.given_up_days, at_least=LOOKED_AT)
    if before is None:
        return 0
    after = deps.orders.sweep_checkpoint(GIVEN_UP_CHECKPOINT).get("after")
    first: list[Document] = []
    last: list[Document] = []
    found: list[str] = []
    for row in deps.old_records.orders(BEGINNING, before, after, limit=ROWS):
        if len(found) == ORDERS:
            break
        after = row["key"]
        if may_be_given_up(Progress(*row["value"])):
            orderid = row["key"][1]
            docs = deps.old_records.order(orderid)
            if is_given_up(docs):
                found.append(orderid)
                some = in_order_of_removal(docs)
                first += some[0]
                last += some[1]
    if SANDBOX in deps.settings.payment_providers:
        deps.stores.ledger.forget_void(found)
    removed = deps.old_records.remove(first) + deps.old_records.remove(last)
    if after is not None:
        deps.orders.set_sweep_checkpoint(GIVEN_UP_CHECKPOINT, after=after)
    return removed


def _before(moment: datetime, days: int, *, at_least: timedelta = timedelta()) -> str | None:
    """What is older goes; None where everything is kept for ever."""
    return iso(moment - max(timedelta(days=days), at_least)) if days else None
