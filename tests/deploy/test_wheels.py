"""The check of the wheels, which `make check` runs over this tree's locks: a package that would have to be compiled is named."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from deploy.checks import wheels


def wheel(folder: Path, name: str, tag: str) -> str:
    """A line of a lock file for an empty package whose only wheel has this tag."""
    path = folder / f"{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        about = f"{name}-1.0.dist-info"
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{about}/RECORD", "")
    return f"{name}==1.0 \\\n    --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree whose locks hold one package, for every Python; its index is a folder, so no network is asked."""
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "deploy").mkdir()
    for name in wheels.LOCKS:
        (tmp_path / name).write_text(wheel(tmp_path, "plain", "py3-none-any"))
    return tmp_path


def test_a_package_for_every_python_passes(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert wheels.main(tree) == 0
    assert "3.14" in capsys.readouterr().out


def test_a_package_without_a_wheel_is_named_with_the_python(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = tree / "requirements.lock"
    lock.write_text(lock.read_text() + wheel(tree, "compiled", "cp312-cp312-manylinux_2_28_x86_64"))
    assert wheels.main(tree) == 1
    out = capsys.readouterr().out
    assert "requirements.lock: Python 3.13 on Linux x86_64: compiled==1.0 has no wheel" in out
    assert "Python 3.12 on Linux x86_64" not in out
    assert "deploy/requirements.lock: wheels for" in out


def test_without_a_network_it_says_that_nothing_was_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path))
    assert wheels.main() == 0
    assert "NOT CHECKED" in capsys.readouterr().out
