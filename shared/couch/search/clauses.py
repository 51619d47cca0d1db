"""The clause of one word in Lucene syntax: every form that it may stand in, each with its weight. The same words come again and
again, so each index remembers what it made."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .fields import SearchField, SearchIndex

SHORT = "short"
"""The field of all short texts together: their words, and neighbouring ones as one."""
MIN_PREFIX, MAX_BEGUN, MIN_BEGUN_PAIR = 2, 4, 5
LETTER_RUN = 4
MIN_FORGIVEN, MIN_FORGIVEN_TWICE = 4, 9
HEAD = 3
"""How much more the head of a query counts in a short text: it is a frequent word, and those count for little."""
_MAX_REMEMBERED = 5_000


class Word(NamedTuple):
    """A word of a query: `pairs` are both neighbours written as one with it, `begun` the one of the last two words, which may go on as
    the `last` word may; `head`: it says what is looked for, others only which; `named`: products are named by it, so that a text which is not
    short finds, but does not rank; `code`: the query may name one."""

    text: str
    pairs: tuple[str, ...] = ()
    begun: str = ""
    last: bool = False
    head: bool = False
    named: bool = False
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


def begun_pair(words: Sequence[str]) -> str:
    """The last two words as the beginning of one: `bed sh` of `bedsheet`. A longer last word is whole, and few letters begin too much."""
    pair = "".join(words[-2:])
    begins = len(words[-1]) <= MAX_BEGUN and len(pair) >= MIN_BEGUN_PAIR
    return pair if len(words) > 1 and (begins or not pair.isalpha()) else ""


def _begun(word: str) -> str:
    """What begins so in the short texts. Letters that digits follow are a word of their own from `LETTER_RUN` on (see `words.letters_of`), so what goes
    on with digits then, as each number behind a name does, need not be gone through."""
    if not (word.isascii() and word.isalpha()):
        return f"{word}*"
    if len(word) >= LETTER_RUN:
        return f"/{word}[^0-9]*/"
    return f"/{word}({'[^0-9]?' * (LETTER_RUN - 1 - len(word))}[0-9].*|[^0-9]*)/"


def _edits(word: str) -> int:
    return 2 if len(word) >= MIN_FORGIVEN_TWICE else 1


def word_clauses(index: "SearchIndex") -> Callable[[Word], str]:
    """Makes the clause of a word."""
    texts, stem = index.texts, index.language.stem
    best = max((each.weight for each in texts), default=1)
    short = [each for each in texts if each.short]
    others = [each for each in texts if not each.short]

    def short_forms(word: Word) -> Iterable[str]:
        """What of the word is found in the short texts together; nothing of it is in one of them and not here."""
        yield from (f'{SHORT}:"{stem(each)}"^{best}' for each in dict.fromkeys((word.text, *word.pairs)))
        yield from (f'{SHORT}:"{stem(each)}"^{max(1, best // 2)}' for each in word.corrections)
        if word.begun:
            yield f"{SHORT}:{word.begun}*^1"
        if word.last and len(word.text) >= MIN_PREFIX:
            yield f"{SHORT}:{_begun(word.text)}^1"
        if word.forgiven and is_forgivable(word.text):
            yield f"{SHORT}:{word.text}~{_edits(word.text)}^1"

    def forms(word: Word, some: Iterable["SearchField"]) -> Iterable[str]:
        """The word in each of some texts; in quotes, because `_search` takes a bare 028 or 1e5 for a number, which no text field holds."""
        text, stemmed = word.text, stem(word.text)
        for each in some:
            if each.code and not word.may_be_code:
                continue
            weight = 0 if word.named and not each.short and not each.code else each.weight
            yield f'{each.name}:"{text if each.code else stemmed}"^{weight * 2}'
            if stemmed != text and each.weight == best:
                yield f'{each.name}:"{text}"^{each.weight}'
            if not each.code:
                yield from (f'{each.name}:"{stem(other)}"^{weight}' for other in word.corrections)
            if word.last and len(text) >= MIN_PREFIX and (not each.short or each.weight == best):
                yield f"{each.name}:{text}*^{weight}"
            if not short and word.forgiven and is_forgivable(text):
                yield f"{each.name}:{text}~{_edits(text)}^1"

    def clause(word: Word) -> str:
        found = list(forms(word, others))
        if short:
            # Weighed by the short text that it is in only where it is in one: the others need not be looked through for each.
            boost = f"^{HEAD}" if word.head else ""
            found.append(f"(+({' OR '.join(short_forms(word))}) {' '.join(forms(word, short))}){boost}")
        return "(" + " OR ".join(found) + ")"

    return lru_cache(_MAX_REMEMBERED)(clause)
