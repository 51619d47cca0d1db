"""Patterns by the words that they find.

A pattern gathers its documents anew in every search, and what it stands beside is read from end to end. Words that begin as it does are
known where the query asks other fields for them; if these find just as many documents as the pattern, they find the same ones.
"""

import re
from collections.abc import Iterator

import tantivy

from .compiling import Compiler
from .engine import KEPT_QUERIES, MAX_PREFIX_TERMS, SearchIndex
from .syntax import Clauses, Node, Regexp, Wildcard

_OF_LETTERS = re.compile(r"([a-z]+)(?:\[\^0-9\]\*|\([-\[\]^0-9?.*|]*\|\[\^0-9\]\*\))")
"""Letters, and anything without digits behind them, or some with digits: what Lucene's, tantivy's and Python's patterns read alike."""
_COUNT = {"there": {"value_count": {"field": "seq"}}}


def learn(index: SearchIndex, searcher: tantivy.Searcher, compiler: Compiler, tree: Node) -> None:
    """Look up the words of each pattern of a query, once for each state of the index."""
    known = index.generation.patterns
    for node in _leaves(tree):
        begun = _OF_LETTERS.fullmatch(node.pattern) if isinstance(node, Regexp) and node.field else None
        field = index.field("text", node.field) if begun and node.field else None
        if begun is None or field is None or (field, begun[0]) in known:
            continue
        words = _words(index, compiler, tree, begun[1])
        if len(known) >= KEPT_QUERIES:
            known.clear()
        known[field, begun[0]] = _same(searcher, compiler, field, begun[0], words) if words else None


def _words(index: SearchIndex, compiler: Compiler, tree: Node, beginning: str) -> list[str]:
    """Those that other fields of the query are asked for by this beginning."""
    found: dict[str, None] = {}
    for node in _leaves(tree):
        if isinstance(node, Wildcard) and (asked := compiler.beginning(node)) and asked[1] == beginning:
            found |= dict.fromkeys(index.generation.beginnings(*asked)[0] or ())
    return list(found)


def _same(
    searcher: tantivy.Searcher, compiler: Compiler, field: str, pattern: str, words: list[str]
) -> tuple[str, ...] | None:
    """The words that the pattern finds, if they are in every document that it finds."""
    terms = [each for each in words if re.fullmatch(pattern, each) and searcher.doc_freq(field, each)]
    if len(terms) > MAX_PREFIX_TERMS:
        return None
    by_terms = compiler.joined([("should", compiler.term(field, each)) for each in terms])
    counts = [
        searcher.aggregate(query, _COUNT)["there"]["value"]
        for query in (by_terms, compiler.matching(field, pattern))
    ]
    return tuple(terms) if counts[0] == counts[1] else None


def _leaves(node: Node) -> Iterator[Node]:
    if isinstance(node, Clauses):
        for _, part in node.parts:
            yield from _leaves(part)
    else:
        yield node
