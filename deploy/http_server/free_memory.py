"""Gives memory that is free inside the process back to the machine when requests pause, where the C library can (glibc)."""

import ctypes
import gc
from collections.abc import Callable
from typing import Final

CALM_LOOKS: Final = 3
WORTH_IT: Final = 20
"""Requests that leave something to give back: that somebody asks now and then whether we are ready does not."""


def give_back() -> None:
    """What is garbage is freed, and what is free between what is used leaves the process."""
    gc.collect()
    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


class FreeMemory:
    """Looked at once a second: answers of many sizes leave holes, a third of a service's memory after some thousand of them."""

    def __init__(self, give_back: Callable[[], None] = give_back) -> None:
        self._give_back = give_back
        self._seen = self._given_back_at = self._calm = 0

    def look(self, answered: int) -> None:
        """`answered`: requests so far. Acts once in each pause of CALM_LOOKS looks that comes after enough of them."""
        if answered != self._seen:
            self._seen, self._calm = answered, 0
            return
        self._calm += 1
        if self._calm >= CALM_LOOKS and answered - self._given_back_at >= WORTH_IT:
            self._given_back_at = answered
            self._give_back()
