"""`python -m deploy.local`: what it refuses, and the secrets a first start leaves."""

import fcntl
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local.layout import Layout
from deploy.local.processes import table
from deploy.local.settings import ROOT, BadSettings, Settings


def up(state: Path, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "deploy.local", "up"],
        env={**os.environ, "AISLE_STATE": str(state), **env},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def busy_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_busy_ports_are_named_before_anything_starts(tmp_path: Path, busy_port: int) -> None:
    answer = up(tmp_path, PORT=str(busy_port - 1), COUCH_PORT=str(busy_port), COUCH_URL="")
    assert answer.returncode == 1
    assert f"{busy_port} (users)" in answer.stderr
    assert f"{busy_port} (minicouch)" in answer.stderr
    assert "PORT=9000" in answer.stderr
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "redis") == ["lock", "secrets"]


def test_a_port_moves_the_database_with_the_shop() -> None:
    assert Settings.read({}).couch_port == 5984
    assert Settings.read({"PORT": "9000"}).couch_port == 9004
    assert Settings.read({"PORT": "9000", "COUCH_PORT": "5985"}).couch_port == 5985


def test_two_that_would_share_a_port_are_named(tmp_path: Path, busy_port: int) -> None:
    """PORT=5982 would give orders the port of minicouch."""
    answer = up(tmp_path, PORT=str(busy_port - 5), COUCH_PORT=str(busy_port - 2), COUCH_URL="")
    assert answer.returncode == 1
    assert f"{busy_port - 2} (minicouch)" in answer.stderr
    assert f"{busy_port - 2} (orders)" in answer.stderr


def test_a_second_launcher_on_the_same_state_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answer = up(tmp_path)
    assert answer.returncode == 1
    assert "runs already" in answer.stderr
    assert "AISLE_STATE" in answer.stderr


@pytest.mark.parametrize(
    "bad", [{"PORT": "http"}, {"PORT": "0"}, {"COUCH_PORT": "70000"}, {"SAMPLE_SHOP": "maybe"}]
)
def test_bad_settings_are_named(bad: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=next(iter(bad))):
        Settings.read(bad)


def test_secrets_are_made_once_and_for_their_owner_only(tmp_path: Path) -> None:
    settings = Settings.read({"AISLE_STATE": str(tmp_path)})
    first, second = Layout(settings).environment(), Layout(settings).environment()
    assert first["SECRET_KEY"] == second["SECRET_KEY"] != first["SERVICE_SECRET"]
    assert len(first["SECRET_KEY"]) == 43
    kept = [*(tmp_path / "secrets").iterdir(), tmp_path / "admin-password"]
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


def test_servers_of_others_are_used_and_not_started(tmp_path: Path) -> None:
    given = {
        "AISLE_STATE": str(tmp_path),
        "COUCH_URL": "http://a:b@elsewhere:5984",
        "REDIS_URL": "redis://elsewhere",
    }
    layout = Layout(Settings.read(given))
    rows = table(layout)
    assert {"minicouch", "redis"}.isdisjoint(
        {row.name for row in rows} | {need for row in rows for need in row.needs}
    )
    assert layout.environment()["COUCH_URL"] == "http://a:b@elsewhere:5984"


def test_each_request_is_shown_only_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(Settings.read({"AISLE_STATE": str(tmp_path)}))
    monkeypatch.delenv("ACCESS_LOG", raising=False)
    assert layout.environment()["ACCESS_LOG"] == "false"
    monkeypatch.setenv("ACCESS_LOG", "true")
    assert layout.environment()["ACCESS_LOG"] == "true"


def test_the_worker_leaves_out_what_only_a_shell_needs(tmp_path: Path) -> None:
    """`celery amqp` opens a shell whose libraries take 10 MiB."""
    (worker,) = (
        row for row in table(Layout(Settings.read({"AISLE_STATE": str(tmp_path)}))) if row.name == "worker"
    )
    python, dash, module, *_ = worker.command
    shown = subprocess.run(
        [python, "-X", "importtime", dash, module, "--version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout
    assert "celery.bin.worker" in shown.stderr
    assert "prompt_toolkit" not in shown.stderr


def test_the_table_is_whole(tmp_path: Path) -> None:
    rows = table(Layout(Settings.read({"AISLE_STATE": str(tmp_path), "PORT": "9000"})))
    names = [row.name for row in rows]
    assert len(names) == len(set(names))
    assert {need for row in rows for need in row.needs} <= set(names)
    ports = {row.name: row.port for row in rows if row.port}
    assert ports | {"redis": 0} == {
        "minicouch": 9004,
        "redis": 0,
        "storefront": 9000,
        "users": 9001,
        "products": 9002,
        "orders": 9003,
    }


def test_customers_are_answered_before_background_work_is_done(tmp_path: Path) -> None:
    rows = table(Layout(Settings.read({"AISLE_STATE": str(tmp_path)})))
    assert {row.name for row in rows if row.niceness > 0} == {"worker", "follower"}


def test_passwords_are_not_in_the_process_list(tmp_path: Path) -> None:
    layout = Layout(Settings.read({"AISLE_STATE": str(tmp_path)}))
    secrets = (
        [path.read_text().strip() for path in (tmp_path / "secrets").iterdir()]
        if layout.environment()
        else []
    )
    shown = " ".join(" ".join(row.command) for row in table(layout))
    assert len(secrets) >= 6
    assert not [secret for secret in secrets if secret in shown]
