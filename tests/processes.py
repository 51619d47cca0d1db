"""Real processes for tests: minicouch, Redis and the services, each on a free port, stopped at the end."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import urllib3

from deploy.local.redis_server import redis_server
from tests.forking import Forked, fork_server

ROOT = Path(__file__).resolve().parent.parent
STARTING_SECONDS = 180
PORTS = [range(start, start + 2500) for start in range(10_000, 30_000, 2500)]
_given: deque[int] = deque(maxlen=200)
"""Ports that processes of this one may not listen on yet."""


def free_port() -> int:
    """For a process that is started in a moment: nobody else is given it meanwhile."""
    return free_ports(1)


def free_ports(count: int) -> int:
    """The first of `count` free ports in a row, below those the system hands out by itself; of a range that no other worker of these tests
    takes its ports from."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % len(PORTS)
    for _ in range(200):
        base = random.choice(PORTS[worker])
        with contextlib.ExitStack() as stack:
            try:
                for port in range(base, base + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
        if not set(_given) & set(range(base, base + count)):
            _given.extend(range(base, base + count))
            return base
    raise RuntimeError(f"no {count} free ports in a row")


class Process:
    """A process with its output in a file; `stop` ends it politely, `kill` does not. `forked`: one of `python -m MODULE`
    that need not import the services. `checkout` is the copy of the repository that it runs in."""

    popen: subprocess.Popen[bytes] | Forked

    def __init__(
        self,
        name: str,
        command: list[str],
        log: Path,
        env: dict[str, str] | None = None,
        *,
        forked: bool = False,
        checkout: Path = ROOT,
    ) -> None:
        self.name, self.log = name, log
        environment = {**os.environ, **(env or {})}
        with log.open("ab") as output:
            if forked:
                self.popen = fork_server(environment).start(command, environment, output.fileno())
                return
            self.popen = subprocess.Popen(
                command,
                cwd=checkout,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_until(self, ready: Callable[[], bool]) -> "Process":
        """Raises RuntimeError with the last of its output when it ends or is not ready in time."""
        deadline = time.monotonic() + STARTING_SECONDS
        while time.monotonic() < deadline:
            if self.popen.poll() is not None:
                break
            if ready():
                return self
            time.sleep(0.05)
        self.kill()
        raise RuntimeError(f"{self.name} did not start:\n{self.log.read_text(errors='replace')[-4000:]}")

    def ask_to_stop(self) -> None:
        """SIGTERM, without waiting: several processes can end at the same time."""
        self._signal(signal.SIGTERM)

    def stop(self, seconds: float = 15) -> int:
        self.ask_to_stop()
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def kill(self) -> None:
        """SIGKILL to it and all its children."""
        self._signal(signal.SIGKILL)
        self.popen.wait(10)

    def _signal(self, number: int) -> None:
        if isinstance(self.popen, Forked) and self.popen.poll() is not None:
            return  # the fork server has waited for it: the number may be another process's by now
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.popen.pid, number)


def run_forked(command: list[str], log: Path, env: dict[str, str], seconds: float = 60) -> str:
    """Runs a `python -m MODULE` that need not import the services; what it wrote. Raises RuntimeError with that when it fails."""
    code, written = ended_forked(command, log, env, seconds)
    if code:
        raise RuntimeError(f"{command} ended with {code}:\n{written}")
    return written


def ended_forked(command: list[str], log: Path, env: dict[str, str], seconds: float = 60) -> tuple[int, str]:
    """The same for one that may fail: its exit code, and what it wrote."""
    process = Process(command[2], command, log, env, forked=True)
    return process.popen.wait(seconds), log.read_text(errors="replace")


def answers(url: str) -> Callable[[], bool]:
    """Whether a GET of the URL is 200 by now."""
    pool = urllib3.PoolManager(retries=False, timeout=2)

    def ready() -> bool:
        try:
            return pool.request("GET", url).status == 200
        except urllib3.exceptions.HTTPError:
            return False

    return ready


def start_minicouch(data: Path, *more: str, port: int | None = None) -> tuple[Process, str]:
    """The process and its URL, with admin credentials in it."""
    port = port or free_port()
    command = [sys.executable, "-m", "deploy.local.minicouch", "--data", str(data), "--port", str(port)]
    process = Process(
        "minicouch", [*command, "--admin", "admin:secret", *more], data.parent / f"minicouch-{port}.log"
    )
    process.wait_until(answers(f"http://127.0.0.1:{port}/_up"))
    return process, f"http://admin:secret@127.0.0.1:{port}"


@contextlib.contextmanager
def running_minicouch(data: Path, *more: str) -> Iterator[str]:
    """The URL of one that is stopped at the end."""
    process, url = start_minicouch(data, *more)
    try:
        yield url
    finally:
        process.stop()


def start_redis(folder: Path, *more: str, port: int | None = None) -> tuple[Process, str]:
    """The process and its URL."""
    port = port or free_port()
    command = [redis_server(), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    process = Process("redis", [*command, *more], folder / f"redis-{port}.log")

    def listens() -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    process.wait_until(listens)
    return process, f"redis://127.0.0.1:{port}/0"


def start_service(name: str, log: Path, env: dict[str, str], port: int | None = None) -> tuple[Process, str]:
    """One service under gunicorn, started the way it is deployed; the process and its URL."""
    port = port or free_port()
    command = [sys.executable, "-m", "gunicorn", "-c", "deploy/gunicorn.conf.py", "-b", f"127.0.0.1:{port}"]
    process = Process(name, [*command, f"services.{name}.app:create_app()"], log, env, forked=True)
    process.wait_until(answers(f"http://127.0.0.1:{port}/health/live"))
    return process, f"http://127.0.0.1:{port}"
