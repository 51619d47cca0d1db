"""The child process that builds indexes: a command a line on stdin, an answer a line on stdout (build_process.py).

Whatever else arrives while it works, an empty line too, ends the slice under way after its present batch.

A command names a database, some of its indexes and how far to go; the server lets nobody else write them meanwhile. Files
are opened anew for each, so that nothing here can be older than what the server knows.
"""

import contextlib
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from .. import javascript
from ..documents.database import Database
from ..errors import CouchError
from ..indexes import indexing, searching
from ..runtime import memory
from ..store import indexes as store_indexes
from . import declared

SLICE_SECONDS = 1.0
BATCH = 1000
BATCH_OF_MANY = 500
"""Documents that several indexes take in together: somebody who waits does so for less than a tenth of a second, and each
index has one transaction for so many."""
PARENT_LOOK = 0.1
CACHE_KIB, LOG_PAGES = 2000, 4000
"""Of each index, while this process has it open: rows come in any order, and most pages are written many times in a build."""


def die_with_parent(parent: int) -> None:
    """The next server must find nobody at its files, also where this process was just starting when its own was killed."""
    while os.getppid() == parent:
        time.sleep(PARENT_LOOK)
    os._exit(1)


class Commands:
    """The lines of a pipe."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._read = b""

    def __iter__(self) -> Iterator[bytes]:
        while True:
            line, end, rest = self._read.partition(b"\n")
            if end:
                self._read = rest
                if line:
                    yield line
            elif more := os.read(self._pipe, 1 << 16):
                self._read += more
            else:
                return

    def are_waiting(self) -> bool:
        return bool(self._read) or bool(select.select([self._pipe], [], [], 0)[0])


class Files(Database):
    """The files of a database that the server has open; it makes the folders of indexes, and removes them."""

    def index_dir(self, signature: str) -> Path:
        return self.index_path(signature)


def build(
    db: Database,
    work: str,
    indexes: dict[str, int | None],
    target: int,
    is_preempted: Callable[[], bool] = lambda: False,
) -> bool:
    """A slice of the work; False when an index is not declared."""
    docs = db.design_docs()
    declare = declared.search_specs if work == "search" else declared.specs
    known: dict[str, Any] = {spec.signature: spec for spec in declare(db, docs)}
    if not known.keys() >= indexes.keys():
        return False
    specs, end = [known[signature] for signature in indexes], time.monotonic() + SLICE_SECONDS
    while STEPS[work](db, specs, list(indexes.values()), target):
        if time.monotonic() >= end or is_preempted():
            break
    return True


def _advance(db: Database, specs: list[indexing.IndexSpec], fresh_to: list[int | None], target: int) -> bool:
    for spec, upto in zip(specs, fresh_to, strict=True):
        indexing.get_index(db, spec).fresh_to = upto
    if len(specs) > 1:
        return indexing.advance_together(db, specs, target, BATCH_OF_MANY)
    return indexing.advance(db, specs[0], indexing.get_index(db, specs[0]), target, BATCH)


def _advance_search(db: Database, specs: list[searching.SearchSpec], _: object, target: int) -> bool:
    return searching.advance(db, specs[0], target)


def _summarise(db: Database, specs: list[indexing.IndexSpec], *_: object) -> bool:
    for spec in specs:
        indexing.summarise(db, indexing.get_index(db, spec))
    return False


STEPS: dict[str, Callable[..., bool]] = {
    "rows": _advance,
    "search": _advance_search,
    "summaries": _summarise,
}


def answer(command: dict[str, Any], is_preempted: Callable[[], bool]) -> dict[str, Any]:
    directory = Path(command["directory"])
    try:
        with contextlib.closing(Files(command["name"], directory)) as db:
            work, indexes, target = command["work"], command["indexes"], command["target"]
            return {"known": build(db, work, indexes, target, is_preempted)}
    except CouchError as error:
        return {"error": [error.status, error.error, error.reason]}
    except Exception:
        if directory.exists():
            raise
        return {"known": False}  # dropped meanwhile


def main() -> None:
    parent = int(sys.argv[2])
    if os.getppid() != parent:
        return
    threading.Thread(target=die_with_parent, args=(parent,), daemon=True).start()
    memory.limit_arenas()
    memory.look_for_garbage_less_often()
    os.umask(0o077)
    os.nice(int(sys.argv[1]))
    javascript.piece.documents = BATCH  # nobody else waits for the functions here
    store_indexes.cache.kib, store_indexes.cache.log_pages = CACHE_KIB, LOG_PAGES
    commands = Commands(sys.stdin.fileno())
    for line in commands:
        sys.stdout.buffer.write(orjson.dumps(answer(orjson.loads(line), commands.are_waiting)) + b"\n")
        sys.stdout.buffer.flush()
    javascript.pool.stop()


if __name__ == "__main__":
    main()
