"""The attributes of the product form: which ones there are its type says."""

from collections.abc import Iterable, Mapping
from typing import Any

from services.storefront import forms
from services.storefront.rules.attributes import parse_number, typed_number
from services.storefront.translation import gettext as _
from services.storefront.translation import gettext_noop
from shared.errors import Invalid
from shared.types import Json

_YES_OR_NO = (("", gettext_noop("Not said")), ("yes", gettext_noop("Yes")), ("no", gettext_noop("No")))


def type_field(types: Iterable[Json]) -> forms.Field:
    options = (("", _("None")), *((each["code"], each["name"]) for each in types))
    return forms.Field("product_type", _("Type"), "select", required=False, options=options)


def attributes_of(types: Iterable[Json], code: str) -> list[Json]:
    """What products of this type say of themselves."""
    return next((each["attributes"] for each in types if each["code"] == code), [])


def attribute_fields(attributes: Iterable[Json]) -> tuple[forms.Field, ...]:
    return tuple(field for each in attributes for field in _fields(each))


def values_of(attributes: Iterable[Json], product: Mapping[str, Any]) -> dict[str, str]:
    """A product's attributes as the form shows them."""
    said, shown = product.get("attributes") or {}, dict[str, str]()
    for each in attributes:
        value, name = said.get(each["code"]), _name(each)
        if each["kind"] == "several_of":
            shown |= {
                _choice(each, place): "yes"
                for place, one in enumerate(each["values"])
                if one in (value or ())
            }
        elif isinstance(value, bool):
            shown[name] = "yes" if value else "no"
        elif isinstance(value, int | float):
            shown[name] = typed_number(value)
        elif value is not None:
            shown[name] = str(value)
    return shown


def body_of(attributes: Iterable[Json], values: Mapping[str, str]) -> Json:
    """The form's attributes as the API takes them. Raises Invalid by field."""
    said = {each["code"]: _typed(each, values) for each in attributes}
    return {code: value for code, value in said.items() if value is not None}


def add_errors(form: forms.Form, attributes: Iterable[Json], error: Invalid) -> None:
    """Puts a service's complaints about attributes beside their fields, too."""
    names = {f"attributes.{each['code']}": _fields(each)[0].name for each in attributes}
    form.add_errors(
        Invalid(error.detail, errors={names.get(path, path): words for path, words in error.errors.items()})
    )


def _fields(attribute: Json) -> list[forms.Field]:
    name, label = _name(attribute), attribute["name"]
    options = (("", _("Not said")), *((value, value) for value in attribute["values"]))
    match attribute["kind"]:
        case "number":
            unit = f" ({attribute['unit']})" if attribute["unit"] else ""
            return [forms.Field(name, label + unit, required=False, inputmode="decimal", max_length=30)]
        case "boolean":
            return [forms.Field(name, label, "select", required=False, options=_YES_OR_NO)]
        case "one_of":
            return [forms.Field(name, label, "select", required=False, options=options)]
        case "several_of":
            return [
                forms.Field(_choice(attribute, place), f"{label}: {value}", "check", required=False)
                for place, value in enumerate(attribute["values"])
            ]
    return [forms.Field(name, label, required=False, max_length=500)]


def _typed(attribute: Json, values: Mapping[str, str]) -> Any:
    text = values.get(_name(attribute), "")
    match attribute["kind"]:
        case "several_of":
            named = enumerate(attribute["values"])
            return [value for place, value in named if values.get(_choice(attribute, place))] or None
        case "boolean":
            return {"yes": True, "no": False}.get(text)
        case "number" if text:
            try:
                return parse_number(text)
            except ValueError:
                words = _("Write a number such as 450 or 12.5.")
                raise Invalid(errors={_name(attribute): [words]}) from None
    return text or None


def _name(attribute: Json) -> str:
    return f"attribute-{attribute['code']}"


def _choice(attribute: Json, place: int) -> str:
    """One value of several: each is a field that is ticked."""
    return f"{_name(attribute)}-{place}"
