"""Access patterns as named declarations beside the documents they read: a question in English, where it is asked, the key order.

Nothing here talks to a server; `design` turns these into design documents.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .documents import DocumentType


def view_source(beside: str, name: str) -> str:
    """The map function kept in `views/{name}.js` next to the module `beside` (its `__file__`)."""
    return (Path(beside).parent / "views" / f"{name}.js").read_text(encoding="utf-8").strip()


class AccessPattern(Protocol):
    """What `prepare` needs of a declaration."""

    @property
    def name(self) -> str: ...

    @property
    def question(self) -> str: ...

    @property
    def partitioned(self) -> bool: ...

    @property
    def design_id(self) -> str: ...

    def design_document(self) -> dict[str, Any]: ...


class Declared:
    """Names a design document after its content: a changed declaration is another document, built beside the old one."""

    if TYPE_CHECKING:

        @property
        def name(self) -> str: ...

    def design_document(self) -> dict[str, Any]:
        raise TypeError(f"{type(self).__name__} declares no design document")

    @cached_property
    def design_id(self) -> str:
        """`name-0123456789`, without `_design/`."""
        content = json.dumps(self.design_document(), sort_keys=True, separators=(",", ":"))
        return f"{self.name}-{hashlib.sha256(content.encode()).hexdigest()[:10]}"


@dataclass(frozen=True)
class FindIndex(Declared):
    """A Mango JSON index. `partial` is the partial filter: only documents it matches are in the index (a sparse index)."""

    name: str
    question: str
    fields: tuple[str, ...]
    partitioned: bool = True
    partial: Any = None

    def definition(self) -> dict[str, Any]:
        """The `index` member of a POST to `_index`."""
        fields = [{name: "asc"} for name in self.fields]
        return {"fields": fields} | ({"partial_filter_selector": self.partial} if self.partial else {})

    def design_document(self) -> dict[str, Any]:
        return {"index": self.definition(), "partitioned": self.partitioned}


@dataclass(frozen=True)
class View(Declared):
    """A map/reduce view. `map` is JavaScript; `reduce` one of CouchDB's built-in reducers or None."""

    name: str
    question: str
    map: str
    reduce: str | None = None
    partitioned: bool = False

    def design_document(self) -> dict[str, Any]:
        view = {"map": self.map} | ({"reduce": self.reduce} if self.reduce else {})
        return {
            "language": "javascript",
            "options": {"partitioned": self.partitioned},
            "views": {self.name: view},
        }


@dataclass(frozen=True)
class DatabaseDesign:
    """A database and every question asked of it; a service's `documents.py` exports one.

    `types`: those with `upgrades` or a `former_name`, so that documents written before are read as today's.
    """

    name: str
    patterns: tuple[AccessPattern, ...]
    partitioned: bool = True
    types: tuple[DocumentType, ...] = ()
