"""Answers of searches, kept for as long as the index they come from stays as it is."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import orjson

MAX_BYTES = 8 << 20
ROW_BYTES = 120  # what a row takes in memory beside its text


@dataclass(frozen=True, slots=True)
class Answer:
    """JSON without the documents, which are read anew each time: `rows` are (document id, members of the row)."""

    head: bytes
    tail: bytes
    rows: list[tuple[str, bytes]]
    include_docs: bool
    stale: bool  # asked of the index as it is, however far it is behind

    @property
    def docids(self) -> list[str]:
        return [docid for docid, _ in self.rows]

    @property
    def size(self) -> int:
        return len(self.head) + len(self.tail) + sum(ROW_BYTES + len(text) for _, text in self.rows)

    def json(self, docs: list[bytes]) -> bytes:
        """The whole; `docs` has the document of each row when they are to be shown."""
        if self.include_docs:
            rows = [b'%s,"doc":%s}' % (text, doc) for (_, text), doc in zip(self.rows, docs, strict=True)]
        else:
            rows = [text + b"}" for _, text in self.rows]
        return b'%s,"rows":[%s]%s\n' % (self.head, b",".join(rows), self.tail)


def answer(
    head: dict[str, Any], rows: list[dict[str, Any]], tail: dict[str, Any], include_docs: bool, stale: bool
) -> Answer:
    """Of the members before and behind the rows, of which each has an `id`."""
    texts = [(row["id"], orjson.dumps(row)[:-1]) for row in rows]
    end = b"," + orjson.dumps(tail)[1:] if tail else b"}"
    return Answer(orjson.dumps(head)[:-1], end, texts, include_docs, stale)


class AnswerCache:
    """The answers last asked for, by what a request said; used from the event loop only."""

    def __init__(self) -> None:
        self._known: OrderedDict[Any, Answer] = OrderedDict()
        self._bytes = 0

    def get(self, key: Any) -> Answer | None:
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
        return found

    def put(self, key: Any, found: Answer) -> None:
        before = self._known.pop(key, None)
        self._known[key] = found
        self._bytes += found.size - (before.size if before is not None else 0)
        while self._bytes > MAX_BYTES:
            _, oldest = self._known.popitem(last=False)
            self._bytes -= oldest.size
