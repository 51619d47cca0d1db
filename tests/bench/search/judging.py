"""Whether an answer is good, by the rule of the shop's promises: 8 of the first 10 right (or, when fewer are there, of the first so many 80%),
80% of what is there found."""

import math
import re
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from tests.bench.search.concepts import CONCEPTS
from tests.bench.search.queries import Query

FIRST = 10


class Judgement(NamedTuple):
    """Of one query: how many were right, there and found; shares from 0 to 1."""

    query: Query
    there: int
    found: int
    precision: float
    recall: float
    ndcg: float

    @property
    def good(self) -> bool:
        return self.precision >= 0.8 and self.recall >= 0.8


def right(query: Query, products: Iterable[dict[str, Any]]) -> set[str]:
    """The ids of all products that answer the query, by its declared rule."""
    return {each["productid"] for each in products if all(_is(concept, each) for concept in query.concepts)}


def judge(query: Query, expected: set[str], found: Sequence[str]) -> Judgement:
    """`found` are the ids in the order in which they were shown, all pages. Where fewer than ten are there, they have to come first."""
    possible = min(FIRST, len(expected))
    first = found[:possible]
    hits = sum(each in expected for each in first)
    gain = sum(1 / math.log2(n + 2) for n, each in enumerate(first) if each in expected)
    ideal = sum(1 / math.log2(n + 2) for n in range(possible))
    recall = len(expected & set(found)) / len(expected)
    return Judgement(query, len(expected), len(found), hits / possible, recall, gain / ideal)


def summary(title: str, judged: Sequence[Judgement]) -> str:
    """A line of a table."""
    means = [fmean(getattr(each, name) for each in judged) for name in ("precision", "recall", "ndcg")]
    good = sum(each.good for each in judged)
    figures = " | ".join(f"{mean:.2f}" for mean in means)
    return f"| {title} | {len(judged)} | {figures} | {good} ({good / len(judged):.0%}) |"


def _is(concept: str, product: dict[str, Any]) -> bool:
    kind, colon, rule = concept.partition(":")
    if colon and kind == "id":
        return re.search(rule, product["productid"]) is not None
    if colon and kind == "name":
        return re.search(rule, product["name"].lower()) is not None
    if colon and kind == "path":
        return re.search(rule, " > ".join(product["taxonomy"]).lower()) is not None
    if colon and kind == "any":
        texts = (product["name"], *product["taxonomy"], product["description"])
        return any(re.search(rf"\b{rule}", text.lower()) for text in texts)
    return CONCEPTS[concept].matches(product)
