"""Folders and files for their owner only: whatever the umask is, nobody else on this machine reads a shop's data."""

import os
from pathlib import Path

OTHERS = 0o077


def refuse_others() -> None:
    """What this process and its children make from now on is for their owner only."""
    os.umask(OTHERS)


def private_folder(path: Path) -> Path:
    """Makes it and what is missing above it with mode 700. One that is there already loses others' access."""
    if not path.exists():
        if not path.parent.exists():
            private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
    mode = path.stat().st_mode
    if mode & OTHERS or mode & 0o700 != 0o700:
        path.chmod(0o700)
    return path


def write_private(path: Path, text: str) -> None:
    """The file appears whole, with mode 600."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
    new.replace(path)
