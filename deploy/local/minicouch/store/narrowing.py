"""Which changes a scan may pass over without reading them: a condition in SQL."""

from dataclasses import dataclass
from typing import Any

from .rows import json_text


@dataclass(frozen=True)
class Narrowing:
    """`ids`: only these documents; `design`: only design documents."""

    ids: frozenset[str] | None = None
    design: bool = False

    def sql(self) -> tuple[str, list[Any]]:
        """A condition on a row of `docs`, and its values."""
        if self.design:
            return "id >= '_design/' AND id < '_design0'", []
        return "id IN (SELECT value FROM json_each(?))", [json_text(list(self.ids or ()))]
