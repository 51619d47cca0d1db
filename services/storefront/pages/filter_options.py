"""The choices of a list page's filters, which are most of what its template would be busy with; see `cards`."""

from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup, escape

from services.storefront.pages.escaping import escaped
from services.storefront.rules.listing import FacetGroup
from services.storefront.translation import gettext as _
from services.storefront.translation import gettext_noop

MAX_OPTIONS = 30
BOOLEANS = {"true": gettext_noop("Yes"), "false": gettext_noop("No")}
"""An attribute that products have or have not."""


def filter_options(group: FacetGroup) -> Markup:
    """A checkbox for each of the first values, a radio button where only one can be chosen, with how many products have it."""
    field, kind = escaped(group.name), "radio" if group.single else "checkbox"
    return Markup("".join([_option(field, kind, each, group.chosen) for each in group.values[:MAX_OPTIONS]]))


def price_bands(bands: Iterable[tuple[str, str, int]]) -> Markup:
    """A link for each (href, words, how many)."""
    return Markup(
        "".join(
            [
                f'<li><a href="{escape(href)}">{escape(words)}</a> <span class="quiet">{count:d}</span></li>'
                for href, words, count in bands
            ]
        )
    )


def _band_words(value: str) -> str:
    """A stretch of numbers as the API names it, `20..50` the lower end included and the upper not, in words."""
    low, dots, high = value.partition("..")
    if not dots or not (low or high) or not (low + high).replace(".", "").isdigit():
        return value
    if not high:
        return _("%(low)s and more", low=low)
    return _("%(low)s to under %(high)s", low=low, high=high) if low else _("under 0")


def _attribute_words(value: str) -> str:
    known = BOOLEANS.get(value)
    return _(known) if known else _band_words(value)


def _option(field: str, kind: str, counted: Mapping[str, Any], chosen: frozenset[str]) -> str:
    value, checked = escaped(str(counted["value"])), "checked" if counted["value"] in chosen else ""
    label = escaped(counted.get("label") or "") or value
    words = _attribute_words(label) if "." in field else label
    count = f'<span class="quiet">{counted["count"]:d}</span>' if counted["count"] else ""
    return (
        f'<label class="pick"><input type="{kind}" name="{field}" value="{value}" {checked}>'
        f"<span>{words}</span>{count}</label>"
    )
