"""Money as a shop writes it: £1,234.56."""

from decimal import Decimal, DecimalException

from shared.errors import Invalid
from shared.money import MINOR_UNITS, Money, money

SYMBOLS = {
    "AUD": "A$", "BRL": "R$", "CAD": "C$", "CNY": "CN¥", "EUR": "€", "GBP": "£", "HKD": "HK$", "ILS": "₪", "INR": "₹",
    "JPY": "¥", "KRW": "₩", "MXN": "MX$", "NZD": "NZ$", "SGD": "S$", "THB": "฿", "TRY": "₺", "USD": "$", "VND": "₫",
}  # fmt: skip


def shown(value: Money | None) -> str:
    """£1,234.56; a currency without a symbol of its own is named: "CHF 12.00"; "" for nothing."""
    if value is None:
        return ""
    currency = value["currency"]
    sign = "−" if value["amount"] < 0 else ""
    return f"{sign}{SYMBOLS.get(currency, f'{currency} ')}{plain(value, ',') if value['amount'] >= 0 else plain(negated(value), ',')}"


def negated(value: Money) -> Money:
    return money(-value["amount"], value["currency"])


def plain(value: Money, thousands: str = "") -> str:
    """The number alone, as an input field holds it: 1234.56."""
    digits = MINOR_UNITS.get(value["currency"], 2)
    number = Decimal(value["amount"]).scaleb(-digits)
    return f"{number:{thousands}.{digits}f}"


def read(text: str, currency: str, field: str = "price") -> Money:
    """What somebody typed, "1,234.5", in minor units. Raises Invalid (on `field`) for anything but a number that fits."""
    digits = MINOR_UNITS.get(currency, 2)
    try:
        amount = Decimal(text.replace(",", "").strip()).scaleb(digits)
    except DecimalException:
        raise Invalid(errors={field: ["Write a number, such as 12.50."]}) from None
    if not amount.is_finite() or amount != amount.to_integral_value() or abs(amount) > 10**12:
        raise Invalid(errors={field: [f"{currency} has {digits} decimal places."]})
    return money(int(amount), currency)


def compact(amount: float, currency: str) -> str:
    """An axis label: £1.2k, £3m. `amount` is in major units."""
    symbol = SYMBOLS.get(currency, f"{currency} ")
    for size, letter in ((1e9, "bn"), (1e6, "m"), (1e3, "k")):
        if abs(amount) >= size:
            return f"{symbol}{amount / size:g}{letter}"
    return f"{symbol}{amount:g}"
