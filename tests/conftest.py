"""What every test may use: a database server, Redis, and services as real processes. Nothing here is faked."""

import functools
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import HealthCheck, settings

from shared.couch import DatabaseDesign, Server
from tests import throttled
from tests.processes import Process, running_minicouch, start_redis, start_service

SLOW_SUITES = ("bench", "browser", "conformance", "deployment", "faults", "load", "sync")


settings.register_profile(
    "aisle",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("aisle")  # the same examples in every run, however slow the machine is


def pytest_configure(config: pytest.Config) -> None:
    for suite in SLOW_SUITES:
        config.addinivalue_line("markers", f"{suite}: a slow suite with its own make verb")
    if os.environ.get("COUCH_PLAN"):
        throttled.ask_again()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With -m and one of the slow suites, files without a test of it are not even imported: to import all of them takes ten seconds."""
    suite = config.option.markexpr
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if suite in SLOW_SUITES and is_test and not _names(collection_path, suite) else None


@functools.cache
def _names(file: Path, suite: str) -> bool:
    """Whether its tests may be of this suite: its text says so, or its folder, whose conftest marks all of them."""
    return suite in file.parts or f"mark.{suite}" in file.read_text()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without -m, the slow suites stay out."""
    if config.option.markexpr:
        return
    slow = []
    for item in items:
        suites = [suite for suite in SLOW_SUITES if item.get_closest_marker(suite)]
        slow += [item] if suites else []
        if unnamed := [suite for suite in suites if not _names(item.path, suite)]:
            raise pytest.UsageError(f"{item.path} does not say pytest.mark.{unnamed[0]}: -m would miss it")
    if slow:
        config.hook.pytest_deselected(items=slow)
        left_out = set(slow)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """show("500 checkouts, 0 lost") writes to the terminal at once: to stderr, all that a worker of pytest-xdist has of it."""

    def write(line: str) -> None:
        with capsys.disabled():
            print(f"\n{line}", file=sys.stderr)

    return write


@pytest.fixture(scope="session")
def couch_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server named by COUCH_URL, else a minicouch of our own, with the limits of COUCH_PLAN if there is one (`tests.throttled`)."""
    if url := os.environ.get("COUCH_URL"):
        yield url
        return
    limits = ("--plan", plan) if (plan := os.environ.get("COUCH_PLAN")) else ()
    with running_minicouch(tmp_path_factory.mktemp("minicouch") / "data", *limits) as url:
        yield url


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    process, url = start_redis(tmp_path_factory.mktemp("redis"))
    yield url
    process.stop()


@pytest.fixture(scope="module")
def server(couch_url: str) -> Iterator[Server]:
    """A server whose databases have a prefix of their own and are dropped at the end."""
    server = Server(couch_url, prefix=f"t{secrets.token_hex(4)}-", timeout=60)
    yield server
    for name in server.client.call("get_all_dbs"):
        if name.startswith(server.prefix):
            server.client.call("delete_database", db=name)


@pytest.fixture(scope="module")
def prepared(server: Server) -> Callable[..., None]:
    """Builds the databases of the designs named."""

    def prepare(*designs: DatabaseDesign) -> None:
        server.prepare(designs, progress=lambda line: None)

    return prepare


@pytest.fixture(scope="session")
def signing_key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Ed25519 key (PEM) that the users service signs tokens with."""
    path = tmp_path_factory.mktemp("keys") / "jwt.pem"
    path.write_bytes(
        Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    return path


@pytest.fixture(scope="module")
def environment(
    couch_url: str,
    redis_url: str,
    server: Server,
    signing_key_file: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str]:
    """What every service of one test module is started with; add to it before starting one."""
    return {
        "AISLE_ENV": "local",
        "COUCH_URL": couch_url,
        "DATABASE_PREFIX": server.prefix,
        "REDIS_URL": redis_url,
        "SERVICE_SECRET": "a service secret of this test run",
        "SECRET_KEY": "a cookie and cursor secret of this test run",
        "JWT_PRIVATE_KEY_FILE": str(signing_key_file),
        "MAIL_DIR": str(tmp_path_factory.mktemp("mail")),
    }


@pytest.fixture(scope="module")
def service(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., str]]:
    """service("products", PRODUCTS_SETTING="1") starts it under gunicorn, puts PRODUCTS_URL into `environment` and returns its URL.

    When PRODUCTS_URL is in `environment` before, it listens there: so services that need each other can start.
    """
    running: list[Process] = []
    started: set[str] = set()
    logs = tmp_path_factory.mktemp("services")

    def start(name: str, **settings: str) -> str:
        wanted = environment.get(f"{name.upper()}_URL", "")
        known = urlsplit(wanted).port if wanted not in started else None
        process, url = start_service(name, logs / f"{name}.log", {**environment, **settings}, port=known)
        running.append(process)
        started.add(url)
        environment[f"{name.upper()}_URL"] = url
        return url

    yield start
    for process in running:
        process.ask_to_stop()
    for process in reversed(running):
        process.stop()
