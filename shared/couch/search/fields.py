"""A text search index as a declaration: its fields, and the JavaScript that fills it in each server's dialect."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NotRequired, get_args, get_origin, get_type_hints

from ..indexes import Declared, View
from . import words
from .clauses import SHORT, Word, word_clauses
from .languages import ENGLISH, Language

Kind = Literal["text", "keyword", "order", "number", "path", "place", "pairs", "numbers", "exclusion"]

DOCUMENT_FIELD = "document"
"""The stored field of a Nouveau index that holds the whole document, as JSON."""

CODE = "code"
"""Marks the rows of a keyword view that are of words of a code."""

SORTED_KINDS = ("order", "number")
"""The kinds of fields by whose value a keyword view has each document once, in order; by each member of `numbers` it has those with that one."""

NOUVEAU_NAME = r"^\$?[a-zA-Z][a-zA-Z0-9_]*$"
"""What Nouveau takes as a field's name; a field of another keeps the whole index from being built."""

_EACH = "  function each(v, f) { (Array.isArray(v) ? v : [v]).forEach(f); }"
_PATHS = '  function paths(v, f) { if (Array.isArray(v)) v.forEach(function (_, n) { f(v.slice(0, n + 1).join("#")); }); }'

_STEPS = [f"{step}{'0' * power}" for power in range(10) for step in (1, 2, 5)]
_EDGES = ["0", *(f"0.{'0' * zeros}{step}" for zeros in (2, 1, 0) for step in (1, 2, 5)), *_STEPS]
NUMBER_BANDS = tuple(
    (float(low), f"{low}..{high}") for low, high in zip(_EDGES, [*_EDGES[1:], ""], strict=True)
)
"""(least, label): 1-2-5 steps, of which each holds its least and not its most; what is negative is in `..0`."""

_PAIRS = f"""  var bands = {json.dumps(NUMBER_BANDS)};
  function band(x) {{
    for (var n = bands.length; n--;) if (x >= bands[n][0]) return bands[n][1];
    return "..0";
  }}
  function pairs(v, f) {{
    if (v && typeof v === 'object' && !Array.isArray(v)) Object.keys(v).forEach(function (k) {{
      each(v[k], function (x) {{
        if (x !== null && typeof x !== 'object' && x !== '') f(k + '=' + x);
        if (typeof x === 'number') f(k + '=' + band(x));
      }});
    }});
  }}"""
_NUMBERS = """  function numbers(v, f) {
    if (v && typeof v === 'object') Object.keys(v).forEach(function (k) { if (typeof v[k] === 'number') f(k, v[k]); });
  }"""
_KEYWORD_TERMS = """  var words = Object.create(null), written = Object.create(null), codes = Object.create(null), places = Object.create(null);
  function put(map, found, weight) {
    found.forEach(function (w) { if (w && !(map[w] >= weight)) map[w] = weight; });
  }"""
_PLACES = '  function places(v, f) { if (Array.isArray(v)) f(v.join("#")); }'


