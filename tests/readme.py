"""`python -m tests.readme` writes the tables that follow from code again: README's settings, the checkout in docs."""

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
TABLE = re.compile(r"(<!-- settings: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
_CHECKOUT = re.compile(r"(<!-- checkout -->\n).*?(<!-- end -->)", re.DOTALL)


def with_tables(text: str) -> str:
    """The README's text with every table as the classes have it."""
    return TABLE.sub(lambda found: f"{found[1]}{_table(found[2])}{found[3]}", text)


def with_checkout(text: str) -> str:
    """The architecture's text with the checkout's table as the code has it."""
    return _CHECKOUT.sub(lambda found: f"{found[1]}{_checkout()}{found[2]}", text)


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
    README.write_text(with_tables(README.read_text()))
    ARCHITECTURE.write_text(with_checkout(ARCHITECTURE.read_text()))
