"""Do both lock files hold exactly what pyproject.toml asks for? Answered from the installed packages, without a network."""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(?: ; (.*?))? \\$", re.MULTILINE)


def main(root: Path = ROOT) -> int:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    runtime = project["dependencies"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    both = {"requirements.lock": [*runtime, *extras], "deploy/requirements.lock": runtime}
    problems = [
        f"{name}: {problem}" for name, asked in both.items() for problem in _problems(root / name, asked)
    ]
    print(
        "\n".join(
            [*problems, "Run `make lock`, then `make setup`."] if problems else ["Lock files are up to date."]
        )
    )
    return 1 if problems else 0


def _problems(lock: Path, asked: Iterable[str]) -> Iterator[str]:
    locked = {
        canonicalize_name(name): version for name, version, marker in _entries(lock) if _applies(name, marker)
    }
    needed = _closure(line for line in asked if not line.startswith("aisle["))
    for name in sorted(needed.keys() - locked.keys()):
        yield f"{name} is needed and not locked"
    for name in sorted(locked.keys() - needed.keys()):
        yield f"{name} is locked and not needed"
    for name in sorted(locked.keys() & needed.keys()):
        if locked[name] != needed[name]:
            yield f"{name} is locked at {locked[name]} and installed at {needed[name] or 'no version'}"


def _entries(lock: Path) -> list[tuple[str, str, str]]:
    return LOCKED.findall(lock.read_text())


def _applies(name: str, marker: str) -> bool:
    return not marker or Requirement(f"{name} ; {marker}").marker.evaluate()


def _closure(lines: Iterable[str]) -> dict[str, str]:
    """Every package that the requirements need on this machine, with its installed version ("" when absent)."""
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    queue = [(Requirement(line), "") for line in lines]
    while queue:
        need, extra_of_parent = queue.pop()
        if need.marker and not need.marker.evaluate({"extra": extra_of_parent}):
            continue
        name = canonicalize_name(need.name)
        for extra in ("", *sorted(need.extras)):
            if (name, extra) not in seen:
                seen.add((name, extra))
                found[name], children = _installed(name)
                queue += [(child, extra) for child in children]
    return found


def _installed(name: str) -> tuple[str, list[Requirement]]:
    try:
        package = distribution(name)
    except PackageNotFoundError:
        return "", []
    return package.version, [Requirement(line) for line in package.requires or ()]


if __name__ == "__main__":
    sys.exit(main())
