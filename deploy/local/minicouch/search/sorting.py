"""Orders of hits: by relevance, or by fields; numbers come from columns, texts are read only where they decide."""

import re
from dataclasses import dataclass
from typing import Any

import orjson
import tantivy

from ..errors import CouchError, bad_request
from . import pruning
from .engine import SearchIndex, order_prefixes
from .matching import Matching
from .ordering import SEQUENCE, Column, Ordering, columns_of, place_of

_SORT = re.compile(r"([-+])?([.\w]+)(?:<(\w+)>)?")
SLACK = 100
Address = tantivy.DocAddress


@dataclass(frozen=True, slots=True)
class Key:
    """One sort criterion: a field of `kind` number or text (`_id` among them), or `score` or `doc`."""

    name: str
    kind: str
    descending: bool


@dataclass(slots=True)
class Hit:
    """A found document; `order` is what it was sorted by, the rest is read by `load`."""

    order: list[Any]
    address: Address
    docid: str = ""
    seq: int = 0
    stored: dict[str, Any] | None = None
    texts: dict[str, str] | None = None


def parse_sort(value: Any) -> list[Key]:
    """The criteria of `sort`; [] is relevance. Errors: 400."""
    if value in (None, "relevance", []):
        return []
    items = value if isinstance(value, list) else [value]
    return [_parse_key(item) for item in items]


def _parse_key(item: Any) -> Key:
    if item in ("<score>", "-<score>", "<doc>", "-<doc>"):
        # Scores are best first unless a minus turns them round, as in Lucene.
        name = item.strip("-<>")
        return Key(name, name, (name == "score") != item.startswith("-"))
    found = _SORT.fullmatch(item) if isinstance(item, str) else None
    if found is None:
        raise CouchError(400, "bad_request", f"Unrecognized sort parameter: {item}")
    kind = {"number": "number", None: "number", "string": "text"}.get(found[3])
    if kind is None:
        raise CouchError(400, "bad_request", f"Unrecognized type: {found[3]}")
    return Key(found[2], kind, found[1] == "-")


def load(index: SearchIndex, searcher: tantivy.Searcher, hit: Hit) -> Hit:
    """Read what the index keeps of the document."""
    if hit.stored is None:
        record = orjson.loads(index.record(searcher, hit.address))
        hit.docid, hit.seq, hit.stored, hit.texts, _ = record
    return hit


@dataclass(slots=True)
class Page:
    """`first` is how many hits came before these, where that is known; `bookmark` what the next page begins after."""

    hits: list[Hit]
    total: int
    bookmark: list[Any] | None
    first: int = 0


def by_relevance(matching: Matching, limit: int, after: list[Any] | None) -> Page:
    """`after` is (position, document id) of the last hit shown: the position leads there, the id says whether it moved."""
    start = after[0] if after else 0
    index, searcher = matching.index, matching.searcher
    scored, total = _best(matching, max(1, start + limit + (SLACK if after else 0)))
    hits = [Hit([score, address.doc], address) for score, address in scored]
    if after:
        nearby = range(max(0, start - SLACK), len(hits))
        here = (n + 1 for n in nearby if load(index, searcher, hits[n]).docid == after[1])
        start = next(here, min(start, len(hits)))
    page = [load(index, searcher, hit) for hit in hits[start : start + limit]]
    bookmark = [start + len(page), page[-1].docid] if page else after
    return Page(page, total, bookmark, start)


def _best(matching: Matching, limit: int) -> tuple[list[tuple[float, Address]], int]:
    """The first hits, and how many there are."""
    matching.begin_counting()
    best = pruning.best(
        matching.index, matching.searcher, matching.compiler, matching.tree, matching.filters, limit
    )
    if best is not None:
        return best, matching.total()
    if matching.is_counted:
        return list(matching.searcher.search(matching.query, limit=limit, count=False).hits), matching.total()
    found = matching.searcher.search(matching.query, limit=limit)
    return list(found.hits), found.count


def by_fields(matching: Matching, keys: list[Key], limit: int, after: list[Any] | None) -> Page:
    """`after` is (values, sequence) of the last hit shown; of equal hits that comes first which was written first."""
    index, searcher = matching.index, matching.searcher
    if after and not isinstance(after[1], int):  # of a version that told equal hits apart by their ids
        raise bad_request("Invalid bookmark parameter supplied")
    scored = _by_columns(matching, keys, limit, after)
    if scored is None:
        scored = _among_all(matching, keys, limit, after)
    hits = arranged(index, searcher, scored, keys)
    if after:
        place = _ranks(keys, after[0]), after[1]
        hits = [hit for hit in hits if (_ranks(keys, hit.order), hit.seq) > place]
    page = [load(index, searcher, hit) for hit in hits[:limit]]
    bookmark = [page[-1].order[: len(keys)], page[-1].seq] if page else after
    return Page(page, matching.total(), bookmark)


