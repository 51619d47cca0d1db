"""`python -m tests.messages` brings the catalogues of pages and e-mails up to date with the code (`make messages`)."""

from functools import cache
from io import SEEK_END, BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from tests.processes import ROOT

SERVICES, SHARED = ROOT / "services", ROOT / "shared"
METHODS = [("**.py", "python"), ("templates/**.html", "jinja2")]
OPTIONS = {"templates/**.html": {"trimmed": "true", "newstyle_gettext": "true"}}
KEYWORDS = {"_": None, "gettext": None, "gettext_noop": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2)}


def service_of(path: Path) -> str:
    """Whose catalogue it is: services/orders/translations/de/LC_MESSAGES/messages.po."""
    return path.relative_to(SERVICES).parts[0]


@cache
def template(service: str) -> Catalog:
    """Every text of a service's code and of what it shares with others, without translations."""
    found = Catalog(project="Aisle", charset="utf-8")
    for folder in (SERVICES / service, SHARED):
        for name, _, message, _, context in extract_from_dir(folder, METHODS, OPTIONS, KEYWORDS):
            found.add(message, None, [(name, 0)], context=context)
    return found


def catalogues() -> list[Path]:
    return sorted(SERVICES.glob("*/translations/*/LC_MESSAGES/messages.po"))


def read(path: Path) -> Catalog:
    with path.open("rb") as source:
        return read_po(source, locale=path.parent.parent.name)


def updated(path: Path) -> bytes:
    """The file with exactly the texts of the code: new ones untranslated, those that are gone left out."""
    found = read(path)
    found.update(template(service_of(path)), no_fuzzy_matching=True, update_creation_date=False)
    written = BytesIO(_header(found).encode())
    written.seek(0, SEEK_END)
    write_po(
        written,
        found,
        width=0,
        omit_header=True,
        sort_output=True,
        ignore_obsolete=True,
        include_lineno=False,
    )
    return written.getvalue()


def _header(catalogue: Catalog) -> str:
    """Nothing that differs from day to day, nor from one who translates to another."""
    lines = [
        f"Language: {catalogue.locale_identifier}",
        "Content-Type: text/plain; charset=utf-8",
        f"Plural-Forms: {catalogue.plural_forms}",
    ]
    return "\n".join(['msgid ""', 'msgstr ""', *(f'"{line}\\n"' for line in lines), "", ""])


if __name__ == "__main__":
    for each in catalogues():
        each.write_bytes(updated(each))
