"""Goods sold beyond their stock, as pages say it: what can be ordered, how many pieces wait, and from when they are sent."""

from collections.abc import Mapping
from typing import Any, Final

from services.storefront.translation import day_text, gettext_noop
from services.storefront.translation import gettext as _
from shared.clock import now, parse
from shared.errors import Invalid
from shared.types import Json

MANY: Final = 10**9
CHOICES: Final = (
    ("", gettext_noop("As the shop does")),
    ("yes", gettext_noop("Yes: it is sent when it is here")),
    ("no", gettext_noop("No")),
)
OF_A_VARIANT: Final = (
    ("", gettext_noop("As the product")),
    ("yes", gettext_noop("Yes")),
    ("no", gettext_noop("No")),
)
_SAID: Final = {"yes": True, "no": False}


def values_of(product: Json) -> dict[str, str]:
    """The fields of the product's form at the desk."""
    said = product.get("backorder")
    return {
        "backorder": "" if said is None else "yes" if said else "no",
        "backorder_date": product.get("backorder_date") or "",
        "backorder_limit": str(product.get("backorder_limit") or ""),
    }


def body_of(values: Mapping[str, str]) -> Json:
    """The same fields as the API's. Raises Invalid by field."""
    limit = values.get("backorder_limit", "").strip()
    if limit and not (limit.isascii() and limit.isdecimal() and len(limit) < 10):
        raise Invalid(errors={"backorder_limit": [_("Write a whole number, of nine digits at most.")]})
    return {
        "backorder": _SAID.get(values.get("backorder", "")),
        "backorder_date": values.get("backorder_date", ""),
        "backorder_limit": int(limit) if limit else None,
    }


def orderable(product: Mapping[str, Any]) -> int:
    """How many can be ordered: what is in stock, and what may wait."""
    terms = product.get("backorder_terms")
    stock = int(product.get("stock") or 0)
    return stock if not terms else stock + int(terms.get("left", MANY))


def is_beyond_stock(product: Mapping[str, Any]) -> bool:
    """Whether nothing is in stock and it can be ordered all the same."""
    return (product.get("stock") or 0) <= 0 and orderable(product) > 0


def sent_from(terms: Mapping[str, Any] | None) -> str:
    """When goods are sent that are still to come; a day that has passed says nothing. `terms`: of a product or of an order's line."""
    date = (terms or {}).get("date") or ""
    moment = parse(f"{date}T00:00:00.000Z") if date else None
    if moment is None or moment <= now():
        return _("Will be sent as soon as it is here")
    return _("Will be sent from %(day)s", day=day_text(moment))


def note(product: Mapping[str, Any]) -> str:
    """What stands beside a price in the place of "Sold out"; empty where that, or the stock, is to be said."""
    return sent_from(product.get("backorder_terms")) if is_beyond_stock(product) else ""


def waiting_note(line: Mapping[str, Any], count: int) -> str:
    """Of an order's or a basket's line: how many of it are still to come, and when they are sent; empty for none."""
    if count <= 0:
        return ""
    terms = line.get("backorder_terms") or line.get("backorder")
    return _("%(count)s still to come: %(sent)s", count=count, sent=sent_from(terms))
