"""Parts loaded at their first use, because they are heavy (V8) or not always needed."""

import importlib
from types import ModuleType


def load(name: str) -> ModuleType:
    return importlib.import_module(f"{__package__}.{name}")