def _by_columns(
    matching: Matching, keys: list[Key], limit: int, after: list[Any] | None
) -> list[tuple[float, Address]] | None:
    """The hits that may be on the page, by the columns of the first criterion; None where these do not decide."""
    first = keys[0]
    if any(key.kind in ("score", "doc") for key in keys):
        return None
    columns = columns_of(matching, first.kind, first.name, descending=first.descending)
    if not columns or (after and after[0][0] is None):
        return None
    if keys == [first] and first.kind == "number":
        columns.append(Column(SEQUENCE, tantivy.FieldType.Unsigned))
    matching.begin_counting()
    ordering, query = Ordering(matching), matching.unscored
    if not after:
        found = ordering.first(query, columns, limit)
    else:
        place = place_of(first.kind, after[0][0], after[1], columns)
        found = ordering.at(query, columns, place) + ordering.behind(query, columns, limit, place)
    return [(0.0, address) for address in found]


def _among_all(
    matching: Matching, keys: list[Key], limit: int, after: list[Any] | None
) -> list[tuple[float, Address]]:
    """The same, chosen among all hits."""
    matching.begin_counting()
    searcher = matching.searcher
    found = searcher.search(matching.query, limit=max(1, searcher.num_docs), count=False)
    scored = [(score, address) for score, address in found.hits]
    coarse = _coarse(matching.index, searcher, scored, keys[0])
    return [scored[n] for n in _candidates(coarse, keys[0], limit, after)]


def _coarse(
    index: SearchIndex, searcher: tantivy.Searcher, scored: list[tuple[float, Address]], key: Key
) -> list[float]:
    """What the first criterion roughly says of each hit: a number, or the beginning of a text as one."""
    if key.kind == "score":
        return [score for score, _ in scored]
    if key.kind == "doc":
        return [address.doc for _, address in scored]
    if key.name == "_id":
        return [0.0] * len(scored)
    values = _column(index, searcher, [address for _, address in scored], key)
    return [-1 if value is None and key.kind == "text" else value or 0 for value in values]


def _column(index: SearchIndex, searcher: tantivy.Searcher, addresses: list[Address], key: Key) -> list[Any]:
    slot = index.field(key.kind, key.name)
    if slot is None or not addresses:
        return [None] * len(addresses)
    name = slot if key.kind == "number" else slot.replace("text", "order")
    return searcher.fast_field_values(name, addresses)


def _candidates(coarse: list[float], key: Key, limit: int, after: list[Any] | None) -> list[int]:
    """The hits that may be on the page: the next ones in rough order, and all that tie with the last of them."""
    sign = -1 if key.descending else 1
    order = sorted(range(len(coarse)), key=lambda n: sign * coarse[n])
    begin = 0
    if after:
        least = sign * _rough(key, after[0][0])
        begin = next((n for n, hit in enumerate(order) if sign * coarse[hit] >= least), len(order))
        tied = sum(sign * coarse[hit] == least for hit in order[begin:])
        limit += tied
    end = begin + limit
    while 0 < end < len(order) and coarse[order[end]] == coarse[order[end - 1]]:
        end += 1
    return order[begin:end]


def _rough(key: Key, value: Any) -> float:
    if key.name == "_id":
        return 0
    if key.kind != "text":
        return value or 0
    return -1 if value is None else order_prefixes(value)[0]


def arranged(
    index: SearchIndex, searcher: tantivy.Searcher, scored: list[tuple[float, Address]], keys: list[Key]
) -> list[Hit]:
    """Hits in their exact order; what the index keeps of them is read only where texts decide."""
    addresses = [address for _, address in scored]
    sequences = searcher.fast_field_values("seq", addresses) if addresses else []
    hits = [Hit([], address, seq=seq) for address, seq in zip(addresses, sequences, strict=True)]
    if any(key.kind == "text" for key in keys):
        hits = [load(index, searcher, hit) for hit in hits]
    columns = [_values(index, searcher, scored, hits, key) for key in keys]
    for n, hit in enumerate(hits):
        hit.order = [*(column[n] for column in columns), hit.address.doc]
    return sorted(hits, key=lambda hit: (_ranks(keys, hit.order), hit.seq))


def _values(
    index: SearchIndex,
    searcher: tantivy.Searcher,
    scored: list[tuple[float, Address]],
    hits: list[Hit],
    key: Key,
) -> list[Any]:
    if key.kind == "score":
        return [score for score, _ in scored]
    if key.kind == "doc":
        return [address.doc for _, address in scored]
    if key.kind == "text":
        return [hit.docid if key.name == "_id" else (hit.texts or {}).get(key.name) for hit in hits]
    # Lucene sorts documents without the number as if it were zero.
    return [
        0.0 if value is None else value for value in _column(index, searcher, [a for _, a in scored], key)
    ]


def _ranks(keys: list[Key], values: list[Any]) -> list[Any]:
    return [_rank(value, key) for key, value in zip(keys, values, strict=False)]


def _rank(value: Any, key: Key) -> Any:
    if key.kind != "text":
        return -value if key.descending else value
    rank = (value is not None, value or "")
    return _Reversed(rank) if key.descending else rank


class _Reversed:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: "_Reversed") -> bool:
        return other.value < self.value

    def __gt__(self, other: "_Reversed") -> bool:
        return other.value > self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reversed) and other.value == self.value

    __hash__ = None  # type: ignore[assignment]
