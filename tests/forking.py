"""Python programs forked from a process that has the services loaded with their libraries: to import them anew for every
service of every module was a good part of what the suites cost. `make run` forks from one that has the libraries alone."""

import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from deploy.local.forking import LIBRARIES

ROOT = Path(__file__).resolve().parent.parent
LOADED = (
    *LIBRARIES,
    "celery.apps.worker",
    "celery.concurrency.thread",
    "celery.bin.worker",
    "services.users.app",
    "services.products.app",
    "services.orders.app",
    "services.storefront.app",
    "services.worker.jobs",
)
"""Not the programs themselves, which read their settings when they are run."""
FOR_THE_INTERPRETER = ("PYTHON", "LC_", "LANG", "LD_")
STARTING_SECONDS = 180


class Forked:
    """A forked process, with what tests use of subprocess.Popen."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = threading.Event()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def ended(self, code: int) -> None:
        self.returncode = code
        self._ended.set()


class ForkServer:
    """The process of deploy.local.fork_server; ends with the one that made it, and all its processes with it."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._requests, theirs = socket.socketpair()
        environment = {name: os.environ[name] for name in os.environ if name.startswith(FOR_THE_INTERPRETER)}
        with theirs:
            server = subprocess.Popen(
                [sys.executable, "-m", "deploy.local.fork_server", *modules],
                cwd=ROOT,
                env=environment,
                stdin=theirs,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        assert server.stdout is not None
        self._running: dict[int, Forked] = {}
        self._lock = threading.Condition()
        self._started: list[Forked] = []
        self._has_ended = False
        threading.Thread(target=self._read, args=(server.stdout,), name="fork-server", daemon=True).start()

    def start(self, command: Sequence[str], environment: Mapping[str, str], output: int) -> Forked:
        """`command` is `python -m MODULE ...`; `output` is where it writes."""
        request = {"command": list(command), "defaults": dict(environment)}
        with self._lock:
            socket.send_fds(self._requests, [json.dumps(request).encode() + b"\n"], [output])
            self._lock.wait_for(lambda: self._started or self._has_ended, STARTING_SECONDS)
            if not self._started:
                raise RuntimeError(
                    "the fork server has ended" if self._has_ended else "the fork server does not answer"
                )
            return self._started.pop()

    def _read(self, replies: IO[bytes]) -> None:
        for line in replies:
            reply = json.loads(line)
            with self._lock:
                if "pid" in reply:
                    process = self._running[reply["pid"]] = Forked(reply["pid"])
                    self._started.append(process)
                    self._lock.notify_all()
                else:
                    self._running.pop(reply["ended"]).ended(reply["code"])
        with self._lock:
            self._has_ended = True
            self._lock.notify_all()


def fork_server(environment: Mapping[str, str]) -> ForkServer:
    """For a process with this environment: several workers of one service need the metrics' library as it is when it is
    imported for several."""
    return _fork_server(LOADED if environment.get("WEB_WORKERS", "1") == "1" else LIBRARIES)


@functools.cache
def _fork_server(modules: Sequence[str]) -> ForkServer:
    return ForkServer(modules)
