"""The README says what the code says."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.readme import README, SETTINGS, TABLE, with_figures, with_tables

ROOT = README.parent
DOCUMENTS = [README, *sorted((ROOT / "docs").glob("*.md"))]


def test_the_settings_tables_are_those_of_the_settings_classes() -> None:
    text = SETTINGS.read_text()
    assert with_tables(text) == text, "run: python -m tests.readme"


def test_the_figures_are_those_of_the_whole_table() -> None:
    text = README.read_text()
    assert "<!-- figures -->" in text
    assert with_figures(text) == text, "run: python -m tests.readme"


def test_every_settings_class_has_its_table() -> None:
    shown = {found[2] for found in TABLE.finditer(SETTINGS.read_text())}
    services = {
        f"services.{path.parent.name}.settings.Settings" for path in (ROOT / "services").glob("*/settings.py")
    }
    assert services <= shown


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_verb_and_file_named_is_there(document: Path) -> None:
    text = document.read_text()
    verbs = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`(?:[A-Z_]+=\S+ )*make ([a-z-]+)", text)) <= verbs
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_make_help_names_every_verb() -> None:
    verbs = re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^  make (\S+)", shown, re.MULTILINE) == verbs
