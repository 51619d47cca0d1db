"""Counts the database calls of one request by class, because on Cloudant a class is what one pays for."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from .binding import Binding

CLASSES = ("partition", "global", "read", "write")

_READS_BEHIND_A_POST = ("_bulk_get", "_all_docs", "_changes", "_revs_diff")


@dataclass
class Tally:
    """Calls and milliseconds by class: `calls["partition"]`, `milliseconds["partition"]`."""

    calls: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CLASSES, 0))
    milliseconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(CLASSES, 0.0))

    def add(self, kind: str, milliseconds: float) -> None:
        self.calls[kind] += 1
        self.milliseconds[kind] += milliseconds

    def as_server_timing(self) -> str:
        """The `Server-Timing` header: `partition;dur=1.9;desc="1", global;dur=0;desc="0", ...`."""
        return ", ".join(
            f'{kind};dur={self.milliseconds[kind]:.3g};desc="{self.calls[kind]}"' for kind in CLASSES
        )


Observer = Callable[[str, float], None]
_observers: list[Observer] = []
_current: ContextVar[Tally | None] = ContextVar("database_calls", default=None)


def start_counting() -> Tally:
    """Begins a fresh tally for this thread or task and returns it."""
    tally = Tally()
    _current.set(tally)
    return tally


def counting() -> Binding[Tally]:
    """Counts the database calls made inside the block."""
    return Binding(_current, Tally())


def record(kind: str, milliseconds: float) -> None:
    tally = _current.get()
    if tally is not None:
        tally.add(kind, milliseconds)
    for observe in _observers:
        observe(kind, milliseconds)


def observe_calls(observe: Observer) -> None:
    """`observe(class, milliseconds)` is called after every database call, on the thread that made it."""
    _observers.append(observe)


def classify(method: str, path: str) -> str:
    """The class of a call by its path below the server: a partition query, a global query, a read or a write."""
    if "/_partition/" in path:
        return "partition"
    if "/_find" in path or "/_view/" in path or "/_search/" in path or "/_nouveau/" in path:
        return "global"
    if path.endswith("/_all_docs") and method == "GET":
        return "global"
    if method in ("GET", "HEAD") or path.endswith(_READS_BEHIND_A_POST):
        return "read"
    return "write"
