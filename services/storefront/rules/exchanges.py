"""What a customer can have instead of goods that come back, and what staff name."""

from collections.abc import Mapping, Sequence
from typing import Final

from shared.types import Json

WANTED: Final = "instead-"
"""How the fields are called that say what is wanted for a line: this and its SKU."""


def alternatives(product: Json) -> list[Json]:
    """The variants of a product that are sold, as {sku, options, stock}."""
    return [variant for variant in product.get("variants", []) if variant.get("active", True)]


def with_wanted(items: Sequence[Json], sent: Mapping[str, str]) -> list[Json]:
    """The items of a return, each with what the form says is wanted for it; nothing where it is the money."""
    return [
        {**item, "exchange_for": wanted}
        if (wanted := sent.get(f"{WANTED}{item['productid']}", "").strip())
        else item
        for item in items
    ]


def approved(lines: Sequence[Json], sent: Mapping[str, str]) -> list[Json] | None:
    """What staff send for the lines of a return; None where the form does not ask."""
    if not any(name.startswith(WANTED) for name in sent):
        return None
    items = [
        {"productid": line.get("sku") or line["productid"], "quantity": line["quantity"]} for line in lines
    ]
    return [item for item in with_wanted(items, sent) if "exchange_for" in item]


def wanted_for(back: Json) -> dict[str, str]:
    """By the SKU of what comes back, what is wanted for it."""
    return {item["productid"]: item["exchange_for"] for item in (back.get("exchange") or {}).get("items", [])}
