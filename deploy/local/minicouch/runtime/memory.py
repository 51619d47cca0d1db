"""Gives memory that is free inside the process back to the machine, where the C library can (glibc)."""

import ctypes
import gc

MAX_ARENAS = 2
M_ARENA_MAX = -8  # malloc.h


def limit_arenas() -> None:
    """Every thread has a heap of its own otherwise, which keeps what it once held. Before threads are started."""
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(M_ARENA_MAX, MAX_ARENAS)


def give_back() -> None:
    gc.collect()
    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