@dataclass(frozen=True)
class SearchField:
    """One indexed field. `path` may be dotted; `each` marks an array; `weight` multiplies its hits; `facet` makes it countable.

    A `text` is found by its words, a `keyword` as a whole, an `order` sorts by a text as people look for it, an Ä with the As and capitals
    with small letters, a `number` is found in ranges; a `path` is an array of levels, found by
    itself and by everything above it, joined by `#`, a `place` only by itself; `pairs` is an object, whose members are found and counted
    as `name=value`, numbers also by their band; `numbers` is an object as well, each of whose members is a number field of its own,
    whose name is that of the field and the member's; an `exclusion` has stems, in order with single spaces, that a search must not have
    all of. `called` names it in queries when one path is indexed twice.
    Where no path leads to the value, the JavaScript expression `script` makes it of `doc`, and `read` does the same.
    In an index of a translation, texts, exclusions and what is `translated` are those of the translated document.
    An `unnamed` text is asked only among the short texts together. A `short` text is also found by typos and by neighbouring words written as one; a `code` is a text that a person knows only with its digits.
    """

    path: str
    kind: Kind = "text"
    weight: int = 1
    facet: bool = False
    each: bool = False
    called: str = ""
    short: bool = False
    code: bool = False
    unnamed: bool = False
    translated: bool = False
    script: str = ""
    read: Callable[[Mapping[str, Any]], Any] | None = None

    @property
    def name(self) -> str:
        return self.called or self.path.replace(".", "_")

    @property
    def is_translated(self) -> bool:
        """Whether it is read from the document as it is in the language of its index."""
        return self.translated or self.kind in ("text", "exclusion")

    @property
    def is_number(self) -> bool:
        return self.kind in ("number", "numbers")

    def value(self) -> str:
        """The JavaScript that reads it; undefined when a part of the path is missing."""
        if self.script:
            return self.script
        parts = self.path.split(".")
        steps = [
            "doc" + "".join(f"[{json.dumps(part)}]" for part in parts[:n]) for n in range(1, len(parts) + 1)
        ]
        return " && ".join(steps)

    def visit(self, act: str) -> str:
        """JavaScript running `act` for every value `x` of the right type."""
        if self.kind == "numbers":
            return f"  numbers({self.value()}, function (k, x) {{ {act} }});"
        if self.kind in ("path", "place", "pairs"):
            return f"  {self.kind.removesuffix('s')}s({self.value()}, function (x) {{ {act} }});"
        test = {"number": "typeof x === 'number'", "text": "typeof x === 'string'"}.get(
            self.kind, "typeof x === 'string' && x"
        )
        return f"  each({self.value()}, function (x) {{ if ({test}) {{ {act} }} }});"


def search_fields(document: type) -> tuple[SearchField, ...]:
    """What a document's TypedDict declares for search: the SearchFields among its fields' annotations, words first."""
    hints = get_type_hints(document, include_extras=True).values()
    found = [each for hint in hints for each in _annotations(hint) if isinstance(each, SearchField)]
    return tuple(sorted(found, key=lambda field: field.kind != "text"))


def _annotations(hint: Any) -> tuple[Any, ...]:
    """What stands beside the type in Annotated, also inside NotRequired."""
    if get_origin(hint) is NotRequired:
        hint = get_args(hint)[0]
    return getattr(hint, "__metadata__", ())


@dataclass(frozen=True, eq=False)
class Translation:
    """How documents read in another language than their own: `script` is a JavaScript function of a document, and `read` does the same."""

    script: str
    read: Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True)
