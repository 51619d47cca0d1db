"""Which lines of orders wait for goods that are still to come."""

from collections.abc import Mapping, Sequence

from services.products.dependencies import Dependencies
from services.products.rules.backorders import waiting_by_order
from services.products.rules.ledger import Line
from services.products.store.ledger import too_few_nodes


def waiting_lines(deps: Dependencies, orders: Mapping[str, Sequence[Line]]) -> dict[str, dict[str, int]]:
    """How many of each line wait, by order id and SKU. A partition query for each SKU, and more where many wait for it.

    Raises TooManyConflicts where a copy of the database answers that is behind what was seen before.
    """
    found: dict[str, dict[str, int]] = {orderid: {} for orderid in orders}
    by_line: dict[Line, list[str]] = {}
    for orderid, lines in orders.items():
        for line in lines:
            by_line.setdefault(Line(line.productid, line.taxonomy, 0, line.sku), []).append(orderid)
    for line, orderids in by_line.items():
        waiting = _waiting(deps, line)
        for orderid in orderids:
            found[orderid][line.name] = waiting.get(orderid, 0)
    return found


def _waiting(deps: Dependencies, line: Line) -> dict[str, int]:
    end, head = deps.ledger.end(line)
    seen = deps.ledger.cached_heads([end]).get(end)
    if seen is not None and seen.slot > head.slot:
        raise too_few_nodes()
    return waiting_by_order(deps.ledger.slots_back_from(end, head.slot), head.level)
