"""Field types that several services' schemas share, strict about JSON types so that the OpenAPI page tells the truth."""

import re
from typing import Any

import marshmallow as ma

from shared.money import CURRENCIES
from shared.web.api import Shape
from shared.web.quick_checks import Unsuited, Value, text

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NOT_IN_ADDRESSES = re.compile(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters but line ends, and those that turn the direction of writing: a label must read as it was typed."""
_LINE_END = re.compile(r"\r\n?")
TEXT_PATTERN = r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$"
FILLED_TEXT_PATTERN = r"^(?=[\s\S]*\S)[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$"
ADDRESS_PATTERN = (
    r"^(?=[\s\S]*\S)[^\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$"
)
TIME_PATTERN = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$"


class Text(ma.fields.String):
    """A trimmed string of `min` to `max` characters without control characters."""

    def __init__(self, min: int = 1, max: int = 200, *, pattern: str | None = None, **kwargs: Any) -> None:
        checks: list[Any] = [ma.validate.Length(min, max)]
        shown = FILLED_TEXT_PATTERN if min else TEXT_PATTERN
        if pattern:
            checks.append(ma.validate.Regexp(pattern))
            shown = f"^(?={shown[1:]}){pattern[1:]}" if "[^" in pattern else pattern
        super().__init__(validate=checks, metadata={"pattern": shown} | kwargs.pop("metadata", {}), **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        if _CONTROL.search(text):
            raise ma.ValidationError("Control characters are not accepted.")
        return text.strip()

    def quick_value(self) -> Value:
        def trimmed(value: Any) -> str:
            if type(value) is not str or _CONTROL.search(value):
                raise Unsuited
            return value.strip()

        return trimmed


class AddressText(ma.fields.String):
    """An address as on an envelope: lines of text, every line end a line feed, no other control character."""

    def __init__(self, max: int = 1000, **kwargs: Any) -> None:
        metadata = {"pattern": ADDRESS_PATTERN} | kwargs.pop("metadata", {})
        super().__init__(validate=ma.validate.Length(1, max), metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        if _NOT_IN_ADDRESSES.search(text):
            raise ma.ValidationError("Control characters other than line ends are not accepted.")
        return _LINE_END.sub("\n", text).strip()


class StrictInteger(ma.fields.Integer):
    """An integer given as a JSON number (2.0 is one), between `min` and `max`."""

    def __init__(self, min: int | None = None, max: int | None = None, **kwargs: Any) -> None:
        checks = ma.validate.Range(min, max) if min is not None or max is not None else None
        super().__init__(strict=True, validate=checks, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ma.ValidationError("Not a whole number.")
        return value

    def quick_value(self) -> Value:
        def number(value: Any) -> int:
            if type(value) is not int:
                raise Unsuited
            return value

        return number


class Time(ma.fields.String):
    """A moment as the documents hold it: ISO 8601, UTC, milliseconds, `Z`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(validate=ma.validate.Regexp(TIME_PATTERN), **kwargs)

    def quick_value(self) -> Value:
        return text


class MoneyShape(Shape):
    """Minor units and ISO 4217 currency: 14.99 GBP is {"amount": 1499, "currency": "GBP"}."""

    amount = StrictInteger(0, 10**12, required=True)
    currency = ma.fields.String(required=True, validate=ma.validate.OneOf(sorted(CURRENCIES)))
