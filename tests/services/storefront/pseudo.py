"""A catalogue whose translations are the texts of the code between marks: what a page shows outside of them was never looked up."""

import re
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from services.storefront.translation import FOLDER
from tests.messages import template

START, END = "⟦", "⟧"
LANGUAGE = "ar"
"""Written from right to left, so that the same pages show how the layout takes it."""
_MARKED = re.compile(f"{START}[^{START}{END}]*{END}")
WORD = re.compile(r"[A-Za-z]{2,}(?:['’][A-Za-z]+)*")
_ATTRIBUTES = {"aria-label", "placeholder", "alt", "title", "data-refused", "data-offline", "data-loading"}


def in_languages(folder: Path) -> dict[str, str]:
    """The settings of a storefront in English, German and this language, in pounds and euros; its catalogues are written below `folder`."""
    return {
        "LANGUAGES": f"en,de,{LANGUAGE}",
        "TRANSLATIONS_DIR": str(_write_catalogues(folder / "catalogues")),
        "CURRENCIES": "GBP,EUR",
    }


def _write_catalogues(folder: Path) -> Path:
    """The catalogues that come with the storefront, and this one."""
    for source in FOLDER.glob("*/LC_MESSAGES/messages.po"):
        _file(folder, source.parent.parent.name).write_bytes(source.read_bytes())
    catalogue = Catalog(locale=LANGUAGE, charset="utf-8")
    for message in template("storefront"):
        if message.id:
            catalogue.add(message.id, _marked(message.id, catalogue.num_plurals), context=message.context)
    written = BytesIO()
    write_po(written, catalogue)
    _file(folder, LANGUAGE).write_bytes(written.getvalue())
    return folder


def _file(folder: Path, language: str) -> Path:
    path = folder / language / "LC_MESSAGES" / "messages.po"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _marked(text: str | tuple[str, str], plurals: int) -> str | tuple[str, ...]:
    if isinstance(text, str):
        return f"{START}{text}{END}"
    return tuple(f"{START}{text[1]}{END}" for _ in range(plurals))


_VOID = {"meta", "link", "input", "img", "br", "hr", "path", "source", "col"}
_DATA = {"script", "style", "textarea", "bdi"}
"""What holds no text of the pages: scripts, what was typed, names. So do ids and codes, which are of the class "mono"."""


def _is_read(attribute: str) -> bool:
    return attribute in _ATTRIBUTES or attribute.startswith("data-text-")


class _Texts(HTMLParser):
    """What people read of a page: its text, and the attributes that are read out or shown."""

    def __init__(self) -> None:
        super().__init__()
        self.flow: list[str] = []
        self.attributes: list[str] = []
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        got = dict(attrs)
        if tag not in _VOID:
            is_data = tag in _DATA or "mono" in (got.get("class") or "").split()
            self._open.append((tag, is_data))
        self.attributes += [text for name, text in attrs if text and _is_read(name)]
        if tag == "meta" and got.get("name") == "description":
            self.attributes.append(got.get("content") or "")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(is_data for _, is_data in self._open):
            self.flow.append(data)


def unmarked_words(html: str) -> set[str]:
    """The words of a page that no catalogue was asked for."""
    texts = _Texts()
    texts.feed(html)
    found = set()
    for text in [" ".join(texts.flow), *texts.attributes]:
        before = ""
        while before != text:
            before, text = text, _MARKED.sub(" ", text)
        found |= set(WORD.findall(text))
    return found
