"""What one stored revision looks like in memory, and how its JSON is put together without parsing the body."""

from typing import Any

import orjson

Row = tuple[str, int, str, int, bytes, bytes | None, bytes | None]
PURGED = 2
COLUMNS = "id, seq, rev, deleted, body, atts, tree"


class StoredDoc:
    """One revision of one document.

    `body` is a JSON object without underscore fields, `atts` JSON attachment records or None,
    `purged` marks what is left of a purged document, seen by index builders only;
    `tree` the serialised revision tree, None while the document has had only this revision.
    """

    __slots__ = ("atts", "body", "deleted", "id", "purged", "rev", "seq", "tree")

    def __init__(
        self,
        docid: str,
        seq: int,
        rev: str,
        deleted: int,
        body: bytes,
        atts: bytes | None = None,
        tree: bytes | None = None,
    ) -> None:
        self.id = docid
        self.seq = seq
        self.rev = rev
        self.deleted = bool(deleted)
        self.purged = deleted == PURGED
        self.body = body
        self.atts = atts
        self.tree = tree

    @property
    def has_tree(self) -> bool:
        return self.tree is not None

    @property
    def is_first(self) -> bool:
        """Whether it never had another revision."""
        return self.tree is None and self.rev.startswith("1-") and not self.deleted

    def json(self, extra: bytes = b"", attachments: bytes | None = None) -> bytes:
        """The whole document; `extra` is members to add (b'"_conflicts":[..]'), `attachments` replaces the stubs."""
        parts = [b'{"_id":', orjson.dumps(self.id), b',"_rev":"', self.rev.encode(), b'"']
        if len(self.body) > 2:
            parts += (b",", self.body[1:-1])
        if self.deleted:
            parts.append(b',"_deleted":true')
        if extra:
            parts += (b",", extra)
        if self.atts is not None:
            parts += (b',"_attachments":', attachments or stubs(self.atts))
        parts.append(b"}")
        return b"".join(parts)

    def attachments(self) -> list[dict[str, Any]]:
        """Records: name, content_type, revpos, digest (md5-base64), length, encoding, encoded_length."""
        return orjson.loads(self.atts) if self.atts is not None else []

    def dict(self) -> dict[str, Any]:
        return orjson.loads(self.json())


def stubs(atts: bytes, *, encoding_info: bool = False) -> bytes:
    return orjson.dumps({att["name"]: stub(att, encoding_info=encoding_info) for att in orjson.loads(atts)})


def stub(att: dict[str, Any], *, encoding_info: bool = False) -> dict[str, Any]:
    found = {key: att[key] for key in ("content_type", "revpos", "digest", "length")}
    found["stub"] = True
    if encoding_info and att["encoding"] != "identity":
        found |= {"encoding": att["encoding"], "encoded_length": att["encoded_length"]}
    return found


def json_text(value: Any) -> str:
    return orjson.dumps(value).decode()
