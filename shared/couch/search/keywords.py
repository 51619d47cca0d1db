"""Search where the server has none: rows of the keyword view narrow it down, the documents decide. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any, NamedTuple

from ..documents import Doc
from .clauses import MIN_PREFIX
from .fields import CODE, SearchField, SearchIndex, field_named, pairs_in
from .languages import Language
from .query import SearchQuery, filter_term
from .words import fold, pairs_of, sort_key

MAX_ROWS, MAX_DOCUMENTS = 20_000, 1000
PATH_SCORE, OPTIONAL_WEIGHT = 12, 100
TYPOS = ("forgive typos",)
TOO_MANY = (f"filter, count or sort more than {MAX_DOCUMENTS} matches",)

Row = dict[str, Any]


class Group(NamedTuple):
    """The terms of which one must be there for a word: its own, its stem, both its neighbours written with it, and `corrected` ones; or one of
    the `paths`, whose rows have no weight. Only what may name a `code` is looked for in codes."""

    word: str
    terms: frozenset[str]
    unfinished: bool = False
    optional: bool = False
    corrected: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    code: bool = False

    def score(self, term: str, weight: int, beginnings: bool) -> int:
        """What a term of this weight counts: as it was asked more than in another form, that more than its beginning, and that more
        than without a typo; 0 if it is another. A weight below zero is that of a word in another form. One that need not be there counts so
        much that what has most of them comes first, as in the clauses of `SearchQuery`."""
        score = self._score(term, weight, beginnings)
        return score * OPTIONAL_WEIGHT if self.optional else score

    def _score(self, term: str, weight: int, beginnings: bool) -> int:
        if not weight:
            return PATH_SCORE if term in self.paths else 0
        as_written, weight = weight > 0, abs(weight)
        if term in self.terms:
            return 6 * weight if as_written and term == self.word else 4 * weight
        if beginnings and self.unfinished and term.startswith(self.word):
            return 2 * weight
        return weight if term in self.corrected else 0


class Need(NamedTuple):
    """What must be there: all groups of one of the `ways`; more than one where words have synonyms."""

    ways: tuple[frozenset[int], ...]
    unfinished: bool = False

    def is_met(self, has: Mapping[int, int]) -> bool:
        return any(way <= has.keys() for way in self.ways)


class Reading(NamedTuple):
    """A document, and the same as it reads in the language of the index."""

    own: Doc
    translated: Mapping[str, Any]


class Candidates(NamedTuple):
    """Ids in order, their scores; `begun`: their documents have to be asked whether a word begins like the last one."""

    ids: list[str]
    scores: Mapping[str, int]
    begun: bool = False


@dataclass(frozen=True)
class Found:
    """The matching documents in order, and what was counted among them."""

    docs: list[Doc]
    counts: dict[str, dict[str, int]]
    ranges: dict[str, dict[str, int]]


def key_range(query: SearchQuery, index: SearchIndex) -> dict[str, Any]:
    """The part of the keyword view to read: all words, or what a single one begins; else a category, else all."""
    groups, _ = _asked(query, index)
    if (beginning := _beginning(query, groups)) is not None:
        return {"start_key": ["word", beginning], "end_key": ["word", beginning + "\ufff0"]}
    if groups:
        terms = dict.fromkeys(term for group in groups for term in group.terms | group.corrected)
        codes = {term for group in groups if group.code for term in group.terms}
        keys = [["word", term] for term in sorted(terms, key=len, reverse=True)]
        keys += [["word", term, CODE] for term in sorted(codes)]
        keys += [["path", path] for path in dict.fromkeys(each for group in groups for each in group.paths)]
        if index.exclusions:
            keys += [["excluded", row] for row in query.excluded_rows(index.language)]
        return {"keys": keys}
    for each in index.fields:
        paths = query.filters.get(each.name, ()) if each.kind == "path" else ()
        if len(paths) == 1:
            return {"key": ["path", paths[0]]}
    return {"key": ["all"]}


def candidates(query: SearchQuery, index: SearchIndex, rows: Iterable[Row]) -> Candidates:
    """Ids of documents that have all words, the weightiest first. Where the last word is nowhere whole, those that have the others."""
    groups, needs = _asked(query, index)
    alone = _beginning(query, groups) is not None
    found: dict[str, dict[int, int]] = {}
    scored: dict[tuple[str, int, bool], list[tuple[int, int]]] = {}
    rows = list(rows)
    excluded = {row["id"] for row in rows if row["key"][0] == "excluded"}
    for row in rows:
        if row["id"] in excluded:
            continue
        of_code = len(row["key"]) > 2
        alike = row["key"][-2 if of_code else -1], row["value"] or 0, of_code
        if (matched := scored.get(alike)) is None:
            matched = scored[alike] = _scores(groups, *alike, alone)
        if matched or not groups:
            best = found.setdefault(row["id"], {})
            for n, score in matched:
                if score > best.get(n, 0):
                    best[n] = score
    scores = {docid: sum(best.values()) for docid, best in found.items()}
    if query.any_word and groups:
        met = {docid: sum(need.is_met(has) for need in needs) for docid, has in found.items()}
        most = max(met.values(), default=0)
        return Candidates(_ordered((docid for docid, count in met.items() if count == most), scores), scores)
    whole = {docid for docid, has in found.items() if all(need.is_met(has) for need in needs)}
    finished = [need for need in needs if not need.unfinished]
    if whole or alone or not finished or len(finished) == len(needs):
        return Candidates(_ordered(whole, scores), scores)
    others = {docid for docid, has in found.items() if all(need.is_met(has) for need in finished)}
    return Candidates(_ordered(others, scores), scores, True)


def in_order(rows: Iterable[Row]) -> Candidates:
    """Those of rows that are the list already, none better than another."""
    return Candidates(list(dict.fromkeys(row["id"] for row in rows)), {})


def needs_documents(query: SearchQuery) -> bool:
    """Whether the documents of all candidates must be looked at, not only those of the page."""
    return bool(query.filters or query.ranges or query.sort or query.counts or query.bands or query.phrases)


def evaluate(query: SearchQuery, index: SearchIndex, docs: Sequence[Doc], *, begun: bool = False) -> Found:
    """What of the candidates, given in order of their weight, answers the query."""
    fields = {each.name: each for each in index.fields}
    prefix = query.prefix if begun else None
    read = (Reading(doc, index.read(doc)) for doc in docs)
    matching = [doc for doc in read if _matches(query, fields, index.texts, prefix, doc)]
    if query.sort:
        field, member = field_named(fields, query.sort.lstrip("-"))
        matching.sort(key=lambda doc: _order(_values(field, doc, member)), reverse=query.sort.startswith("-"))
    counts, ranges = _counts(query, fields, matching), _ranges(query, fields, matching)
    return Found([doc.own for doc in matching], counts, ranges)


def begins_at(ids: Sequence[str], place: tuple[Any, str]) -> int:
    """Where a page begins: behind the document that ended the one before, or at its old position when that one is gone."""
    position, last = place
    return ids.index(last) + 1 if last in ids else position


def _asked(query: SearchQuery, index: SearchIndex) -> tuple[list[Group], list[Need]]:
    """A group for each content word, each word of a phrase and of a synonym; and which of them must be there."""
    groups = _groups(query, index)
    phrases = sum(map(len, query.phrases))
    needs = [Need((frozenset({n}),)) for n in range(len(groups) - phrases, len(groups))]
    loose = list(enumerate(groups))[: len(groups) - phrases]
    for row, synonyms in query.content_rows(index.language):
        own = [(n, group) for n, group in loose if group.word in row]
        if all(group.optional for _, group in own):
            continue
        ways = [frozenset(n for n, _ in own)]
        for words in synonyms:
            ways.append(frozenset(range(len(groups), len(groups) + len(words))))
            groups += [Group("", frozenset(index.language.own_terms(word))) for word in words]
        unfinished = not synonyms and any(group.unfinished for _, group in own)
        needs.append(Need(tuple(ways), unfinished))
    return groups, needs


def _groups(query: SearchQuery, index: SearchIndex) -> list[Group]:
    """A group for each content word and each word of a phrase."""
    language, loose = index.language, list(query.loose_words)
    content = set(query.content_words(language))
    groups = [
        Group(
            word,
            _alternatives(word, pairs_of(loose[max(0, n - 1) : n + 2]), language),
            word == query.prefix and n == len(loose) - 1,
            word in query.optional,
            frozenset(map(language.stem, query.corrections.get(word, ()))),
            frozenset(query.paths.get(word, ())),
            _may_be_code(word, query, len(content)),
        )
        for n, word in enumerate(loose)
        if word in content
    ]
    return groups + [Group(word, frozenset({word}), code=True) for phrase in query.phrases for word in phrase]


def _may_be_code(word: str, query: SearchQuery, count: int) -> bool:
    """Whether one of so many words is looked for in codes, as a search engine does (`clauses.Word`)."""
    no_word = not word.isalpha() or word in query.forgiven or word in query.corrections
    return no_word or query.code or count == 1


def _alternatives(word: str, others: Iterable[str], language: Language) -> frozenset[str]:
    return frozenset({*language.own_terms(word), *map(language.stem, others)})


def _beginning(query: SearchQuery, groups: Sequence[Group]) -> str | None:
    """What the single word of a query and its stem begin with, when it may go on and that is not nearly everything."""
    if len(groups) != 1 or not groups[0].unfinished or groups[0].paths:
        return None
    common = commonprefix(list(groups[0].terms | groups[0].corrected))
    return common if len(common) >= MIN_PREFIX else None


def _scores(
    groups: Sequence[Group], term: str, weight: int, of_code: bool, alone: bool
) -> list[tuple[int, int]]:
    """What a row counts, for each group that it is of; thousands of rows are alike."""
    asked = ((n, group) for n, group in enumerate(groups) if group.code or not of_code)
    scores = ((n, group.score(term, weight, alone)) for n, group in asked)
    return [(n, score) for n, score in scores if score]


def _ordered(ids: Iterable[str], scores: Mapping[str, int]) -> list[str]:
    return sorted(ids, key=lambda docid: (-scores[docid], docid))


def _matches(
    query: SearchQuery,
    fields: Mapping[str, SearchField],
    texts: Sequence[SearchField],
    prefix: str | None,
    doc: Reading,
) -> bool:
    return (
        (not prefix or any(f" {prefix}" in text for text in _texts(texts, doc)))
        and all(
            any(f" {' '.join(phrase)} " in text for text in _texts(texts, doc)) for phrase in query.phrases
        )
        and all(_has_one(fields, doc, name, values) for name, values in query.filters.items())
        and all(_within(_named_values(fields, name, doc), *bounds) for name, bounds in query.ranges.items())
    )


def _has_one(fields: Mapping[str, SearchField], doc: Reading, name: str, values: Iterable[str]) -> bool:
    field_name = filter_term(name, "")[0]
    return not {filter_term(name, each)[1] for each in values}.isdisjoint(_values(fields[field_name], doc))


def _texts(fields: Sequence[SearchField], doc: Reading) -> list[str]:
    return [f" {fold(value)} " for field in fields for value in _values(field, doc)]


def _named_values(fields: Mapping[str, SearchField], name: str, doc: Reading) -> list[Any]:
    field, member = field_named(fields, name)
    return _values(field, doc, member)


def _values(field: SearchField, doc: Reading, member: str = "") -> list[Any]:
    there = doc.translated if field.is_translated else doc.own
    value: Any = field.read(there) if field.read else there
    for part in () if field.read else field.path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if field.kind == "path":
        return ["#".join(value[: n + 1]) for n in range(len(value or ()))]
    if field.kind == "place":
        return ["#".join(value)] if value else []
    if field.kind == "pairs":
        return list(pairs_in(value))
    if field.kind == "numbers":
        value = value.get(member) if isinstance(value, dict) else None
    values = [
        each for each in (value if isinstance(value, list) else [value]) if each is not None and each != ""
    ]
    return list(map(sort_key, values)) if field.kind == "order" else values


def _within(values: list[Any], low: int | None, high: int | None) -> bool:
    return any((low is None or value >= low) and (high is None or value <= high) for value in values)


def _order(values: list[Any]) -> tuple[bool, Any]:
    return (bool(values), values[0] if values else None)


def _counts(
    query: SearchQuery, fields: Mapping[str, SearchField], docs: Sequence[Reading]
) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {name: {} for name in query.counts}
    for doc in docs:
        for name, found in counts.items():
            for value in set(_values(fields[name], doc)):
                found[value] = found.get(value, 0) + 1
    return counts


def _ranges(
    query: SearchQuery, fields: Mapping[str, SearchField], docs: Sequence[Reading]
) -> dict[str, dict[str, int]]:
    return {
        name: {
            band.label: sum(_within(_named_values(fields, name, doc), band.min, band.max) for doc in docs)
            for band in bands
        }
        for name, bands in query.bands.items()
    }
