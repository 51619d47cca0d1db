"""Money as the active language writes it."""

from shared.money import MINOR_UNITS, Money, shown
from shared.translation import SOURCE_LANGUAGE, active_language, money_text


def localized(value: Money) -> str:
    """£1,234.56, or 1.234,56 £."""
    if active_language().code == SOURCE_LANGUAGE:
        return shown(value)
    currency = value["currency"]
    return money_text(value["amount"], MINOR_UNITS.get(currency, 2), currency)
