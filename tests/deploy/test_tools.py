"""The small tools of a deployment: secrets, health, the cluster's set-up."""

import os
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from deploy import env
from tests.processes import ROOT

EXAMPLES = (
    ".env.example",
    *(str(path.relative_to(ROOT)) for path in (ROOT / "deploy/kubernetes").glob("**/*.example.env")),
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in EXAMPLES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    return tmp_path


@pytest.mark.parametrize("deployment", ["compose", "couchdb", "cloudant"])
def test_secrets_are_fresh_private_and_never_written_over(copy: Path, deployment: str) -> None:
    paths = env.write(copy, deployment)
    first = {path: path.read_text() for path in paths}
    assert {path.stat().st_mode & 0o777 for path in paths} == {0o600}
    assert not [text for text in first.values() if "=\n" in text]
    values = [
        line.split("=", 1)[1]
        for text in first.values()
        for line in text.splitlines()
        if "SECRET" in line and line[-1] != "?"
    ]
    assert len(values) == len(set(values)) >= 2
    env.write(copy, deployment)
    assert {path: path.read_text() for path in paths} == first


def test_a_value_may_hold_an_earlier_one() -> None:
    text = env.filled(
        "REDIS_PASSWORD=\nREDIS_URL=redis://:${REDIS_PASSWORD}@redis:6379/0\n# NOTE=\nYOURS=?\n"
    )
    password = text.splitlines()[0].removeprefix("REDIS_PASSWORD=")
    assert len(password) == 43
    assert text.splitlines()[1:] == [f"REDIS_URL=redis://:{password}@redis:6379/0", "# NOTE=", "YOURS=?"]


def health(**given: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "deploy.health"]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **given}, capture_output=True, text=True)


def test_a_heartbeat_is_healthy_while_it_is_fresh(tmp_path: Path) -> None:
    file = tmp_path / "heartbeat"
    assert "does not exist" in health(HEARTBEAT_FILE=str(file)).stderr
    file.touch()
    assert health(HEARTBEAT_FILE=str(file)).returncode == 0
    os.utime(file, (time.time() - 120, time.time() - 120))
    assert health(HEARTBEAT_FILE=str(file)).returncode == 1


def test_health_over_http(couch_url: str) -> None:
    server = urlsplit(couch_url)
    assert health(HEALTH_URL=f"http://{server.hostname}:{server.port}/_up").returncode == 0
    assert health(HEALTH_URL=f"http://{server.hostname}:{server.port}/nothing/here").returncode == 1


@pytest.mark.parametrize(
    ("nodes", "code", "says"), [("1", 0, "One cluster of"), ("99", 1, "of 99 nodes are there")]
)
def test_the_cluster_is_joined_when_all_nodes_are_seen(
    couch_url: str, nodes: str, code: int, says: str
) -> None:
    server = urlsplit(couch_url)
    own = {
        "COUCH_URL": f"http://{server.hostname}:{server.port}",
        "COUCH_USERNAME": server.username,
        "COUCH_PASSWORD": server.password,
    }
    command = [sys.executable, "-m", "deploy.cluster", "--nodes", nodes, "--timeout", "1"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **own}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == code
    assert says in done.stdout + done.stderr
