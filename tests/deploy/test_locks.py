"""The check of the lock files sees what it is there to see."""

import re
import shutil
from pathlib import Path

import pytest

from deploy.checks.locks import ROOT, main

FILES = ("pyproject.toml", "requirements.lock", "deploy/requirements.lock")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    (tmp_path / "deploy").mkdir()
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text, count = re.subn(old, new, path.read_text(), count=1, flags=re.MULTILINE)
    assert count == 1
    path.write_text(text)


def test_the_lock_files_of_this_tree_are_up_to_date() -> None:
    assert main() == 0


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (
            "pyproject.toml",
            '    "flask",\n',
            '    "flask",\n    "unheard-of",\n',
            "unheard-of is needed and not locked",
        ),
        ("pyproject.toml", '    "urllib3",\n', "", None),
        ("pyproject.toml", '    "celery\\[redis\\]",\n', "", "kombu is locked and not needed"),
        ("requirements.lock", r"^flask==\S+", "flask==0.1", "flask is locked at 0.1"),
        (
            "deploy/requirements.lock",
            r"^gunicorn==\S+ \\\n(    --hash.*\n)+",
            "",
            "gunicorn is needed and not locked",
        ),
    ],
)
def test_a_difference_is_named(copy: Path, capsys, file: str, old: str, new: str, says: str | None) -> None:
    change(copy / file, old, new)
    assert main(copy) == (0 if says is None else 1)
    assert says is None or says in capsys.readouterr().out
