"""What marshmallow makes of a body, or a query, that is as it should be, with a fraction of its work.

Marshmallow prepares for errors with each member of each object. Nearly all bodies have none: what a schema asks of them is put together
once, and a body that it does not suit in any way is left to marshmallow, which says what is wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

import marshmallow as ma

Value = Callable[[Any], Any]
"""What becomes of a member's value. Raises Unsuited, or marshmallow's ValidationError."""


class Unsuited(Exception):
    """Marshmallow is to look at it."""


class QuickChecks:
    """Of one schema, whose fields are not changed any more."""

    def __init__(self, schema: ma.Schema) -> None:
        self._members = [(name, *self._member(name, field)) for name, field in schema.load_fields.items()]
        self._names = frozenset(sent for _, sent, *_ in self._members)
        fields = schema.load_fields.values()
        self._suits = schema.dict_class is dict and all(map(_is_plain, fields))
        self._refuses_others = schema.unknown == ma.RAISE
        has_lists = any(isinstance(field, (ma.fields.List, ma.fields.Tuple)) for field in fields)
        self._suits_queries = self._suits and not has_lists and _is_its_fields(schema)

    def load(self, data: Any) -> dict[str, Any]:
        """The members that `data` has, or that have a default. Raises Unsuited."""
        is_known = self._suits and self._refuses_others and type(data) is dict
        if not is_known or not data.keys() <= self._names:
            raise Unsuited
        return self._loaded(data)

    def load_query(self, data: Mapping[str, str]) -> dict[str, Any]:
        """The same of what a query says, each of it once; other members are left out. Raises Unsuited."""
        if not self._suits_queries:
            raise Unsuited
        return self._loaded(data)

    def _loaded(self, data: Mapping[str, Any]) -> dict[str, Any]:
        found = {}
        try:
            for name, sent, value_of, required, default in self._members:
                if sent in data:
                    found[name] = value_of(data[sent])
                elif required:
                    raise Unsuited
                elif default is not ma.missing:
                    found[name] = default() if callable(default) else default
        except ma.ValidationError:
            raise Unsuited from None
        return found

    def _member(self, name: str, field: ma.fields.Field[Any]) -> tuple[str, Value, bool, Any]:
        sent = name if field.data_key is None else field.data_key
        return sent, self._value(field), field.required, field.load_default

    def _value(self, field: ma.fields.Field[Any]) -> Value:
        made = None if "_deserialize" in vars(field) else self._known(field)
        if made is None:
            return field.deserialize
        checked = _validated(made, field.validators)
        return _or_none(checked) if field.allow_none else checked

    def _known(self, field: ma.fields.Field[Any]) -> Value | None:
        """Of kinds of fields that are known: marshmallow's, and those whose own class has a `quick_value`."""
        if (own := vars(type(field)).get("quick_value")) is not None:
            return cast(Value, own(field))
        if type(field) is ma.fields.String:
            return text
        if type(field) is ma.fields.List:
            return _list_of(self._value(field.inner))
        if type(field) is ma.fields.Nested and not field.many and field.unknown is None:
            return self._nested(field)
        return None

    def _nested(self, field: ma.fields.Nested) -> Value | None:
        schema = field.schema
        if not _is_its_fields(schema):
            return None
        return QuickChecks(schema).load


def _is_its_fields(schema: ma.Schema) -> bool:
    """Whether nothing but its fields decides about one object."""
    is_plain = type(schema).load is ma.Schema.load and not any(schema._hooks.values())
    return is_plain and not schema.many and not schema.partial


def _is_plain(field: ma.fields.Field[Any]) -> bool:
    return field.attribute is None and not field.pre_load and not field.post_load


def text(value: Any) -> str:
    """A text as it is. Raises Unsuited."""
    if type(value) is not str:
        raise Unsuited
    return value


def _list_of(inner: Value) -> Value:
    def values(value: Any) -> list[Any]:
        if type(value) is not list:
            raise Unsuited
        return [inner(each) for each in value]

    return values


def _or_none(value_of: Value) -> Value:
    return lambda value: None if value is None else value_of(value)


def _validated(value_of: Value, validators: Sequence[Callable[[Any], Any]]) -> Value:
    """The value, when all `validators` take it."""
    checks: Final = [_check(validator) for validator in validators]
    if not checks:
        return value_of
    if len(checks) == 1:
        [check] = checks

        def checked(value: Any) -> Any:
            found = value_of(value)
            check(found)
            return found

        return checked

    def all_checked(value: Any) -> Any:
        found = value_of(value)
        for check in checks:
            check(found)
        return found

    return all_checked


def _check(validator: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same for values that it takes; others are Unsuited."""
    if type(validator) is not ma.validate.Length or validator.equal is not None:
        return validator
    least, most = validator.min or 0, validator.max

    def length(value: Any) -> None:
        if len(value) < least or (most is not None and len(value) > most):
            raise Unsuited

    return length
