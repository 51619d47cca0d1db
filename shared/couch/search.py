"""A text search index as a declaration, and queries in which the user's text is data, never syntax. No I/O."""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from shared.couch.indexes import Declared

_WORD = re.compile(r"\w+", re.UNICODE)


@dataclass(frozen=True)
class SearchField:
    """One indexed field. `path` may be dotted; `each` marks an array; `weight` multiplies its hits; `facet` makes it countable."""

    path: str
    kind: Literal["text", "keyword", "number"] = "text"
    weight: int = 1
    facet: bool = False
    each: bool = False

    @property
    def name(self) -> str:
        return self.path.replace(".", "_")


@dataclass(frozen=True)
class SearchIndex(Declared):
    """A full-text index over the documents that have all members of `only`."""

    name: str
    question: str
    fields: tuple[SearchField, ...]
    only: tuple[tuple[str, Any], ...] = ()
    partitioned: bool = False

    def index_function(self) -> str:
        """The JavaScript that `_search` and `_nouveau` run over every document."""
        guard = (
            " || ".join(f"doc[{json.dumps(name)}] !== {json.dumps(value)}" for name, value in self.only)
            or "false"
        )
        lines = [_index_line(each) for each in self.fields]
        return "\n".join(["function (doc) {", f"  if ({guard}) return;", "  var v;", *lines, "}"])

    def design_document(self) -> dict[str, Any]:
        keywords = {each.name: "keyword" for each in self.fields if each.kind == "keyword"}
        analyzer = {"name": "perfield", "default": "standard", "fields": keywords}
        index = {"index": self.index_function(), "analyzer": analyzer}
        return {"options": {"partitioned": self.partitioned}, "indexes": {self.name: index}}


def _index_line(field: SearchField) -> str:
    getter = "".join(f"[{json.dumps(part)}]" for part in field.path.split("."))
    guarded = " && ".join(
        "doc" + "".join(f"[{json.dumps(p)}]" for p in field.path.split(".")[: n + 1])
        for n in range(field.path.count("."))
    )
    value = f"{guarded} && doc{getter}" if guarded else f"doc{getter}"
    kind = "number" if field.kind == "number" else "string"
    options = json.dumps({"facet": True} if field.facet else {})
    put = f"if (typeof x === '{kind}') index({json.dumps(field.name)}, x, {options});"
    return f"  v = {value}; (Array.isArray(v) ? v : [v]).forEach(function (x) {{ {put} }});"


def words_of(text: str) -> list[str]:
    """The words a person typed, lower case, without anything that a query language could read as syntax."""
    return [word.lower() for word in _WORD.findall(text)]


def quoted(value: str) -> str:
    """A value as one exact term of the query language."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
