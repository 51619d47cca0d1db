"""Choosing a variant on a product's page: each value of an option is a link to the variant that it would choose."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from services.storefront.rules.backorders import orderable
from shared.types import Json


@dataclass(frozen=True)
class Choice:
    """A value of an option. `sku` is what choosing it leads to, "" where all that have it are sold out; `other` says what
    else that changes."""

    value: str
    sku: str
    selected: bool
    other: str = ""


@dataclass(frozen=True)
class Selection:
    """The options of a product, and the variant that is chosen, if one is."""

    options: list[tuple[str, list[Choice]]]
    variant: Json | None


def selection(product: Json, asked: str) -> Selection | None:
    """What can be chosen of a product, where `asked` is its productid or a SKU; None for one without variants."""
    variants = product.get("variants")
    if not variants:
        return None
    chosen = next((variant for variant in variants if variant["sku"] == asked), None)
    if chosen is None and len(variants) == 1:
        chosen = variants[0]
    options = [
        (option["name"], [_choice(variants, chosen, option["name"], value) for value in option["values"]])
        for option in product["options"]
    ]
    return Selection(options, chosen)


_OWN = ("compare_at_price", "sale_ends", "backorder_terms", "waiting")
"""What a variant has of its own, or has not."""


def as_sold(product: Json, variant: Json | None) -> Json:
    """The product with the price, stock and picture of a variant of it."""
    if variant is None:
        return product
    shown = {name: value for name, value in product.items() if name not in _OWN}
    own = {name: variant[name] for name in _OWN if name in variant}
    sold = shown | {"price": variant["price"], "stock": variant["stock"] if variant["active"] else 0} | own
    picture = variant.get("picture")
    return sold | {"image": picture, "pictures": []} if picture else sold


def line_key(line: Mapping[str, Any]) -> str:
    """What baskets and orders know a line by: its SKU, which of a product without variants is the productid."""
    return str(line.get("sku") or line["productid"])


def options_text(options: Mapping[str, str] | None) -> str:
    """Size: M, Colour: red"""
    return ", ".join(f"{name}: {value}" for name, value in (options or {}).items())


def _choice(variants: list[Json], chosen: Json | None, name: str, value: str) -> Choice:
    selected = chosen is not None and chosen["options"][name] == value
    if selected:
        return Choice(value, chosen["sku"] if chosen else "", selected=True)
    can_be_had = [
        variant
        for variant in variants
        if variant["options"][name] == value and variant["active"] and orderable(variant) > 0
    ]
    if not can_be_had:
        return Choice(value, "", selected=False)
    nearest = max(can_be_had, key=lambda variant: _alike(variant, chosen))
    return Choice(value, nearest["sku"], selected=False, other=_changed(nearest, chosen, name))


def _alike(variant: Json, chosen: Json | None) -> int:
    """In how many options two variants agree."""
    return (
        sum(chosen["options"][each] == value for each, value in variant["options"].items()) if chosen else 0
    )


def _changed(variant: Json, chosen: Json | None, name: str) -> str:
    """The other options that change too, because the exact combination cannot be had."""
    if chosen is None:
        return ""
    return ", ".join(
        value
        for each, value in variant["options"].items()
        if each != name and chosen["options"][each] != value
    )
