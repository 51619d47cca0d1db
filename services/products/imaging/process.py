"""The process that converts pictures, as its parent uses it: started when it is needed, one picture at a time."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final, NamedTuple

from services.products.imaging.errors import Busy, TooManyPixels, Unreadable
from services.products.imaging.frames import read_frame, write_frame

ROOT: Final = Path(__file__).resolve().parents[3]
SECONDS: Final = 8.0
"""For one picture; the largest that are taken need three on a small machine."""
WAIT_SECONDS: Final = 20.0


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

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
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
        except _Ended:
            if fresh:
                raise Unreadable from None
        try:
            return self._exchange(self._running(), content)
        except _Ended:
            raise Unreadable from None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "services.products.imaging"],
                cwd=ROOT,
                env={"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1", "MALLOC_ARENA_MAX": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def _exchange(self, process: subprocess.Popen[bytes], content: bytes) -> Rendered:
        """Raises _Ended when the process dies over it, or takes too long and is ended."""
        overdue = threading.Timer(self._seconds, process.kill)
        overdue.start()
        try:
            return _ask(process, content)
        except (_Ended, OSError):
            self._end(process)
            raise _Ended from None
        finally:
            overdue.cancel()

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.communicate()
        self._process = None


class _Ended(Exception):
    """The process is gone."""


def _ask(process: subprocess.Popen[bytes], content: bytes) -> Rendered:
    assert process.stdin is not None
    assert process.stdout is not None
    write_frame(process.stdin, content)
    process.stdin.flush()
    answer = read_frame(process.stdout)
    if answer is None:
        raise _Ended
    said = json.loads(answer)
    if problem := said.get("problem"):
        raise TooManyPixels if problem == "too_many_pixels" else Unreadable
    files = []
    for each in said["files"]:
        data = read_frame(process.stdout)
        if data is None:
            raise _Ended
        files.append(Rendition(each["name"], each["content_type"], data))
    return Rendered(said["width"], said["height"], tuple(files))
