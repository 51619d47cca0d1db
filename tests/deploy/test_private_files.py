"""What holds secrets or people's data is for its owner only, although the shell's umask would let everybody read it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.journeys.shop import Shop
from tests.processes import ROOT, start_minicouch


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def readable_by_others(folder: Path) -> list[str]:
    """Paths with their modes; of what lies in a folder that is closed nothing else needs to be asked."""
    return [
        f"{path.stat().st_mode & 0o777:o} {path}"
        for path in [folder, *folder.rglob("*")]
        if path.stat().st_mode & 0o077
    ]


def test_minicouchs_data(tmp_path: Path) -> None:
    process, url = start_minicouch(tmp_path / "data")
    for path in ("people", "people/_design/by"):
        requests.put(f"{url}/{path}", json={"views": {"name": {"map": "function (doc) { emit(doc.name); }"}}})
    assert requests.get(f"{url}/people/_design/by/_view/name").json()["rows"] == []
    process.stop()
    assert any(path.suffix == ".sqlite" for path in (tmp_path / "data").rglob("*"))
    assert readable_by_others(tmp_path / "data") == []


def test_a_backup(tmp_path: Path) -> None:
    process, url = start_minicouch(tmp_path / "data")
    requests.put(f"{url}/people").raise_for_status()
    folder = tmp_path / "backups"
    command = [sys.executable, "-m", "deploy.backup", "save", str(folder)]
    subprocess.run(command, env={**os.environ, "COUCH_URL": url}, cwd=ROOT, check=True, capture_output=True)
    process.stop()
    assert list(folder.glob("*/people.jsonl.gz"))
    assert readable_by_others(folder) == []


def test_all_that_make_run_leaves_behind(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "state", COUCH_URL="", REDIS_URL="").start()
    body = {"name": "Ada", "email": "ada@example.com", "password": "a long quiet evening"}
    requests.post(f"{shop.url('users')}/v1/users", json=body).raise_for_status()
    assert shop.stop() == 0
    found = {path.name for path in shop.state.rglob("*")}
    assert {"admin-password", "jwt.pem", "docs.sqlite", "redis.conf", "new"} <= found
    assert any("appendonly" in name for name in found)
    assert readable_by_others(shop.state) == []
