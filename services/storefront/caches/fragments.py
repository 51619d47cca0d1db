"""Parts of pages that depend on kept answers alone, drawn once for each answer."""

from collections.abc import Callable
from typing import Any


class Fragments:
    """By name, the last one drawn, good while it was drawn from the very same answers."""

    def __init__(self, max_kept: int = 200) -> None:
        self._kept: dict[str, tuple[tuple[Any, ...], str]] = {}
        self._max_kept = max_kept

    def get(self, name: str, answers: tuple[Any, ...], draw: Callable[[], str]) -> str:
        found = self._kept.get(name)
        if found is not None and all(one is other for one, other in zip(found[0], answers, strict=True)):
            return found[1]
        if len(self._kept) >= self._max_kept:
            self._kept.clear()
        drawn = draw()
        self._kept[name] = answers, drawn
        return drawn
