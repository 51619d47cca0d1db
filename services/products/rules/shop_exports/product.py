"""A product out of another shop's file, as an import line takes it, and what could not be taken over."""

import re
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from services.products.declarations.limits import MAX_PICTURES
from services.products.declarations.parts import PICTURE_ADDRESS
from services.products.rules.shop_exports import texts
from shared.errors import AisleError, Invalid

MAX_KEYWORDS, MAX_KEYWORD, MAX_DESCRIPTION = 50, 100, 20_000
NO_CATEGORY: Final = "Uncategorised"


class Incomplete(Invalid):
    code, title = "incomplete_product", "The rows do not make a product"


class Picture(NamedTuple):
    """Where a picture is on the web, and what it shows."""

    address: str
    alt: str = ""


@dataclass(frozen=True)
class Options:
    """What such files do not say: the currency of their prices, and the stock of what is not counted."""

    currency: str
    untracked_stock: int = 0


@dataclass
class ExportedProduct:
    """`data` as `rules.product.checked` takes it, or the `problem`; `notes` are (line, code, what was left aside or changed)."""

    line: int
    data: dict[str, Any] = field(default_factory=dict)
    pictures: list[Picture] = field(default_factory=list)
    notes: list[tuple[int, str, str]] = field(default_factory=list)
    problem: AisleError | None = None

    def note(self, code: str, detail: str, line: int = 0) -> None:
        self.notes.append((line or self.line, code, detail))

    def describe(self, text: str) -> None:
        """The description; one that is too long is cut off."""
        if len(text) > MAX_DESCRIPTION:
            text = text[:MAX_DESCRIPTION].rstrip()
            self.note("description_cut", f"The description was cut off after {MAX_DESCRIPTION} characters.")
        self.data["description"] = text

    def add_keywords(self, words: list[str]) -> None:
        known: list[str] = self.data.setdefault("keywords", [])
        fresh = [word for word in dict.fromkeys(words) if 0 < len(word) <= MAX_KEYWORD and word not in known]
        room = MAX_KEYWORDS - len(known)
        known += fresh[:room]
        if len(fresh) > room:
            self.note("keywords_left_out", f"Only {MAX_KEYWORDS} tags are kept.")

    def add_picture(self, address: str, alt: str = "", line: int = 0) -> None:
        if address in (each.address for each in self.pictures) or not self.is_address(address, line):
            return
        if len(self.pictures) == MAX_PICTURES:
            self.note("picture_left_out", f"Only {MAX_PICTURES} pictures are kept: not {address}", line)
        else:
            self.pictures.append(Picture(address, alt[:300]))

    def is_address(self, address: str, line: int = 0) -> bool:
        """Whether a picture can be there; it is noted when not."""
        if re.fullmatch(PICTURE_ADDRESS.pattern, address) and len(address) <= PICTURE_ADDRESS.max:
            return True
        self.note("picture_left_out", f"{address!r} is no address of a picture.", line)
        return False

    def compare_at(self, target: dict[str, Any], text: str, price: int, options: Options, line: int) -> None:
        """What the product or variant `target` cost before, where that is more."""
        if not text or (amount := texts.minor_units(text, options.currency, line)) <= price:
            return
        target["compare_at_prices"] = {options.currency: amount}

    def cost(self, target: dict[str, Any], text: str, options: Options, line: int) -> None:
        """What the product or variant `target` costs the shop, where the file says so."""
        if text:
            target["cost_prices"] = {options.currency: texts.minor_units(text, options.currency, line)}

    def stock(self, quantity: str, options: Options, line: int, *, tracked: bool = True) -> int:
        """The level that a cell says; what the other shop does not count starts with what the import was told."""
        if not quantity:
            return options.untracked_stock if not tracked else 0
        level = texts.whole(quantity)
        if level is None:
            raise Incomplete(f"Line {line}: {quantity!r} is no number of pieces.")
        if level < 0:
            self.note("stock_below_zero", f"The stock {level} became 0.", line)
        return max(level, 0)
