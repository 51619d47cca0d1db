"""What the launcher itself reads from the environment: one line per variable."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class BadSettings(Exception):
    """A variable holds something that cannot be used; the message says which and what to write."""


def _setting(env: str, default: Any, help: str, shown: str = "") -> Any:
    """`shown` is the default in docs/settings.md where it is worked out."""
    return field(default=default, metadata={"env": env, "help": help, "shown": shown})


@dataclass(frozen=True)
class Settings:
    """The local shop: where it listens, where its state lives, and what it brings itself."""

    port: int = _setting(
        "PORT", 8000, "the storefront's port; users, products and orders take the next three"
    )
    couch_port: int = _setting(
        "COUCH_PORT", 0, "minicouch's port; with another PORT than 8000 the one after the shop's four", "5984"
    )
    state: Path | None = _setting(
        "AISLE_STATE",
        None,
        "folder of everything a run leaves behind; `.local-PORT` for a shop started beside one that runs on `.local`",
        ".local",
    )
    couch_url: str = _setting("COUCH_URL", "", "use this CouchDB or Cloudant and start no minicouch")
    couch_plan: str = _setting(
        "COUCH_PLAN",
        "",
        "let minicouch keep the limits of a plan of Cloudant's: `lite`, `standard`, or reads, writes and global queries a second, such as `200,100,10`",
    )
    redis_url: str = _setting("REDIS_URL", "", "use this Redis and start none")
    sample_shop: bool = _setting("SAMPLE_SHOP", True, "load the sample shop at first start")

    @classmethod
    def read(cls, env: Mapping[str, str] = os.environ) -> "Settings":
        """Raises BadSettings for a value that does not fit."""
        given = {item.name: env.get(item.metadata["env"], "") for item in fields(cls)}
        read: dict[str, Any] = {name: _read(cls, name, text) for name, text in given.items() if text}
        settings = cls(**read)
        return replace(settings, couch_port=settings.couch_port or _couch_port(settings.port))


def _couch_port(port: int) -> int:
    return 5984 if port == 8000 else port + 4


def _read(cls: type[Settings], name: str, text: str) -> object:
    item = next(item for item in fields(cls) if item.name == name)
    variable = item.metadata["env"]
    if item.type is int:
        if not text.isdigit() or not 1 <= int(text) <= 65531:
            raise BadSettings(f"{variable} is {text!r}: give a port number between 1 and 65531.")
        return int(text)
    if item.type is bool:
        if text.lower() not in ("1", "0", "true", "false", "yes", "no"):
            raise BadSettings(f"{variable} is {text!r}: write true or false.")
        return text.lower() in ("1", "true", "yes")
    return Path(text) if item.type == Path | None else text
