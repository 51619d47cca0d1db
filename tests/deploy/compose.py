"""docker-compose.yml run without Docker: its commands with its environment as plain processes on this machine."""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from deploy.env import filled

ROOT = Path(__file__).resolve().parents[2]
NEEDED_HERE = ("PATH", "HOME", "LANG", "SSL_CERT_FILE")


def secrets() -> dict[str, str]:
    """What `make env` would write into .env."""
    lines = filled((ROOT / ".env.example").read_text()).splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def services(env: Mapping[str, str]) -> dict[str, dict]:
    """The services of the file, variables filled in as compose does. Raises KeyError for a required one that is missing."""
    text = re.sub(
        r"\$\$|\$\{(\w+)(?::([?-])([^}]*))?\}",
        lambda found: _value(found, env),
        (ROOT / "docker-compose.yml").read_text(),
    )
    found = yaml.safe_load(text)["services"]
    for service in found.values():
        given = service.get("environment") or {}
        service["environment"] = {name: "" if value is None else str(value) for name, value in given.items()}
    return found


def _value(found: re.Match, env: Mapping[str, str]) -> str:
    name, kind, rest = found.groups()
    if name is None:
        return "$"
    if not env.get(name) and kind == "?":
        raise KeyError(f"{name}: {rest}")
    return env.get(name) or rest or ""


class Here:
    """This machine in place of the containers' network and folders: names to ports, paths to folders of a test."""

    def __init__(self, folder: Path, addresses: Mapping[str, str]) -> None:
        self.addresses = dict(addresses)
        self.folders = {
            path: str(folder / path.strip("/")) for path in ("/keys", "/archive", "/tmp", "/data")
        }
        for path in self.folders.values():
            Path(path).mkdir(parents=True)

    def text(self, text: str) -> str:
        for there, here in self.addresses.items():
            text = re.sub(rf"(?<![\w.-]){re.escape(there)}(?!\d)", here, text)
        folders = "|".join(map(re.escape, self.folders))
        text = re.sub(rf"(?<![\w./-])({folders})(?=/|$|\s)", lambda found: self.folders[found[1]], text)
        return text

    def command(self, service: Mapping) -> list[str]:
        """The command, with the programs of this environment."""
        program, *arguments = map(self.text, service["command"])
        if program == "python":
            return [sys.executable, *arguments]
        beside = Path(sys.executable).with_name(program)
        return [str(beside) if beside.exists() else shutil.which(program) or program, *arguments]

    def environment(self, service: Mapping, **own: str) -> dict[str, str]:
        """What the file gives the service and nothing else of ours; `own` are translations one by one."""
        given = {name: self.text(str(value)) for name, value in (service.get("environment") or {}).items()}
        host = {name: os.environ[name] for name in NEEDED_HERE if name in os.environ}
        return {
            **host,
            **given,
            **own,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
