"""A change of a price in words."""

from services.storefront.translation import gettext as _
from services.storefront.translation import gettext_noop
from shared.types import Json

_TIMES = {"sale_from": gettext_noop("from %(moment)s"), "sale_until": gettext_noop("until %(moment)s")}
_KINDS = {
    "compare_at": gettext_noop("Compared with"),
    "sale": gettext_noop("Sale"),
    "group": gettext_noop("Group"),
}


def price_label(change: Json) -> str:
    """Which price it was: "Price", "Group trade", "Sale from 2026-12-01 09:00 until 2026-12-24 00:00"."""
    words = [_(_KINDS.get(change.get("kind", ""), gettext_noop("Price")))]
    words += [change["group"]] if "group" in change else []
    words += [
        _(words_of, moment=_minute(change[name])) for name, words_of in _TIMES.items() if name in change
    ]
    return " ".join(words)


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")
