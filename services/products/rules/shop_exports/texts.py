"""Cells of other shops' files: prices, HTML, lists, and ids made of any text."""

import re
import unicodedata
from decimal import Decimal
from hashlib import sha1
from html.parser import HTMLParser
from typing import Final

from shared.errors import Invalid
from shared.money import MINOR_UNITS

_PRICE = re.compile(r"-?[0-9][0-9.,' \u00a0]*")
_WHOLE = re.compile(r"([+-]?[0-9]{1,9})(?:[.,]0+)?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9._-]+")
_BLOCKS: Final = frozenset(
    "p div br tr ul ol table h1 h2 h3 h4 h5 h6 section article blockquote pre hr dl dt dd".split()
)
_SKIPPED: Final = frozenset(("script", "style", "head", "template", "iframe", "object", "svg", "noscript"))
MAX_ID: Final = 64


class BadPrice(Invalid):
    code, title = "bad_price", "This is no price"


def article_number(text: str) -> str:
    """A text as a productid or SKU: letters without accents, a dash for what may not be in one. Empty for an empty text."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    made = _NOT_IN_IDS.sub("-", plain).strip("-._")
    if text.strip() and not made:
        made = "id-" + sha1(text.strip().encode(), usedforsecurity=False).hexdigest()[:12]
    return (
        made
        if len(made) <= MAX_ID
        else f"{made[:51].rstrip('-._')}-{sha1(text.encode(), usedforsecurity=False).hexdigest()[:12]}"
    )


def minor_units(text: str, currency: str, line: int) -> int:
    """12.50, "1,299.00" or "1.299,00" in minor units. Raises BadPrice."""
    match = _PRICE.fullmatch(text.strip().strip("£$€").strip())
    if match is None:
        raise BadPrice(f"Line {line}: {text!r} is no price.")
    digits = MINOR_UNITS.get(currency, 2)
    amount = Decimal(_plain(match[0])).scaleb(digits)
    if amount != amount.to_integral_value():
        raise BadPrice(f"Line {line}: {currency} has no price of {text!r}.")
    if amount < 0:
        raise BadPrice(f"Line {line}: {text!r} is below zero.")
    return int(amount)


def _plain(number: str) -> str:
    """With a dot for the decimals and nothing between thousands; the zeros behind the last decimals say nothing."""
    number = re.sub(r"[' \u00a0]", "", number)
    if "," in number and "." in number:
        thousands = "," if number.rindex(".") > number.rindex(",") else "."
        number = number.replace(thousands, "").replace(",", ".")
    elif "," in number:
        whole, _, decimals = number.rpartition(",")
        number = f"{whole}.{decimals}" if "," not in whole and len(decimals) != 3 else number.replace(",", "")
    elif number.count(".") > 1:
        number = number.replace(".", "")
    return number.rstrip(".") or "0"


def whole(text: str) -> int | None:
    match = _WHOLE.fullmatch(text.strip())
    return int(match[1]) if match else None


def grams(text: str, per_unit: Decimal) -> int | None:
    """A weight, None where there is none."""
    try:
        weight = int((Decimal(text.strip().replace(",", ".")) * per_unit).to_integral_value())
    except ArithmeticError:
        return None
    return weight if 1 <= weight <= 10**9 else None


def one_line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


def split(text: str, separator: str = ",") -> list[str]:
    """The entries of a cell; a separator within one is written with a backslash before it."""
    parts = re.split(rf"(?<!\\){re.escape(separator)}", text)
    return [entry for part in parts if (entry := one_line(part.replace(f"\\{separator}", separator)))]


def from_html(html: str) -> str:
    """What a browser would show of it, as text: nothing in it is markup any more."""
    reader = _Text()
    reader.feed(html.replace("\r\n", "\n").replace("\r", "\n"))
    reader.close()
    lines = [" ".join(line.split()) for line in _CONTROL.sub(" ", "".join(reader.found)).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SKIPPED:
            self._skipped += 1
        elif tag == "li":
            self.found.append("\n- ")
        elif tag in ("td", "th"):
            self.found.append(" ")
        elif tag in _BLOCKS:
            self.found.append("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self.found.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED:
            self._skipped = max(0, self._skipped - 1)
        elif tag in _BLOCKS:
            self.found.append("\n\n" if tag == "p" else "\n")

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.found.append(data)
