"""Rules for document ids and partition keys, and fresh ids."""

import os
import random
import time
from typing import Any

from ..errors import CouchError


def check_docid(docid: Any) -> None:
    """Errors: 400 illegal_docid with CouchDB's reason."""
    if not isinstance(docid, str):
        raise _illegal("Document id must be a string")
    if docid == "":
        raise _illegal("Document id must not be empty")
    if docid[0] == "_":
        if docid in ("_design/", "_local/"):
            raise _illegal(f"Illegal document id `{docid}`")
        if not docid.startswith(("_design/", "_local/")):
            raise _illegal("Only reserved document ids may start with underscore.")


def check_partitioned_docid(docid: str) -> None:
    """Errors: 400 when an id has no place in a partitioned database."""
    if docid.startswith(("_design/", "_local/")):
        return
    partition, colon, rest = docid.partition(":")
    if not colon:
        raise _illegal("Doc id must be of form partition:id")
    check_partition(partition)
    check_docid(rest)


def check_partition(partition: str) -> None:
    if not partition:
        raise CouchError(400, "illegal_partition", "Partition must not be empty")
    if partition[0] == "_":
        raise CouchError(400, "illegal_partition", "Partition must not start with an underscore")
    if ":" in partition:
        raise CouchError(400, "illegal_partition", "Partition must not contain a colon")


def _illegal(reason: str) -> CouchError:
    return CouchError(400, "illegal_docid", reason)


class Uuids:
    """CouchDB's algorithms: `sequential` (26 random hexadecimal digits, then a growing number), `random`,
    `utc_random` and `utc_id` (microseconds, then random digits or a fixed suffix)."""

    def __init__(self) -> None:
        self._last_time = 0
        self._fresh()

    def _fresh(self) -> None:
        self._prefix = os.urandom(13).hex()
        self._next = random.randrange(0xFFF)

    def new(self, algorithm: str | None = "sequential", suffix: str = "") -> str:
        if algorithm == "random":
            return os.urandom(16).hex()
        if algorithm == "utc_random":
            return f"{self._microseconds():014x}{os.urandom(9).hex()}"
        if algorithm == "utc_id":
            return f"{self._microseconds():014x}{suffix}"
        self._next += 1 + random.randrange(0xFFE)
        if self._next >= 0xFFF000:
            self._fresh()
        return f"{self._prefix}{self._next:06x}"

    def _microseconds(self) -> int:
        """Never the same twice."""
        self._last_time = max(self._last_time + 1, time.time_ns() // 1000)
        return self._last_time
