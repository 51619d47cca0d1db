"""Who can read the secrets that a deployment's commands write."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from deploy.env import write
from tests.processes import ROOT


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def make_key(path: Path) -> None:
    """As an operator with the usual umask does."""
    command = [sys.executable, "-m", "deploy.signing_key", str(path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60, umask=0o022)


def test_a_key_and_the_folders_made_for_it_are_their_owners_alone(tmp_path: Path) -> None:
    key = tmp_path / "secrets" / "users" / "jwt.pem"
    make_key(key)
    assert [mode(path) for path in (key, key.parent, key.parent.parent)] == [0o600, 0o700, 0o700]


def test_a_key_that_others_could_read_is_closed_and_stays(tmp_path: Path) -> None:
    key = tmp_path / "jwt.pem"
    make_key(key)
    content = key.read_text()
    key.chmod(0o644)
    make_key(key)
    assert (mode(key), key.read_text()) == (0o600, content)


def test_the_secrets_of_a_deployment_are_closed_also_when_they_were_there(tmp_path: Path) -> None:
    shutil.copy(ROOT / ".env.example", tmp_path / ".env.example")
    old = os.umask(0o022)
    try:
        (path,) = write(tmp_path, "compose")
        assert mode(path) == 0o600
        path.chmod(0o664)
        content = path.read_text()
        assert write(tmp_path, "compose") == [path]
    finally:
        os.umask(old)
    assert (mode(path), path.read_text()) == (0o600, content)
