"""One search index on disk: a tantivy directory, and a state file that names its fields and its sequence.

Tantivy fixes a schema for good, an index function makes up fields as it goes. So the schema has numbered slots for
texts, numbers and facets, a field takes the next free one when it is first met, and when they are used up the index
is built again with twice as many.
"""

import hashlib
import itertools
import math
import re
import shutil
import struct
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import tantivy

from ..errors import bad_request
from .analysis import KEYWORD, Analyzers
from .answers import AnswerCache

HEAP = 15_000_000
FORMAT = 5
SEPARATOR, GAP = "\x1f", "\x1e"
MAX_SORT_TEXT = 200
ORDER_BYTES, WHOLE_ORDERS = 8, ("", "b", "c")
"""A text's order is its first bytes as a number; that of one that is a term as it is goes on in two columns more."""
_ORDERS = struct.Struct(f">{len(WHOLE_ORDERS)}Q")
FIRST_SLOTS = 32
KEPT_RECORDS = 2048  # unpacking one from the index costs more than all else of a hit
KEPT_QUERIES = 1024
MAX_PREFIX_TERMS, MAX_COUNTED_TERMS = 256, 4096
MAX_TERM_BYTES = 65_530
"""A longer value is in a facet's column, but tantivy lists no documents for it."""
MAX_LISTED_VALUES = 1000
NEAR_END, MAX_END_VALUES = 1024, 128
KINDS = ("text", "number", "facet")
_NOUVEAU_NAME = r"^\$?[a-zA-Z][a-zA-Z0-9_]*$"

Emitted = Sequence[Any]  # [name, value, options] as the index function gave them


class SlotsFull(Exception):
    """More fields than the schema has room for: build again with more slots."""


@dataclass(slots=True)
class Entry:
    """A document as it goes into the index."""

    docid: str
    seq: int
    partition: str | None
    texts: dict[str, list[str]] = field(default_factory=dict)
    numbers: dict[str, list[float]] = field(default_factory=dict)
    facets: dict[str, list[str]] = field(default_factory=dict)
    stored: dict[str, Any] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)  # texts that are one term as they are, whatever the analyzer
    types: list[tuple[str, str]] = field(default_factory=list)  # of Nouveau's fields, which have one each

    @property
    def filled(self) -> bool:
        """Has it anything but its id? Documents that emit nothing are not in the index."""
        return len(self.texts) > 1 or bool(self.numbers or self.stored)

    def digest(self) -> str:
        """Of all that the index holds of the document; another revision with the same digest is indexed already."""
        content = [self.partition, self.texts, self.numbers, self.facets, self.stored, sorted(self.whole)]
        return hashlib.blake2b(orjson.dumps(content), digest_size=12).hexdigest()


def entry(docid: str, seq: int, partition: str | None, emitted: Iterable[Emitted]) -> Entry:
    """Sort out what an index function emitted for a document; values that cannot be indexed are left out."""
    made = Entry(docid, seq, partition, {"_id": [docid]})
    for name, value, options in emitted:
        options = options if isinstance(options, dict) else {}
        if isinstance(value, bool):
            value = "true" if value else "false"
        if not isinstance(value, str | int | float):
            continue
        if options.get("store") in (True, "yes"):
            _keep(made.stored, name, value)
        if options.get("index") in (False, "no"):
            continue
        if isinstance(value, str):
            made.texts.setdefault(name, []).append(value)
            if options.get("facet") is True:
                made.facets.setdefault(name, []).append(value)
        else:
            made.numbers.setdefault(name, []).append(float(value))
    return made


def nouveau_entry(docid: str, seq: int, partition: str | None, emitted: Iterable[dict[str, Any]]) -> Entry:
    """The same for Nouveau's fields: `{"@type", "name", "value", "store"}` of text, string, double and stored. Errors: 400 for a name that
    Nouveau does not take; one document with such a field keeps the whole index from being built."""
    made = Entry(docid, seq, partition, {"_id": [docid]})
    refused = []
    for number, found in enumerate(emitted):
        if not _is_nouveau_name(found["name"]):
            refused.append(f'fields[{number}].name must match "{_NOUVEAU_NAME}"')
        kind, name, value = found["@type"], found["name"], found["value"]
        made.types.append((name, kind.upper()))
        if kind == "stored" or found.get("store") is True:
            _keep(made.stored, name, value if isinstance(value, str) else float(value))
        if kind == "double":
            made.numbers.setdefault(name, []).append(float(value))
        elif kind in ("text", "string"):
            made.texts.setdefault(name, []).append(value)
        if kind == "string":
            made.facets.setdefault(name, []).append(value)
            made.whole.add(name)
    if refused:
        raise bad_request(" and ".join(refused))
    for values in (*made.numbers.values(), *(made.texts[name] for name in made.whole)):
        values.sort()  # a document with several values is sorted by the least
    return made


