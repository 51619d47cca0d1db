"""The worker's daily look for stock movements that are old enough to become a total; `rules.roll_up` says why that is safe."""

import logging
from datetime import datetime, timedelta

from services.products.declarations.stock import Movement, StockTotal
from services.products.dependencies import Dependencies
from services.products.documents import MOVEMENT, RESERVATION, SETTLEMENT
from services.products.rules import roll_up as rules
from services.products.rules.ledger import Line, line_of
from shared.clock import iso

log = logging.getLogger(__name__)

_PAGE = 20


def roll_up(deps: Dependencies, now: datetime) -> int:
    """Totals of what is older than STOCK_HISTORY_DAYS, and of the totals of former days the movements away; how many thousands went."""
    days, gone, cursor = deps.settings.stock_history_days, 0, None
    if not days:
        return 0
    while True:
        page = deps.stock_totals.due(iso(now - timedelta(days=days)), limit=_PAGE, cursor=cursor)
        last_slots = MOVEMENT.among(row["doc"] for row in page.items if row.get("doc"))
        gone += sum(_roll_up(deps, each, now) for each in last_slots)
        if page.next is None:
            return gone
        cursor = page.next


def _roll_up(deps: Dependencies, last: Movement, now: datetime) -> bool:
    """Of one chain up to this slot: writes the total; where that was done a day ago or more, removes what it stands for."""
    line, slot = line_of(last), last["slot"]
    totals = {each["slot"]: each for each in deps.stock_totals.of(line)}
    if slot not in totals:
        _add_total(deps, line, totals.get(slot - rules.THOUSAND), slot, iso(now))
    elif totals[slot]["date"] <= iso(now - rules.SETTLED):
        return _remove(deps, line, list(totals.values()), slot)
    return False


def _add_total(deps: Dependencies, line: Line, before: StockTotal | None, slot: int, date: str) -> None:
    first = slot - rules.THOUSAND
    if first and before is None:
        return  # the thousand before it comes first; it is as old
    movements = deps.stock_totals.movements(line, first + 1, slot)
    if not rules.is_whole(movements, first, slot):
        log.warning("the stock of %s up to slot %d is in doubt and is not rolled up", line.name, slot)
        return
    deps.stock_totals.add(rules.total(before, movements, date))


def _remove(deps: Dependencies, line: Line, totals: list[StockTotal], slot: int) -> bool:
    """What orders kept goes first, then the movements, the one that led here last: whoever is killed is found again."""
    end = deps.ledger.end_here(line)
    if end.slot < slot + rules.KEPT_SLOTS or end.level < 0:
        return False
    movements = deps.stock_totals.movements(line, max(2, slot - rules.THOUSAND + 1), slot)
    wanted = list(dict.fromkeys(docid for each in movements for docid in rules.companions(each)))
    stored = list(deps.stock_totals.stored(wanted).values())
    reserved = {each["orderid"] for each in RESERVATION.among(stored)}
    settled = {each["orderid"] for each in SETTLEMENT.among(stored) if "reference" not in each}
    if reserved - settled:
        log.warning("orders that were not settled keep the stock of %s from being rolled up", line.name)
        return False
    deps.stock_totals.remove(stored)
    deps.stock_totals.remove([*movements[:-1], *(each for each in totals if each["slot"] < slot)])
    deps.stock_totals.remove(movements[-1:])
    return True
