"""The category menu as a tree, breadcrumbs, and the key ranges that say `this category and all below it`."""

from collections.abc import Sequence
from typing import Any

from services.products.documents import category_path

Tree = dict[str, Any]


def below(taxonomy: Sequence[str]) -> dict[str, Any]:
    """The range of a view keyed by taxonomy that holds a category and everything under it."""
    return {"start": list(taxonomy), "end": [*taxonomy, {}]}


def tree(rows: list[dict[str, Any]], under: Sequence[str] = ()) -> Tree:
    """{name, path, count, children} from grouped rows; a category's count includes those below it."""
    root = _node(under)
    for row in rows:
        levels, node = row["key"], root
        node["count"] += row["value"]
        for depth in range(len(under), len(levels)):
            node = _child(node, levels[: depth + 1])
            node["count"] += row["value"]
    return _listed(root)


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


def _listed(node: Tree) -> Tree:
    return {**node, "children": [_listed(child) for child in node["children"].values()]}
