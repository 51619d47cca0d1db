"""Images get their digests by one command, and none may be forgotten afterwards. Docker is stood in for by a program that answers like it."""

import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from deploy import pin_images
from tests.processes import ROOT

DOCKER = """#!/bin/sh
test "$4" = "$UNKNOWN" && { echo "ERROR: $4: not found" >&2; exit 1; }
printf 'sha256:%s\\n' "$(printf '%s' "$4" | sha256sum | cut -c1-64)"
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for file in (*pin_images.files(ROOT), ROOT / "deploy" / "pin_images.py"):
        target = tmp_path / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    return tmp_path


def run(copy: Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{copy / 'bin'}:{os.environ['PATH']}", **more}
    command = [sys.executable, "-m", "deploy.pin_images"]
    return subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True, timeout=60)


def digest_of(name: str) -> str:
    return f"sha256:{sha256(name.encode()).hexdigest()}"


def test_every_image_of_others_is_found() -> None:
    names = {each.name.partition(":")[0] for each in pin_images.references(ROOT)}
    assert {"python", "node", "couchdb", "redis", "nginx", "axllent/mailpit"} == names
    assert list(pin_images.problems(ROOT)) == []


def test_one_command_pins_all_and_takes_newer_ones(copy: Path) -> None:
    before = {each.name for each in pin_images.references(copy)}
    done = run(copy)
    assert done.returncode == 0, done.stderr
    assert {(each.name, each.digest) for each in pin_images.references(copy)} == {
        (name, digest_of(name)) for name in before
    }
    assert list(pin_images.problems(copy)) == []
    dockerfile = copy / "deploy" / "Dockerfile"
    older = re.sub(r"sha256:[0-9a-f]{64}", f"sha256:{'0' * 64}", dockerfile.read_text())
    dockerfile.write_text(older)
    assert run(copy).returncode == 0
    assert "0" * 64 not in dockerfile.read_text()


def test_a_tag_that_is_not_to_be_had_leaves_all_as_it_was(copy: Path) -> None:
    texts = [file.read_text() for file in pin_images.files(copy)]
    done = run(copy, UNKNOWN="couchdb:3.5.0")
    assert done.returncode == 1
    assert "Nothing was pinned. couchdb:3.5.0" in done.stderr
    assert [file.read_text() for file in pin_images.files(copy)] == texts


def test_once_pinned_none_may_be_without_a_digest(copy: Path) -> None:
    assert run(copy).returncode == 0
    redis = copy / "deploy" / "kubernetes" / "base" / "redis.yaml"
    [name] = [each.name for each in pin_images.references(copy) if each.file == redis]
    redis.write_text(redis.read_text().replace(f"{name}@{digest_of(name)}", name))
    found = list(pin_images.problems(copy))
    assert any(f"redis.yaml: {name} is not pinned" in problem for problem in found)
    assert any("has several digests" in problem for problem in found)
