"""What a search knows of a language: words that say nothing, and which forms of a word are the same word.

A language is data, so that Python and the JavaScript of index functions read the same rules. Stems need not be words: they
only have to be equal for the forms of one word, and different for different ones. Words with digits have no other form.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Final

_PLAIN: Final = re.compile("[a-z]{3,}")


@dataclass(frozen=True, eq=False)
class Language:
    """`rules` are (pattern, replacement) in turn over a word without accents; `forms` are words that no rule gets right, before
    and after the rules. A pattern must mean the same to Python and to JavaScript; `$1` is its first group. Of a word that `compounds`
    match, each group is found as a word of its own. `people` are for whom things are, `prepositions` stand behind what is looked for."""

    code: str
    stop_words: frozenset[str]
    rules: tuple[tuple[str, str], ...]
    forms: Mapping[str, str] = field(default_factory=dict)
    compounds: str = ""
    people: frozenset[str] = frozenset()
    prepositions: frozenset[str] = frozenset()

    def is_person(self, word: str) -> bool:
        """Whether a word says for whom a thing is, not what it is."""
        return self.stem(word) in self._people

    @cached_property
    def _people(self) -> frozenset[str]:
        return frozenset(map(self.stem, self.people))

    def stem(self, word: str) -> str:
        """What all forms of the word have in common."""
        return self._stems(word)

    def terms(self, word: str) -> tuple[str, ...]:
        """What the word is indexed as: itself, where that is another its stem, and those of its parts."""
        return self._terms(word) if self.compounds else self.own_terms(word)

    def own_terms(self, word: str) -> tuple[str, ...]:
        """What a word of a query is looked for as: not its parts, for who asks for a Stehlampe wants no other lamp."""
        stem = self.stem(word)
        return (word,) if stem == word else (word, stem)

    def head_of(self, word: str) -> str:
        """What a compound is one of: the lampe of Stehlampe; empty for another word."""
        parts = re.fullmatch(self.compounds, word) if self.compounds else None
        return (parts[parts.lastindex] if parts and parts.lastindex else None) or ""

    @cached_property
    def _terms(self) -> Callable[[str], tuple[str, ...]]:
        compound = re.compile(self.compounds or "(?!)")

        def terms(word: str) -> tuple[str, ...]:
            parts = compound.fullmatch(word)
            stems = [self.stem(part) for part in parts.groups() if part] if parts else []
            return tuple(dict.fromkeys((word, self.stem(word), *stems)))

        return lru_cache(maxsize=50_000)(terms)

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
            "  }\n"
            f"{self._javascript_of_terms()}"
        )

    def _javascript_of_terms(self) -> str:
        if not self.compounds:
            return "  function with_stem(w) { var s = stem(w); return s === w ? w : w + ' ' + s; }"
        return f"""  function with_stem(w) {{
    var found = [w], parts = /^(?:{self.compounds})$/.exec(w) || [];
    [w].concat(parts.slice(1)).forEach(function (part) {{
      var s = part && stem(part);
      if (s && found.indexOf(s) < 0) found.push(s);
    }});
    return found.join(" ");
  }}"""


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
        "children": "kid",
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
        # two words for one thing, as the rules leave them: neckties, tie
        "neckty": "ty",
        "wristwatch": "watch",
        "lady": "woman",
        "womenswear": "woman",
        "gent": "man",
        "gentleman": "man",
        "gentlemen": "man",
        "menswear": "man",
        "child": "kid",
        "phone": "mobile",
        "cellphone": "mobile",
        "smartphone": "mobile",
        "handphone": "mobile",
        "tee": "tshirt",
        "trouser": "pant",
        "frock": "dress",
        "golden": "gold",
        "wooden": "wood",
        "woollen": "wool",
        "woolen": "wool",
        "fridge": "refrigerator",
        "television": "tv",
        # two spellings
        "sari": "saree",
        "saris": "saree",
        "lehnga": "lehenga",
        "lengha": "lehenga",
        "burka": "burqa",
        "burkha": "burqa",
        "tire": "tyre",
        "color": "colour",
        "jewelry": "jewellery",
        "gray": "grey",
        "aluminum": "aluminium",
        "pajama": "pyjama",
        "fiber": "fibre",
        "favorite": "favourite",
    },
    people=_words("man woman boy girl kid baby infant toddler adult unisex"),
    prepositions=_words("by for from in of on to with without"),
)

_GERMAN_PEOPLE: Final = "damen|herren|frauen|manner|maenner|kinder|baby|madchen|maedchen|jungen|hunde|katzen"
_GERMAN_FIRST_PARTS: Final = (
    "arbeits|auto|bade|balkon|baumwoll|bett|bilder|blumen|boden|bucher|buecher|buro|buero|camping|decken|design|doppel|druck|edelstahl|einkaufs|"
    "esszimmer|fahrrad|feder|fenster|fleece|freizeit|funk|garten|gastebett|geschenk|glas|gold|gummi|halb|halogen|hand(?=tasche|tuch)|handy|haus|"
    "holz|kaffee|kapuzen|keramik|klapp|kleider|kochtopf|kuchen|kuechen|kuschel|lang|laptop|lauf|leder|leinen|lese|metall|mini|mobil|nacht|"
    "ohr|outdoor|papier|pendel|plastik|polster|porzellan|radler|regen|reise|rollen|rund|samt|schlaf|schlafzimmer|schmuck|schnur|schreibtisch|"
    "schuh|schul|schutz|seiden|sicherheits|silber|sitz|sofa|sommer|sonnen|spiel|sport|stand|steh|stein|stepp|stoff|strand|strick|tee|"
    "teppich|tisch|trekking|trink|turn|wand|wander|wasch|wasser|wein|winter|woll|wohnzimmer"
)
"""What German words for goods begin with, where the rest says what they are: a Stehlampe is a lamp, a Handschuh no shoe."""

GERMAN: Final = Language(
    "de",
    _words(
        "als am an auch auf aus bei bis das dem den der des die du ein eine einem einen einer eines er es fuer fur gegen ich ihr ihre im in ins ist "
        "mein meine meinem meinen meiner mit nach oder ohne sich sie sind so ueber uber um und uns unter vom von vor wie wir zu zum zur"
    ),
    (
        ("([^aeiouq])([aou])e", "$1$2"),  # schuerze, Schürze
        ("^(...+[elr])n$", "$1"),  # Lampen, Kindern, Gabeln
        ("^(...+?)(?:en|es|er|e)$", "$1"),  # Lampe, Kleider
        ("^(....+)s$", "$1"),  # Sofas, Sofa
    ),
    compounds=rf"(?:({_GERMAN_PEOPLE})|(?:{_GERMAN_FIRST_PARTS}))(?!e[rnsm])([a-z]{{3,}})",
    people=frozenset(_GERMAN_PEOPLE.split("|")),
    prepositions=_words("auf aus fuer fur gegen in mit ohne unter von zu zum zur"),
)

LANGUAGES: Final = {language.code: language for language in (ENGLISH, GERMAN)}


@cache
def language_named(code: str) -> Language:
    """The rules of a language. Of one without rules here every form of a word is a word of its own."""
    return LANGUAGES.get(code) or Language(code, frozenset(), ())
