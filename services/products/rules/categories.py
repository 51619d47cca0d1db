"""The category menu as a tree, breadcrumbs, and the key ranges that say `this category and all below it`."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, Final

from services.products.category_documents import Category
from services.products.documents import SEPARATOR, category_path
from services.products.rules.label_words import CategoryWords
from shared.couch import Language

Tree = dict[str, Any]
SHOWN: Final = ("label", "picture", "text")
"""What a menu says of a category besides its name, where the shop says it."""


class Categories:
    """What the shop says of its categories, by path."""

    def __init__(self, docs: Sequence[Category]) -> None:
        self._docs = {doc["path"]: doc for doc in docs}
        self.moves: dict[str, str] = {doc["path"]: doc["moved_to"] for doc in docs if doc.get("moved_to")}
        """{old path: new path}"""
        self._words: dict[str, CategoryWords] = {}

    def shown(self, path: str, language: str = "") -> dict[str, Any]:
        """What a menu says of a category besides its name, in a language where it is translated."""
        doc = self._docs.get(path)
        if doc is None:
            return {}
        own = {name: doc[name] for name in SHOWN if doc.get(name)}
        return own | doc.get("translations", {}).get(language, {})

    def labels(self, language: str = "") -> dict[str, str]:
        """{path: what it is called} of those that have a label in a language; "" is the shop's own."""
        said: dict[str, Mapping[str, Any]] = {
            path: doc.get("translations", {}).get(language, {}) if language else doc
            for path, doc in self._docs.items()
        }
        return {path: label for path, each in said.items() if (label := each.get("label"))}

    def words(self, code: str, language: Language) -> CategoryWords:
        """Which categories are called by a word."""
        if (known := self._words.get(code)) is None:
            known = self._words[code] = CategoryWords(self.labels(code), language)
        return known

    def is_translated(self, language: str) -> bool:
        """Whether any category says something in this language."""
        return any(language in doc.get("translations", {}) for doc in self._docs.values())

    def in_order(self, nodes: Iterable[Tree]) -> list[Tree]:
        """Those with a position first, the others as they are."""
        return sorted(nodes, key=lambda node: self._position(node["path"]))

    def _position(self, path: str) -> float:
        doc = self._docs.get(path)
        position = doc.get("position") if doc else None
        return inf if position is None else position


def moved(moves: Mapping[str, str], path: str) -> str | None:
    """Where a category, or what is above it, has moved to; None for one that has not."""
    levels = path.split(SEPARATOR)
    for depth in range(len(levels), 0, -1):
        target = moves.get(category_path(levels[:depth]))
        if target is not None:
            return category_path([target, *levels[depth:]])
    return None


def final_place(moves: Mapping[str, str], path: str) -> str | None:
    """Where what is in a category belongs when it, or what is above it, has moved, also several times; None where it is right."""
    place = None
    for _ in range(len(moves)):
        following = moved(moves, place or path)
        if following is None or following == place:
            break
        place = following
    return place


def comes_back(moves: Mapping[str, str], path: str, moved_to: str) -> bool:
    """Whether who follows the moves from `moved_to` on comes to `path` again, or to what is below it."""
    here: str | None = moved_to
    for _ in range(len(moves) + 1):
        if here is None:
            return False
        if here == path or here.startswith(path + SEPARATOR):
            return True
        here = moved(moves, here)
    return here is not None


def below(taxonomy: Sequence[str]) -> dict[str, Any]:
    """The range of a view keyed by taxonomy that holds a category and everything under it."""
    return {"start": list(taxonomy), "end": [*taxonomy, {}]}


def tree(rows: list[dict[str, Any]], under: Sequence[str], known: Categories, language: str = "") -> Tree:
    """{name, path, count, children} from grouped rows, and what is `known` of them in a language; a category's count includes those below
    it. That of all has `moved` {old path: new path}."""
    root = _node(under)
    for row in rows:
        levels, node = row["key"], root
        node["count"] += row["value"]
        for depth in range(len(under), len(levels)):
            node = _child(node, levels[: depth + 1])
            node["count"] += row["value"]
    found = _listed(root, known, language)
    return found | {"moved": known.moves} if known.moves and not under else found


def breadcrumbs(taxonomy: Sequence[str]) -> list[dict[str, str]]:
    """From the top category down to this one."""
    return [{"name": level, "path": category_path(taxonomy[: n + 1])} for n, level in enumerate(taxonomy)]


def _node(levels: Sequence[str]) -> Tree:
    return {"name": levels[-1] if levels else "", "path": category_path(levels), "count": 0, "children": {}}


def _child(node: Tree, levels: list[str]) -> Tree:
    children: dict[str, Tree] = node["children"]
    if levels[-1] not in children:
        children[levels[-1]] = _node(levels)
    return children[levels[-1]]


def _listed(node: Tree, known: Categories, language: str) -> Tree:
    children = [_listed(child, known, language) for child in known.in_order(node["children"].values())]
    return {**node, **known.shown(node["path"], language), "children": children}
