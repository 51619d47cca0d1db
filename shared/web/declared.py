"""Request and response schemas of declared documents (`shared.fields`): OpenAPI describes what the declaration checks."""

from collections.abc import Callable, Mapping
from typing import Any

import marshmallow as ma

from shared import fields
from shared.errors import Invalid
from shared.fields import Declaration, Field
from shared.web.api import Shape
from shared.web.fields import MoneyShape, Text, Whole


class Checked(Shape):
    """A request body that its document's own rules check, so that a request and an import line meet the same ones."""

    @staticmethod
    def check(data: Any) -> Any:
        """What the handler gets of a body. Raises Invalid with the errors by field."""
        raise TypeError("made by `request_schema`, which brings a check")

    def load(self, data: Any, **_: Any) -> Any:
        try:
            return self.check(data)
        except Invalid as error:
            raise ma.ValidationError(getattr(error, "errors", None) or {"_schema": [error.detail]}) from error


def request_schema(name: str, declaration: Declaration, check: Callable[[Any], Any]) -> type[Checked]:
    """The schema of a body that `check` turns into what the handler gets."""
    described = {
        each: _described(declaration.fields[each], f"{name}{each.title()}", answer=False)
        for each in declaration.public
    }
    return type(name, (Checked,), {**described, "check": staticmethod(check)})


def response_schema(name: str, declaration: Declaration) -> type[Shape]:
    """The schema of an answer with all public fields."""
    return _answer(name, {each: declaration.fields[each] for each in declaration.public})


def _answer(name: str, declared: Mapping[str, Field]) -> type[Shape]:
    described = {
        each: _described(field, f"{name}{each.title()}", answer=True) for each, field in declared.items()
    }
    return type(name, (Shape,), described)


def _described(field: Field, name: str, *, answer: bool) -> ma.fields.Field[Any]:
    """The marshmallow field that documents a declared one; an answer always has it, and promises no lengths.

    `name` is what OpenAPI calls the schema of a group.
    """
    required = answer or (field.required and field.writable)
    common: dict[str, Any] = {"required": required}
    if field.description:
        common["metadata"] = {"description": field.description}
    if isinstance(field, fields.Text):
        return ma.fields.String(**common) if answer else _text(field, common)
    if isinstance(field, fields.TextList):
        if answer:
            return ma.fields.List(ma.fields.String(), **common)
        return ma.fields.List(
            _text(field.item, {}), validate=ma.validate.Length(field.min, field.max), **common
        )
    if isinstance(field, fields.Integer):
        return Whole(field.min, None if answer else field.max, **common)
    if isinstance(field, fields.Number):
        return ma.fields.Float(allow_none=field.nullable, **common)
    if isinstance(field, fields.Amount):
        return ma.fields.Nested(MoneyShape, **common)
    if isinstance(field, fields.Group):
        return ma.fields.Nested(_answer(name, field.fields), **common)
    raise TypeError(f"no schema is known for {type(field).__name__}")


def _text(field: fields.Text, common: dict[str, Any]) -> Text:
    return Text(field.min, field.max, pattern=f"^(?:{field.pattern})$" if field.pattern else None, **common)
