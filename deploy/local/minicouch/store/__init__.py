"""The data directory: one folder for each database. The only place that imports sqlite3."""

import fcntl
import os
import re
import shutil
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote

from ..errors import CouchError, not_found
from .documents import Documents
from .narrowing import Narrowing
from .rows import StoredDoc

__all__ = ["Documents", "Narrowing", "Store", "StoredDoc", "check_name"]

NAME = re.compile(r"[a-z][a-z0-9_$()+\-/]*")
SYSTEM_NAMES = {"_users", "_replicator", "_global_changes", "_metadata", "_nodes", "_dbs"}


class Store:
    """All databases of a data directory; `factory` makes what `open` returns from (name, folder).

    Errors: RuntimeError when another process has the directory.
    """

    def __init__(self, data_dir: str | Path, factory: Callable[[str, Path], Documents] = Documents) -> None:
        self.data_dir = Path(data_dir)
        self._root = self.data_dir / "databases"
        self._root.mkdir(parents=True, exist_ok=True)
        self._factory = factory
        self._open: dict[str, Documents] = {}
        self._lock = threading.Lock()
        self._lock_file = os.open(self.data_dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuntimeError(f"{self.data_dir} is in use by another minicouch") from None
        self._names: set[str] = set()
        for entry in os.scandir(self._root):
            if entry.name.startswith((".deleted-", ".new-")):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                self._names.add(unquote(entry.name))

    def databases(self) -> list[str]:
        return sorted(self._names)

    def opened(self) -> list[Documents]:
        """The databases that somebody has used since the start."""
        return list(self._open.values())

    def close_idle(self, keep: int, unused_since: float) -> None:
        """Close the databases nobody is at, longest unused first, until `keep` are open; never a system database."""
        with self._lock:
            surplus = len(self._open) - keep
            if surplus <= 0:
                return
            idle = [
                db for db in self._open.values() if db.used < unused_since and db.idle and db.name[0] != "_"
            ]
            for db in sorted(idle, key=lambda db: db.used)[:surplus]:
                del self._open[db.name]
                db.close(in_passing=True)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def create(self, name: str, partitioned: bool = False, q: int = 2, n: int = 1) -> Documents:
        """A new database. Errors: 400 for its name, 412 when it is there already."""
        check_name(name)
        if len(name) > 238:
            raise CouchError(
                400, "database_name_too_long", f"At least one path segment of `{name}` is too long."
            )
        with self._lock:
            if name in self._names:
                raise CouchError(
                    412, "file_exists", "The database could not be created, the file already exists."
                )
            identity = uuid.uuid4().hex
            fresh = self._root / f".new-{identity}"
            properties = {"partitioned": partitioned, "q": q, "n": n}
            Documents.make(fresh, properties, identity, str(int(time.time())))
            fresh.rename(self._folder(name))
            _sync_directory(self._root)
            self._names.add(name)
        return self.open(name)

    def open(self, name: str) -> Documents:
        """Errors: 404 when there is none of that name."""
        found = self._open.get(name)
        if found is not None:
            found.used = time.monotonic()
            return found
        with self._lock:
            if name not in self._names:
                raise not_found("Database does not exist.")
            if name not in self._open:
                self._open[name] = self._factory(name, self._folder(name))
            return self._open[name]

    def delete(self, name: str) -> None:
        database = self.open(name)
        with self._lock:
            self._names.discard(name)
            self._open.pop(name, None)
            database.drop()
            _sync_directory(self._root)

    def close(self) -> None:
        for database in self._open.values():
            database.close()
        self._open.clear()
        os.close(self._lock_file)

    def _folder(self, name: str) -> Path:
        return self._root / quote(name, safe="$()+")


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def check_name(name: str) -> None:
    """Errors: 400 for a name CouchDB would not take."""
    if name in SYSTEM_NAMES:
        return
    if not NAME.fullmatch(name):
        raise CouchError(
            400,
            "illegal_database_name",
            f"Name: '{name}'. Only lowercase characters (a-z), digits (0-9), and any of the characters "
            "_, $, (, ), +, -, and / are allowed. Must begin with a letter.",
        )
