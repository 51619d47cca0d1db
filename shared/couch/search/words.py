"""How text becomes words: lower case, accents folded, possessives dropped, all punctuation a gap.

Index functions do the same in JavaScript: both read the tables and patterns of this module, and nothing of the engine but
`toLowerCase`, because old engines have no `normalize`.
"""

import json
import re
import unicodedata
from typing import Final

from .languages import Language

_GAPS = (
    r"[\u0000-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7"
    r"\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u303f\ud800-\uf8ff\ufe30-\ufe4f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+"
)
"""What stands between words; beyond the first plane, where JavaScript sees two halves of a character, there are no letters here."""
_NON_BMP = r"[\U00010000-\U0010ffff]"
_POSSESSIVES = r"['\u2019]s(?=[^a-z0-9]|$)"
_CHUNKS = r"[ \t\r\n]+"
_COMPOUNDS = r"[-_.\/+].+[-_.\/+]"
_MARKS = r"[\u0300-\u036f]"
_LETTER_RUNS = "[a-z]{4,}"
_LETTER_RUN, _DIGIT = re.compile(_LETTER_RUNS), re.compile("[0-9]")
_CHUNK, _COMPOUND = re.compile(_CHUNKS), re.compile(_COMPOUNDS)
_GAP, _POSSESSIVE, _MARK = (
    re.compile(f"(?:{_NON_BMP}|{_GAPS})+"),
    re.compile(_POSSESSIVES),
    re.compile(_MARKS),
)

_ALPHABETS = ((0xC0, 0x24F), (0x370, 0x587), (0x1E00, 0x1FFF))
"""Latin, Greek, Cyrillic and Armenian letters with marks."""
_LETTERS: Final = {"ß": "ss", "æ": "ae", "œ": "oe", "þ": "th"}
"""Letters that are two without their form."""


def _plain(letter: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", letter) if not unicodedata.combining(c))


_ACCENTED: Final = {
    letter: plain
    for low, high in _ALPHABETS
    for letter in map(chr, range(low, high + 1))
    if letter == letter.lower() and len(plain := _plain(letter)) == 1 and plain not in (letter, " ")
} | {"ø": "o", "đ": "d", "ł": "l", "ı": "i", "ς": "σ"}
_TABLE: Final = str.maketrans(_ACCENTED | _LETTERS)


def fold(text: str) -> str:
    """Lower case without accents, words apart by single spaces."""
    text = text.lower() if text.isascii() else _unaccented(unicodedata.normalize("NFC", text).lower())
    if "'" in text or "\u2019" in text:
        text = _POSSESSIVE.sub(" ", text)
    return _GAP.sub(" ", text)


def sort_key(text: str) -> str:
    """What texts are sorted by: letters and digits as they are without case, accents and punctuation; all of a text that has none."""
    return " ".join(words_of(text)) or text


def words_of(text: str) -> list[str]:
    """The words of a text, without anything that a query language could read as syntax; `women's` is `women`."""
    return [word for word in fold(text).split() if word.isalnum() or any(map(str.isalnum, word))]


def pairs_of(words: list[str]) -> list[str]:
    """Neighbours written as one: `bed sheet` is also found as `bedsheet`."""
    return [one + other for one, other in zip(words, words[1:], strict=False)]


def compounds_of(text: str) -> list[str]:
    """What signs hold together in three parts or more, such as a model number, written as one: `CAS-W-13` is also found as `casw13`."""
    if not _COMPOUND.search(text):
        return []
    found = (words_of(chunk) for chunk in _CHUNK.split(text) if _COMPOUND.search(chunk))
    return ["".join(words) for words in found if len(words) > 2]


def letters_of(words: list[str]) -> list[str]:
    """The letters in words with digits: `7purple` is also found as `purple`."""
    return [part for word in words if _DIGIT.search(word) for part in _LETTER_RUN.findall(word)]


def _unaccented(text: str) -> str:
    return _MARK.sub("", text.translate(_TABLE))


def javascript(language: Language) -> str:
    """`terms(text)` and `short_terms(text)`, what a text and a short text are indexed as: words with their stems, spaces between."""
    accented, plain = "".join(_ACCENTED), "".join(_ACCENTED.values())
    letters = "".join(
        f".replace(/{_escaped(letter)}/g, {json.dumps(plain)})" for letter, plain in _LETTERS.items()
    )
    return f"""  function fold(x) {{
    x = x.toLowerCase();
    if (/[^\\u0000-\\u007f]/.test(x)) {{
      x = x{letters}.replace(/[\\u00c0-\\u1fff]/g, function (c) {{
        var n = {json.dumps(accented)}.indexOf(c);
        return n < 0 ? c : {json.dumps(plain)}.charAt(n);
      }}).replace(/{_MARKS}/g, "");
    }}
    return x.replace(/{_POSSESSIVES}/g, " ").replace(/{_GAPS}/g, " ");
  }}
  function words_of(x) {{
    return fold(x).split(" ").filter(function (w) {{ return w; }});
  }}
  function sort_key(x) {{
    return words_of(x).join(" ") || x;
  }}
{language.javascript()}
  function terms(x) {{
    return words_of(x).map(with_stem).join(" ");
  }}
  function short_terms(x) {{
    var words = words_of(x), pairs = [];
    for (var n = 1; n < words.length; n++) pairs.push(words[n - 1] + words[n]);
    return words.concat(pairs, compounds(x), letters(words)).map(with_stem).join(" ");
  }}
  function letters(words) {{
    return words.reduce(function (found, w) {{
      return /[0-9]/.test(w) ? found.concat(w.match(/{_LETTER_RUNS}/g) || []) : found;
    }}, []);
  }}
  function compounds(x) {{
    return x.split(/{_CHUNKS}/).filter(function (c) {{ return /{_COMPOUNDS}/.test(c); }}).map(words_of)
      .filter(function (w) {{ return w.length > 2; }}).map(function (w) {{ return w.join(""); }});
  }}"""


def _escaped(letter: str) -> str:
    return json.dumps(letter)[1:-1]