@lru_cache(1024)
def _is_nouveau_name(name: str) -> bool:
    return re.match(_NOUVEAU_NAME, name) is not None


def _keep(stored: dict[str, Any], name: str, value: Any) -> None:
    if name not in stored:
        stored[name] = value
    elif isinstance(stored[name], list):
        stored[name].append(value)
    else:
        stored[name] = [stored[name], value]


class Generation:
    """The index as one commit left it, and what was found out about it: right until the next commit."""

    def __init__(self, searcher: tantivy.Searcher, documents: int) -> None:
        self.searcher = searcher
        self.documents = documents  # the removed ones too, that scores are reckoned with
        self.beginnings = lru_cache(KEPT_QUERIES)(self._beginnings)
        self.record = lru_cache(KEPT_RECORDS)(self._record)
        self.has_everywhere = lru_cache(KEPT_QUERIES)(self._has_everywhere)
        self.end_values = lru_cache(KEPT_QUERIES)(self._end_values)
        self.several_values = lru_cache(KEPT_QUERIES)(self._several_values)
        self.queries: dict[str, tantivy.Query] = {}
        self.most: dict[Any, float] = {}  # the best score of a term
        self.sizes: dict[Any, int] = {}  # how many documents have one of some terms
        self.patterns: dict[tuple[str, str], tuple[str, ...] | None] = {}  # see `patterns.py`
        self.answers = AnswerCache()

    def _beginnings(self, field: str, beginning: str) -> tuple[tuple[str, ...] | None, float]:
        """The terms that begin so, None for many, and in how many documents they are at most: infinite for very many, as numbers go on. Each read
        by itself, they are skipped through beside other words; what a pattern finds is gathered from end to end."""
        if beginning.isdecimal():
            return None, math.inf
        terms = self.searcher.terms_with_prefix(field, beginning)
        documents = sum(count for _, count in terms)
        if len(terms) > MAX_PREFIX_TERMS:
            return None, documents if len(terms) <= MAX_COUNTED_TERMS else math.inf
        return tuple(term for term, _ in terms), documents

    def _has_everywhere(self, column: str) -> bool:
        """Whether every document has a value in a column of one value each."""
        asked = {"there": {"value_count": {"field": column}}}
        counted = self.searcher.aggregate(tantivy.Query.all_query(), asked)
        return bool(counted["there"]["value"] == self.searcher.num_docs)

    def _end_values(self, column: str, *, descending: bool) -> tuple[float, ...]:
        """The first numbers in the order of a column of one value each that every document has: of so many documents, no more than some hundred."""
        order = tantivy.Order.Desc if descending else tantivy.Order.Asc
        everything = tantivy.Query.all_query()
        found = self.searcher.search(
            everything, limit=NEAR_END, count=False, order_by_field=column, order=order
        )
        values = dict.fromkeys(value for value, _ in found.hits)
        return tuple(itertools.islice(values, MAX_END_VALUES))

    def _several_values(self, column: str) -> int:
        """How many values all documents together have of a facet field of which some have several; 0 for any other, and for one of very many."""
        listed = self.searcher.terms_with_prefix(column, "", limit=MAX_LISTED_VALUES + 1)
        values = sum(count for _, count in listed)
        return values if len(listed) <= MAX_LISTED_VALUES and values > self.documents else 0

    def _record(self, segment: int, number: int) -> bytes:
        return bytes(self.searcher.doc(tantivy.DocAddress(segment, number))["record"][0])


