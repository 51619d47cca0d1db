"""The kinds of fields: what a value must be, and how documents hold it."""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeGuard

from shared.money import CURRENCIES

MAX_AMOUNT: Final = 10**12
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NOT_IN_LINES = re.compile(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_LINE_END = re.compile(r"\r\n?")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z")
REQUIRED: Final = object()
"""The `default` of a field that has none."""


class Rejected(ValueError):
    """A value that the field does not take; its text says what to write instead."""


@dataclass(frozen=True, kw_only=True)
class Field(ABC):
    """A declared field. `default` is what a reader sees where a document has none; without one it must be given.

    `writable`: clients send it. A field that is only public is taken from clients and left aside, so that what was
    read or exported can be sent back. `public`: answers, exports and CSV files show it. `omit_default`: a document
    does not hold the default; False for a field that code of the last release reads without asking. `show_default`:
    an answer shows the default; False for what most documents lack.
    """

    description: str = ""
    default: Any = REQUIRED
    writable: bool = True
    public: bool = True
    omit_default: bool = True
    show_default: bool = True

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @abstractmethod
    def clean(self, value: Any) -> Any:
        """`value` (never None) as documents hold it. Raises Rejected."""


@dataclass(frozen=True)
class Text(Field):
    """A trimmed text of `min` to `max` characters. `pattern`, and `pattern_message` where it does not match.

    Accented letters get one spelling (NFC), for the database sorts both as equal; `normalize=False` keeps an address as it was written.
    """

    min: int
    max: int
    pattern: str = ""
    pattern_message: str = "Not written as it must be."
    normalize: bool = True

    def clean(self, value: Any) -> str:
        if not isinstance(value, str):
            raise Rejected("Not a text.")
        if _CONTROL.search(value):
            raise Rejected("Control characters are not accepted.")
        text = value.strip()
        if self.normalize and not text.isascii():
            text = unicodedata.normalize("NFC", text)
        if not self.min <= len(text) <= self.max:
            raise Rejected(f"Must be {self.min} to {self.max} characters long.")
        if self.pattern and not self._compiled.fullmatch(text):
            raise Rejected(self.pattern_message)
        return text

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)


@dataclass(frozen=True)
class Lines(Field):
    """Up to `max` characters in lines, as an address on an envelope: every line end is a line feed, there is no other
    control character, and none that turns the direction of writing, so that a label reads as it was typed."""

    max: int

    def clean(self, value: Any) -> str:
        if not isinstance(value, str):
            raise Rejected("Not a text.")
        if not 1 <= len(value) <= self.max:
            raise Rejected(f"Must be 1 to {self.max} characters long.")
        if _NOT_IN_LINES.search(value):
            raise Rejected("Control characters other than line ends are not accepted.")
        text = _LINE_END.sub("\n", value).strip()
        if not text:
            raise Rejected("Must not be empty.")
        return text


@dataclass(frozen=True)
class Secret(Field):
    """A text that is taken as it was typed, spaces and all: a password."""

    min: int
    max: int

    def clean(self, value: Any) -> str:
        if not isinstance(value, str):
            raise Rejected("Not a text.")
        if not self.min <= len(value) <= self.max:
            raise Rejected(f"Must be {self.min} to {self.max} characters long.")
        return value


