"""The process that converts pictures, as its parent uses it: started when it is needed, one picture at a time."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final, NamedTuple

from services.products.imaging.errors import Busy, TooManyPixels, Unreadable
from services.products.imaging.frames import read_frame, write_frame

ROOT: Final = Path(__file__).resolve().parents[3]
CPU_SECONDS: Final = 8.0
"""Of the processor, for one picture; the largest that are taken need three on a small machine."""
SECONDS: Final = 20.0
"""By the clock, for one picture: a machine that is busy with other things takes its time."""
WAIT_SECONDS: Final = 15.0


class Rendition(NamedTuple):
    """One file of a picture."""

    name: str
    content_type: str
    content: bytes


class Rendered(NamedTuple):
    """The files of a picture, the largest first, and that one's size."""

    width: int
    height: int
    files: tuple[Rendition, ...]


class ImagingProcess:
    """Safe to share between threads. Its process ends by itself when it has nothing to do."""

    def __init__(self, seconds: float = SECONDS, cpu_seconds: float = CPU_SECONDS) -> None:
        self._seconds, self._cpu_seconds = seconds, cpu_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def convert(self, content: bytes) -> Rendered:
        """Raises Unreadable, TooManyPixels, Busy."""
        if not self._lock.acquire(timeout=WAIT_SECONDS):
            raise Busy
        try:
            return self._convert(content)
        finally:
            self._lock.release()

    def _convert(self, content: bytes) -> Rendered:
        """A process that had just ended for want of work is replaced once."""
        fresh = self._process is None or self._process.poll() is not None
        try:
            return self._exchange(self._running(), content)
        except _Ended as ended:
            if fresh or ended.code == -signal.SIGPROF:
                raise Unreadable from None
        try:
            return self._exchange(self._running(), content)
        except _Ended:
            raise Unreadable from None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "services.products.imaging", str(self._cpu_seconds)],
                cwd=ROOT,
                env={"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1", "MALLOC_ARENA_MAX": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def _exchange(self, process: subprocess.Popen[bytes], content: bytes) -> Rendered:
        """Raises _Ended when the process dies over it, Busy when it takes too long and is ended."""
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        overdue = threading.Timer(self._seconds, end)
        overdue.start()
        try:
            return _ask(process, content)
        except (EOFError, OSError):
            code = self._end(process)
            raise Busy if late.is_set() else _Ended(code) from None
        finally:
            overdue.cancel()

    def _end(self, process: subprocess.Popen[bytes]) -> int:
        """Its exit code, the number of the signal that ended it negative."""
        process.kill()
        process.communicate()
        self._process = None
        return process.returncode


class _Ended(Exception):
    """The process is gone."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def _ask(process: subprocess.Popen[bytes], content: bytes) -> Rendered:
    """Raises EOFError or OSError where the process ends over it."""
    assert process.stdin is not None
    assert process.stdout is not None
    write_frame(process.stdin, content)
    process.stdin.flush()
    answer = read_frame(process.stdout)
    if answer is None:
        raise EOFError
    said = json.loads(answer)
    if problem := said.get("problem"):
        raise TooManyPixels if problem == "too_many_pixels" else Unreadable
    files = []
    for each in said["files"]:
        data = read_frame(process.stdout)
        if data is None:
            raise EOFError
        files.append(Rendition(each["name"], each["content_type"], data))
    return Rendered(said["width"], said["height"], tuple(files))
