"""Movements that depend on what was counted: written behind the very movements that they were reckoned from."""

from collections.abc import Callable, Sequence

from services.products.declarations.stock import Movement
from services.products.rules.ledger import Head, Line
from services.products.store.ledger import HeadMoved, Ledger

Decision = Callable[[Line, Head, Sequence[Movement]], Movement | None]
"""Of a chain that ends here, with its movements newest first: one of these that was written before, the next, or none."""


def append_decided(ledger: Ledger, line: Line, since: str, decide: Decision) -> Movement | None:
    """Writes what `decide` says of the movements back to `since`, asked again whenever somebody else was quicker. Raises TooManyConflicts.

    2 partition queries and 1 write, each again for each try.
    """

    def decided(place: Line, head: Head) -> Movement | None:
        movements = ledger.movements_since(place, since)
        if movements and movements[0]["slot"] > head.slot:
            raise HeadMoved
        return decide(place, head, movements)

    return ledger.append_decided(line, decided)
