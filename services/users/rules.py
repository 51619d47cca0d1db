"""What holds for accounts whatever the storage: e-mails, cards, default addresses, baskets. Pure functions."""

import re
import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from shared.errors import Conflict, Forbidden, Invalid, NotFound, Unauthorized

MAX_QUANTITY = 999
MAX_BASKET_LINES = 200
MAX_ADDRESSES = 50
MAX_PAYMENT_METHODS = 20
PREFERENCES = {"language": "en", "currency": "GBP", "newsletter": False}

_LOCAL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_DOMAIN = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}")
_TRAILERS = "0123456789!?.,*#$%&+-_= "
_LOOKALIKES = (str.maketrans("@4031$57!", "aaoeissti"), str.maketrans("@4031$57!", "aaoelssti"))
_DIGITS = re.compile(r"\d(?:[ \-.]?\d){12,}")


class EmailTaken(Conflict):
    code, title = "email_taken", "An account with this e-mail exists already"


class BadLogin(Unauthorized):
    code, title = "bad_login", "E-mail or password is wrong, or the e-mail is not verified"


class BadRefreshToken(Unauthorized):
    code, title = "bad_refresh_token", "This session has ended"


class WrongPassword(Forbidden):
    code, title = "wrong_password", "The current password is wrong"


class PasswordRequired(Forbidden):
    code, title = "password_required", "This needs your password again"


class NoSuchUser(NotFound):
    code, title = "no_such_user", "No such account"


class NoSuchAddress(NotFound):
    code, title = "no_such_address", "No such address"


class NoSuchPaymentMethod(NotFound):
    code, title = "no_such_payment_method", "No such payment method"


class NoSuchProduct(NotFound):
    code, title = "no_such_product", "No such product"


class LooksLikeCard(Invalid):
    code, title = "card_number", "Card numbers are not kept here"


class KeepsOneAdmin(Conflict):
    code, title = "last_admin", "The shop must keep an admin"


def normalised_email(text: str) -> str:
    """The one spelling of an e-mail that is stored and compared. Raises Invalid for what is not an e-mail."""
    local, _, domain = unicodedata.normalize("NFC", text.strip()).rpartition("@")
    try:
        domain = domain.lower().encode("idna").decode() if not domain.isascii() else domain.lower()
    except UnicodeError:
        domain = ""
    if len(local) > 64 or len(domain) > 253 or not _LOCAL.fullmatch(local) or not _DOMAIN.fullmatch(domain):
        raise Invalid("This is not an e-mail address.", errors={"email": ["Write it like name@example.com."]})
    return f"{local.lower()}@{domain}"


def check_password(password: str, email: str, name: str, common: Container[str]) -> None:
    """Raises Invalid for a password that a guesser tries first. `common`: the most common ones, in lower case."""
    text = password.casefold().strip()
    local, _, domain = email.partition("@")
    own = {email, local, domain, *_forms_of(name.casefold())} - {""}
    if any(form in own for form in _guesses(text)):
        raise _weak("It is your name or e-mail.")
    if any(form in common for form in _guesses(text)):
        raise _weak("It is among the passwords that are used, and tried, most.")
    if _is_repeated(text) or _is_sequence(text):
        raise _weak("It repeats a few characters or counts them up.")


def _weak(reason: str) -> Invalid:
    advice = f"{reason} Choose another: three or four words that do not belong together are good."
    return Invalid("This password is too easy to guess.", errors={"password": [advice]})


def _guesses(text: str) -> set[str]:
    """What a guesser would have begun with: without digits and signs at the end, letters for the digits that look like them."""
    stems = {text, text.rstrip(_TRAILERS)}
    return stems | {stem.translate(table) for stem in stems for table in _LOOKALIKES}


def _forms_of(name: str) -> set[str]:
    words = name.split()
    return {name, "".join(words), ".".join(words), "-".join(words), "_".join(words), *words}


def _is_repeated(text: str) -> bool:
    """One to four characters again and again."""
    return any(text == (text[:size] * len(text))[: len(text)] for size in range(1, 5))


def _is_sequence(text: str) -> bool:
    steps = {ord(following) - ord(each) for each, following in pairwise(text)}
    return steps in ({1}, {-1})


def looks_like_card(text: str) -> bool:
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


def refuse_cards(values: Mapping[str, str]) -> None:
    """Raises LooksLikeCard naming the fields whose text holds what looks like a card number."""
    found = {
        name: ["This looks like a card number; keep only the provider's reference."]
        for name, text in values.items()
        if looks_like_card(text)
    }
    if found:
        raise LooksLikeCard("Never send us card numbers: the payment provider keeps them.", errors=found)


def _luhn(digits: Sequence[int]) -> bool:
    total = sum(digits[-1::-2])
    for digit in digits[-2::-2]:
        total += digit * 2 - 9 if digit > 4 else digit * 2
    return total % 10 == 0


def default_address(addresses: Iterable[Mapping[str, Any]]) -> str | None:
    """The `_id` of the one default: the address chosen last, the newest one among those never chosen."""
    return max(((doc["default_since"], doc["_id"]) for doc in addresses), default=("", None))[1]


def merged_quantity(own: int, guest: int) -> int:
    """Guest basket at login: the larger one wins, so that merging the same basket twice changes nothing."""
    return min(max(own, guest), MAX_QUANTITY)


def is_live(user: Mapping[str, Any]) -> bool:
    """Whether an account may act: not closed and not erased."""
    return bool(user["active"]) and not user.get("erasure")


def is_admin(user: Mapping[str, Any]) -> bool:
    """Whether somebody can log in and act as admin: who is closed or has lost the e-mail cannot."""
    return "admin" in user["roles"] and bool(user["active"] and user["email_verified"])


def check_roles_change(user: Mapping[str, Any], roles: Sequence[str], admins: int) -> None:
    """Raises KeepsOneAdmin when this would leave the shop without an admin."""
    if is_admin(user) and "admin" not in roles and admins <= 1:
        raise KeepsOneAdmin("Make somebody else admin first.")
