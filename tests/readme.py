"""`python -m tests.readme` writes the tables that follow from others again: settings, the checkout, README's figures."""

import importlib
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path

from deploy.local.settings import Settings as LauncherSettings
from services.orders.rules.checkout import CHECKOUT
from shared.settings import DatabaseSettings, WebSettings, rows

README = Path(__file__).resolve().parents[1] / "README.md"
ARCHITECTURE = README.parent / "docs" / "architecture.md"
SETTINGS = README.parent / "docs" / "settings.md"
MEASURED = README.parent / "docs" / "measured.md"
TABLE = re.compile(r"(<!-- settings: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
_FIGURES = re.compile(r"(<!-- figures -->\n).*?(<!-- end -->)", re.DOTALL)
_SHOWN = (
    "category page, 20 of 50",
    "product",
    "search, two words, 20 hits",
    "order by its owner",
    "order history, 10",
    "sales by month",
    "HTML: home",
    "HTML: category page, 24 of 50 with filters",
    "HTML: product",
    "checkout, 2 lines (1 and 4 clients)",
)
_CHECKOUT = re.compile(r"(<!-- checkout -->\n).*?(<!-- end -->)", re.DOTALL)


def with_tables(text: str) -> str:
    """The settings' text with every table as the classes have it."""
    return TABLE.sub(lambda found: f"{found[1]}{_table(found[2])}{found[3]}", text)


def with_checkout(text: str) -> str:
    """The architecture's text with the checkout's table as the code has it."""
    return _CHECKOUT.sub(lambda found: f"{found[1]}{_checkout()}{found[2]}", text)


def with_figures(text: str) -> str:
    """README's text with the rows that it shows of docs/measured.md's table."""
    return _FIGURES.sub(lambda found: f"{found[1]}{_figures()}{found[2]}", text)


def _figures() -> str:
    measured = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in MEASURED.read_text().splitlines()
        if line.startswith("|")
    ]
    head = next(row for row in measured if row[0] == "request")
    columns = [head.index(name) for name in ("request", "database calls", "req/s at 16", "over hello")]
    rows = {row[0]: [row[column] for column in columns] for row in measured if len(row) == len(head)}
    lines = [" | ".join(rows[name]).join(("| ", " |")) for name in _SHOWN]
    return "\n".join(
        ["| request | database calls | a second | over hello |", "|---|---|---|---|", *lines, ""]
    )


def _checkout() -> str:
    lines = ["| state | step | leads to | why it may be repeated |", "|---|---|---|---|"]
    for state, row in CHECKOUT.items():
        outcomes = ", ".join(f"{outcome}: *{following}*" for outcome, following in row.outcomes.items())
        lines.append(f"| *{state}* | {row.step} | {outcomes} | {row.repeatable} |".replace("_", " "))
    return "\n".join([*lines, ""])


def _table(name: str) -> str:
    module, _, cls = name.rpartition(".")
    lines = [
        f"| `{env}` | {default} | {help} |"
        for env, default, help in _rows(getattr(importlib.import_module(module), cls))
    ]
    return "\n".join(["| variable | default | meaning |", "|---|---|---|", *lines, ""])


def _rows(cls: type) -> Iterator[tuple[str, str, str]]:
    """A service's own rows: what every service reads stands in one table of its own."""
    if cls is LauncherSettings:
        for item in fields(cls):
            default = item.metadata["shown"] or (item.default if item.default is not MISSING else "")
            yield item.metadata["env"], f"`{default}`" if default != "" else "", item.metadata["help"]
        return
    common = (
        set()
        if cls is DatabaseSettings
        else {row[0] for base in (WebSettings, DatabaseSettings) for row in rows(base)}
    )
    yield from (row for row in rows(cls) if row[0] not in common)


if __name__ == "__main__":
    README.write_text(with_figures(README.read_text()))
    SETTINGS.write_text(with_tables(SETTINGS.read_text()))
    ARCHITECTURE.write_text(with_checkout(ARCHITECTURE.read_text()))
