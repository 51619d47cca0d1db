"""The codes of gift cards: 80 random bits in letters that nobody mistakes for others; stored is only their hash."""

import hashlib
import hmac
import re
import secrets
from datetime import date, timedelta

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH, GROUP = 16, 4
_BITS = 5 * LENGTH
_MISREAD = str.maketrans("OIL", "011")
_NOT_IN_CODES = re.compile(r"[\s\-–—]")


def new_code() -> str:
    """A code that nobody can guess."""
    return _written(secrets.randbits(_BITS))


def code_of(secret: str, reference: str) -> str:
    """The code of what `reference` names, always the same: who issues a card again after a crash issues the same card."""
    digest = hmac.digest(secret.encode(), f"gift card {reference}".encode(), "sha256")
    return _written(int.from_bytes(digest[: _BITS // 8], "big"))


def normalized(code: str) -> str:
    """A code as it was meant: without spaces and dashes, in capitals, O as 0 and I as 1."""
    return _NOT_IN_CODES.sub("", code).upper().translate(_MISREAD)


def is_well_formed(code: str) -> bool:
    return len(code) == LENGTH and set(code) <= set(ALPHABET)


def card_id(code: str) -> str:
    """What a card is known by: nobody gets from it to its code."""
    return hashlib.sha256(f"gift card {normalized(code)}".encode()).hexdigest()[:40]


def card_name(code: str) -> str:
    return f"Gift card ending {normalized(code)[-4:]}"


def last_day(issued: date, days: int) -> str:
    """The last day on which a card can be spent; "" when it never ends."""
    return (issued + timedelta(days=days)).isoformat() if days else ""


def _written(number: int) -> str:
    letters = "".join(ALPHABET[(number >> shift) & 31] for shift in range(_BITS - 5, -1, -5))
    return "-".join(letters[start : start + GROUP] for start in range(0, LENGTH, GROUP))