class SearchIndex(Declared):
    """A full-text index over the documents that have all members of `only` and none named in `without`; its texts are in `language`,
    those of a `translation` where documents hold several."""

    name: str
    question: str
    fields: tuple[SearchField, ...]
    only: tuple[tuple[str, Any], ...] = ()
    without: tuple[str, ...] = ()
    partitioned: bool = False
    language: Language = ENGLISH
    translation: Translation | None = None

    def __hash__(self) -> int:
        """Of the name: what is remembered for an index is looked up with each query, and that of all its fields would cost more."""
        return hash(self.name)

    @cached_property
    def exclusions(self) -> tuple[SearchField, ...]:
        return tuple(each for each in self.fields if each.kind == "exclusion")

    @cached_property
    def clause_of(self) -> Callable[[Word], str]:
        """The clause of a word of a query."""
        return word_clauses(self)

    @cached_property
    def texts(self) -> tuple[SearchField, ...]:
        return tuple(each for each in self.fields if each.kind == "text" and not each.unnamed)

    def on(self, features: Iterable[str]) -> "SearchIndex | NouveauIndex | View":
        """The form that a server with these features can serve: `_search`, `_nouveau` or a keyword view."""
        offered = set(features)
        if "search" in offered:
            return self
        return NouveauIndex(self) if "nouveau" in offered else self.keyword_view()

    def forms(self) -> "tuple[SearchIndex, NouveauIndex, View]":
        return self, NouveauIndex(self), self.keyword_view()

    def index_function(self) -> str:
        """The JavaScript that `_search` runs over every document."""
        return self.function(self.visits(_clouseau))

    def visits(self, act: "Callable[[SearchField], str]", kinds: Iterable[str] = get_args(Kind)) -> list[str]:
        """JavaScript that visits the fields of these kinds, each with its `act`; what is translated comes last."""
        fields = [each for each in self.fields if each.kind in kinds]
        if self.translation is None:
            return [each.visit(act(each)) for each in fields]
        own = [each.visit(act(each)) for each in fields if not each.is_translated]
        translated = [each.visit(act(each)) for each in fields if each.is_translated]
        return [*own, f"  doc = {self.translation.script}(doc);", *translated]

    def read(self, doc: Mapping[str, Any]) -> Mapping[str, Any]:
        """The document as it reads in the language of the index."""
        return self.translation.read(doc) if self.translation else doc

    def function(self, lines: list[str]) -> str:
        excluding = [f"doc[{json.dumps(name)}] !== {json.dumps(value)}" for name, value in self.only]
        excluding += [f"doc[{json.dumps(name)}] !== undefined" for name in self.without]
        guard = " || ".join(excluding) or "false"
        analysis = words.javascript(self.language)
        head = [
            "function (doc) {",
            f"  if ({guard}) return;",
            analysis,
            _EACH,
            _PATHS,
            _PLACES,
            _PAIRS,
            _NUMBERS,
        ]
        return "\n".join([*head, *lines, "}"])

    def design_document(self) -> dict[str, Any]:
        keywords = dict.fromkeys(_whole(self.fields), "keyword")
        analyzer = {"name": "perfield", "default": {"name": "standard", "stopwords": []}, "fields": keywords}
        index = {"index": self.index_function(), "analyzer": analyzer}
        return {"options": {"partitioned": self.partitioned}, "indexes": {self.name: index}}

    def keyword_view(self) -> View:
        """A view from every word, every category and each place in an order to its documents. The value of a word is its weight; less than
        zero where the text has it in another form, unless it has the word as it is where that counts as much. Words of codes have rows of their own."""
        lines = [_KEYWORD_TERMS]
        lines += self.visits(_keyword, ("text", "path", "exclusion", "numbers", *SORTED_KINDS))
        lines += [
            '  emit(["all"], null);',
            '  Object.keys(words).forEach(function (w) { emit(["word", w], 3 * written[w] >= 2 * words[w] ? written[w] : -words[w]); });',
            f'  Object.keys(codes).forEach(function (w) {{ emit(["word", w, {json.dumps(CODE)}], codes[w]); }});',
        ]
        for each in self.fields:
            if each.kind in SORTED_KINDS:
                name = json.dumps(each.name)
                lines.append(f'  emit(["sort", {name}, {name} in places ? places[{name}] : null], null);')
        return View(
            f"{self.name}_by_keyword", self.question, self.function(lines), partitioned=self.partitioned
        )


@dataclass(frozen=True)
class NouveauIndex(Declared):
    """The same index for CouchDB with Nouveau. It holds the documents themselves: CouchDB reads those of a page one by one, through all of
    its layers, which costs about as much as the search."""

    of: SearchIndex

    @property
    def name(self) -> str:
        return self.of.name

    @property
    def question(self) -> str:
        return self.of.question

    @property
    def partitioned(self) -> bool:
        return self.of.partitioned

    @property
    def refused_names(self) -> list[str]:
        """Those of fields that Nouveau does not take; of `numbers` what is before a member's."""
        return [each.name for each in self.of.fields if not re.match(NOUVEAU_NAME, each.name)]

    def design_document(self) -> dict[str, Any]:
        keywords = dict.fromkeys(_whole(self.of.fields), "keyword")
        whole = f'  index("stored", {json.dumps(DOCUMENT_FIELD)}, JSON.stringify(doc));'
        function = self.of.function([whole, *self.of.visits(_nouveau)])
        index = {"index": function, "default_analyzer": "standard", "field_analyzers": keywords}
        return {"options": {"partitioned": self.partitioned}, "nouveau": {self.name: index}}


