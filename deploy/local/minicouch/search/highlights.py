"""Fragments of stored text with the words that matched marked."""

import re
from collections.abc import Callable
from typing import Any

from .analysis import Analyzers, Token
from .compiling import DEFAULT_FIELD
from .syntax import Clauses, Node, Phrase, Regexp, Term, Wildcard

Matches = Callable[[str], bool]


def matchers(node: Node, analyzers: Analyzers) -> list[Matches]:
    """Tests of a term that the query asks for, in whatever field as in Cloudant; what it forbids is left out."""
    found: list[Matches] = []
    _collect(node, analyzers, found)
    return found


def _collect(node: Node, analyzers: Analyzers, found: list[Matches]) -> None:
    if isinstance(node, Clauses):
        for occur, part in node.parts:
            if occur != "not":
                _collect(part, analyzers, found)
        return
    field = getattr(node, "field", None) or DEFAULT_FIELD
    if isinstance(node, Term | Phrase):
        terms = set(analyzers.of(field).terms(node.text))
        edits = 0 if isinstance(node, Phrase) or node.edits is None else int(node.edits) or 2
        found.append(lambda term: term in terms or bool(edits) and _near(term, terms, edits))
    elif isinstance(node, Wildcard):
        signs = {"*": ".*", "?": "."}
        text = "".join(signs[part] if wild else re.escape(part.lower()) for part, wild in node.parts)
        found.append(lambda term: re.fullmatch(text, term.lower(), re.DOTALL) is not None)
    elif isinstance(node, Regexp):
        found.append(lambda term: re.fullmatch(node.pattern, term) is not None)


def _near(term: str, wanted: set[str], edits: int) -> bool:
    return any(abs(len(term) - len(text)) <= edits and _distance(term, text) <= edits for text in wanted)


def _distance(left: str, right: str) -> int:
    """Levenshtein with neighbouring letters swapped counted once."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


def fragments(
    text: str, tokens: list[Token], matches: list[Matches], tags: tuple[str, str], number: int, size: int
) -> list[str]:
    """The `number` pieces of about `size` characters with the most matches, in their order in the text."""
    marked = [token for token in tokens if any(match(token.term) for match in matches)]
    pieces: dict[int, list[Token]] = {}
    for token in marked:
        pieces.setdefault(token.start // size, []).append(token)
    best = sorted(pieces, key=lambda piece: (-len(pieces[piece]), piece))[:number]
    return [_marked(text, piece * size, (piece + 1) * size, pieces[piece], tags) for piece in sorted(best)]


def _marked(text: str, start: int, end: int, tokens: list[Token], tags: tuple[str, str]) -> str:
    end = max(end, tokens[-1].end)
    parts = []
    for token in tokens:
        parts += [text[start : token.start], tags[0], text[token.start : token.end], tags[1]]
        start = token.end
    return "".join([*parts, text[start:end]])


def of_document(
    stored: dict[str, Any], analyzers: Analyzers, tests: list[Matches], asked: "Highlighting"
) -> dict[str, list[str]]:
    """{field: fragments} of the stored fields that hold a match."""
    found = {}
    for field in asked.fields:
        values = stored.get(field, [])
        pieces = [
            piece
            for value in (values if isinstance(values, list) else [values])
            if isinstance(value, str)
            for piece in fragments(
                value,
                analyzers.of(field).tokens(value),
                tests,
                asked.tags,
                asked.number,
                asked.size,
            )
        ]
        if pieces:
            found[field] = pieces[: asked.number]
    return found


class Highlighting:
    """What a request asks to be marked and how."""

    def __init__(self, fields: list[str], tags: tuple[str, str], number: int, size: int) -> None:
        self.fields = fields
        self.tags = tags
        self.number = number
        self.size = size
