"""Which passwords may be chosen."""

from collections.abc import Container
from itertools import pairwise

from shared.errors import Invalid

_TRAILING_CHARACTERS = "0123456789!?.,*#$%&+-_= "
_LOOKALIKES = (str.maketrans("@4031$57!", "aaoeissti"), str.maketrans("@4031$57!", "aaoelssti"))


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
    stems = {text, text.rstrip(_TRAILING_CHARACTERS)}
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
