"""Revision trees and revision ids, pure: which revision wins, what conflicts, how two histories merge.

A tree maps each revision ("3-hash") to (parent or None, deleted). A revision without a parent is a root,
or the oldest one kept after stemming.
"""

from collections.abc import Iterable
from typing import Any

import orjson

from ..errors import CouchError, bad_request

Node = tuple[str | None, bool]
INVALID_REV = "Invalid rev format"
_HEX = set("0123456789abcdefABCDEF")


def parse_rev(rev: Any) -> tuple[int, str]:
    """Position and hash of a revision string. Errors: 400 when it is none."""
    if not isinstance(rev, str):
        raise bad_request(INVALID_REV)
    position, dash, digest = rev.partition("-")
    if not dash or not position.lstrip("+-").isascii() or not position.isdigit():
        raise bad_request(INVALID_REV)
    return int(position), normal_hash(digest, INVALID_REV)


def normal_rev(rev: Any) -> str:
    """The revision as it is stored: 32 hexadecimal digits are lower case, anything else stays."""
    position, digest = parse_rev(rev)
    return f"{position}-{digest}"


def normal_hash(digest: str, message: str) -> str:
    if len(digest) != 32:
        return digest
    if not _HEX.issuperset(digest):
        raise bad_request(message)
    return digest.lower()


def position(rev: str) -> int:
    return int(rev[: rev.index("-")])


def sort_key(rev: str) -> tuple[int, bytes]:
    """Order of revisions of equal deletedness: position, then the hash's bytes."""
    number, _, digest = rev.partition("-")
    return int(number), bytes.fromhex(digest) if len(digest) == 32 and _HEX.issuperset(
        digest
    ) else digest.encode()


