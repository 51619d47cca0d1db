"""Group commit: many transactions wait for one fsync of the write-ahead log, made beside the event loop."""

import asyncio
import os
import sqlite3
import threading
from pathlib import Path

CHECKPOINT_BYTES = 8 << 20
RESTART_BYTES = 64 << 20
MAX_STOP_MS = 100  # that writers wait for the log to be emptied; else the next checkpoint tries again


def connect(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, timeout=30, cached_statements=256
    )
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    if readonly:
        # Every thread that reads has a connection of its own.
        connection.execute("PRAGMA cache_size=-200")
        connection.execute("PRAGMA query_only=ON")
    return connection


class Log:
    """The write-ahead log of one SQLite file.

    A transaction commits without fsync (cheap, on the event loop); `durable()` returns once an fsync that
    started after it has ended, which is what synchronous=FULL guarantees, shared by all that wait.
    """

    def __init__(self, path: Path, write_lock: threading.Lock) -> None:
        self._path = path
        self._lock = write_lock
        self._fd = os.open(f"{path}-wal", os.O_RDONLY)
        self._waiting: list[asyncio.Future[None]] = []
        self._syncing = False
        self._unchecked = 0
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def wrote(self, size: int) -> None:
        self._unchecked += size

    async def durable(self) -> None:
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        self._waiting.append(waiter)
        if not self._syncing:
            self._syncing = True
            self._task = loop.create_task(self._sync())
        await waiter

    async def _sync(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                await loop.run_in_executor(None, os.fdatasync, self._fd)
            except OSError as error:
                for waiter in batch:
                    if not waiter.done():
                        waiter.set_exception(error)
                continue
            for waiter in batch:
                if not waiter.done():
                    waiter.set_result(None)
        self._syncing = False
        if self._unchecked > CHECKPOINT_BYTES:
            self._unchecked = 0
            await loop.run_in_executor(None, self.checkpoint)

    def checkpoint(self) -> None:
        """Move the log into the database file beside readers and writers; stop writers shortly when it grew long."""
        connection = connect(self._path)
        try:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            if os.fstat(self._fd).st_size > RESTART_BYTES:
                # Readers would hold it up for much longer, and it the writers.
                connection.execute(f"PRAGMA busy_timeout={MAX_STOP_MS}")
                with self._lock:
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()

    def close(self) -> None:
        os.close(self._fd)