class SearchIndex:
    """Reading is safe from any thread; one thread writes at a time (`building`)."""

    def __init__(self, directory: Path, analyzers: Analyzers) -> None:
        self.directory = directory
        self.analyzers = analyzers
        self.building = threading.Lock()
        self.closed = False
        self._path = directory / "tantivy"
        self._state_path = directory / "state.json"
        self.seq = self.size = 0
        self.reload()

    def reload(self) -> None:
        """See what another process has written; `building` is held while one writes. An empty index when there is none.

        The sequence is the last to change: who sees it finds what was written up to it.
        """
        state = self._read_state()
        if state is None:
            self._start(FIRST_SLOTS)
            self._open()
            return
        is_open = self.seq and self.size == state["size"]
        self.size, self.slots, self.multivalued = state["size"], state["slots"], set(state["multivalued"])
        self.types, self.unlisted = state["types"], _set_or_none(state.get("unlisted"))
        if is_open:
            if self._last_commit() != self._commit_read:
                self._refresh()
        else:
            self.seq = 0
            self._open()
        self.seq = state["seq"]

    def _read_state(self) -> dict[str, Any] | None:
        """None when there is no index, or none that this version can read."""
        try:
            state = orjson.loads(self._state_path.read_bytes())
        except (FileNotFoundError, orjson.JSONDecodeError):
            return None
        return state if state.get("format") == FORMAT and tantivy.Index.exists(str(self._path)) else None

    def _start(self, size: int) -> None:
        """Begin again with an empty index of that many slots a kind."""
        shutil.rmtree(self._path, ignore_errors=True)
        self._state_path.unlink(missing_ok=True)
        self._path.mkdir()
        self.seq, self.size = 0, size
        self.slots: dict[str, dict[str, int]] = {kind: {} for kind in KINDS}
        self.multivalued: set[str] = set()  # fields of which a document has more than one number
        self.types: dict[str, str] = {}  # of Nouveau's fields: STRING, TEXT, DOUBLE or STORED
        self.unlisted: set[str] | None = set()  # see `is_listed`

    def grow(self) -> None:
        self._start(self.size * 2)
        self._open()

    def _open(self) -> None:
        self.schema = _schema(self.size)
        self._index = tantivy.Index(self.schema, path=str(self._path))
        tokens = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(f"[^{SEPARATOR}]+")).build()
        self._index.register_tokenizer("terms", tokens)
        self._index.config_reader("manual")
        self._refresh()

    def _refresh(self) -> None:
        """Read the index as it is now; what is known of it from before belongs to the old one."""
        self._commit_read = self._last_commit()
        self._index.reload()
        segments = orjson.loads(self._commit_read)["segments"]
        self.generation = Generation(self._index.searcher(), sum(each["max_doc"] for each in segments))

    def _last_commit(self) -> bytes:
        """What names the segments: another after each commit."""
        return (self._path / "meta.json").read_bytes()

    @property
    def searcher(self) -> tantivy.Searcher:
        return self.generation.searcher

    def record(self, searcher: tantivy.Searcher, address: tantivy.DocAddress) -> bytes:
        """What is kept of a document of `searcher`: [id, sequence, stored fields, texts to sort by, digest]."""
        generation = self.generation
        if searcher is generation.searcher:
            return generation.record(address.segment_ord, address.doc)
        return bytes(searcher.doc(address)["record"][0])

    def compiled(self, text: str, make: Callable[[], tantivy.Query]) -> tantivy.Query:
        """The query that `make` gives, kept until the index changes."""
        kept = self.generation.queries
        query = kept.get(text)
        if query is None:
            if len(kept) >= KEPT_QUERIES:
                kept.clear()
            query = kept[text] = make()
        return query

    def field(self, kind: str, name: str) -> str | None:
        """The schema's name of a field, None when no document has it."""
        slot = self.slots[kind].get(name)
        return None if slot is None else f"{kind}{slot}"

    def is_listed(self, name: str) -> bool:
        """Whether tantivy lists the documents of each value of a facet field; nobody knows in an index that an earlier version began."""
        return self.unlisted is not None and name not in self.unlisted

    def order_columns(self, name: str) -> list[str]:
        """The columns by which a text field is sorted, each deciding among what is equal in those before it."""
        ends = WHOLE_ORDERS if self.analyzers.of(name) is KEYWORD else WHOLE_ORDERS[:1]
        return [f"order{self.slots['text'][name]}{end}" for end in ends]

    def apply(
        self, entries: Iterable[Entry], gone: Iterable[str], seq: int, unknown: Collection[str] = ()
    ) -> None:
        """Replace documents, remove others, and be at `seq`; `unknown` are not looked for. Errors: SlotsFull, and 400 for a field of Nouveau's
        that has another type in an earlier document; with nothing changed.

        What is indexed already as it is stays untouched: each commit adds a segment and empties the caches, so that
        changes of fields that no index function reads (the stock of a product that is sold) would make searches slow.
        """
        changed, removed = list(entries), list(gone)
        self.types = self._with_types(changed)
        if self.seq:
            changed = [
                made
                for made in changed
                if made.docid in unknown or made.digest() != self._digest_of(made.docid)
            ]
            removed = [docid for docid in removed if self._digest_of(docid) is not None]
        if changed or removed or not self.seq:
            self._commit(changed, removed)
        self.seq = seq
        self._write_state()

    def _with_types(self, entries: list[Entry]) -> dict[str, str]:
        types = dict(self.types)
        for name, kind in itertools.chain.from_iterable(made.types for made in entries):
            if types.setdefault(name, kind) != kind:
                raise bad_request(f"field {name} is of type {kind} not {types[name]}")
        return types

    def _commit(self, changed: list[Entry], removed: list[str]) -> None:
        with self._index.writer(HEAP, 1) as writer:
            for docid in removed:
                writer.delete_documents_by_term("docid", docid)
            for made in changed:
                if self.seq:
                    writer.delete_documents_by_term("docid", made.docid)
                writer.add_document(self._document(made))
        self._refresh()

    def _digest_of(self, docid: str) -> str | None:
        """The digest of a document as it is indexed; None when it is not."""
        searcher = self.searcher
        query = tantivy.Query.term_query(self.schema, "docid", docid)
        hits = searcher.search(query, 1, count=False).hits
        return orjson.loads(self.record(searcher, hits[0][1]))[4] if hits else None

    def _write_state(self) -> None:
        state = {
            "format": FORMAT,
            "seq": self.seq,
            "size": self.size,
            "slots": self.slots,
            "multivalued": sorted(self.multivalued),
            "types": self.types,
            "unlisted": None if self.unlisted is None else sorted(self.unlisted),
        }
        fresh = self._state_path.with_suffix(".new")
        fresh.write_bytes(orjson.dumps(state))
        fresh.replace(self._state_path)

    def _slot(self, kind: str, name: str) -> int:
        taken = self.slots[kind]
        if name not in taken:
            if len(taken) >= self.size:
                raise SlotsFull
            taken[name] = len(taken)
        return taken[name]

    def _document(self, made: Entry) -> tantivy.Document:
        document = tantivy.Document()
        document.add_text("docid", made.docid)
        document.add_unsigned("seq", made.seq)
        if made.partition is not None:
            document.add_text("partition", made.partition)
        sortable: dict[str, str] = {}
        for name, values in made.texts.items():
            slot = self._slot("text", name)
            document.add_text(f"text{slot}", self._terms(name, values, name in made.whole))
            if len(values[0]) <= MAX_SORT_TEXT and name != "_id":
                sortable[name] = values[0]
                for column, number in zip(self.order_columns(name), order_prefixes(values[0]), strict=False):
                    document.add_unsigned(column, number)
        for name, numbers in made.numbers.items():
            slot = self._slot("number", name)
            if len(numbers) > 1:
                self.multivalued.add(name)
            for number in numbers:
                document.add_float(f"number{slot}", number)
        for name, values in made.facets.items():
            slot = self._slot("facet", name)
            if self.unlisted is not None and any(len(each.encode()) > MAX_TERM_BYTES for each in values):
                self.unlisted.add(name)
            for value in values:
                document.add_text(f"facet{slot}", value)
        record = [made.docid, made.seq, made.stored, sortable, made.digest()]
        document.add_bytes("record", orjson.dumps(record))
        return document

    def _terms(self, name: str, values: list[str], whole: bool) -> str:
        """The terms joined for the tokenizer, with a filler where positions have gaps, as behind a stop word."""
        analyzer = KEYWORD if whole else self.analyzers.of(name)
        joined: list[str | None] = []
        for value in values:
            if SEPARATOR in value or GAP in value:
                value = value.replace(SEPARATOR, " ").replace(GAP, " ")
            joined += analyzer.places(value)
        return SEPARATOR.join([GAP if term is None else term for term in joined])

    def size_on_disk(self) -> int:
        return sum(path.stat().st_size for path in self._path.iterdir() if path.is_file())

    def close(self) -> None:
        self.closed = True


def _set_or_none(names: list[str] | None) -> set[str] | None:
    return None if names is None else set(names)


def order_prefixes(text: str) -> tuple[int, ...]:
    """The first bytes of a text as numbers: what texts are sorted by before they are read."""
    return _ORDERS.unpack(text.encode()[: _ORDERS.size].ljust(_ORDERS.size, b"\0"))


def _schema(size: int) -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("docid", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("partition", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("seq", fast=True)
    builder.add_bytes_field("record", stored=True)
    for slot in range(size):
        builder.add_text_field(f"text{slot}", tokenizer_name="terms", index_option="position")
        for end in WHOLE_ORDERS:
            builder.add_unsigned_field(f"order{slot}{end}", fast=True)
        builder.add_float_field(f"number{slot}", indexed=True, fast=True)
        builder.add_text_field(f"facet{slot}", fast=True, tokenizer_name="raw", index_option="basic")
    return builder.build()
