"""The choices of a list page's filters, which are most of what its template would be busy with; see `cards`."""

from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup, escape

from services.storefront.rules.listing import FacetGroup

MAX_OPTIONS = 30
BOOLEANS = {"true": "Yes", "false": "No"}
"""An attribute that products have or have not."""


def filter_options(group: FacetGroup) -> Markup:
    """A checkbox for each of the first values, a radio button where only one can be chosen, with how many products have it."""
    field, kind = escape(group.name), "radio" if group.single else "checkbox"
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


def _band_words(value: Markup) -> Markup:
    """A stretch of numbers as the API names it, `20..50` the lower end included and the upper not, in words."""
    low, dots, high = value.partition("..")
    if not dots or not (low or high) or not (low + high).replace(".", "").isdigit():
        return value
    if not high:
        return Markup("{} and more").format(low)
    return Markup("{} to under {}").format(low, high) if low else Markup("under 0")


def _option(field: Markup, kind: str, counted: Mapping[str, Any], chosen: frozenset[str]) -> str:
    value, checked = escape(counted["value"]), "checked" if counted["value"] in chosen else ""
    words = BOOLEANS.get(value) or _band_words(value) if "." in field else value
    count = f'<span class="quiet">{counted["count"]:d}</span>' if counted["count"] else ""
    return (
        f'<label class="pick"><input type="{kind}" name="{field}" value="{value}" {checked}>'
        f"<span>{words}</span>{count}</label>"
    )
