"""Which folder a shop keeps its state in, and that no second shop writes into it.

Without AISLE_STATE that is `.local`, whatever the PORT: the same shop on other ports. While a shop on another port has
it, a second one gets a folder of its own, `.local-PORT`, and finds it again from then on.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from deploy.local.permissions import private_folder
from deploy.local.settings import ROOT, Settings

FOLDERS = ("secrets", "minicouch", "redis", "mail", "media", "archive", "done")


class Occupied(Exception):
    """Another shop runs on the state folder; the message says what to do."""


def find_state(settings: Settings, root: Path = ROOT) -> Path:
    """The folder of the shop that runs, or would run, with these settings."""
    candidates = _candidates(settings, root)
    return next((path for path in candidates if _holder(path) in ("", str(settings.port))), candidates[-1])


@contextmanager
def occupy_state(settings: Settings, root: Path = ROOT) -> Iterator[Path]:
    """The folder, made and held while the block runs. Raises Occupied."""
    for path in _candidates(settings, root):
        lock = _open_lock(path)
        with lock:
            if _locked(lock):
                _note_port(lock, settings.port)
                yield path
                return
            if lock.read().strip() == str(settings.port):
                break
    raise Occupied(
        f"Aisle runs already on {path}; stop it, or start this one with another PORT or AISLE_STATE."
    )


def _candidates(settings: Settings, root: Path) -> list[Path]:
    if settings.state is not None:
        return [(root / settings.state).resolve()]
    own = root / f".local-{settings.port}"
    return [own] if own.exists() else [root / ".local", own]


def _open_lock(path: Path) -> TextIO:
    """The lock file, at its start; folders that an earlier version left open to others are closed to them."""
    if not path.exists():
        private_folder(path)
    for folder in filter(Path.exists, (path / name for name in FOLDERS)):
        private_folder(folder)
    return os.fdopen(os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600), "r+")


def _locked(lock: TextIO, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _note_port(lock: TextIO, port: int) -> None:
    lock.truncate(0)
    lock.seek(0)
    lock.write(str(port))
    lock.flush()


def _holder(path: Path) -> str:
    """The port of the shop that runs on this folder, empty when none does."""
    try:
        with (path / "lock").open() as lock:
            return "" if _locked(lock, fcntl.LOCK_SH) else lock.read().strip() or "unknown"
    except FileNotFoundError:
        return ""