class RevisionTree:
    """A document's known revisions. `nodes` maps a revision to (parent, deleted)."""

    __slots__ = ("nodes",)

    def __init__(self, nodes: dict[str, Node] | None = None) -> None:
        self.nodes = nodes if nodes is not None else {}

    @classmethod
    def loads(cls, data: bytes | str) -> "RevisionTree":
        return cls({rev: (parent, bool(deleted)) for rev, parent, deleted in orjson.loads(data)})

    def dumps(self) -> bytes:
        return orjson.dumps([(rev, parent, int(deleted)) for rev, (parent, deleted) in self.nodes.items()])

    def leaves(self) -> list[str]:
        """Leaf revisions, the winner first."""
        nodes = self.nodes
        parents = {parent for parent, _ in nodes.values()}
        found = [rev for rev in nodes if rev not in parents]
        if len(found) > 1:
            found.sort(key=lambda rev: (not nodes[rev][1], sort_key(rev)), reverse=True)
        return found

    def leaves_in_tree_order(self) -> list[str]:
        """Leaf revisions as CouchDB walks the tree: the highest root first, then children in order of their hashes."""
        children: dict[str | None, list[str]] = {}
        for rev, (parent, _) in self.nodes.items():
            children.setdefault(parent, []).append(rev)
        stack = sorted(children.get(None, []), key=sort_key)
        found = []
        while stack:
            rev = stack.pop()
            below = children.get(rev)
            if below:
                stack += sorted(below, key=sort_key, reverse=True)
            else:
                found.append(rev)
        return found

    def winner(self) -> str:
        return self.leaves()[0]

    def is_leaf(self, rev: str) -> bool:
        return rev in self.nodes and all(parent != rev for parent, _ in self.nodes.values())

    def deleted(self, rev: str) -> bool:
        return self.nodes[rev][1]

    def conflicts(self) -> tuple[list[str], list[str]]:
        """Live and deleted leaves besides the winner, best first."""
        rest = self.leaves()[1:]
        return [r for r in rest if not self.nodes[r][1]], [r for r in rest if self.nodes[r][1]]

    def path(self, rev: str) -> list[str]:
        """The revision and its known ancestors, newest first."""
        found: list[str] = []
        current: str | None = rev
        while current is not None and current in self.nodes:
            found.append(current)
            current = self.nodes[current][0]
        return found

    def leaves_under(self, rev: str) -> list[str]:
        """The leaves that descend from a revision, itself if it is one (`latest=true`)."""
        return [leaf for leaf in self.leaves_in_tree_order() if rev in self.path(leaf)]

    def merge(self, path: list[str], deleted: bool) -> str:
        """Add a history, newest revision first.

        Returns "new_leaf" when it extends a branch, "new_branch" when it starts one, "internal" when all of it was known.
        """
        leaf, nodes = path[0], self.nodes
        if leaf in nodes:
            self._complete(path)
            return "internal"
        was_empty = not nodes
        known = next((rev for rev in path if rev in nodes), None)
        extends = was_empty or (known is not None and self.is_leaf(known))
        for index, rev in enumerate(path):
            parent = path[index + 1] if index + 1 < len(path) else None
            if rev in nodes:
                break
            nodes[rev] = (parent, deleted if index == 0 else False)
        self._complete(path)
        return "new_leaf" if extends else "new_branch"

    def _complete(self, path: list[str]) -> None:
        """Give stemmed roots the ancestors that this path knows."""
        for child, parent in zip(path, path[1:], strict=False):
            old_parent, deleted = self.nodes.get(child, (None, False))
            if old_parent is None:
                self.nodes[child] = (parent, deleted)
                self.nodes.setdefault(parent, (None, False))

    def stem(self, limit: int) -> list[str]:
        """Forget ancestors further than `limit` from every leaf; returns what was forgotten."""
        if limit >= len(self.nodes):
            return []
        keep: set[str] = set()
        for leaf in self.leaves():
            keep.update(self.path(leaf)[:limit])
        return self.remove(rev for rev in list(self.nodes) if rev not in keep)

    def purge(self, rev: str) -> list[str]:
        """Remove a leaf and the ancestors only it had; returns the removed revisions ([] if it is no leaf)."""
        if not self.is_leaf(rev):
            return []
        kept = {r for leaf in self.leaves() if leaf != rev for r in self.path(leaf)}
        return self.remove(r for r in self.path(rev) if r not in kept)

    def remove(self, revs: Iterable[str]) -> list[str]:
        gone = list(revs)
        for rev in gone:
            del self.nodes[rev]
        for rev, (parent, deleted) in list(self.nodes.items()):
            if parent is not None and parent not in self.nodes:
                self.nodes[rev] = (None, deleted)
        return gone


def missing(tree: RevisionTree | None, revs: list[str]) -> tuple[list[str], list[str]]:
    """Which of the revisions a tree lacks, and the leaves that may be ancestors of them."""
    nodes = tree.nodes if tree else {}
    absent = sorted((rev for rev in revs if rev not in nodes), key=sort_key)
    if not absent or tree is None:
        return absent, []
    highest = max(position(rev) for rev in absent)
    return absent, [leaf for leaf in tree.leaves() if position(leaf) < highest]


def history(start: int, ids: list[str]) -> list[str]:
    """`_revisions` as a path, newest first."""
    return [f"{start - offset}-{digest}" for offset, digest in enumerate(ids)]


def parse_revisions(value: Any) -> list[str]:
    """A document's `_revisions` member as a path. Errors: CouchDB's doc_validation texts."""
    start, ids = value.get("start"), value.get("ids")
    if type(start) is not int:
        raise CouchError(400, "doc_validation", "_revisions.start isn't an integer.")
    if not isinstance(ids, list):
        raise CouchError(400, "doc_validation", "_revisions.ids isn't a array.")
    clean = []
    for digest in ids:
        if not isinstance(digest, str) or start < 0:
            raise CouchError(400, "doc_validation", "RevId isn't a string")
        if len(digest) == 32 and start:
            if not _HEX.issuperset(digest):
                raise CouchError(400, "doc_validation", "RevId isn't a valid hexadecimal")
            digest = digest.lower()
        clean.append(digest)
    return history(start, clean)
