"""Money as the documents hold it: {"amount": 1499, "currency": "GBP"}, integer minor units, so that `_sum` is exact."""

from collections.abc import Iterable, Sequence
from typing import Final, TypedDict

from shared.errors import Invalid

# ISO 4217 minor units of the currencies the shop takes; two digits unless named here.
MINOR_UNITS: Final = {"BHD": 3, "JPY": 0, "KRW": 0, "KWD": 3, "OMR": 3, "TND": 3, "VND": 0}
CURRENCIES: Final = frozenset(
    [
        "AUD",
        "BHD",
        "BRL",
        "CAD",
        "CHF",
        "CNY",
        "CZK",
        "DKK",
        "EUR",
        "GBP",
        "HKD",
        "HUF",
        "IDR",
        "ILS",
        "INR",
        "JPY",
        "KRW",
        "KWD",
        "MXN",
        "MYR",
        "NOK",
        "NZD",
        "OMR",
        "PHP",
        "PLN",
        "RON",
        "SEK",
        "SGD",
        "THB",
        "TND",
        "TRY",
        "USD",
        "VND",
        "ZAR",
    ]
)


SYMBOLS: Final = {
    "AUD": "A$",
    "BRL": "R$",
    "CAD": "C$",
    "CNY": "CN¥",
    "EUR": "€",
    "GBP": "£",
    "HKD": "HK$",
    "ILS": "₪",
    "INR": "₹",
    "JPY": "¥",
    "KRW": "₩",
    "MXN": "MX$",
    "NZD": "NZ$",
    "SGD": "S$",
    "THB": "฿",
    "TRY": "₺",
    "USD": "$",
    "VND": "₫",
}
"""Currencies with a sign of their own."""


class Money(TypedDict):
    """An amount in minor units of an ISO 4217 currency."""

    amount: int
    currency: str


def money(amount: int, currency: str) -> Money:
    return {"amount": amount, "currency": currency}


def add(*sums: Money) -> Money:
    """The sum of at least one amount, all of one currency. Raises Invalid when currencies meet."""
    currencies = {each["currency"] for each in sums}
    if len(currencies) != 1:
        raise Invalid(f"Cannot add amounts in {' and '.join(sorted(currencies)) or 'no currency'}.")
    return money(sum(each["amount"] for each in sums), sums[0]["currency"])


def times(unit: Money, quantity: int) -> Money:
    return money(unit["amount"] * quantity, unit["currency"])


def card_step(currency: str) -> int:
    """What an amount that is paid or paid back by card is a multiple of, in minor units: 10 where a currency has three decimals.

    Card networks settle two of them. Stripe (docs.stripe.com/currencies#three-decimal) refuses others in payments and refunds alike.
    """
    return 10 if MINOR_UNITS.get(currency) == 3 else 1


def rounding_step(currency: str, amounts: Iterable[int]) -> int:
    """`card_step` where all these amounts keep to it, so that what is reckoned from them does, too; else 1."""
    step = card_step(currency)
    return step if step == 1 or not any(amount % step for amount in amounts) else 1


def apportion(total: int, weights: Sequence[int], step: int = 1) -> list[int]:
    """`total` in parts proportional to `weights`, by largest remainder: the parts always add up to it.

    Nothing is apportioned over weights that are all 0; no part exceeds its weight while `total` does not exceed their sum.
    Parts are multiples of `step`, as `total` and weights are.
    """
    if step > 1:
        return [part * step for part in apportion(total // step, [weight // step for weight in weights])]
    whole = sum(weights)
    if not whole:
        return [0] * len(weights)
    parts = [total * weight // whole for weight in weights]
    remainders = sorted(range(len(weights)), key=lambda index: (-(total * weights[index] % whole), index))
    for index in remainders[: total - sum(parts)]:
        parts[index] += 1
    return parts


def major(value: Money) -> str:
    """1499 GBP as `14.99`, as files have it."""
    digits = MINOR_UNITS.get(value["currency"], 2)
    sign, amount = ("-", -value["amount"]) if value["amount"] < 0 else ("", value["amount"])
    whole, fraction = divmod(amount, 10**digits)
    return f"{sign}{whole}" + (f".{fraction:0{digits}d}" if digits else "")


def shown(value: Money) -> str:
    """As people write it: £1,234.56; a currency without a sign of its own is named, "CHF 12.00"."""
    currency, amount = value["currency"], abs(value["amount"])
    digits = MINOR_UNITS.get(currency, 2)
    whole, fraction = divmod(amount, 10**digits)
    number = f"{whole:,}" + (f".{fraction:0{digits}d}" if digits else "")
    return f"{'−' if value['amount'] < 0 else ''}{SYMBOLS.get(currency, f'{currency} ')}{number}"
