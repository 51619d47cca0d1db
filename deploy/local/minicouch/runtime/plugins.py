"""Rooms imported at their first use, because they are heavy (V8) or not always needed."""

import importlib
from types import ModuleType

PACKAGE = __package__.rpartition(".")[0]


def load(room: str) -> ModuleType:
    return importlib.import_module(f"{PACKAGE}.{room}")
