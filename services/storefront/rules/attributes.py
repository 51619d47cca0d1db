"""Attributes of products as pages show them."""

import re
from collections.abc import Mapping
from typing import Any

from services.storefront.translation import (
    SOURCE_LANGUAGE,
    active_language,
    decimal_sign,
    gettext,
    number_text,
)

_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,10})?")


def shown(specification: Mapping[str, Any]) -> str:
    """{value: 450.5, unit: "g"} -> "450.5 g", true -> "Yes", several with commas."""
    value = specification["value"]
    if isinstance(value, bool):
        return gettext("Yes") if value else gettext("No")
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, int | float):
        return f"{_number(value)} {specification['unit']}".strip()
    return str(value)


def _number(number: float) -> str:
    """As the active language writes it, of a specification without thousands separators."""
    if active_language().code == SOURCE_LANGUAGE:
        return plain_number(number)
    return number_text(number, "0.##########")


def typed_number(number: float) -> str:
    """As a field of a form holds it: with the decimal sign of the active language, without thousands separators."""
    return plain_number(number).replace(".", decimal_sign())


def parse_number(text: str) -> float:
    """What was typed so. Raises ValueError."""
    whole, sign, fraction = text.partition(decimal_sign())
    number = f"{whole}.{fraction}" if sign else whole
    if "." in whole or not _NUMBER.fullmatch(number):
        raise ValueError(f"{text} is no number")
    return float(number) if sign else int(number)


def plain_number(number: float) -> str:
    """3.0 -> "3", 450.5 -> "450.5", never 1e+15."""
    if isinstance(number, int) or number.is_integer():
        return str(int(number))
    return f"{number:.10f}".rstrip("0")
