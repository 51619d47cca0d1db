"""Changes of stock and receipts as the desk types them: a line for each SKU, "mug-1 5", "shirt-M-red, -3" or, counted, "mug-1 = 12"."""

import re
from collections.abc import Mapping
from typing import Final

from services.storefront.translation import gettext as _
from shared.errors import Invalid
from shared.types import Json

MAX_LINES: Final = 2000
MAX_PROBLEMS: Final = 5
MAX_ROWS: Final = 250
_QUANTITY: Final = re.compile("[1-9][0-9]{0,8}")
_LINE: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,63})[\s,;]+(=?)\s*([+-]?[0-9]{1,9})")
_HEADER: Final = re.compile(r"sku[\s,;]", re.IGNORECASE)


def stock_changes(text: str, field: str) -> list[Json]:
    """{sku, delta or level} of each line; a first line that begins with "sku" is a header. Raises Invalid on `field`."""
    changes: dict[str, Json] = {}
    problems = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.strip()
        if not words or (number == 1 and _HEADER.match(words)):
            continue
        found = _LINE.fullmatch(words)
        if found is None or (found[2] and found[3].startswith("-")):
            problems.append(
                _("Line %(number)s: write a SKU and a number: %(line)s.", number=number, line=words[:40])
            )
        elif found[1] in changes:
            problems.append(_("Line %(number)s: %(sku)s comes twice.", number=number, sku=found[1]))
        else:
            changes[found[1]] = {"sku": found[1], "level" if found[2] else "delta": int(found[3])}
    if len(changes) > MAX_LINES:
        problems.append(_("At most %(count)s lines at once.", count=MAX_LINES))
    if problems:
        raise Invalid(errors={field: problems[:MAX_PROBLEMS]})
    return list(changes.values())


def received_rows(sent: Mapping[str, str]) -> list[Json]:
    """{sku, quantity} of the rows `row-0-sku`, `row-0-quantity` ... in which a quantity was typed. Raises Invalid."""
    found = []
    for number in range(MAX_ROWS):
        sku, typed = sent.get(f"row-{number}-sku", ""), sent.get(f"row-{number}-quantity", "").strip()
        if not sku or typed in ("", "0"):
            continue
        if not _QUANTITY.fullmatch(typed):
            raise Invalid(_("%(sku)s: write how many came, such as 12.", sku=sku))
        found.append({"sku": sku, "quantity": int(typed)})
    return found
