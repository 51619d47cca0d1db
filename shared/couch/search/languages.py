"""What a search knows of a language: words that say nothing, and which forms of a word are the same word.

A language is data, so that Python and the JavaScript of index functions read the same rules. Stems need not be words: they
only have to be equal for the forms of one word, and different for different ones. Words with digits have no other form.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

_PLAIN: Final = re.compile("[a-z]{3,}")


@dataclass(frozen=True, eq=False)
class Language:
    """`rules` are (pattern, replacement) in turn over a word without accents; `forms` are words that no rule gets right, before
    and after the rules. A pattern must mean the same to Python and to JavaScript; `$1` is its first group."""

    code: str
    stop_words: frozenset[str]
    rules: tuple[tuple[str, str], ...]
    forms: Mapping[str, str] = field(default_factory=dict)

    def stem(self, word: str) -> str:
        """What all forms of the word have in common."""
        return self._stems(word)

    def terms(self, word: str) -> tuple[str, ...]:
        """What the word is indexed as: itself and, where that is another, its stem."""
        stem = self.stem(word)
        return (word,) if stem == word else (word, stem)

    @cached_property
    def _stems(self) -> Callable[[str], str]:
        rules = [(re.compile(pattern), re.sub(r"\$(\d)", r"\\\1", new)) for pattern, new in self.rules]
        forms = self.forms

        def stem(word: str) -> str:
            if not _PLAIN.fullmatch(word):
                return word
            word = forms.get(word, word)
            if forms.get(word) == word:
                return word
            for pattern, new in rules:
                word = pattern.sub(new, word)
            return forms.get(word, word)

        return lru_cache(maxsize=50_000)(stem)

    def javascript(self) -> str:
        """The same as `stem(word)`."""
        rules = "".join(
            f"    w = w.replace(/{pattern}/g, {json.dumps(new)});\n" for pattern, new in self.rules
        )
        return (
            f"  var forms = {json.dumps(dict(self.forms))}, stems = Object.create(null);\n"
            "  function form(w) { return typeof forms[w] === 'string' ? forms[w] : w; }\n"
            "  function stem(word) {\n"
            "    if (stems[word]) return stems[word];\n"
            "    var w = word;\n"
            f"    if (!/^{_PLAIN.pattern}$/.test(w)) return w;\n"
            "    w = form(w);\n"
            "    if (forms[w] === w) return w;\n"
            f"{rules}"
            "    return stems[word] = form(w);\n"
            "  }"
        )


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH: Final = Language(
    "en",
    _words(
        "a an and any are as at be but by for from her him his i if in into is it its me my no of on or our so some such that the their then there these they this to was we will with you your"
    ),
    (
        ("ies?$", "y"),  # ties, tie; accessories, accessory
        ("(ss|sh|ch|x|zz)es$", "$1"),  # dresses, watches, boxes
        ("^(.+[^suai])s$", "$1"),  # rings; but not dress, bus, canvas, tennis
        ("^(..+a)s$", "$1"),  # sofas, bras
        ("^(..+[sxzo]|.+[cs]h)e$", "$1"),  # vase beside vases, shoe beside shoes
    ),
    {
        # other plurals
        "men": "man",
        "women": "woman",
        "children": "child",
        "feet": "foot",
        "teeth": "tooth",
        "mice": "mouse",
        "geese": "goose",
        "knives": "knife",
        "scarves": "scarf",
        "shelves": "shelf",
        "wives": "wife",
        "halves": "half",
        "leaves": "leaf",
        "loaves": "loaf",
        "lenses": "lens",
        # no plurals, or other things than the word without s
        "lens": "lens",
        "shorts": "shorts",
        "tights": "tights",
        "news": "news",
        "goods": "goods",
        "always": "always",
        "atlas": "atlas",
        "canvas": "canvas",
        "christmas": "christmas",
        "series": "series",
        "species": "species",
        "clothes": "clothing",
        # two spellings
        "color": "colour",
        "jewelry": "jewellery",
        "gray": "grey",
        "aluminum": "aluminium",
        "pajama": "pyjama",
        "fiber": "fibre",
        "favorite": "favourite",
    },
)

GERMAN: Final = Language(
    "de",
    _words(
        "als am an auch auf aus bei bis das dem den der des die ein eine einem einen einer eines fur gegen ich im in ins ist mein meine mit nach oder ohne so uber um und unter vom von vor wie zu zum zur"
    ),
    (
        ("([^aeiouq])([aou])e", "$1$2"),  # schuerze, Schürze
        ("^(...+[elr])n$", "$1"),  # Lampen, Kindern, Gabeln
        ("^(...+?)(?:en|es|er|e)$", "$1"),  # Lampe, Kleider
        ("^(....+)s$", "$1"),  # Sofas, Sofa
    ),
)

LANGUAGES: Final = {language.code: language for language in (ENGLISH, GERMAN)}
