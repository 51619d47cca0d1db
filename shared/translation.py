"""The language of the page or e-mail at hand: its catalogue (gettext), and how it writes money, numbers and days.

Texts are written in English where they are used, `_("Log in")`, and looked up in the catalogue of the active language;
`gettext_noop` marks one that is looked up later. Where no language is active, texts stay as they are written.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cached_property, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from babel import Locale
from babel.dates import format_date, format_time
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal, parse_pattern
from babel.support import NullTranslations, Translations
from markupsafe import Markup

P = ParamSpec("P")
R = TypeVar("R")

SOURCE_LANGUAGE: Final = "en"
"""Of the texts in the code."""
_DAY_PATTERNS: Final = {SOURCE_LANGUAGE: ("d MMMM y", "d MMM y")}


@dataclass(frozen=True, eq=False)
class Language:
    """A language that pages can be in. Each is read once, so that what is drawn in it can be kept by it."""

    code: str
    locale: Locale
    catalogue: NullTranslations
    markup: dict[str, Markup] = field(default_factory=dict)
    """The messages that templates have shown, which hold no user's text: as many as the templates have."""

    @cached_property
    def direction(self) -> str:
        return str(self.locale.text_direction)

    @cached_property
    def name(self) -> str:
        """As its speakers call it."""
        own = self.locale.get_display_name(self.locale) or self.code
        return own[:1].upper() + own[1:]


_SOURCE: Final = Language(SOURCE_LANGUAGE, Locale.parse(SOURCE_LANGUAGE), NullTranslations())
_active: ContextVar[Language] = ContextVar("language", default=_SOURCE)


def available_languages(folder: Path) -> list[str]:
    """Those that have a catalogue."""
    return sorted({SOURCE_LANGUAGE, *(path.parent.parent.name for path in folder.glob("*/LC_MESSAGES/*.po"))})


def read_languages(codes: Iterable[str], folder: Path) -> dict[str, Language]:
    """These languages with their catalogues, in this order."""
    return {code: _SOURCE if code == SOURCE_LANGUAGE else _read_language(code, folder) for code in codes}


def translated_languages(codes: Iterable[str], folder: Path) -> dict[str, Language]:
    """Those of them that have a catalogue here, in this order; without any, that of the code."""
    known = set(available_languages(folder))
    return read_languages([code for code in codes if code in known] or [SOURCE_LANGUAGE], folder)


def _read_language(code: str, folder: Path) -> Language:
    with (folder / code / "LC_MESSAGES" / "messages.po").open("rb") as source:
        catalogue = read_po(source, locale=code.replace("-", "_"))
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Language(code, Locale.parse(code, sep="-"), Translations(compiled))


def activate(language: Language) -> None:
    """For the rest of this request."""
    _active.set(language)


@contextmanager
def language_active(language: Language) -> Iterator[None]:
    """For what is written inside, such as one e-mail."""
    token = _active.set(language)
    try:
        yield
    finally:
        _active.reset(token)


def keep_language(task: Callable[P, R]) -> Callable[P, R]:
    """The task in the present language, on whatever thread it runs."""
    language = _active.get()

    def run(*arguments: P.args, **options: P.kwargs) -> R:
        with language_active(language):
            return task(*arguments, **options)

    return run


def active_language() -> Language:
    return _active.get()


def gettext(message: str, **variables: Any) -> str:
    """The message in the active language, its %(name)s replaced by `variables`."""
    text = _active.get().catalogue.gettext(message) if message else ""
    return text % variables if variables else text


def ngettext(singular: str, plural: str, num: int, **variables: Any) -> str:
    """The form of the message that fits the number, which is also its %(num)s."""
    text = str(_active.get().catalogue.ngettext(singular, plural, num))
    return text % {"num": num, **variables}


def gettext_noop(message: str) -> str:
    """Marks a message for the catalogue; it is looked up where it is shown."""
    return message


def join_words(words: Iterable[str]) -> str:
    """Red, green and blue."""
    found = [str(each) for each in words]
    if len(found) < 2:
        return "".join(found)
    return gettext("%(words)s and %(last)s", words=", ".join(found[:-1]), last=found[-1])


def territory_names(names: Mapping[str, str]) -> dict[str, str]:
    """Countries by their codes as the active language calls them, in the order of its names; those it does not know as `names` has them."""
    language = active_language()
    if language is _SOURCE:
        return dict(names)
    own = {code: language.locale.territories.get(code, name) for code, name in names.items()}
    return dict(sorted(own.items(), key=lambda each: _without_accents(each[1])))


def _without_accents(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in parts if not unicodedata.combining(each))


def money_text(amount: int, digits: int, currency: str) -> str:
    """An amount of minor units, of which a currency has 10 ** `digits` to the major one, as the active language writes it."""
    return _money_text(active_language(), amount, digits, currency)


@lru_cache(4096)
def _money_text(language: Language, amount: int, digits: int, currency: str) -> str:
    pattern = parse_pattern(language.locale.currency_formats["standard"].pattern)
    pattern.frac_prec = (digits, digits)
    return str(
        pattern.apply(
            Decimal(amount).scaleb(-digits), language.locale, currency=currency, currency_digits=False
        )
    )


def number_text(number: float, pattern: str = "0.0") -> str:
    """4.5, or 4,5."""
    return format_decimal(number, pattern, locale=active_language().locale)


def decimal_sign() -> str:
    return str(active_language().locale.number_symbols["latn"]["decimal"])


def day_text(moment: datetime) -> str:
    """20 November 2026"""
    language = active_language()
    return format_date(moment, _DAY_PATTERNS.get(language.code, ("long",))[0], locale=language.locale)


def moment_text(moment: datetime) -> str:
    """20 Nov 2026, 23:11 UTC"""
    language = active_language()
    day = format_date(moment, _DAY_PATTERNS.get(language.code, ("", "medium"))[1], locale=language.locale)
    return f"{day}, {format_time(moment, 'HH:mm', locale=language.locale)} UTC"
