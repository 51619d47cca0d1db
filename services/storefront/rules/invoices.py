"""The receiver as an invoice names them, in the language of the page."""

from services.storefront.translation import territory_names
from shared.addresses import country_names, envelope
from shared.types import Json


def receiver_lines(order: Json) -> list[str]:
    """To whom an order goes, with every part of the address as its country writes it, and the country's name; [] without an address."""
    address = order["deliveryAddress"]
    if not address:
        return []
    if isinstance(address, str):
        return _named(order, address.splitlines())
    country = address.get("country", "")
    if country and address.get("line1"):
        return envelope(address.get("name", ""), address, country) + _country(country)
    return _named(order, str(address.get("address", "")).splitlines())


def phone_of(order: Json) -> str:
    address = order["deliveryAddress"]
    return str(address.get("phone", "")) if isinstance(address, dict) else ""


def _named(order: Json, lines: list[str]) -> list[str]:
    return [line for line in (order["name"] or "", *lines) if line]


def _country(code: str) -> list[str]:
    name = territory_names(country_names()).get(code)
    return [name] if name else []
