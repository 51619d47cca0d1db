"""Attributes of products as pages show them."""

from collections.abc import Mapping
from typing import Any


def shown(specification: Mapping[str, Any]) -> str:
    """{value: 450.5, unit: "g"} -> "450.5 g", true -> "Yes", several with commas."""
    value = specification["value"]
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, int | float):
        return f"{plain_number(value)} {specification['unit']}".strip()
    return str(value)


def plain_number(number: float) -> str:
    """3.0 -> "3", 450.5 -> "450.5", never 1e+15."""
    if isinstance(number, int) or number.is_integer():
        return str(int(number))
    return f"{number:.10f}".rstrip("0")
