"""`python -m deploy.checks.wheels`: both lock files install from wheels alone on every Python and platform we promise.

uv resolves each lock for each of them without installing anything; it asks the package index, so it needs the network.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "deploy/requirements.lock")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = {
    "Linux x86_64": "x86_64-manylinux_2_28",
    "Linux aarch64": "aarch64-manylinux_2_28",
    "macOS arm64": "aarch64-apple-darwin",
}
WITHOUT_WHEEL = re.compile(r"[Bb]ecause (\S+==\S+) has no (?:usable )?wheels")
NO_NETWORK = re.compile(
    r"dns error|error sending request|tcp connect error|operation timed out", re.IGNORECASE
)


class Unreachable(Exception):
    """The package index does not answer."""


def main(root: Path = ROOT) -> int:
    try:
        problems = list(_problems(root))
    except Unreachable as error:
        print(
            f"NOT CHECKED: whether every locked package has a wheel. The package index does not answer: {error}"
        )
        return 0
    for name in LOCKS:
        if not any(problem.startswith(f"{name}:") for problem in problems):
            print(f"{name}: wheels for Python {', '.join(PYTHONS)} on {', '.join(PLATFORMS)}.")
    print("".join(f"{problem}\n" for problem in problems), end="")
    return 1 if problems else 0


def _problems(root: Path) -> Iterator[str]:
    for name in LOCKS:
        for python in PYTHONS:
            for platform, triple in PLATFORMS.items():
                if answer := _refused(root / name, python, triple):
                    yield f"{name}: Python {python} on {platform}: {answer}"


def _refused(lock: Path, python: str, triple: str) -> str:
    """Why the lock cannot be installed there from wheels; empty when it can. Raises Unreachable."""
    with tempfile.TemporaryDirectory() as target:
        arguments = ("--only-binary", ":all:", "--no-deps", "--require-hashes", "--python-version", python)
        done = _uv(
            "pip",
            "install",
            "--dry-run",
            "--target",
            target,
            *arguments,
            "--python-platform",
            triple,
            "-r",
            str(lock),
        )
    if done.returncode == 0:
        return ""
    if NO_NETWORK.search(done.stderr):
        raise Unreachable(done.stderr.strip().splitlines()[-1])
    return _summary(done.stderr.splitlines())


def _summary(lines: Iterable[str]) -> str:
    text = " ".join(" ".join(lines).split())
    found = WITHOUT_WHEEL.search(text)
    return f"{found[1]} has no wheel" if found else text


def _uv(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("uv")
    return subprocess.run(
        [str(program), *arguments], env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True
    )


if __name__ == "__main__":
    sys.exit(main())