def members_function(variable: str, fields: Iterable[SearchField]) -> str:
    """JavaScript that makes `variable` an array of the members of these `pairs` fields, each as `field.name=value`."""
    lines = [each.visit(f"{variable}.push({json.dumps(each.name + '.')} + x);") for each in fields]
    return "\n".join([f"  var {variable} = [];", *((_EACH, _PAIRS) if lines else ()), *lines])


def field_named(fields: Mapping[str, SearchField], name: str) -> tuple[SearchField, str]:
    """The field that a query names, and which member of it where it is one of `numbers`. Raises KeyError."""
    if name in fields:
        return fields[name], ""
    for each in fields.values():
        if each.kind == "numbers" and name.startswith(each.name):
            return each, name.removeprefix(each.name)
    raise KeyError(name)


def pairs_in(value: Any) -> list[str]:
    """The members of an object as a `pairs` field indexes them."""
    members = value.items() if isinstance(value, dict) else ()
    return [
        f"{name}={text}"
        for name, values in members
        for each in (values if isinstance(values, list) else [values])
        if each is not None and each != "" and not isinstance(each, dict | list)
        for text in (as_javascript(each), *((band_of(each),) if _is_number(each) else ()))
    ]


def band_of(number: float) -> str:
    """The label of the band that a number is in."""
    return next((label for least, label in reversed(NUMBER_BANDS) if number >= least), "..0")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_javascript(value: Any) -> str:
    """A value as JavaScript writes it into a text."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _indexed_name(field: SearchField) -> str:
    """The JavaScript for the name that a value is indexed under."""
    return f"{json.dumps(field.name)} + k" if field.kind == "numbers" else json.dumps(field.name)


def _whole(fields: Iterable[SearchField]) -> list[str]:
    """The fields whose values are one term each, whatever is in them."""
    return [each.name for each in fields if each.kind not in ("text", "number")]


def _value_of(field: SearchField) -> str:
    """The JavaScript for what is indexed of a value that is no text."""
    return "sort_key(x)" if field.kind == "order" else "x"


def _clouseau(field: SearchField) -> str:
    if field.kind != "text":
        options = json.dumps({"facet": True} if field.facet else {})
        return f"index({_indexed_name(field)}, {_value_of(field)}, {options});"
    short = f" index({json.dumps(SHORT)}, short_terms(x), {{}});" if field.short else ""
    return short if field.unnamed else f"index({json.dumps(field.name)}, terms(x), {{}});{short}"


def _nouveau(field: SearchField) -> str:
    if field.kind != "text":
        kind = "double" if field.is_number else "string"
        return f"index({json.dumps(kind)}, {_indexed_name(field)}, {_value_of(field)});"
    short = f' index("text", {json.dumps(SHORT)}, short_terms(x));' if field.short else ""
    return short if field.unnamed else f'index("text", {json.dumps(field.name)}, terms(x));{short}'


def _keyword(field: SearchField) -> str:
    if field.kind in SORTED_KINDS:
        name = json.dumps(field.name)
        return f"if (!({name} in places)) places[{name}] = {_value_of(field)};"
    if field.kind == "numbers":
        return f'emit(["sort", {_indexed_name(field)}, x], null);'
    if field.kind == "path":
        return 'emit(["path", x], null);'
    if field.kind == "exclusion":
        return 'emit(["excluded", x], null);'
    if field.code:
        return f"put(codes, terms(x).split(' '), {field.weight});"
    terms = "short_terms" if field.short else "terms"
    return f"put(words, {terms}(x).split(' '), {field.weight}); put(written, words_of(x), {field.weight});"
