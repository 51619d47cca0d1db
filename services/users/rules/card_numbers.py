"""Card numbers are kept by payment providers, never here."""

import re
from collections.abc import Mapping, Sequence

from services.users.rules.errors import CardNumberRejected

_DIGITS = re.compile(r"\d(?:[ \-.]?\d){12,}")


def looks_like_card_number(text: str) -> bool:
    """Whether some 13 to 19 digits in the text pass the Luhn check that card numbers pass."""
    for match in _DIGITS.finditer(text):
        digits = [int(character) for character in match.group() if character.isdigit()]
        if any(
            _luhn(digits[start:end])
            for start in range(len(digits) - 12)
            for end in range(start + 13, min(start + 19, len(digits)) + 1)
        ):
            return True
    return False


def reject_card_numbers(values: Mapping[str, str]) -> None:
    """Raises CardNumberRejected naming the fields whose text holds what looks like a card number."""
    found = {
        name: ["This looks like a card number; keep only the provider's reference."]
        for name, text in values.items()
        if looks_like_card_number(text)
    }
    if found:
        raise CardNumberRejected("Never send us card numbers: the payment provider keeps them.", errors=found)


def _luhn(digits: Sequence[int]) -> bool:
    total = sum(digits[-1::-2])
    for digit in digits[-2::-2]:
        total += digit * 2 - 9 if digit > 4 else digit * 2
    return total % 10 == 0
