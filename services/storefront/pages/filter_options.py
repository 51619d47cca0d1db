"""The choices of a list page's filters, which are most of what its template would be busy with; see `cards`."""

from collections.abc import Iterable
from typing import Any

from markupsafe import Markup, escape

MAX_OPTIONS = 30


def filter_options(name: str, values: list[dict[str, Any]], chosen: str) -> Markup:
    """One radio button for each of the first values, with how many products have it."""
    field = escape(name)
    return Markup("".join([_option(field, each, chosen) for each in values[:MAX_OPTIONS] if each["value"]]))


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


def _option(field: Markup, counted: dict[str, Any], chosen: str) -> str:
    value, checked = escape(counted["value"]), "checked" if chosen == counted["value"] else ""
    return (
        f'<label class="pick"><input type="radio" name="{field}" value="{value}" {checked}>'
        f'<span>{value}</span><span class="quiet">{counted["count"]:d}</span></label>'
    )
