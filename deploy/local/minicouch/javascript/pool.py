"""Keeps the child processes that run JavaScript: started when first needed, killed when one overruns its time."""

import logging
import select
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path

import orjson

from ..errors import CouchError

log = logging.getLogger("minicouch.javascript")
WORKER = Path(__file__).with_name("worker.py")
MAX_WORKERS = 3
WAIT_SECONDS = 0.25
START_TIMEOUT = 60.0
"""Seconds until a new process is ready; they count for no function, however busy the machine is."""


class TimedOut(CouchError):
    """The functions did not finish in the time they had."""

    def __init__(self) -> None:
        super().__init__(500, "os_process_error", "OS process timed out.")


class Died(CouchError):
    """The process ended while it worked: out of memory, mostly."""

    def __init__(self, status: int) -> None:
        super().__init__(500, "os_process_error", f"{{exit_status,{abs(status)}}}")


class Worker:
    """One child process; used by one thread at a time."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-E", "-s", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        self._read_reply(time.monotonic() + START_TIMEOUT)
        self.used = time.monotonic()

    def call(self, key: bytes, setup: bytes, command: bytes, payload: bytes, timeout: float) -> bytes:
        """One command in the environment `key`, which is made from `setup` when the worker does not know it."""
        reply = self._exchange(key, command, payload, timeout)
        if reply == b"?":
            self._exchange(key, b"setup", setup, timeout)
            reply = self._exchange(key, command, payload, timeout)
        self.used = time.monotonic()
        return reply

    def _exchange(self, key: bytes, command: bytes, payload: bytes, timeout: float) -> bytes:
        deadline = time.monotonic() + timeout
        try:
            frame = struct.pack(">3I", len(key), len(command), len(payload)) + key + command + payload
            self._write(frame, deadline)
            return self._read_reply(deadline)
        except BrokenPipeError:
            raise self._died() from None

    def _read_reply(self, deadline: float) -> bytes:
        (size,) = struct.unpack(">I", self._read(4, deadline))
        return self._read(size, deadline)

    def _write(self, frame: bytes, deadline: float) -> None:
        view = memoryview(frame)
        stdin = self.process.stdin
        while view:
            self._wait([], [stdin], deadline)
            view = view[stdin.write(view[: 1 << 16]) :]

    def _read(self, size: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            self._wait([self.process.stdout], [], deadline)
            part = self.process.stdout.read(size - len(data))
            if not part:
                raise self._died()
            data += part
        return bytes(data)

    def _wait(self, readers: list, writers: list, deadline: float) -> None:
        if not any(select.select(readers, writers, [], max(0.0, deadline - time.monotonic()))):
            self.kill()
            raise TimedOut

    def _died(self) -> Died:
        self.kill()
        return Died(self.process.returncode)

    def kill(self) -> None:
        self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    @property
    def alive(self) -> bool:
        return self.process.poll() is None


class Pool:
    """Lends workers in the order of asking; `timeout` is what one call may take, in seconds."""

    def __init__(self, timeout: float = 5.0, idle: float = 10.0) -> None:
        self.timeout = timeout
        self.idle = idle
        self._free: list[Worker] = []
        self._busy: set[Worker] = set()
        self._waiting: deque[object] = deque()
        self._count = 0
        self._stopped = False
        self._changed = threading.Condition()
        self._reaper: threading.Thread | None = None

    def call(self, key: bytes, setup: bytes, command: bytes, payload: bytes = b"") -> bytes:
        """The result's JSON. Errors: CouchError for what the function or its limits refuse."""
        worker = self._acquire()
        self._busy.add(worker)
        try:
            self._check_running()
            reply = worker.call(key, setup, command, payload, self.timeout)
        except Died:
            self._check_running()
            raise
        finally:
            self._release(worker)
        logged, _, answer = reply.partition(b"\n")
        if logged:
            log.info("design function logs: %s", logged.decode(errors="replace"))
        if answer[:1] == b"-":
            _, name, reason = orjson.loads(answer[1:])
            raise CouchError(500, name, reason if isinstance(reason, str) else orjson.dumps(reason).decode())
        return answer[1:]

    def _acquire(self) -> Worker:
        """A free worker, or a new one when none came free in time and there may be another. Nobody is overtaken: a reader's few
        documents are mapped between two pieces of a long build."""
        with self._changed:
            ticket = object()
            self._waiting.append(ticket)
            try:
                worker = self._wait_for_worker(ticket)
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()
            if worker is not None:
                return worker
            self._count += 1
        try:
            return self._start()
        except (OSError, CouchError):
            with self._changed:
                self._count -= 1
            raise

    def _wait_for_worker(self, ticket: object) -> Worker | None:
        """None when there is to be a new one."""
        while True:
            self._check_running()
            if self._waiting[0] is ticket:
                while self._free:
                    worker = self._free.pop()
                    if worker.alive:
                        return worker
                    self._count -= 1
                if self._count == 0:
                    return None
            if not self._changed.wait(WAIT_SECONDS) and not self._free and self._count < MAX_WORKERS:
                return None

    def _check_running(self) -> None:
        if self._stopped:
            raise CouchError(503, "service_unavailable", "the server is stopping")

    def _start(self) -> Worker:
        if self._reaper is None or not self._reaper.is_alive():
            self._reaper = threading.Thread(target=self._reap, name="javascript-reaper", daemon=True)
            self._reaper.start()
        return Worker()

    def _release(self, worker: Worker) -> None:
        self._busy.discard(worker)
        with self._changed:
            if worker.alive:
                self._free.append(worker)
            else:
                self._count -= 1
            self._changed.notify_all()

    def _reap(self) -> None:
        """End the workers nobody used for `idle` seconds; ends itself with the last one."""
        while self._count:
            time.sleep(self.idle / 4)
            self._take_free(time.monotonic() - self.idle)

    def _take_free(self, unused_since: float) -> None:
        with self._changed:
            stale = [worker for worker in self._free if worker.used <= unused_since]
            self._free = [worker for worker in self._free if worker.used > unused_since]
            self._count -= len(stale)
        for worker in stale:
            worker.kill()

    def stop(self) -> None:
        """End all workers for good; the calls they are busy with fail, and so do later ones."""
        self._stopped = True
        for worker in tuple(self._busy):
            worker.process.kill()
        self._take_free(time.monotonic())
