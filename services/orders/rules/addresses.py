"""Delivery addresses as an order needs them: where they are."""

import re
from typing import Any

from services.orders.rules.pricing import Destination

_COUNTRY = re.compile("[A-Z]{2}")


def destination_of(address: Any) -> Destination | None:
    """Where an address with a country is; None for a text, which lies in the shop's own country."""
    country = address.get("country", "") if isinstance(address, dict) else ""
    if not _COUNTRY.fullmatch(country):
        return None
    return Destination(country, address.get("region", ""), address.get("postcode", ""))
