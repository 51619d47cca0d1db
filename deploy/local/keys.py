"""The secrets of one laptop: made at first start, kept in the state folder, readable by their owner only."""

import secrets
from collections.abc import Callable
from pathlib import Path

from deploy.local.permissions import private_folder, write_private


def kept(path: Path, make: Callable[[], str]) -> str:
    """The text in `path`; at first use what `make` gives, written with mode 600."""
    if not path.exists():
        if not path.parent.exists():
            private_folder(path.parent)
        write_private(path, make())
    return path.read_text().strip()


def token() -> str:
    """43 URL-safe characters: 256 bits."""
    return secrets.token_urlsafe(32)


def password() -> str:
    """Short enough to type: four groups of five letters and digits, 100 bits."""
    letters = "abcdefghijkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(letters) for _ in range(5)) for _ in range(4))
