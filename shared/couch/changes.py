"""The changes feed as a queue: what happened since a place, in order."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Change:
    """One document as it is now. `doc` is None when it was not asked for."""

    seq: str
    id: str
    rev: str
    deleted: bool
    doc: dict[str, Any] | None


@dataclass(frozen=True)
class Changes:
    """`last_seq` is where to ask from next; `pending` how many changes lie behind it (None when the server does not say)."""

    rows: list[Change]
    last_seq: str
    pending: int | None


def from_answer(answer: dict[str, Any]) -> Changes:
    rows = [
        Change(
            str(row["seq"]), row["id"], row["changes"][0]["rev"], row.get("deleted", False), row.get("doc")
        )
        for row in answer["results"]
    ]
    return Changes(rows, str(answer["last_seq"]), answer.get("pending"))
