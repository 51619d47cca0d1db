"""The feed of `_db_updates`."""

import asyncio

MAX_ROWS = 10_000


class Updates:
    """The last change of each database, in order; of the `MAX_ROWS` that changed last, deleted ones among them."""

    def __init__(self) -> None:
        self.last = 0
        self._rows: dict[str, tuple[int, str]] = {}
        self._waiting: list[asyncio.Future[None]] = []

    def note(self, name: str, kind: str) -> None:
        self.last += 1
        self._rows.pop(name, None)
        self._rows[name] = (self.last, kind)
        if len(self._rows) > MAX_ROWS:
            del self._rows[next(iter(self._rows))]
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    def since(self, seq: int) -> list[dict[str, str]]:
        return [
            {"db_name": name, "type": kind, "seq": str(number)}
            for name, (number, kind) in self._rows.items()
            if number > seq
        ]

    async def wait(self, after: int, timeout: float) -> bool:
        if self.last > after:
            return True
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await asyncio.wait_for(waiter, timeout)
        except TimeoutError:
            return False
        finally:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
        return True
