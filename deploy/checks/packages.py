"""`python -m deploy.checks.packages`: the packages inside this repository are whole without it.

Builds a wheel of each, installs it into an empty environment, and tries there what its README shows. It asks the
package index for what they depend on, so it needs the network.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLIENT, SERVER = ROOT / "shared/couch", ROOT / "deploy/local/minicouch"
START_SECONDS = 30
_EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)
_NOT_SOURCE = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        client, server = installed(CLIENT, work), installed(SERVER, work, "pytest")
        with serving(server, work) as url:
            run([str(client), "-c", example(CLIENT / "README.md")], work, COUCH_URL=url)
        (work / "test_readme.py").write_text(example(SERVER / "README.md"))
        run([str(server), "-m", "pytest", "--quiet", "test_readme.py"], work)
    print("Both packages build, install into an empty environment and do what their READMEs show.")
    return 0


def installed(source: Path, work: Path, *extras: str) -> Path:
    """The Python of a new environment that holds the wheel of `source` and what it (and its extras) depend on, nothing else."""
    name = source.name
    shutil.copytree(source, work / name, ignore=_NOT_SOURCE)
    run(
        [_uv(), "build", "--quiet", "--wheel", "--out-dir", str(work / f"{name}-wheel"), str(work / name)],
        work,
    )
    shutil.rmtree(work / name)
    python = work / f"{name}-environment/bin/python"
    run([_uv(), "venv", "--quiet", "--python", sys.executable, str(python.parents[1])], work)
    (wheel,) = (work / f"{name}-wheel").glob("*.whl")
    wanted = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
    run([_uv(), "pip", "install", "--quiet", "--python", str(python), wanted], work)
    print(f"{wheel.name} is built and installed.", flush=True)
    return python


def example(readme: Path) -> str:
    """The first Python block of a README."""
    found = _EXAMPLE.search(readme.read_text())
    if found is None:
        raise SystemExit(f"{readme} shows no Python.")
    return found[1]


@contextmanager
def serving(python: Path, work: Path) -> Iterator[str]:
    """`python -m minicouch` on a free port, as its README starts it, until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(python), "-m", "minicouch", "--data", str(work / "data"), "--port", str(port)]
    process = subprocess.Popen(command, cwd=work, env=_environment() | {"MINICOUCH_ADMIN": "admin:secret"})
    try:
        _wait_for(port, process)
        yield f"http://admin:secret@127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def run(command: list[str], work: Path, **environment: str) -> None:
    """Raises SystemExit when the command fails; it sees nothing of this checkout."""
    if subprocess.run(command, cwd=work, env=_environment() | environment).returncode:
        raise SystemExit(f"{' '.join(command[:2])} ... failed.")


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends and process.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("minicouch did not start.")


def _uv() -> str:
    return str(Path(sys.executable).with_name("uv"))


if __name__ == "__main__":
    sys.exit(main())
