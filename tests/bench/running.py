"""The shop as `make run` starts it, in a folder and on ports of its own, for measurements."""

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from deploy.local.layout import Layout
from deploy.local.settings import Settings
from shared.couch import Server
from tests.processes import ROOT, Process, answers, free_port, free_ports

ADMIN_EMAIL = "admin@example.com"


@dataclass(frozen=True)
class Shop:
    """A shop of its own: where it answers and keeps its state, its launcher, its database server, and the seconds its start took."""

    urls: dict[str, str]
    state: Path
    launcher: Process
    server: Server
    couch_environment: dict[str, str]
    seconds_to_first_answer: float

    @property
    def database(self) -> str:
        """The database server's name and version."""
        found = self.server.client.call("get_server_information")
        return f"{found['vendor']['name']} {found['version']}"

    @property
    def admin_password(self) -> str:
        return (self.state / "admin-password").read_text().strip()

    def settle(self) -> None:
        """Waits until jobs are done and indexes warm: the server builds nothing, and all processes together use less than a
        twentieth of a core (a shop that nobody visits uses a hundredth)."""
        before = self._cpu_ticks()
        while True:
            time.sleep(2)
            now = self._cpu_ticks()
            if self._building():
                before = now
                continue
            # By process, because a sum falls when a child ends.
            used = sum(ticks - before.get(pid, 0) for pid, ticks in now.items())
            if used / os.sysconf("SC_CLK_TCK") < 0.1:
                return
            before = now

    def _building(self) -> bool:
        """Whether the database server, which may be somebody else's process, builds indexes of this shop."""
        tasks = self.server.client.call("get_active_tasks")
        return any(
            self.server.prefix in str(task.get("database", "")) and "index" in task.get("type", "")
            for task in tasks
        )

    def _cpu_ticks(self) -> dict[int, int]:
        found = {}
        for pid in _descendants(self.launcher.popen.pid):
            with suppress(FileNotFoundError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                found[pid] = int(fields[11]) + int(fields[12])
        return found

    def pids(self, name: str) -> list[int]:
        """The processes of a part of it: "services.storefront"."""
        return [pid for pid in _descendants(self.launcher.popen.pid) if _name(pid) == name]

    def memory_mib(self) -> dict[str, float]:
        """Proportional set size of each process by its command, in MiB: shared pages are counted once in all."""
        found: dict[str, float] = {}
        for pid in _descendants(self.launcher.popen.pid):
            with suppress(FileNotFoundError, ProcessLookupError):  # helpers come and go
                name = _name(pid)
                found[name] = found.get(name, 0) + _pss_kib(pid) / 1024
        return found


@contextmanager
def running_shop(state: Path, *, checkout: Path = ROOT, **settings: str) -> Iterator[Shop]:
    """Starts everything from `checkout` and waits until the last part is ready; stops it at the end."""
    base = free_ports(5)
    urls = {
        name: f"http://127.0.0.1:{base + n}"
        for n, name in enumerate(("storefront", "users", "products", "orders"))
    }
    prefix = f"bench{secrets.token_hex(4)}-"
    env = {
        "PORT": str(base),
        "AISLE_STATE": str(state),
        "SAMPLE_SHOP": "false",
        "COUCH_PORT": str(base + 4),
        "DATABASE_PREFIX": prefix,
        "ACCESS_LOG": "false",
        "ACCESS_TOKEN_SECONDS": "86400",
        **settings,
    }
    state.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    command = [sys.executable, "-m", "deploy.local", "up"]
    launcher = Process("shop", command, state / "log", env, checkout=checkout)
    try:
        launcher.wait_until(answers(f"{urls['products']}/health/ready"))
        first = time.monotonic() - began
        for url in urls.values():
            launcher.wait_until(answers(f"{url}/health/ready"))
        launcher.wait_until(lambda: any((state / "done").glob("admin-*")))
        couch_url = Layout(Settings.read({**os.environ, **env})).couch_url
        server = Server(couch_url, prefix=prefix, timeout=60)
        try:
            yield Shop(urls, state, launcher, server, _couch_environment(couch_url), first)
        finally:
            launcher.stop(30)
            if "COUCH_URL" in os.environ:
                _drop(server)
    finally:
        launcher.stop(30)


@contextmanager
def bare_flask(log: Path) -> Iterator[str]:
    """The yardstick of `tests.bench.bare` under gunicorn's own threaded worker; its URL."""
    with _bare(log, ["-w", "2", "-k", "gthread", "--threads", "8", "--keep-alive", "65"], {}) as url:
        yield url


@contextmanager
def bare_flask_as_ours(log: Path, env: dict[str, str]) -> Iterator[str]:
    """The same with the settings of a service, our worker among them."""
    with _bare(
        log, ["-c", "deploy/gunicorn.conf.py"], {**env, "WEB_WORKERS": "1", "WEB_THREADS": "8"}
    ) as url:
        yield url


@contextmanager
def _bare(log: Path, options: list[str], env: dict[str, str]) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "-b", f"127.0.0.1:{port}", *options]
    process = Process("bare", [*command, "tests.bench.bare:create_app()"], log, env)
    process.wait_until(answers(f"http://127.0.0.1:{port}/hello"))
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.stop()


def _couch_environment(couch_url: str) -> dict[str, str]:
    parts = urlsplit(couch_url)
    return {
        "BARE_COUCH_URL": f"{parts.scheme}://{parts.hostname}:{parts.port}",
        "BARE_COUCH_USERNAME": unquote(parts.username or ""),
        "BARE_COUCH_PASSWORD": unquote(parts.password or ""),
    }


def _drop(server: Server) -> None:
    for name in server.client.call("get_all_dbs"):
        if name.startswith(server.prefix):
            server.client.call("delete_database", db=name)


def _descendants(pid: int) -> list[int]:
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [pid] + [each for child in children.stdout.split() for each in _descendants(int(child))]


def _name(pid: int) -> str:
    command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
    known = (
        "fork_server",
        "services.users",
        "services.products",
        "services.orders",
        "services.storefront",
        "follower",
        "celery",
        "javascript",
        "minicouch",
        "redis",
        "valkey",
    )
    return next((name for name in known if name in command), "launcher")


def _pss_kib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def core_count() -> int:
    return len(os.sched_getaffinity(0))


__all__ = ["ADMIN_EMAIL", "ROOT", "Shop", "bare_flask", "bare_flask_as_ours", "core_count", "running_shop"]
