"""Child processes that build indexes far behind their database, so that a large build takes no request's time."""

import contextlib
import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import orjson

from ..errors import CouchError

log = logging.getLogger("minicouch.building")
MANY = 3000  # changes that are worth starting the process for, at rows of views
MANY_FOR_SEARCH = 1000
FEW = 500  # changes that are worth asking one that runs: whoever waits for fewer has them sooner than what is before him there
IDLE = 3.0
WORKER = f"{__package__}.build_worker"
SEARCH_NICENESS = 5
"""A search index takes the longest to build, and is asked as it is meanwhile: requests and the rows of views go first."""
ROOT = Path(__file__).parents[__package__.count(".") + 1]


class BuildProcesses:
    """One for rows and summaries of views, one for search: the commit of a search index takes seconds."""

    def __init__(self) -> None:
        self._rows, self._search = BuildProcess(MANY), BuildProcess(MANY_FOR_SEARCH, SEARCH_NICENESS)

    def start(self, work: str) -> None:
        """Have the process there for what is to come, however little that is now."""
        self._of(work).start()

    def is_for(self, work: str, changes: int) -> bool:
        """Whether that many changes are better built here than by who asks."""
        return self._of(work).is_for(changes)

    def run(self, name: str, directory: Path, work: str, indexes: dict[str, int | None], target: int) -> bool:
        """Some of the work on these indexes of a database, nobody else being at them; False when one is not declared there.

        `work` is `rows`, `search` or `summaries`; `indexes` gives by signature up to which sequence no document can
        have rows yet. Errors: CouchError as the build meets it.
        """
        command = {
            "name": name,
            "directory": str(directory),
            "work": work,
            "indexes": indexes,
            "target": target,
        }
        return self._of(work).run(command)

    def preempt(self, work: str) -> None:
        """Have what is under way end after its present batch, for somebody waits for his."""
        self._of(work).preempt()

    def stop(self) -> None:
        """End them for good; what they are busy with fails."""
        self._rows.stop()
        self._search.stop()

    def _of(self, work: str) -> "BuildProcess":
        return self._search if work == "search" else self._rows


class BuildProcess:
    """Started for so `many` changes, ended when nobody needed it for `IDLE` seconds; does one thing at a time."""

    def __init__(self, many: int, niceness: int = 0) -> None:
        self._many, self._niceness = many, niceness
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._used = 0.0
        self._stopped = False

    def start(self) -> None:
        with self._lock:
            if not self._stopped:
                self._process = self._process or self._start()

    def is_for(self, changes: int) -> bool:
        return changes >= (self._many if self._process is None else FEW)

    def run(self, command: dict[str, Any]) -> bool:
        with self._lock:
            answer = self._ask(orjson.dumps(command))
            self._used = time.monotonic()
        if "error" in answer:
            raise CouchError(*answer["error"])
        return bool(answer["known"])

    def preempt(self) -> None:
        process = self._process
        if process is not None and process.stdin is not None and self._lock.locked():
            with contextlib.suppress(BrokenPipeError, ValueError):  # it has just ended
                process.stdin.write(b"\n")
                process.stdin.flush()

    def _ask(self, command: bytes) -> dict[str, Any]:
        if self._stopped:
            raise CouchError(503, "service_unavailable", "the server is stopping")
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(command + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            status = self._end()
            raise CouchError(500, "os_process_error", f"{{exit_status,{abs(status)}}}")
        return orjson.loads(line)

    def _start(self) -> "subprocess.Popen[bytes]":
        paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        process = subprocess.Popen(
            [sys.executable, "-m", WORKER, str(self._niceness), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": paths},
        )
        self._used = time.monotonic()
        threading.Thread(target=self._end_when_idle, name="build-process-reaper", daemon=True).start()
        return process

    def _end_when_idle(self) -> None:
        while True:
            time.sleep(IDLE / 3)
            with self._lock:
                if self._process is None:
                    return
                if time.monotonic() - self._used > IDLE:
                    self._end()
                    return

    def _end(self) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # of a command that it never read
                    pipe.close()
        return process.wait()

    def stop(self) -> None:
        self._stopped = True
        if (process := self._process) is not None:
            process.kill()
        with self._lock:
            self._end()
