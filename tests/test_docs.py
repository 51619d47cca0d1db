"""The documents beside README say what the code says: their tables are the code's, and what they name is there."""

import re

import pytest

from tests.readme import ARCHITECTURE, README, with_checkout

ROOT = README.parent
DOCUMENTS = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")])
TOP = r"(?:services|shared|deploy|tests|docs)"


def test_the_checkout_table_is_the_codes() -> None:
    text = ARCHITECTURE.read_text()
    assert with_checkout(text) == text, "run: make format"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_path_and_link_leads_somewhere(document) -> None:
    text = document.read_text()
    named = re.findall(rf"`({TOP}/[\w./*-]+)`", text)
    assert [path for path in named if not list(ROOT.glob(path.rstrip("/")))] == []
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert [link for link in links if not (document.parent / link).exists()] == []
