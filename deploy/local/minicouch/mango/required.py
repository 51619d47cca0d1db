"""What a selector asks of the text of a document, so that most that do not match are not parsed."""

from collections.abc import Callable
from typing import Any

import orjson

from .fields import parse_field
from .selector import Node, normalize


def plausible(selector: dict[str, Any]) -> Callable[[bytes], bool]:
    """Whether a document whose compact JSON this is may match; errs on the side of yes. Errors: 400 as `matcher` gives them."""
    needed = [
        [orjson.dumps(name) + b":" + start for start in (*map(orjson.dumps, texts), b"[")]
        for name, texts in _required(normalize(selector))
    ]

    def test(body: bytes) -> bool:
        # What has escapes or is not ASCII may collate like a text it is not.
        if b"\\" in body or not body.isascii():
            return True
        return all(any(member in body for member in members) for members in needed)

    return test if needed else lambda body: True


def _required(node: Node) -> list[tuple[str, list[str]]]:
    """Top-level members that must be one of some plain texts (or a list with one)."""
    if not node:
        return []
    name, argument = node
    if name == "$and":
        return [found for part in argument for found in _required(part)]
    if not isinstance(name, tuple) or not name or not argument:
        return []
    path, (operator, wanted) = parse_field(name[0]), argument
    texts = [wanted] if operator == "$eq" else wanted
    if len(path) != 1 or path[0].startswith("_") or operator not in ("$eq", "$in"):
        return []
    plain = all(type(text) is str and text.isascii() and text.isprintable() for text in texts)
    return [(path[0], texts)] if plain else []
