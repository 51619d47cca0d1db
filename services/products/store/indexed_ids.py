"""Which products and SKUs the index of them is known to have, so that it may be asked as it is."""

from collections.abc import Iterable
from typing import Final

MOST_IDS: Final = 20_000


class IndexedIds:
    """What one process has found in the index. It may have left since: whoever relies on it looks at the answer."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def have_all(self, ids: Iterable[str]) -> bool:
        return self._ids.issuperset(ids)

    def add(self, ids: Iterable[str]) -> None:
        if len(self._ids) > MOST_IDS:
            self._ids.clear()
        self._ids.update(ids)

    def remove(self, ids: Iterable[str]) -> None:
        self._ids.difference_update(ids)
