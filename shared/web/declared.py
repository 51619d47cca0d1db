"""Request and response schemas of declared documents (`shared.fields`): OpenAPI describes what the declaration checks."""

from collections.abc import Callable, Mapping
from typing import Any

import marshmallow as ma
from flask import Response

from shared import fields
from shared.errors import Invalid
from shared.fields import Declaration, Field
from shared.web.answers import json_answer
from shared.web.api import Shape
from shared.web.etag import etag_of
from shared.web.fields import ADDRESS_PATTERN, MoneyShape, StrictInteger, Text, Time

Fields = Mapping[str, ma.fields.Field[Any]]


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


def request_schema(
    name: str, declaration: Declaration, check: Callable[[Any], Any] | None = None, *, partial: bool = False
) -> type[Shape]:
    """The schema of a body; `check` is what the handler gets of it, without one the declared fields.

    `partial`: a PATCH, which names what it changes.
    """
    described = {
        each: _described(declaration.fields[each], f"{name}{each.title()}", answer=False, partial=partial)
        for each in declaration.public
    }
    check = check or (declaration.load_changes if partial else declaration.load)
    return type(name, (Checked,), {**described, "check": staticmethod(check)})


def request_fields(
    name: str, declaration: Declaration, *, defaults: bool = False
) -> dict[str, ma.fields.Field[Any]]:
    """What clients write of a document, for a body that holds more than the document: each takes what its declaration takes.

    A field that was not sent is not there, so that a new one leaves a body's fingerprint (`Idempotency-Key`) as it was;
    with `defaults` it has its default.
    """
    return {
        each: _request_field(f"{name}{each.title()}", declaration.fields[each], defaults)
        for each in declaration.writable
    }


def _request_field(name: str, field: Field, defaults: bool) -> ma.fields.Field[Any]:
    described = _described(field, name, answer=False, partial=not (field.required or defaults))
    described.allow_none = described.allow_none or (defaults and field.default is None)
    return _declared(described, field)


def response_schema(name: str, declaration: Declaration, more: Fields | None = None) -> type[Shape]:
    """The schema of an answer with all public fields, and `more` that is computed."""
    return _answer(name, {each: declaration.fields[each] for each in declaration.public}, more)


def document_answer(
    declaration: Declaration, doc: Mapping[str, Any], status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """A document as its declaration shows it, with its ETag."""
    return json_answer(declaration.shown(doc), status, etag=etag_of(doc["_rev"]), headers=headers)


def page_schema(name: str, item: type[ma.Schema], more: Fields | None = None) -> type[Shape]:
    """The schema of a list in pages: `next` is the cursor of the next page, null on the last."""
    described = {
        "items": ma.fields.List(ma.fields.Nested(item), required=True),
        "next": ma.fields.String(allow_none=True, required=True),
    }
    return type(name, (Shape,), {**described, **(more or {})})


def _declared(described: ma.fields.Field[Any], field: Field) -> ma.fields.Field[Any]:
    """`described`, checked by the declared field alone."""

    def deserialize(value: Any, *_: Any, **__: Any) -> Any:
        try:
            return field.clean(value)
        except fields.Rejected as rejected:
            raise ma.ValidationError(str(rejected)) from None

    described._deserialize = deserialize  # type: ignore[method-assign]  # one field's own rule, not its class's
    return described


def _answer(name: str, declared: Mapping[str, Field], more: Fields | None = None) -> type[Shape]:
    described = {
        each: _described(field, f"{name}{each.title()}", answer=True) for each, field in declared.items()
    }
    return type(name, (Shape,), {**described, **(more or {})})


def _entry_of_request(name: str, declared: Mapping[str, Field]) -> type[Shape]:
    described = {
        each: _described(field, f"{name}{each.title()}", answer=False) for each, field in declared.items()
    }
    return type(name, (Shape,), described)


def _described(field: Field, name: str, *, answer: bool, partial: bool = False) -> ma.fields.Field[Any]:
    """The marshmallow field that documents a declared one; an answer always has it, and promises no lengths.

    `name` is what OpenAPI calls the schema of a group.
    """
    common = _common(field, answer, partial)
    match field:
        case fields.Text():
            return ma.fields.String(**common) if answer else _text(field, common)
        case fields.Lines():
            if not answer:
                common["validate"] = ma.validate.Length(1, field.max)
                common["metadata"] = {"pattern": ADDRESS_PATTERN} | common.get("metadata", {})
            return ma.fields.String(**common)
        case fields.Secret():
            return ma.fields.String(
                validate=None if answer else ma.validate.Length(field.min, field.max), **common
            )
        case fields.Choice():
            return ma.fields.String(validate=ma.validate.OneOf(field.values), **common)
        case fields.TextList():
            length = None if answer else ma.validate.Length(field.min, field.max)
            return ma.fields.List(_entry(field.item, answer), validate=length, **common)
        case fields.Boolean():
            return ma.fields.Boolean(**common)
        case fields.Moment():
            return Time(**common)
        case fields.JsonObject():
            return ma.fields.Dict(**common)
        case fields.Integer():
            return StrictInteger(field.min, None if answer else field.max, **common)
        case fields.Number():
            return ma.fields.Float(**{"allow_none": field.nullable} | common)
        case fields.Percent():
            return ma.fields.Float(validate=ma.validate.Range(0, 100), **common)
        case fields.Amount():
            return ma.fields.Nested(MoneyShape, **common)
        case fields.GroupList():
            entry = _answer(name, field.fields) if answer else _entry_of_request(name, field.fields)
            length = None if answer else ma.validate.Length(field.min, field.max)
            return ma.fields.List(ma.fields.Nested(entry), validate=length, **common)
        case fields.TextMap():
            return ma.fields.Dict(keys=ma.fields.String(), values=ma.fields.String(), **common)
        case fields.Amounts():
            amount = StrictInteger(0, None if answer else field.max)
            return ma.fields.Dict(keys=ma.fields.String(), values=amount, **common)
        case fields.AmountsByName():
            amounts = ma.fields.Dict(
                keys=ma.fields.String(), values=StrictInteger(0, None if answer else field.amounts.max)
            )
            return ma.fields.Dict(keys=ma.fields.String(), values=amounts, **common)
        case fields.GroupsByName():
            group = _answer(name, field.fields) if answer else _entry_of_request(name, field.fields)
            return ma.fields.Dict(keys=ma.fields.String(), values=ma.fields.Nested(group), **common)
        case fields.Group():
            of_request = field.writable and not answer
            entry = _entry_of_request(name, field.fields) if of_request else _answer(name, field.fields)
            return ma.fields.Nested(entry, **common)
    raise TypeError(f"no schema is known for {type(field).__name__}")


def _common(field: Field, answer: bool, partial: bool) -> dict[str, Any]:
    common: dict[str, Any] = {
        "required": (answer and field.show_default) or (field.required and field.writable and not partial),
        "dump_only": not answer and not field.writable,
    }
    if not answer and not field.required and not partial:
        common["load_default"] = field.default
    if answer and field.default is None:
        common["allow_none"] = True
    if field.description:
        common["metadata"] = {"description": field.description}
    return common


def _entry(item: fields.Text | fields.Choice, answer: bool) -> ma.fields.String:
    if isinstance(item, fields.Choice):
        return ma.fields.String(validate=ma.validate.OneOf(item.values))
    return ma.fields.String() if answer else _text(item, {})


def _text(field: fields.Text, common: dict[str, Any]) -> Text:
    return Text(field.min, field.max, pattern=f"^(?:{field.pattern})$" if field.pattern else None, **common)
