"""What a document is: a two-part `_id`, a type, a schema number, named fields. Declarations, no I/O."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Generic, NotRequired, TypedDict, TypeVar, cast

Doc = dict[str, Any]
Document = Mapping[str, Any]
"""A document to be written or looked at, also one that a TypedDict declares."""
D = TypeVar("D")
"""A TypedDict that declares a type of document."""

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def document_id(partition: str, key: str) -> str:
    """`partition:key`. Raises ValueError for a partition key that CouchDB refuses (empty, `_` first, or a colon)."""
    if not partition or partition.startswith("_") or ":" in partition or not key:
        raise ValueError(
            f"{partition!r} and {key!r} make no document id: a partition key is not empty, holds no colon, does not begin with an underscore."
        )
    return f"{partition}:{key}"


def split_id(docid: str) -> tuple[str, str]:
    """The inverse of `document_id`; everything behind the first colon is the key."""
    partition, _, key = docid.partition(":")
    return partition, key


def time_ordered_id(moment: datetime | None = None) -> str:
    """26 characters whose text order is time order (ULID): 48 bits of milliseconds, 80 bits of randomness."""
    milliseconds = int((moment or datetime.now(UTC)).timestamp() * 1000)
    number = (milliseconds << 80) | int.from_bytes(os.urandom(10), "big")
    return "".join(_CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))


def moment_of(key: str) -> datetime:
    """When a `time_ordered_id` was made, to the millisecond."""
    milliseconds = 0
    for letter in key[:10]:
        milliseconds = milliseconds << 5 | _CROCKFORD.index(letter)
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def generation(rev: str) -> int:
    """How many times a document was written up to this revision: the number before its dash."""
    return int(rev.partition("-")[0])


def is_older(key: str, seconds: float) -> bool:
    """Whether a `time_ordered_id` was made more than so many seconds ago."""
    return key < time_ordered_id(datetime.now(UTC) - timedelta(seconds=seconds))


class StoredDocument(TypedDict):
    """What every document has: base of the TypedDicts that declare the others' fields."""

    _id: str
    _rev: NotRequired[str]
    type: str
    schema: int


_OF_ALL = StoredDocument.__required_keys__ | StoredDocument.__optional_keys__


@dataclass(frozen=True)
class DocumentType:
    """A kind of document and its fields. `upgrades[n]` turns the body of schema n into schema n + 1, so old shapes stay readable.

    `former_name`: what it was called in the last version; see `renaming`.
    """

    name: str
    fields: tuple[str, ...]
    optional: tuple[str, ...] = ()
    schema: int = 1
    upgrades: Mapping[int, Callable[[Doc], Doc]] = field(default_factory=dict)
    former_name: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that stored documents of this type may carry."""
        return (self.name, self.former_name) if self.former_name else (self.name,)

    @staticmethod
    def declared(
        name: str,
        document: type[D],
        schema: int = 1,
        upgrades: Mapping[int, Callable[[Doc], Doc]] | None = None,
        former_name: str = "",
    ) -> "DeclaredType[D]":
        """The type whose fields a TypedDict (a StoredDocument) declares; what is NotRequired there may be missing."""
        declared: Any = document
        fields = tuple(field for field in declared.__annotations__ if field not in _OF_ALL)
        optional = tuple(field for field in fields if field in declared.__optional_keys__)
        required = tuple(field for field in fields if field not in optional)
        return DeclaredType(name, required, optional, schema, upgrades or {}, former_name)

    def new(self, docid: str, **values: Any) -> Doc:
        """A document of this type. Raises TypeError when a field is missing or not of this type."""
        missing = [name for name in self.fields if name not in values]
        foreign = [name for name in values if name not in self.fields and name not in self.optional]
        if missing or foreign:
            raise TypeError(f"a {self.name} lacks {missing} and does not know {foreign}")
        return {"_id": docid, "type": self.name, "schema": self.schema, **values}

    def read(self, doc: Doc) -> Doc:
        """The document in today's shape. Raises ValueError for one written by newer code or of another type."""
        if doc.get("type") == self.name and doc.get("schema", 1) == self.schema:
            return doc
        if doc.get("type") not in self.names:
            raise ValueError(f"{doc.get('_id')} is a {doc.get('type')}, not a {self.name}")
        while (schema := doc.get("schema", 1)) != self.schema:
            if schema not in self.upgrades:
                raise ValueError(
                    f"{doc.get('_id')} has schema {schema}; this code reads {self.name} up to {self.schema}"
                )
            doc = {**self.upgrades[schema](doc), "schema": schema + 1}
        return doc if doc["type"] == self.name else {**doc, "type": self.name}

    def is_current(self, doc: Doc) -> bool:
        """Whether the document is stored under today's name and in today's shape, or by newer code."""
        return doc.get("type") == self.name and doc.get("schema", 1) >= self.schema


@dataclass(frozen=True)
class DeclaredType(DocumentType, Generic[D]):
    """A type whose documents the type checker knows, by the TypedDict that declares them."""

    def build(self, docid: str, **values: Any) -> D:
        """See `new`."""
        return cast(D, self.new(docid, **values))

    def typed(self, doc: Document | None) -> D | None:
        """A document that was read under an id of this type's."""
        return cast(D | None, doc)

    def among(self, docs: Iterable[Document]) -> list[D]:
        """Those of `docs` that are of this type, as a partition's read found them."""
        return [cast(D, doc) for doc in docs if doc["type"] in self.names]


class Shapes:
    """Document types that had another shape or name once: however a document was written, it is read as today's."""

    def __init__(self, types: Iterable[DocumentType]) -> None:
        changed = [kind for kind in types if kind.schema > 1 or kind.former_name]
        self._changed = {name: kind for kind in changed for name in kind.names}
        self.renamed: Final = {kind.name: kind.former_name for kind in changed if kind.former_name}

    def read(self, doc: Doc) -> Doc:
        """Raises ValueError for a document of newer code."""
        kind = self._changed.get(doc.get("type", "")) if self._changed else None
        return kind.read(doc) if kind else doc

    def is_current(self, doc: Doc) -> bool:
        """False for a document that `read` would change and that should be written anew."""
        kind = self._changed.get(doc.get("type", ""))
        return kind is None or kind.is_current(doc)

    def read_all(self, docs: list[Doc]) -> list[Doc]:
        return [self.read(doc) for doc in docs] if self._changed else docs

    def read_rows(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Rows of a view with the documents they include."""
        if not self._changed:
            return rows
        return [{**row, "doc": self.read(row["doc"])} if row.get("doc") else row for row in rows]


def without_revision(doc: Document) -> dict[str, Any]:
    """What a writer says of a document: two writes of the same are alike in it."""
    return {name: value for name, value in doc.items() if name != "_rev"}
