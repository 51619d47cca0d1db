"""The Redis that a machine without one gets: a real server out of a wheel, which keeps what it was given."""

from pathlib import Path

import pytest
import redis

from deploy.local import redis_server as module
from deploy.local.redis_server import Missing, redis_server
from tests.processes import start_redis


@pytest.fixture
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", ["redis-server", "valkey-server"])
def test_the_server_on_the_path_is_taken_first(empty_path: Path, name: str) -> None:
    program = empty_path / name
    program.touch(mode=0o755)
    assert redis_server() == str(program)


def test_the_wheel_carries_a_server_that_survives_a_kill(empty_path: Path, tmp_path: Path) -> None:
    durable = ("--appendonly", "yes", "--appendfsync", "always")
    process, url = start_redis(tmp_path, *durable)
    with redis.Redis.from_url(url) as client:
        assert int(client.info("server")["redis_version"].split(".")[0]) >= 7
        client.set("basket", "kept")
    process.kill()
    again, url = start_redis(tmp_path, *durable)
    with redis.Redis.from_url(url) as client:
        assert client.get("basket") == b"kept"
    again.stop()


def test_without_any_server_the_message_says_what_to_do(
    empty_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_of_the_wheel", lambda: None)
    with pytest.raises(Missing, match="REDIS_URL"):
        redis_server()
