"""Which folder a shop gets, that nobody else reads it, and that a second shop gets its own."""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from deploy.local import keys
from deploy.local.permissions import private_folder
from deploy.local.settings import Settings
from deploy.local.state import Occupied, find_state, occupy_state
from tests.processes import ROOT


def on(port: int, **env: str) -> Settings:
    return Settings.read({"PORT": str(port), **env})


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_one_shop_has_local_whatever_its_port(tmp_path: Path) -> None:
    for port in (8000, 9000):
        with occupy_state(on(port), tmp_path) as state:
            assert state == tmp_path / ".local" == find_state(on(port), tmp_path)


def test_a_second_one_gets_a_folder_of_its_own_and_finds_it_again(tmp_path: Path) -> None:
    with occupy_state(on(8000), tmp_path):
        with occupy_state(on(9000), tmp_path) as state:
            assert state == tmp_path / ".local-9000" == find_state(on(9000), tmp_path)
            assert find_state(on(8000), tmp_path) == tmp_path / ".local"
        assert find_state(on(7000), tmp_path) == tmp_path / ".local-7000"
    with occupy_state(on(9000), tmp_path) as state:
        assert state == tmp_path / ".local-9000"
    assert find_state(on(7000), tmp_path) == tmp_path / ".local"


def test_the_same_shop_is_not_started_twice(tmp_path: Path) -> None:
    with (
        occupy_state(on(9000), tmp_path),
        pytest.raises(Occupied, match="runs already"),
        ExitStack() as twice,
    ):
        twice.enter_context(occupy_state(on(9000), tmp_path))
    assert not (tmp_path / ".local-9000").exists()


def test_a_folder_that_was_asked_for_is_the_only_one(tmp_path: Path) -> None:
    here = {"AISLE_STATE": str(tmp_path / "mine")}
    with occupy_state(on(8000, **here), tmp_path), pytest.raises(Occupied, match="AISLE_STATE"):
        occupy_state(on(9000, **here), tmp_path).__enter__()


@pytest.fixture(params=[0o000, 0o022, 0o777])
def umask(request: pytest.FixtureRequest):
    before = os.umask(request.param)
    yield
    os.umask(before)


def test_state_and_secrets_are_private_whatever_the_umask(umask: None, tmp_path: Path) -> None:
    with occupy_state(on(8000), tmp_path) as state:
        keys.kept(state / "secrets" / "key", keys.token)
        assert {mode(path) for path in (state, state / "secrets")} == {0o700}
        assert {mode(path) for path in (state / "lock", state / "secrets" / "key")} <= {0o600, 0o000}
        assert mode(state / "secrets" / "key") == 0o600


def test_what_an_earlier_version_left_open_is_closed(tmp_path: Path) -> None:
    for name in ("minicouch", "redis"):
        (tmp_path / ".local" / name).mkdir(parents=True, mode=0o755)
    with occupy_state(on(8000), tmp_path) as state:
        assert {mode(state / name) for name in ("minicouch", "redis")} == {0o700}


def test_a_folder_of_somebody_elses_making_keeps_its_mode(tmp_path: Path) -> None:
    """AISLE_STATE may name any folder: what is in it is made private, the folder itself is not ours to close."""
    given = tmp_path / "shared"
    given.mkdir()
    given.chmod(0o755)
    with occupy_state(on(8000, AISLE_STATE=str(given)), tmp_path):
        keys.kept(given / "admin-password", keys.password)
    assert mode(given) == 0o755
    assert mode(given / "admin-password") == 0o600


def test_missing_parents_are_private_too(tmp_path: Path) -> None:
    private_folder(tmp_path / "a" / "b")
    assert {mode(tmp_path / "a"), mode(tmp_path / "a" / "b")} == {0o700}


@pytest.mark.parametrize("verb", ["couch-url", "up"])
def test_every_verb_leaves_private_things_only(verb: str, tmp_path: Path) -> None:
    """`make backup` asks for the database's address in a checkout that never ran."""
    env = {
        **os.environ,
        "AISLE_STATE": str(tmp_path / "state"),
        "COUCH_URL": "",
        "PORT": "1",
        "COUCH_PORT": "1",
    }
    command = [sys.executable, "-m", "deploy.local", verb]
    subprocess.run(command, cwd=ROOT, env=env, capture_output=True, timeout=60, umask=0)
    made = [tmp_path / "state", *(tmp_path / "state").rglob("*")]
    assert len(made) > 2
    assert [f"{mode(path):o} {path}" for path in made if mode(path) & 0o077] == []
