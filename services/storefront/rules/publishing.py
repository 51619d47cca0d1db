"""Whether the shop shows a product, as the desk's forms say it; and what can be done to many products at once."""

from typing import Any, Final

from services.storefront.rules import prices, taxonomy
from services.storefront.rules.moments import moment_of
from services.storefront.translation import gettext as _
from services.storefront.translation import gettext_noop
from shared.errors import Invalid
from shared.types import Json

TABS: Final = {
    "draft": gettext_noop("Drafts"),
    "scheduled": gettext_noop("Scheduled"),
    "archived": gettext_noop("Archived"),
}
STATUSES: Final = (
    ("active", gettext_noop("Active: the shop shows it")),
    ("draft", gettext_noop("Draft: only staff see it")),
    ("archived", gettext_noop("Archived: no longer sold")),
)
ACTIONS: Final = (
    ("publish", gettext_noop("Publish")),
    ("draft", gettext_noop("Make drafts")),
    ("archive", gettext_noop("Archive")),
    ("category", gettext_noop("Move to the category")),
    ("price", gettext_noop("Change prices by percent")),
    ("stock", gettext_noop("Add to the stock")),
)
_STATUS_OF: Final = {"publish": "active", "draft": "draft", "archive": "archived"}


def values_of(product: Json) -> dict[str, str]:
    """The fields of the product's form."""
    return {"status": product.get("status", "active"), "publish_from": product.get("publish_from", "")[:16]}


def body_of(values: dict[str, str]) -> Json:
    """The same fields as the API's. Raises Invalid by field."""
    moment = moment_of(values.get("publish_from", ""), "publish_from")
    return {"status": values.get("status") or "active", "publish_from": moment}


def change_of(action: str, value: str) -> dict[str, Any]:
    """What a bulk edit asks of the products service. Raises Invalid, in words for the desk."""
    if action in _STATUS_OF:
        return {"status": _STATUS_OF[action]}
    if not value:
        raise Invalid(_("Say what to change it to."))
    if action == "category":
        return {"taxonomy": [part.strip() for part in value.split(taxonomy.SEPARATOR)]}
    if action == "price":
        return {"price_percent": prices.percent(value)}
    if action == "stock":
        return {"stock_delta": _whole(value), "reason": "bulk edit at the desk"}
    raise Invalid(_("Choose what to do."))


def _whole(text: str) -> int:
    digits = text.removeprefix("+").removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 10 and int(digits)):
        raise Invalid(_("Write how many: 12 adds twelve to each, -3 takes three away."))
    return int(text)
