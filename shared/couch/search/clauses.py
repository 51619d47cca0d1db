"""The clause of one word in Lucene syntax: every form that it may stand in, each with its weight. The same words come again and
again, so each index remembers what it made."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .fields import SearchIndex

SHORT = "short"
"""The field of all short texts together: their words, and neighbouring ones as one."""
MIN_PREFIX = 2
MIN_FORGIVEN, MIN_FORGIVEN_TWICE = 4, 8
_MAX_REMEMBERED = 5_000


class Word(NamedTuple):
    """A word of a query: `pairs` are both neighbours written as one with it; the `last` may go on; `code`: the query may name one."""

    text: str
    pairs: tuple[str, ...] = ()
    last: bool = False
    code: bool = False
    forgiven: bool = False
    corrections: tuple[str, ...] = ()

    @property
    def may_be_code(self) -> bool:
        """What is no word at all may be a code, or a part of one."""
        return self.code or self.forgiven or bool(self.corrections) or not self.text.isalpha()


def is_forgivable(word: str) -> bool:
    """Whether typos are looked for in a word: a short one, or one with digits, is near to too many."""
    return len(word) >= MIN_FORGIVEN and word.isalpha()


def word_clauses(index: "SearchIndex") -> Callable[[Word], str]:
    """Makes the clause of a word."""
    texts, stem = index.texts, index.language.stem
    best = max((each.weight for each in texts), default=1)
    has_short = any(each.short for each in texts)
    fuzzy = [SHORT] if has_short else [each.name for each in texts]

    def beginnings(word: Word) -> Iterable[tuple[str, int]]:
        """Short texts are asked together, but for the weightiest."""
        for each in texts:
            if word.may_be_code if each.code else not each.short or each.weight == best:
                yield each.name, each.weight
        if has_short:
            yield SHORT, 1

    def terms(word: Word) -> Iterable[str]:
        # In quotes, because `_search` takes a bare 028 or 1e5 for a number, which no text field holds.
        text, stemmed = word.text, stem(word.text)
        for each in texts:
            if word.may_be_code or not each.code:
                yield f'{each.name}:"{text if each.code else stemmed}"^{each.weight * 2}'
        if stemmed != text:
            yield from (f'{each.name}:"{text}"^{each.weight}' for each in texts if each.weight == best)
        if has_short:
            yield from (f'{SHORT}:"{stem(each)}"^{best}' for each in dict.fromkeys((text, *word.pairs)))
        for correction in word.corrections:
            yield from (f'{each.name}:"{stem(correction)}"^{each.weight}' for each in texts if not each.code)
            if has_short:
                yield f'{SHORT}:"{stem(correction)}"^1'
        if word.last and has_short:
            yield from (f"{SHORT}:{pair}*^1" for pair in word.pairs if not pair.isalpha())
        if word.last and len(text) >= MIN_PREFIX:
            yield from (f"{name}:{text}*^{weight}" for name, weight in beginnings(word))
        if word.forgiven and is_forgivable(text):
            edits = 2 if len(text) >= MIN_FORGIVEN_TWICE else 1
            yield from (f"{name}:{text}~{edits}^1" for name in fuzzy)

    def clause(word: Word) -> str:
        return "(" + " OR ".join(terms(word)) + ")"

    return lru_cache(_MAX_REMEMBERED)(clause)
