"""What a field of a document may hold, declared once: `name: Annotated[str, Text(1, 500)]` in a document's TypedDict.

Everything else about the field follows from there: the check of a request or an import line (`Declaration.check`), the request and
response schemas (`shared.web.declared`), the columns of CSV files (`shared.tables`), and what an answer shows where
an older document has no such field (`Declaration.defaults`).
"""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, Final, NotRequired, TypeGuard, get_args, get_origin, get_type_hints

from shared.money import CURRENCIES

MAX_AMOUNT: Final = 10**12
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_REQUIRED: Final = object()


class Rejected(ValueError):
    """A value that the field does not take; its text says what to write instead."""


@dataclass(frozen=True, kw_only=True)
class Field(ABC):
    """A declared field. `default` is what a reader sees where a document has none; without one it must be given.

    `writable`: clients send it. A field that is only public is taken from clients and left aside, so that what was
    read or exported can be sent back. `public`: answers, exports and CSV files show it. `omit_default`: a document
    does not hold the default; False for a field that code of the last release reads without asking.
    """

    description: str = ""
    default: Any = _REQUIRED
    writable: bool = True
    public: bool = True
    omit_default: bool = True

    @property
    def required(self) -> bool:
        return self.default is _REQUIRED

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
class TextList(Field):
    """`min` to `max` texts. `separator` joins them in a cell of a CSV file; a text may hold "|" there, but no other separator."""

    item: Text
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
    """An object with fields of its own."""

    fields: Mapping[str, Field]

    def clean(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Rejected("Not an object.")
        return {name: self.fields[name].clean(each) for name, each in value.items() if name in self.fields}


class Declaration:
    """The fields that a document's TypedDict declares, in their order."""

    def __init__(self, document: type) -> None:
        hints = get_type_hints(document, include_extras=True)
        self.fields: Final = {name: field for name, hint in hints.items() if (field := _field_of(hint))}
        self.writable: Final = tuple(name for name, field in self.fields.items() if field.writable)
        self.public: Final = tuple(name for name, field in self.fields.items() if field.public)
        self.defaults: Final = {
            name: field.default for name, field in self.fields.items() if not field.required
        }
        self._content: Final = self._reader(self.writable)
        self._shown: Final = self._reader(self.public)
        self._known: Final = frozenset(self.public)
        self._omitted: Final = {
            name: value for name, value in self.defaults.items() if self.fields[name].omit_default
        }

    def check(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """The content that `data` stands for, defaults filled in, and what is wrong with it by field."""
        content: dict[str, Any] = {}
        errors = {str(name): ["Unknown field."] for name in data.keys() - self._known}
        for name in self.writable:
            field, value = self.fields[name], data.get(name)
            if value is not None:
                try:
                    content[name] = field.clean(value)
                except Rejected as rejected:
                    errors[name] = [str(rejected)]
            elif field.required:
                errors[name] = ["Missing."]
            else:
                content[name] = field.default
        return content, errors

    def stored(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """`content` as a document holds it: an optional field that says nothing is left out."""
        return {name: value for name, value in content.items() if self._omitted.get(name, _REQUIRED) != value}

    def content(self, doc: Mapping[str, Any]) -> dict[str, Any]:
        """What clients wrote of a document, its defaults filled in."""
        return self._content(doc)

    def shown(self, doc: Mapping[str, Any]) -> dict[str, Any]:
        """The public fields of a document, its defaults filled in."""
        return self._shown(doc)

    def _reader(self, names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
        defaults = self.defaults
        values = itemgetter(*names) if len(names) > 1 else lambda doc: tuple(doc[name] for name in names)

        def read(doc: Mapping[str, Any]) -> dict[str, Any]:
            try:
                found = values(doc)
            except KeyError:
                found = values({**defaults, **doc})
            return dict(zip(names, found, strict=True))

        return read


def as_whole(value: Any) -> Any:
    """To JSON 2.0 is the whole number 2; any other value stays what it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether it is an integer; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def _field_of(hint: Any) -> Field | None:
    """The Field among the annotations of a type hint, also inside NotRequired."""
    if get_origin(hint) is NotRequired:
        hint = get_args(hint)[0]
    return next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Field)), None)
