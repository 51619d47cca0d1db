"""What of a product's options is in stock, and the words of its attributes, as the search index holds them; in Python and in JavaScript,
which must say the same."""

import json
from collections.abc import Mapping
from itertools import combinations
from typing import Any, Final

OPTIONS_SCRIPT: Final = """(function (doc) {
    var found = {}, stock = doc.variant_stock || {};
    (doc.variants || []).forEach(function (variant) {
      if (variant.active === false || !(stock[variant.sku] > 0)) return;
      Object.keys(variant.options).forEach(function (name) {
        var values = found[name] = found[name] || [];
        if (values.indexOf(variant.options[name]) < 0) values.push(variant.options[name]);
      });
    });
    return found;
  })(doc)"""

COMBINATIONS_SCRIPT: Final = """(function (doc) {
    var found = [], stock = doc.variant_stock || {};
    (doc.variants || []).forEach(function (variant) {
      if (variant.active === false || !(stock[variant.sku] > 0)) return;
      var names = Object.keys(variant.options).sort();
      for (var chosen = 1; chosen < 1 << names.length; chosen++) {
        var some = names.filter(function (_, n) { return chosen >> n & 1; });
        var text = JSON.stringify(some.map(function (name) { return name + "=" + variant.options[name]; }));
        if (some.length > 1 && found.indexOf(text) < 0) found.push(text);
      }
    });
    return found;
  })(doc)"""

_VALUES = """(function (object) {
    return Object.keys(object).reduce(function (values, name) { return values.concat(object[name]); }, []);
  })"""
OPTION_WORDS_SCRIPT: Final = f"{_VALUES}({OPTIONS_SCRIPT})"
ATTRIBUTE_WORDS_SCRIPT: Final = f"{_VALUES}(doc.attributes || {{}})"


def option_words(doc: Mapping[str, Any]) -> list[str]:
    return [value for values in options_in_stock(doc).values() for value in values]


def attribute_words(doc: Mapping[str, Any]) -> list[str]:
    """The texts among the values of its attributes."""
    values = doc.get("attributes", {}).values()
    texts = (each for value in values for each in (value if isinstance(value, list) else [value]))
    return [each for each in texts if isinstance(each, str)]


def options_in_stock(doc: Mapping[str, Any]) -> dict[str, list[str]]:
    """{option: its values that some variant in stock has}."""
    found: dict[str, list[str]] = {}
    for options in _in_stock(doc):
        for name, value in options.items():
            values = found.setdefault(name, [])
            if value not in values:
                values.append(value)
    return found


def combinations_in_stock(doc: Mapping[str, Any]) -> list[str]:
    """Two or more options together, as a variant in stock has them."""
    texts = (
        combination(dict(some))
        for options in _in_stock(doc)
        for size in range(2, len(options) + 1)
        for some in combinations(sorted(options.items()), size)
    )
    return list(dict.fromkeys(texts))


def combination(options: Mapping[str, str]) -> str:
    """The text of options that one variant has."""
    pairs = [f"{name}={value}" for name, value in sorted(options.items())]
    return json.dumps(pairs, ensure_ascii=False, separators=(",", ":"))


def _in_stock(doc: Mapping[str, Any]) -> list[Mapping[str, str]]:
    stock = doc.get("variant_stock", {})
    return [
        variant["options"]
        for variant in doc.get("variants", ())
        if variant.get("active", True) and stock.get(variant["sku"], 0) > 0
    ]
