"""All fields of a document, out of its TypedDict."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any, NotRequired, get_args, get_origin, get_type_hints

from shared.errors import Invalid
from shared.fields.kinds import REQUIRED, Field, Rejected


class Declaration:
    """The fields that a document's TypedDict declares, in their order."""

    def __init__(self, document: type | Mapping[str, Field]) -> None:
        self.fields = document if isinstance(document, Mapping) else _fields_of(document)
        self.writable = tuple(name for name, field in self.fields.items() if field.writable)
        self.public = tuple(name for name, field in self.fields.items() if field.public)
        self.defaults = {name: field.default for name, field in self.fields.items() if not field.required}
        self._content = self._reader(self.writable)
        self._shown = self._reader(tuple(name for name in self.public if self.fields[name].show_default))
        self._shown_if_there = tuple(name for name in self.public if not self.fields[name].show_default)
        self._known = frozenset(self.public)
        self._omitted = {
            name: value for name, value in self.defaults.items() if self.fields[name].omit_default
        }

    def select(self, *names: str) -> "Declaration":
        """These fields alone, all of them public: for a request or an answer that has no others."""
        return Declaration({name: replace(self.fields[name], public=True) for name in names})

    def plus(self, **fields: Field) -> "Declaration":
        """These fields and others, which no document holds as they are sent."""
        return Declaration({**self.fields, **fields})

    def load(self, data: Any) -> dict[str, Any]:
        """The content that a request's body stands for. Raises Invalid with the errors by field."""
        return _valid(self.check, data)

    def load_changes(self, data: Any) -> dict[str, Any]:
        """What a PATCH changes. Raises Invalid with the errors by field."""
        return _valid(self.check_changes, data)

    def check(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """The content that `data` stands for, defaults filled in, and what is wrong with it by field."""
        content: dict[str, Any] = {}
        errors = {str(name): ["Unknown field."] for name in data.keys() - self._known}
        for name in self.writable:
            field, value = self.fields[name], data.get(name)
            if value is not None:
                _clean(field, name, value, content, errors)
            elif field.required:
                errors[name] = ["Missing."]
            else:
                content[name] = field.default
        return content, errors

    def check_changes(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """The same for a PATCH: what it does not name stays as it is."""
        changes: dict[str, Any] = {}
        errors = {str(name): ["Unknown field."] for name in data.keys() - self._known}
        for name in self.writable:
            if name in data:
                _clean(self.fields[name], name, data[name], changes, errors)
        return changes, errors

    def stored(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """`content` as a document holds it: an optional field that says nothing is left out."""
        return {name: value for name, value in content.items() if self._omitted.get(name, REQUIRED) != value}

    def are_stored_in(self, doc: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
        """Whether `doc` holds all that `content` says."""
        return all(doc.get(name) == value for name, value in self.stored(content).items())

    def content(self, doc: Mapping[str, Any]) -> dict[str, Any]:
        """What clients wrote of a document, its defaults filled in."""
        return self._content(doc)

    def shown(self, doc: Mapping[str, Any]) -> dict[str, Any]:
        """The public fields of a document, its defaults filled in where they are shown."""
        found = self._shown(doc)
        for name in self._shown_if_there:
            if name in doc:
                found[name] = doc[name]
        return found

    def _reader(self, names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
        defaults = self.defaults
        values = itemgetter(*names) if len(names) > 1 else lambda doc: tuple(doc[name] for name in names)

        def read(doc: Mapping[str, Any]) -> dict[str, Any]:
            return dict(zip(names, values({**defaults, **doc}), strict=True))

        return read


def _valid(
    check: Callable[[Mapping[str, Any]], tuple[dict[str, Any], dict[str, list[str]]]], data: Any
) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise Invalid("Send a JSON object.", errors={"_schema": ["Not an object."]})
    content, errors = check(data)
    if errors:
        raise Invalid("Some fields are not right; see errors.", errors=errors)
    return content


def _clean(
    field: Field, name: str, value: Any, content: dict[str, Any], errors: dict[str, list[str]]
) -> None:
    try:
        content[name] = field.clean(value)
    except Rejected as rejected:
        errors[name] = [str(rejected)]


def _fields_of(document: type) -> dict[str, Field]:
    hints = get_type_hints(document, include_extras=True)
    return {name: field for name, hint in hints.items() if (field := _field_of(hint))}


def _field_of(hint: Any) -> Field | None:
    """The Field among the annotations of a type hint, also inside NotRequired."""
    if get_origin(hint) is NotRequired:
        hint = get_args(hint)[0]
    return next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Field)), None)
