"""The worker's two processes for tests, started the way they are deployed."""

import sys
from pathlib import Path

from tests.processes import Process

WORKER = [
    "-m",
    "celery",
    "-A",
    "services.worker.app",
    "worker",
    "--timekeeper",
    "--pool",
    "threads",
    "--concurrency",
    "4",
    "--without-mingle",
    "--without-gossip",
]
FOLLOWER = ["-m", "services.worker.follower"]


class Worker:
    """A Celery worker and a follower; each can be killed and started again."""

    def __init__(self, environment: dict[str, str], logs: Path) -> None:
        self._environment, self._logs = environment, logs
        self.running = {"worker": self.start("worker"), "follower": self.start("follower")}

    def start(self, name: str) -> Process:
        """Starts `worker` or a `... follower` and waits until it says that it is ready."""
        command = [sys.executable, *(WORKER if name == "worker" else FOLLOWER)]
        log = self._logs / f"{name.replace(' ', '-')}.log"
        before = len(log.read_text()) if log.exists() else 0
        process = Process(name, command, log, self._environment, forked=True)
        said = "ready" if name == "worker" else "following the changes"
        return process.wait_until(lambda: said in log.read_text()[before:])

    def kill(self, name: str) -> None:
        self.running.pop(name).kill()

    def restart(self, name: str) -> None:
        self.running[name] = self.start(name)

    def stop(self) -> None:
        for process in self.running.values():
            process.ask_to_stop()
        for process in self.running.values():
            process.stop()
