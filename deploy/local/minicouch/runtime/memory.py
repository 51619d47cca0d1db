"""Gives memory that is free inside the process back to the machine, where the C library can (glibc)."""

import ctypes
import gc

MAX_ARENAS = 2
M_ARENA_MAX = -8  # malloc.h
CALM_LOOKS = 3
CALM_SHARE = 0.1
WORTH_IT = 1.0
NEW_OBJECTS = 10_000


def limit_arenas() -> None:
    """Every thread has a heap of its own otherwise, which keeps what it once held. Before threads are started."""
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(M_ARENA_MAX, MAX_ARENAS)


def look_for_garbage_less_often() -> None:
    """The documents of a bulk are thousands of objects, and none of them garbage: to look through them after each 700 new ones, as Python
    does by itself, is a fifth of the work of writing them."""
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])


def give_back() -> None:
    gc.collect()
    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


class FreeMemory:
    """Says at which look there is something to give back, and little else to do.

    What counts is processor time: who asks now and then, as a shop does that nobody visits, does not keep a pause from being one.
    """

    def __init__(self) -> None:
        self._seen_at = self._seen = self._given_back = 0.0
        self._calm = 0

    def is_due(self, now: float, used: float) -> bool:
        """`now` on any clock, and the processor time `used` so far, in seconds. True once in a pause of CALM_LOOKS looks, between which
        at most CALM_SHARE of a processor was used, after WORTH_IT seconds' work or more."""
        is_calm = used - self._seen <= CALM_SHARE * (now - self._seen_at)
        self._calm = self._calm + 1 if is_calm else 0
        self._seen_at, self._seen = now, used
        if self._calm < CALM_LOOKS or used - self._given_back < WORTH_IT:
            return False
        self._given_back = used
        return True
