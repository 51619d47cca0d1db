"""Threads that run requests; one that has nothing to do may listen for a while to the connection it has just served."""

import os
import queue
import select
import socket
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Job = TypeVar("Job")


class Threads(Generic[Job]):
    """Up to `count` threads, started when needed, that call `work(job)` for each submitted job in turn.

    Nobody waits for a thread that listens: a job that finds no thread free calls it away from there.
    """

    def __init__(self, count: int, work: Callable[[Job], None]) -> None:
        self._count, self._work = count, work
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._started = 0
        self._free = 0
        self._listening: dict[_Listener, None] = {}
        self._local = threading.local()

    @property
    def backlog(self) -> bool:
        """Whether a job waits for a thread. `_free` is how many threads have none, less the jobs that have no thread."""
        return self._free < 0

    def submit(self, job: Job) -> None:
        with self._lock:
            self._free -= 1
            if self._free < 0:
                self._find_thread()
        self._jobs.put(job)

    def listen(self, client: socket.socket, seconds: float) -> bool:
        """Called by `work`: whether something comes from `client` before the thread is needed or `seconds` are over."""
        listener: _Listener = self._local.listener
        with self._lock:
            if self._free < 0:
                return False
            self._listening[listener] = None
        readable = listener.wait(client, seconds)
        with self._lock:
            if listener in self._listening:
                del self._listening[listener]
            else:
                listener.clear()
        return readable

    def shutdown(self, wait: bool = False) -> None:
        """Threads end when their job is done; nobody waits for them (gunicorn's `wait` is always false)."""
        for _ in range(self._started):
            self._jobs.put(None)

    def _find_thread(self) -> None:
        if self._started < self._count:
            self._started += 1
            threading.Thread(target=self._run, name=f"request-{self._started}", daemon=True).start()
        elif self._listening:
            self._listening.popitem()[0].call()

    def _run(self) -> None:
        self._local.listener = _Listener()
        while True:
            with self._lock:
                self._free += 1
            job = self._jobs.get()
            if job is None:
                return
            self._work(job)


class _Listener:
    """Where one thread waits for a client, or for being called."""

    def __init__(self) -> None:
        self._called, self._call = os.pipe()
        self._poll = select.poll()
        self._poll.register(self._called, select.POLLIN)

    def wait(self, client: socket.socket, seconds: float) -> bool:
        descriptor = client.fileno()
        self._poll.register(descriptor, select.POLLIN)
        try:
            return any(found == descriptor for found, _ in self._poll.poll(seconds * 1000))
        finally:
            self._poll.unregister(descriptor)

    def call(self) -> None:
        os.write(self._call, b"\0")

    def clear(self) -> None:
        """Takes the call that ended the waiting, or came just after it."""
        os.read(self._called, 1)
