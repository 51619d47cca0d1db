"""How the languages of the world write numbers, as far as Nouveau reads them: its queries are read in a `locale`."""

import re
from functools import lru_cache

from ..errors import bad_request

_POINT, _COMMA = (".", ","), (",", ".")
_SPACE, _NARROW = (",", "\u00a0"), (",", "\u202f")
_SIGNS = {
    **dict.fromkeys("bs ca da de el es eu fo gl hr id is it mk nl pt ro sl sr tr vi".split(), _COMMA),
    **dict.fromkeys("be bg cs et fi hu hy ka kk lt lv nb nn no pl ru sk sq sv uk".split(), _SPACE),
    "fr": _NARROW,
    **dict.fromkeys(("de-AT", "es-CR", "pt-PT"), _SPACE),
    **dict.fromkeys(("de-CH", "de-LI", "it-CH"), (".", "’")),
    **dict.fromkeys("es-MX es-US es-GT es-HN es-NI es-PA es-PE es-PR es-SV es-DO es-419".split(), _POINT),
}
"""The signs before the decimals and between thousands; those of English where nothing is said."""


def read(text: str, locale: str | None) -> float:
    """The number at the beginning of a text. Errors: 400 where there is none."""
    found = _pattern(locale or "").match(text)
    if not found:
        raise bad_request(f'Could not parse text "{text}" using java.text.DecimalFormat')
    minus, whole, decimals, exponent = found.groups()
    digits = re.sub(r"\D", "", whole)
    return float(f"{minus}{digits or 0}.{decimals or 0}e{exponent or 0}")


@lru_cache(64)
def _pattern(locale: str) -> re.Pattern[str]:
    name = locale.replace("_", "-")
    decimal, group = _SIGNS.get(name) or _SIGNS.get(name.partition("-")[0]) or _POINT
    d, g = re.escape(decimal), re.escape(group)
    return re.compile(rf"(-?)(?=\d|{d}\d)((?:\d|(?<=\d){g}(?=\d))*)(?:{d}(\d*))?(?:E(-?\d+))?", re.ASCII)
