"""What Nouveau makes of a query by the types that the fields of an index have; each has one, that of the first document with it."""

import re
from dataclasses import replace
from typing import Any

from ..errors import bad_request, query_parse_error
from . import nouveau_syntax
from .compiling import DEFAULT_FIELD
from .engine import SearchIndex
from .number_formats import read
from .sorting import Key
from .syntax import Clauses, Everything, Node, Phrase, RangeOf, Regexp, Term, Wildcard

_SORT = re.compile(r"([-+])?([.\w]+)", re.ASCII)
_COLUMNS = {"STRING": "SORTED_SET", "DOUBLE": "SORTED_NUMERIC"}
_COUNTED, _RANGED = "[SORTED, SORTED_SET]", "[SORTED_NUMERIC, NUMERIC]"


def tree(index: SearchIndex, query: str, locale: str | None) -> Node:
    """Errors: 400 for what is no query, or none for fields of these types."""
    return _Reading(index, locale).read(nouveau_syntax.parse(query))


class _Reading:
    def __init__(self, index: SearchIndex, locale: str | None) -> None:
        self._index, self._locale = index, locale

    def read(self, node: Node) -> Node:
        if isinstance(node, Everything):
            return node
        if isinstance(node, Clauses):
            return replace(node, parts=tuple((occur, self.read(part)) for occur, part in node.parts))
        name = node.field or DEFAULT_FIELD
        kind = self._index.types.get(name)
        if kind == "DOUBLE" and not isinstance(node, Regexp):
            return self._number(name, node)
        if isinstance(node, RangeOf):
            return replace(node, words=True)
        if isinstance(node, Regexp) and self._index.analyzers.of(name).folds:
            return replace(node, pattern=node.pattern.lower())
        if isinstance(node, Wildcard) and node.parts[0][1]:
            raise bad_request(f"Leading wildcard is not allowed: {name}:{_text(node)}")
        if isinstance(node, Phrase) and kind == "STRING":
            self._check_phrase(name, node)
        return node

    def _number(self, name: str, node: Term | Phrase | Wildcard | RangeOf) -> Node:
        if not isinstance(node, RangeOf):
            value = self._read(_text(node))
            return RangeOf(name, value, value, True, True, node.boost)
        low, high = (None if text is None else self._read(text) for text in (node.low, node.high))
        return replace(node, low=low, high=high)

    def _read(self, text: str) -> str:
        return repr(read(text, self._locale))

    def _check_phrase(self, name: str, node: Phrase) -> None:
        terms = self._index.analyzers.of(name).terms(node.text)
        if len(terms) > 1:
            phrase = f'{name}:"{" ".join(terms)}"' + (f"~{node.slop}" if node.slop else "")
            raise bad_request(
                f'field "{name}" was indexed without position data; cannot run PhraseQuery (phrase={phrase})'
            )


def _text(node: Term | Phrase | Wildcard) -> str:
    return "".join(text for text, _ in node.parts) if isinstance(node, Wildcard) else node.text


def sort_keys(index: SearchIndex, names: list[str] | None) -> list[Key]:
    """[] is by relevance. A field that no document has puts them in no order. Errors: 400."""
    keys = [_sort_key(index, name) for name in names or ()]
    return [] if [key.kind for key in keys] == ["score"] else keys


def _sort_key(index: SearchIndex, name: str) -> Key:
    if name == "relevance":
        return Key("score", "score", True)
    found = _SORT.fullmatch(name)
    if found is None:
        raise bad_request(f"{name} is not a valid sort parameter")
    kind = index.types.get(found[2])
    if kind in ("TEXT", "STORED"):
        raise bad_request(f"can't sort on field {found[2]}")
    return Key(found[2], "number" if kind == "DOUBLE" else "text", found[1] == "-")


def check_facets(index: SearchIndex, counts: Any, ranges: Any) -> None:
    """Errors: 400 for a field whose type cannot be counted so."""
    for names, wanted, expected in ((counts, "STRING", _COUNTED), (ranges, "DOUBLE", _RANGED)):
        if names is not None and not isinstance(names, list | dict):
            raise query_parse_error("counts and ranges must name fields")
        for name in names or ():
            kind = index.types.get(name, wanted)
            if kind != wanted:
                raise bad_request(
                    f"unexpected docvalues type {_COLUMNS.get(kind, 'NONE')} for field '{name}' (expected one of {expected}). "
                    "Re-index with correct docvalues type."
                )
