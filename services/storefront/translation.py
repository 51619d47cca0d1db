"""The catalogues of the pages' texts, and how templates look them up; all else is `shared.translation`."""

from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from shared.translation import (
    SOURCE_LANGUAGE,
    Language,
    activate,
    active_language,
    available_languages,
    day_text,
    decimal_sign,
    gettext,
    gettext_noop,
    join_words,
    moment_text,
    money_text,
    ngettext,
    number_text,
    read_languages,
    territory_names,
)

__all__ = [
    "FOLDER",
    "SOURCE_LANGUAGE",
    "Language",
    "activate",
    "active_language",
    "available_languages",
    "day_text",
    "decimal_sign",
    "gettext",
    "gettext_noop",
    "isolated",
    "isolated_markup",
    "join_words",
    "moment_text",
    "money_text",
    "ngettext",
    "number_text",
    "read_languages",
    "template_gettext",
    "template_ngettext",
    "template_pgettext",
    "territory_names",
]

_ISOLATE, _END = "\u2068", "\u2069"
"""First strong isolate and its end, what <bdi> is in HTML."""

FOLDER: Final = Path(__file__).parent / "translations"


def template_gettext(message: str, /, **variables: Any) -> Markup:
    """`gettext` for templates: the message is HTML, its variables are escaped."""
    language = active_language()
    text = language.markup.get(message)
    if text is None:
        text = language.markup[message] = Markup(language.catalogue.gettext(message))
    return text % variables if variables or "%" in text else text


def template_ngettext(singular: str, plural: str, num: int, /, **variables: Any) -> Markup:
    """`ngettext` for templates."""
    text = Markup(active_language().catalogue.ngettext(singular, plural, num))
    return text % {"num": num, **variables}


def template_pgettext(context: str, message: str, /, **variables: Any) -> Markup:
    """`pgettext` for templates."""
    text = Markup(active_language().catalogue.pgettext(context, message))
    return text % variables


def isolated(text: str) -> str:
    """A name, for the middle of a text: in a language written from right to left it does not mix up what stands around it."""
    return f"{_ISOLATE}{text}{_END}" if text and active_language().direction == "rtl" else text


def isolated_markup(text: str) -> str:
    """`isolated` for templates."""
    return Markup("<bdi>{}</bdi>").format(text) if text and active_language().direction == "rtl" else text
