"""Movements that depend on what was counted: written behind the very movements that they were reckoned from."""

import random
import time
from collections.abc import Callable, Sequence

from services.products.declarations.stock import Movement
from services.products.rules.ledger import Head, Line
from services.products.store.ledger import Ledger, TooManyConflicts

_TIMEOUT_SECONDS = 2.0

Decision = Callable[[Line, Head, Sequence[Movement]], Movement | None]
"""Of a chain that ends here, with its movements newest first: one of these that was written before, the next, or none."""


def append_decided(ledger: Ledger, line: Line, since: str, decide: Decision) -> Movement | None:
    """Writes what `decide` says of the movements back to `since`, asked again whenever somebody else was quicker. Raises TooManyConflicts.

    2 partition queries and 1 write, each again for each try.
    """
    ends = time.monotonic() + _TIMEOUT_SECONDS
    while time.monotonic() < ends:
        line, head = ledger.end(line)
        movements = ledger.movements_since(line, since)
        if movements and movements[0]["slot"] > head.slot:
            continue
        doc = decide(line, head, movements)
        if doc is None or doc in movements or ledger.is_own(doc, ledger.write([doc])[0]):
            return doc
        time.sleep(random.uniform(0, 0.02))
    raise TooManyConflicts(
        f"The stock of {line.name} is changing too fast just now; try again.", retry_after=1
    )
