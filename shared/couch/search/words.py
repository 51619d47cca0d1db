"""How text becomes words: accents folded, lower case, all punctuation a gap. Index functions do the same in JavaScript."""

import re
import unicodedata

_GAPS = (
    r"[\u0000-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7"
    r"\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u303f\ufe30-\ufe4f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+"
)
_GAP = re.compile(_GAPS)
_ACCENTS = re.compile(r"[\u0300-\u036f]")
_POSSESSIVE = re.compile(r"['\u2019]s\b", re.IGNORECASE)

JAVASCRIPT = (
    "  function fold(x) {\n"
    '    var plain = x.normalize ? x.normalize("NFKD").replace(/[\\u0300-\\u036f]/g, "") : x;\n'
    f'    return plain.toLowerCase().replace(/{_GAPS}/g, " ");\n'
    "  }"
)


def fold(text: str) -> str:
    """Lower case without accents, words apart by single spaces."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return _GAP.sub(" ", plain.lower())


def words_of(text: str) -> list[str]:
    """The words a person typed, without anything that a query language could read as syntax; `women's` asks for `women`."""
    return [word for word in fold(_POSSESSIVE.sub(" ", text)).split() if any(map(str.isalnum, word))]
