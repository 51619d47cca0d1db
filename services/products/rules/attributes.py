"""A product's attributes: checked by its type on the way in, named and in their order on the way out."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from services.products.product_types import ProductType
from services.products.translations import translated_value
from shared.fields import Boolean, Choice, Field, Number, Rejected, Text, TextList

MAX_NUMBER: Final = 10**15
MAX_TEXT: Final = 500

Errors = dict[str, list[str]]


class ProductTypes:
    """All types of the shop, by code."""

    def __init__(self, docs: Iterable[ProductType] = ()) -> None:
        self._types = {doc["code"]: doc for doc in docs}
        self._languages = {each for doc in self._types.values() for each in doc.get("translations", {})}
        self._names = {each: self._names_in(each) for each in ("", *self._languages)}

    def _names_in(self, language: str) -> dict[str, str]:
        """What attributes are called, by code; a number with its unit."""
        return {
            each["code"]: f"{name} ({each['unit']})" if each["unit"] else name
            for doc in self._types.values()
            for each in doc.get("attributes", ())
            for name in [_said(doc, language, "names").get(each["code"], each["name"])]
        }

    def labels(self, language: str) -> dict[str, str]:
        """What values of attributes are called in a language."""
        return {
            text: label
            for doc in self._types.values()
            for text, label in _said(doc, language, "labels").items()
        }

    def label_pairs(self, language: str) -> list[tuple[str, str]]:
        """(what products have, what it is called in a language) of attributes and their values."""
        names = (
            (code, name)
            for doc in self._types.values()
            for code, name in _said(doc, language, "names").items()
        )
        return [*self.labels(language).items(), *names]

    def get(self, code: str) -> ProductType | None:
        return self._types.get(code)

    def check(self, code: str, attributes: Mapping[str, Any]) -> tuple[dict[str, Any], Errors]:
        """The attributes of a product of this type as documents hold them, and what is wrong by field."""
        if not code:
            missing = (
                {"product_type": ["Name the type that these attributes belong to."]} if attributes else {}
            )
            return {}, missing
        known = self._types.get(code)
        if known is None:
            return {}, {"product_type": [f"There is no product type {code}."]}
        declared = {each["code"]: each for each in known.get("attributes", ())}
        errors: Errors = {
            f"attributes.{name}": [f"The product type {code} has no such attribute."]
            for name in attributes.keys() - declared.keys()
        }
        clean: dict[str, Any] = {}
        for name, attribute in declared.items():
            value = attributes.get(name)
            if value is None or value in ("", []):
                continue
            try:
                clean[name] = _cleaned(attribute, value)
            except Rejected as rejected:
                errors[f"attributes.{name}"] = [str(rejected)]
        return clean, errors

    def specifications(self, product: Mapping[str, Any], language: str = "") -> list[dict[str, Any]]:
        """The attributes of a product as its page lists them; what its type does not know any more is left out."""
        known = self._types.get(product.get("product_type") or "")
        if known is None:
            return []
        values = product.get("attributes") or {}
        names, labels = _said(known, language, "names"), _said(known, language, "labels")
        return [
            {
                "code": each["code"],
                "name": names.get(each["code"], each["name"]),
                "unit": each["unit"],
                "value": translated_value(values[each["code"]], labels),
            }
            for each in known.get("attributes", ())
            if each["code"] in values
        ]

    def facet_names(self, facets: Iterable[str], language: str = "") -> dict[str, str]:
        """What those facets that are attributes are called; a number with its unit."""
        known = self._names.get(language, self._names[""])
        names: dict[str, str] = {}
        for facet in facets:
            group, _, code = facet.partition(".")
            if group == "attributes" and code in known:
                names[facet] = known[code]
        return names


def _said(product_type: ProductType, language: str, what: str) -> dict[str, str]:
    found: dict[str, str] = product_type.get("translations", {}).get(language, {}).get(what, {})
    return found


def contradictions(product_type: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the attributes of a type, each of which is right by itself."""
    attributes = product_type["attributes"]
    codes = [each["code"] for each in attributes]
    for code in sorted({each for each in codes if codes.count(each) > 1}):
        yield f"{code} comes twice."
    for each in attributes:
        chosen = each["kind"] in ("one_of", "several_of")
        if chosen and not each["values"]:
            yield f"{each['code']}: name the values to choose from."
        if not chosen and each["values"]:
            yield f"{each['code']}: only one_of and several_of have values."
        if each["unit"] and each["kind"] != "number":
            yield f"{each['code']}: only a number has a unit."
        if len(set(each["values"])) < len(each["values"]):
            yield f"{each['code']}: a value comes twice."


def _cleaned(attribute: Mapping[str, Any], value: Any) -> Any:
    """Raises Rejected."""
    clean = _field(attribute).clean(value)
    if attribute["kind"] == "number" and abs(clean) > MAX_NUMBER:
        raise Rejected("This number is too large.")
    if attribute["kind"] == "several_of":
        return [each for each in attribute["values"] if each in clean]
    return clean


def _field(attribute: Mapping[str, Any]) -> Field:
    values = tuple(attribute["values"])
    match attribute["kind"]:
        case "number":
            return Number()
        case "boolean":
            return Boolean()
        case "one_of":
            return Choice(values)
        case "several_of":
            return TextList(Choice(values), 1, len(values))
    return Text(1, MAX_TEXT)
