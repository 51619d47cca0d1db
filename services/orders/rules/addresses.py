"""Delivery addresses as an order needs them: where they are, and what is kept of them."""

from typing import Any

from services.orders.rules.pricing import Destination
from shared.addresses import PARTS, envelope, form_of, parts_of_text


def destination_of(address: Any, own_country: str) -> Destination:
    """Where an address is. One without a country, or without parts, lies in the shop's own."""
    parts = _parts(address)
    return Destination(
        parts.get("country") or own_country, parts.get("region", ""), parts.get("postcode", "")
    )


def delivery_address(address: Any) -> Any:
    """What an order keeps: an address of parts also as the text of a label; one of today's texts as it was sent."""
    if isinstance(address, dict) and address.get("line1") and not address.get("address"):
        return address | {"address": "\n".join(envelope("", address))}
    return address


def saved_address(known: dict[str, Any]) -> dict[str, Any]:
    """An address of the customer's account: its name, its label, and its parts."""
    parts = {name: known[name] for name in PARTS if known.get(name)}
    return {"name": known["name"], "address": known["address"], **parts}


def postal_parts(address: Any, own_country: str) -> dict[str, str]:
    """What is known of an address, by the names of `shared.addresses`; a country, which may be the shop's own, in any case."""
    parts = {name: str(value) for name, value in _parts(address).items() if name in PARTS and value}
    return parts | {"country": parts.get("country") or own_country}


def _parts(address: Any) -> dict[str, str]:
    if isinstance(address, str):
        return parts_of_text(address)
    if not isinstance(address, dict):
        return {}
    if address.get("line1") or form_of(address.get("country", "")):
        return address
    return parts_of_text(address["address"]) if isinstance(address.get("address"), str) else {}
