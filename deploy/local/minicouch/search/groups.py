"""Hits grouped by the text of a field, the best groups first."""

import re
from dataclasses import dataclass

from ..errors import bad_request
from .matching import Matching
from .sorting import Hit, Key, arranged, load

RELEVANCE = [Key("score", "score", True)]
_FIELD = re.compile(r"(.+?)(?:<(string|number)>)?")


@dataclass(slots=True)
class Group:
    """`by` is the value, None for documents without it; `total` counts all its hits, `hits` are the first of them."""

    by: str | None
    total: int
    hits: list[Hit]


@dataclass(slots=True)
class Grouping:
    """What a request asks for: at most `limit` groups, ordered by `sort`, with `size` hits each."""

    field: str
    limit: int
    size: int
    sort: list[Key]


def group_field(value: object) -> str:
    """The field of `group_field`. Errors: 400; as in Cloudant only texts can be grouped."""
    found = _FIELD.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise bad_request("group_field must be the name of a field")
    if found[2] == "number":
        raise bad_request("Group by number not supported. Group by string terms only.")
    return found[1]


def grouped(matching: Matching, keys: list[Key], asked: Grouping) -> tuple[int, list[Group]]:
    """(hits in all, groups); `keys` order the hits within a group."""
    index, searcher = matching.index, matching.searcher
    found = searcher.search(matching.query, limit=max(1, searcher.num_docs))
    scored = list(found.hits)
    ranked = [
        load(index, searcher, hit) for hit in arranged(index, searcher, scored, asked.sort or RELEVANCE)
    ]
    places: dict[str | None, int] = {}
    for place, hit in enumerate(ranked):
        places.setdefault((hit.texts or {}).get(asked.field), place)
    groups: dict[str | None, list[Hit]] = {
        by: [] for by in sorted(places, key=places.__getitem__)[: asked.limit]
    }
    for hit in (load(index, searcher, each) for each in arranged(index, searcher, scored, keys or RELEVANCE)):
        by = (hit.texts or {}).get(asked.field)
        if by in groups:
            groups[by].append(hit)
    return found.count, [Group(by, len(hits), hits[: asked.size]) for by, hits in groups.items()]