@dataclass(frozen=True)
class Choice(Field):
    """One of these texts."""

    values: tuple[str, ...]

    def clean(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.values:
            raise Rejected(f"Must be one of: {', '.join(self.values)}.")
        return value


@dataclass(frozen=True)
class Boolean(Field):
    """true or false, nothing that resembles them."""

    def clean(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise Rejected("Use true or false.")
        return value


@dataclass(frozen=True)
class Moment(Field):
    """A time as `shared.clock.timestamp` writes it."""

    def clean(self, value: Any) -> str:
        if not isinstance(value, str) or not _MOMENT.fullmatch(value):
            raise Rejected("Write a time like 2026-11-20T23:11:00.000Z.")
        return value


@dataclass(frozen=True)
class JsonObject(Field):
    """An object of any content."""

    def clean(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Rejected("Not an object.")
        return value


@dataclass(frozen=True)
class TextList(Field):
    """`min` to `max` texts. `separator` joins them in a cell of a CSV file; a text may hold "|" there, but no other separator."""

    item: Text | Choice
    min: int
    max: int
    separator: str = "|"

    def clean(self, value: Any) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise Rejected("Not a list of texts.")
        if not self.min <= len(value) <= self.max:
            raise Rejected(f"Must have {self.min} to {self.max} entries.")
        return [self.item.clean(each) for each in value]


@dataclass(frozen=True)
class Integer(Field):
    """A whole number from `min` to `max`."""

    min: int
    max: int

    def clean(self, value: Any) -> int:
        value = as_whole(value)
        if not is_whole(value) or not self.min <= value <= self.max:
            raise Rejected(f"Must be a whole number, {self.min} to {self.max}.")
        return value


@dataclass(frozen=True)
class Number(Field):
    """Any number; `nullable` also null."""

    nullable: bool = False

    def clean(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Rejected("Must be a number.")
        return value


@dataclass(frozen=True)
class Percent(Field):
    """0 to 100, with at most `decimals` decimals: 20, 8.875."""

    decimals: int = 4

    def clean(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
            raise Rejected("Must be a number from 0 to 100.")
        if round(value, self.decimals) != value:
            raise Rejected(f"Must have {self.decimals} decimals at most.")
        return int(value) if value == int(value) else value


@dataclass(frozen=True)
class Amount(Field):
    """Money: {amount, currency}, the amount in minor units, 0 to `max`."""

    max: int = MAX_AMOUNT

    def clean(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Rejected("Not {amount, currency}.")
        amount, currency = as_whole(value.get("amount")), value.get("currency")
        if not is_whole(amount) or not 0 <= amount <= self.max:
            raise Rejected(
                f"amount must be a whole number of minor units (1250 for 12.50 GBP), 0 to {self.max}."
            )
        if not isinstance(currency, str) or currency not in CURRENCIES:
            raise Rejected("currency must be an ISO 4217 code such as GBP.")
        if value.keys() - {"amount", "currency"}:
            raise Rejected("Only amount and currency belong here.")
        return {"amount": amount, "currency": currency}


@dataclass(frozen=True)
class Group(Field):
    """An object with fields of its own: none unknown; one that says nothing is left out."""

    fields: Mapping[str, Field]

    def clean(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Rejected("Not an object.")
        if unknown := sorted(str(name) for name in value.keys() - self.fields.keys()):
            raise Rejected(f"No such field: {unknown[0]}.")
        for name, field in self.fields.items():
            if field.required and field.writable and value.get(name) is None:
                raise Rejected(f"{name} is missing.")
        return _members(self.fields, value)


@dataclass(frozen=True)
class GroupList(Field):
    """A list of `min` to `max` objects with fields of their own: none unknown, none missing.

    An optional one that says nothing is left out, or with `fill` has its default. `in_cell`: a CSV cell holds the list as JSON.
    """

    fields: Mapping[str, Field]
    max: int = 10_000
    min: int = 0
    fill: bool = False
    in_cell: bool = False

    def clean(self, value: Any) -> list[dict[str, Any]]:
        if not isinstance(value, list):
            raise Rejected("Not a list of objects.")
        if len(value) > self.max:
            raise Rejected(f"Must have {self.max} entries at most, not {len(value)}.")
        if len(value) < self.min:
            raise Rejected(f"Must have {self.min} entries at least, not {len(value)}.")
        return [self._entry(number, each) for number, each in enumerate(value, 1)]

    def _entry(self, number: int, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Rejected(f"Entry {number} is not an object.")
        if unknown := sorted(str(name) for name in value.keys() - self.fields.keys()):
            raise Rejected(f"Entry {number}: {unknown[0]} is unknown.")
        cleaned = {}
        for name, field in self.fields.items():
            if value.get(name) is None:
                if field.required and field.writable:
                    raise Rejected(f"Entry {number}: {name} is missing.")
                if self.fill:
                    cleaned[name] = field.default
            elif field.writable and (
                (clean := self._cleaned(number, name, value[name])) != field.default or self.fill
            ):
                cleaned[name] = clean
        return cleaned

    def _cleaned(self, number: int, name: str, value: Any) -> Any:
        try:
            return self.fields[name].clean(value)
        except Rejected as rejected:
            raise Rejected(f"Entry {number}, {name}: {rejected}") from None


@dataclass(frozen=True)
class TextMap(Field):
    """An object of up to `max` texts by name."""

    name: Text
    text: Text
    max: int

    def clean(self, value: Any) -> dict[str, str]:
        if not isinstance(value, dict) or len(value) > self.max:
            raise Rejected(f"Not an object of at most {self.max} texts.")
        return {self.name.clean(name): self.text.clean(text) for name, text in value.items()}


@dataclass(frozen=True)
class Amounts(Field):
    """Minor units by currency: {"GBP": 1499, "EUR": 1790}."""

    max: int = MAX_AMOUNT

    def clean(self, value: Any) -> dict[str, int]:
        if not isinstance(value, dict):
            raise Rejected("Not an object of minor units by currency.")
        return {currency: self._amount(currency, amount) for currency, amount in value.items()}

    def _amount(self, currency: Any, amount: Any) -> int:
        try:
            return int(Amount(self.max).clean({"amount": amount, "currency": currency})["amount"])
        except Rejected as rejected:
            raise Rejected(f"{currency}: {rejected}") from None


@dataclass(frozen=True)
class AmountsByName(Field):
    """Minor units by currency, of up to `max` names: {"trade": {"GBP": 1250}}."""

    name: Text
    amounts: Amounts
    max: int

    def clean(self, value: Any) -> dict[str, dict[str, int]]:
        if not isinstance(value, dict) or len(value) > self.max:
            raise Rejected(f"Not an object of at most {self.max} names.")
        return {self.name.clean(name): self.amounts.clean(amounts) for name, amounts in value.items()}


@dataclass(frozen=True)
class GroupsByName(Field):
    """Objects with fields of their own, of up to `max` names: {"de": {"name": "Becher"}}. A field that says nothing is left out."""

    name: Text
    fields: Mapping[str, Field]
    max: int

    def clean(self, value: Any) -> dict[str, dict[str, Any]]:
        if not isinstance(value, dict) or len(value) > self.max:
            raise Rejected(f"Not an object of at most {self.max} names.")
        return {self.name.clean(name): self._group(name, group) for name, group in value.items()}

    def _group(self, name: Any, group: Any) -> dict[str, Any]:
        if not isinstance(group, dict):
            raise Rejected(f"{name}: Not an object.")
        if unknown := sorted(str(each) for each in group.keys() - self.fields.keys()):
            raise Rejected(f"{name}: {unknown[0]} is unknown.")
        return _members(self.fields, group, f"{name}, ")


def _members(fields: Mapping[str, Field], value: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """What the members of an object say, without those that say nothing. Raises Rejected, naming the member behind `where`."""
    found = {}
    for name, field in fields.items():
        if value.get(name) is None:
            continue
        try:
            clean = field.clean(value[name])
        except Rejected as rejected:
            raise Rejected(f"{where}{name}: {rejected}") from None
        if clean != field.default:
            found[name] = clean
    return found


def as_whole(value: Any) -> Any:
    """To JSON 2.0 is the whole number 2; any other value stays what it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether it is an integer; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)
