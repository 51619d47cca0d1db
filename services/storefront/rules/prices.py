"""Money as a shop writes it: £1,234.56."""

import re
from decimal import Decimal

from babel.numbers import format_compact_currency

from services.storefront.translation import SOURCE_LANGUAGE, active_language, decimal_sign, gettext
from services.storefront.translation import money_text as localized_money_text
from shared.errors import Invalid
from shared.money import MINOR_UNITS, SYMBOLS, Money, money
from shared.money import shown as money_text

MAX_AMOUNT = 10**12

_PLAIN = re.compile(r"(?P<whole>[0-9]{1,13})(?P<point>\.(?P<fraction>[0-9]{0,13}))?")
_GROUPED = re.compile(r"(?P<whole>[1-9][0-9]{0,2}(?:,[0-9]{3}){1,4})(?P<point>\.(?P<fraction>[0-9]{0,13}))?")
_PERCENT = re.compile(r"([+-]?[0-9]{1,4}(?:[.,][0-9]{1,2})?) ?%?")
_SHORT_FRACTION = re.compile(r"[0-9]{1,13}\.[0-9]{1,2}")
"""A point that no language takes for the sign of thousands, which come in threes."""
_SWAPPED = str.maketrans(".,", ",.")
_ONE_COMMA = re.compile(r"(?P<whole>[0-9]{1,9}),(?P<after>[0-9]{1,4})")


def shown(value: Money | None) -> str:
    """£1,234.56, as the active language writes it; "" for nothing."""
    if value is None:
        return ""
    if active_language().code == SOURCE_LANGUAGE:
        return money_text(value)
    currency = value["currency"]
    return localized_money_text(value["amount"], MINOR_UNITS.get(currency, 2), currency)


def plain(value: Money) -> str:
    """The number alone, as an input field holds it: 1234.56, with the decimal sign of the active language."""
    digits = MINOR_UNITS.get(value["currency"], 2)
    number = Decimal(value["amount"]).scaleb(-digits)
    return _localized(f"{number:.{digits}f}")


def in_address(value: Money) -> str:
    """The number as a link has it: with a point and two digits at most behind it, which every language reads in the same way."""
    digits = MINOR_UNITS.get(value["currency"], 2)
    number = f"{Decimal(value['amount']).scaleb(-digits):.{digits}f}"
    if digits > 2:
        number = number.rstrip("0").rstrip(".")
    return number if len(number.partition(".")[2]) < 3 else _localized(number)


def parse(text: str, currency: str, field: str = "price") -> Money:
    """A typed amount as minor units. Raises Invalid (on `field`, with an example) unless it can be read in one way only.

    A point is the decimal sign: "12.5", "12.50". A comma only separates thousands, and only where it cannot be a decimal
    sign: "1,250.00", and "1,250" in a currency without decimals. The currency's own symbol or code may stand in front.
    In a language that writes a decimal comma the two change places ("12,50", "1.250,00"), and the currency may stand behind;
    a point with one or two digits behind it is a decimal sign there, too.
    """
    digits = MINOR_UNITS.get(currency, 2)
    number = _with_decimal_point(_without_currency(text.strip(), currency))
    found = _PLAIN.fullmatch(number) or _GROUPED.fullmatch(number)
    fraction = (found["fraction"] or "") if found else ""
    ambiguous = "," in number and len(fraction) != digits
    if not found or ambiguous or len(fraction) > digits or (found["point"] and not fraction):
        raise Invalid(errors={field: [_error_text(number, currency, digits)]})
    amount = int(found["whole"].replace(",", "") + fraction.ljust(digits, "0"))
    if amount > MAX_AMOUNT:
        raise Invalid(
            errors={field: [gettext("At most %(amount)s.", amount=shown(money(MAX_AMOUNT, currency)))]}
        )
    return money(amount, currency)


def _without_currency(text: str, currency: str) -> str:
    for sign in (SYMBOLS.get(currency, currency), currency):
        if text.startswith(sign):
            return text.removeprefix(sign).lstrip()
        if _has_decimal_comma() and text.endswith(sign):
            return text.removesuffix(sign).rstrip()
    return text


def _has_decimal_comma() -> bool:
    return decimal_sign() == ","


def _with_decimal_point(number: str) -> str:
    """A number as it is typed in the active language, in the notation of the code."""
    if not _has_decimal_comma() or _SHORT_FRACTION.fullmatch(number):
        return number
    return number.translate(_SWAPPED)


def _localized(number: str) -> str:
    """A number in the notation of the code as the active language types it."""
    return number.translate(_SWAPPED) if _has_decimal_comma() else number


def _error_text(number: str, currency: str, digits: int) -> str:
    """What to write instead: the typed number in each way it can be meant, else any number of this currency."""
    example = _localized(f"{1250 if digits == 0 else 12.5:.{digits}f}")
    if readings := [_localized(each) for each in _readings(number, digits)]:
        if len(readings) > 1:
            return gettext(
                "This can be read in two ways: write %(one)s or %(other)s.",
                one=readings[0],
                other=readings[1],
            )
        if _has_decimal_comma():
            return gettext("Write %(number)s, without a point.", number=readings[0])
        return gettext("Write %(number)s, without a comma.", number=readings[0])
    if _PLAIN.fullmatch(number):
        places = gettext("%(count)s decimal places", count=digits) if digits else gettext("no decimal places")
        return gettext(
            "%(currency)s has %(places)s: write a number such as %(example)s.",
            currency=currency,
            places=places,
            example=example,
        )
    return gettext("Write a number such as %(example)s.", example=example)


def _readings(number: str, digits: int) -> list[str]:
    """What a number with one comma can stand for: "12,50" is 12.50, "1,250" is 1.25 or 1250."""
    found = _ONE_COMMA.fullmatch(number)
    if not found:
        return []
    whole, after = found["whole"], found["after"]
    readings = []
    if digits and len(after.rstrip("0")) <= digits:
        readings.append(f"{Decimal(f'{whole}.{after}'):.{digits}f}")
    if digits and len(after) == 3 and len(whole) <= 3 and whole[0] != "0":
        readings.append(f"{whole}{after}.{'0' * digits}")
    return readings


def compact(amount: float, currency: str) -> str:
    """An axis label: £1.2k, £3m. `amount` is in major units."""
    language = active_language()
    if language.code != SOURCE_LANGUAGE:
        return str(format_compact_currency(amount, currency, locale=language.locale, fraction_digits=2))
    symbol = SYMBOLS.get(currency, f"{currency} ")
    for size, suffix in ((1e9, "bn"), (1e6, "m"), (1e3, "k")):
        if abs(amount) >= size:
            return f"{symbol}{amount / size:g}{suffix}"
    return f"{symbol}{amount:g}"


def percent(text: str) -> float:
    """-10 or 12.5 %, as it is typed. Raises Invalid."""
    match = _PERCENT.fullmatch(text.strip())
    found = float(match[1].replace(",", ".")) if match else 0.0
    if not found or not -100 < found <= 1000:
        raise Invalid(
            gettext("Write a percentage from -99.99 to 1000: -10 makes everything a tenth cheaper.")
        )
    return found
