"""Settings of the worker's own two processes; the jobs read those of their services."""

from dataclasses import dataclass
from pathlib import Path

from shared.settings import DatabaseSettings, setting


@dataclass(frozen=True, kw_only=True)
class Settings(DatabaseSettings):
    """What the Celery worker and the follower read."""

    follower_shards: int = setting(
        "FOLLOWER_SHARDS",
        1,
        "into how many parts the changes are dealt among followers: as many as there are followers",
    )
    heartbeat_file: Path | None = setting(
        "HEARTBEAT_FILE",
        None,
        "touched every few seconds while the process works, for a container's health check",
    )
    sweep_seconds: float = setting(
        "SWEEP_SECONDS", 10.0, "how often unfinished orders are looked for behind the changes feed"
    )
