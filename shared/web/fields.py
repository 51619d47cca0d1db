"""Field types that several services' schemas share, strict about JSON types so that the OpenAPI page tells the truth."""

import re
from typing import Any

import marshmallow as ma

from shared.money import CURRENCIES
from shared.web.api import Shape

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
TIME_PATTERN = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$"


class Text(ma.fields.String):
    """A trimmed string of `least` to `most` characters without control characters."""

    def __init__(self, least: int = 1, most: int = 200, *, pattern: str | None = None, **kwargs: Any) -> None:
        checks: list[Any] = [ma.validate.Length(least, most)]
        if pattern:
            checks.append(ma.validate.Regexp(pattern))
        super().__init__(validate=checks, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs).strip()
        if _CONTROL.search(text):
            raise ma.ValidationError("Control characters are not accepted.")
        return text


class Whole(ma.fields.Integer):
    """An integer given as a JSON number, between `least` and `most`."""

    def __init__(self, least: int | None = None, most: int | None = None, **kwargs: Any) -> None:
        checks = ma.validate.Range(least, most) if least is not None or most is not None else None
        super().__init__(strict=True, validate=checks, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ma.ValidationError("Not a whole number.")
        return value


class Flag(ma.fields.Boolean):
    """true or false, nothing that resembles them."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise ma.ValidationError("Use true or false.")
        return value


class Time(ma.fields.String):
    """A moment as the documents hold it: ISO 8601, UTC, milliseconds, `Z`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(validate=ma.validate.Regexp(TIME_PATTERN), **kwargs)


class MoneyShape(Shape):
    """Minor units and ISO 4217 currency: 14.99 GBP is {"amount": 1499, "currency": "GBP"}."""

    amount = Whole(0, 10**12, required=True)
    currency = ma.fields.String(required=True, validate=ma.validate.OneOf(sorted(CURRENCIES)))
