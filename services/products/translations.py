"""A product as it reads in another language than the shop's own: what is not translated stays. In Python and in JavaScript, which must say
the same."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, cast

from services.products.declarations.product import Product
from shared.couch import Translation

TEXTS: Final = ("name", "description", "keywords")
"""What a translation says instead of the product's own; its `labels` and `attributes` translate single texts of it."""

_SCRIPT: Final = """(function (doc) {
    var all = doc.translations || {}, said = Object.prototype.hasOwnProperty.call(all, LANGUAGE) && all[LANGUAGE];
    if (!said) return doc;
    var found = {}, labels = said.labels || {}, texts = said.attributes || {};
    function has(object, name) { return Object.prototype.hasOwnProperty.call(object, name); }
    function label(text) { return typeof text === "string" && has(labels, text) ? labels[text] : text; }
    function translated(value) { return Array.isArray(value) ? value.map(label) : label(value); }
    function named(options) {
      return Object.keys(options).reduce(function (all, name) { all[label(name)] = label(options[name]); return all; }, {});
    }
    Object.keys(doc).forEach(function (name) { found[name] = doc[name]; });
    TEXTS.forEach(function (name) { if (has(said, name)) found[name] = said[name]; });
    if (doc.colours) found.colours = doc.colours.map(label);
    if (doc.options) found.options = doc.options.map(function (option) {
      return {name: label(option.name), values: option.values.map(label)};
    });
    if (doc.variants) found.variants = doc.variants.map(function (variant) {
      var copy = {};
      Object.keys(variant).forEach(function (name) { copy[name] = variant[name]; });
      copy.options = named(variant.options);
      return copy;
    });
    if (doc.attributes) found.attributes = Object.keys(doc.attributes).reduce(function (all, code) {
      all[code] = has(texts, code) ? texts[code] : translated(doc.attributes[code]);
      return all;
    }, {});
    return found;
  })"""


@cache
def translation_into(language: str) -> Translation:
    """How the search index of this language reads products."""
    script = _SCRIPT.replace("LANGUAGE", json.dumps(language)).replace("TEXTS", json.dumps(TEXTS))
    return Translation(script, lambda doc: translated(cast(Product, doc), language))


def translated(doc: Product, language: str) -> Product:
    """The product as it reads in a language; itself where it has no translation, or was translated already. It is to be shown, never written."""
    said = doc.get("translations", {}).get(language) if language else None
    if said is None:
        return doc
    labels, texts = said.get("labels", {}), said.get("attributes", {})
    found: dict[str, Any] = {**doc, **{name: said[name] for name in TEXTS if name in said}}
    del found["translations"]
    if "colours" in doc:
        found["colours"] = [labels.get(each, each) for each in doc["colours"]]
    if "options" in doc:
        found["options"] = [translated_option(each, labels) for each in doc["options"]]
    if "variants" in doc:
        found["variants"] = [
            {**each, "options": _named(each.get("options", {}), labels)} for each in doc["variants"]
        ]
    if "attributes" in doc:
        found["attributes"] = {
            code: texts.get(code) or translated_value(value, labels)
            for code, value in doc["attributes"].items()
        }
    return cast(Product, found | {"translated_to": language})


def translated_option(option: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    values = [labels.get(each, each) for each in option["values"]]
    return {"name": labels.get(option["name"], option["name"]), "values": values}


def translated_value(value: Any, labels: Mapping[str, str]) -> Any:
    """A text, or each of several; numbers and truths are the same everywhere."""
    if isinstance(value, list):
        return [labels.get(each, each) for each in value]
    return labels.get(value, value) if isinstance(value, str) else value


def _named(options: Mapping[str, str], labels: Mapping[str, str]) -> dict[str, str]:
    return {labels.get(name, name): labels.get(value, value) for name, value in options.items()}
