"""What is said of sales at a stall."""

from typing import Final

from services.storefront.translation import gettext_noop as _

OVERSOLD_OUTCOMES: Final = {
    "restocked": _("Others came in"),
    "delivered_later": _("Who waits gets them later"),
    "paid_back": _("Who waited was paid back"),
}
"""How it ended that a stall sold more than there was."""
