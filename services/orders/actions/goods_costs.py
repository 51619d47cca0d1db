"""What the goods of an order cost the shop."""

from collections.abc import Mapping
from typing import Any

from services.orders.declarations.order import Order
from services.orders.declarations.parts import line_key
from services.orders.dependencies import Dependencies


def costs_now(deps: Dependencies, order: Order) -> dict[str, int]:
    """What one piece of each costs today, in the order's currency, by SKU or productid, where that is known. 1 call."""
    keys = [line_key(line) for line in order["basket"]]
    found = deps.products.lookup(keys, currency=order["total"]["currency"], costs=True)
    return known_costs(found)


def known_costs(offers: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Of what a look-up with costs has found, by SKU or productid."""
    return {key: offer["cost"] for key, offer in offers.items() if "cost" in offer}
