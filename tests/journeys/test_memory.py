"""What the shop that `make run` starts takes of a laptop's memory."""

import sys
from pathlib import Path

import pytest

from tests.bench.running import running_shop

SHARING_MIB = 305
"""The services, the worker, the follower and what starts them: 320 and more if each service had a master of gunicorn's beside it."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts shared memory by process")
def test_the_shops_processes_share_their_libraries(tmp_path: Path) -> None:
    with running_shop(tmp_path / "state") as shop:
        memory = shop.memory_mib()
    ours = {
        name: mib
        for name, mib in memory.items()
        if name not in ("minicouch", "javascript", "redis", "valkey")
    }
    assert sum(ours.values()) < SHARING_MIB, memory
