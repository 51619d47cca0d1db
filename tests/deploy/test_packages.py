"""The packages inside this repository are whole by themselves; `make wheels` builds and tries them."""

import ast
import fnmatch
import tomllib
from pathlib import Path

import pytest

from deploy.checks.packages import CLIENT, SERVER

FOLDERS = pytest.mark.parametrize("folder", [CLIENT, SERVER], ids=["aisle_couch", "minicouch"])


def setuptools_of(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["setuptools"]


@FOLDERS
def test_the_wheel_holds_every_folder(folder: Path) -> None:
    listed = setuptools_of(folder)
    (root,) = listed["package-dir"]
    folders = {file.parent.relative_to(folder) for file in folder.rglob("__init__.py")}
    assert set(listed["packages"]) == {".".join((root, *each.parts)) for each in folders}


@FOLDERS
def test_the_wheel_holds_every_file_that_is_no_python(folder: Path) -> None:
    listed = setuptools_of(folder)
    (root,) = listed["package-dir"]
    ignored = ("*.py", "*.pyc", "pyproject.toml", "README.md", "CHANGELOG.md")
    for file in folder.rglob("*"):
        if file.is_file() and not any(fnmatch.fnmatch(file.name, pattern) for pattern in ignored):
            package = ".".join((root, *file.parent.relative_to(folder).parts))
            patterns = listed["package-data"].get(package, [])
            assert any(fnmatch.fnmatch(file.name, pattern) for pattern in patterns), file


@FOLDERS
def test_it_imports_nothing_of_this_repository(folder: Path) -> None:
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            own = [name for name in names if name.split(".")[0] in ("deploy", "services", "shared", "tests")]
            assert not own, f"{file} imports {own}"
