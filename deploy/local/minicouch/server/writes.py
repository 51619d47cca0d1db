"""Head and body of an answer in one write: each write is a call to the kernel, and wakes the client."""

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

Send = Callable[[dict[str, Any]], Awaitable[None]]


class OneWrite:
    """While entered, what uvicorn writes of the answer sent by `send` is kept; it is written when this is left."""

    def __init__(self, send: Send) -> None:
        self._cycle: Any = send.__self__  # type: ignore[attr-defined]
        self._transport = self._cycle.transport
        self._pieces: list[bytes] = []
        self.write = self._pieces.append

    def __enter__(self) -> None:
        self._cycle.transport = self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cycle.transport = self._transport
        self._flush()

    def close(self) -> None:
        """Uvicorn closes a connection that is not kept as soon as it has written the body."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._pieces:
            self._transport.writelines(self._pieces)
            self._pieces.clear()
