"""What the launcher itself reads from the environment: one line per variable."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class BadSettings(Exception):
    """A variable holds something that cannot be used; the message says which and what to write."""


def _setting(env: str, default: object, help: str) -> object:
    return field(default=default, metadata={"env": env, "help": help})


@dataclass(frozen=True)
class Settings:
    """The local shop: where it listens, where its state lives, and what it brings itself."""

    port: int = _setting(
        "PORT", 8000, "the storefront's port; users, products and orders take the next three"
    )
    couch_port: int = _setting("COUCH_PORT", 5984, "minicouch's port")
    state: Path = _setting("AISLE_STATE", Path(".local"), "folder of everything a run leaves behind")
    couch_url: str = _setting("COUCH_URL", "", "use this CouchDB or Cloudant and start no minicouch")
    redis_url: str = _setting("REDIS_URL", "", "use this Redis and start none")
    sample_shop: bool = _setting("SAMPLE_SHOP", True, "load the sample shop at first start")

    @classmethod
    def read(cls, env: Mapping[str, str] = os.environ) -> "Settings":
        """Raises BadSettings for a value that does not fit."""
        given = {item.name: env.get(item.metadata["env"], "") for item in fields(cls)}
        read = {name: _read(cls, name, text) for name, text in given.items() if text}
        settings = cls(**read)
        return cls(**{**settings.__dict__, "state": (ROOT / settings.state).resolve()})


def _read(cls: type[Settings], name: str, text: str) -> object:
    item = next(item for item in fields(cls) if item.name == name)
    variable = item.metadata["env"]
    if item.type is int:
        if not text.isdigit() or not 1 <= int(text) <= 65532:
            raise BadSettings(f"{variable} is {text!r}: give a port number between 1 and 65532.")
        return int(text)
    if item.type is bool:
        if text.lower() not in ("1", "0", "true", "false", "yes", "no"):
            raise BadSettings(f"{variable} is {text!r}: write true or false.")
        return text.lower() in ("1", "true", "yes")
    return Path(text) if item.type is Path else text
