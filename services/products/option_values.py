"""What of a product's options is in stock and what is not, and the words of its attributes, as the search index holds them; in Python and in JavaScript,
which must say the same."""

import json
from collections.abc import Mapping
from itertools import combinations
from typing import Any, Final

from shared.couch import as_javascript

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

_WORDS = """(function (object) {
    return Object.keys(object).reduce(function (texts, name) {
      var value = object[name];
      if (value === null || value === false || value === "") return texts;
      return texts.concat(name, value === true ? [] : value).map(String);
    }, []);
  })"""
OPTION_WORDS_SCRIPT: Final = f"{_WORDS}({OPTIONS_SCRIPT})"
ATTRIBUTE_WORDS_SCRIPT: Final = f"{_WORDS}(doc.attributes || {{}})"

CODES_SCRIPT: Final = (
    """[doc.productid].concat((doc.variants || []).map(function (variant) { return variant.sku; }))"""
)

MAX_UNAVAILABLE: Final = 2000
UNAVAILABLE_SCRIPT: Final = f"""(function (doc) {{
    var stock = doc.variant_stock || {{}}, there = {{}}, values = {{}}, found = {{}}, count = 0, sold_out = [];
    function stems(text) {{ return words_of(String(text)).map(stem); }}
    function rows(sets, n, row, f) {{
      if (n === sets.length) {{
        if (row.length > 1) f(row.slice().sort().join(" "));
        return;
      }}
      rows(sets, n + 1, row, f);
      sets[n].forEach(function (word) {{ if (row.indexOf(word) < 0) rows(sets, n + 1, row.concat(word), f); }});
    }}
    function miss(row) {{ if (!there[row] && !found[row] && count++ < {MAX_UNAVAILABLE}) found[row] = true; }}
    (doc.variants || []).forEach(function (variant) {{
      var names = Object.keys(variant.options);
      var sets = names.map(function (name) {{ return stems(variant.options[name]); }});
      names.forEach(function (name, n) {{ values[name] = (values[name] || []).concat(sets[n]); }});
      if (variant.active === false || !(stock[variant.sku] > 0)) sold_out.push(sets);
      else rows(sets, 0, [], function (row) {{ there[row] = true; }});
    }});
    sold_out.forEach(function (sets) {{ rows(sets, 0, [], miss); }});
    var all = Object.keys(values).map(function (name) {{
      return values[name].filter(function (word, n, words) {{ return words.indexOf(word) === n; }});
    }});
    for (var a = 0; a < all.length; a++)
      for (var b = a + 1; b < all.length; b++) rows([all[a], all[b]], 0, [], miss);
    return Object.keys(found);
  }})(doc)"""
"""Two or three words of different options that no variant in stock has together, as stems: those of sold out variants, and, as far as
there is room, those that were never made."""


def codes(doc: Mapping[str, Any]) -> list[str]:
    """Its productid and the SKUs of its variants."""
    return [doc["productid"], *(variant["sku"] for variant in doc.get("variants", ()))]


def option_words(doc: Mapping[str, Any]) -> list[str]:
    """The names of its options and their values in stock."""
    return _texts(options_in_stock(doc))


def attribute_words(doc: Mapping[str, Any]) -> list[str]:
    """The codes of its attributes and their values; of one that is just true the code."""
    return _texts(doc.get("attributes", {}))


def _texts(members: Mapping[str, Any]) -> list[str]:
    texts: list[str] = []
    for name, value in members.items():
        if value is None or value is False or value == "":
            continue
        values = value if isinstance(value, list) else [] if value is True else [value]
        texts += [name, *map(as_javascript, values)]
    return texts


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
