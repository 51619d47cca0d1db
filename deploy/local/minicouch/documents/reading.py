"""A stored revision as the JSON a client asked for: revisions, conflicts, attachments and the like on request."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from ..encoding.client_json import parse_json
from ..errors import bad_request, not_found
from ..store.rows import StoredDoc, stubs
from . import attachments
from .database import Database
from .revisions import RevisionTree, normal_rev, position

FLAGS = (
    "attachments",
    "revs",
    "local_seq",
    "revs_info",
    "conflicts",
    "deleted",
    "deleted_conflicts",
    "latest",
    "att_encoding_info",
)
BEFORE_ALL = -1  # an attachment that came by replication may say revpos 0
WINNER_ONLY = {"revs_info", "conflicts", "deleted_conflicts", "local_seq"}


@dataclass(slots=True)
class ReadOptions:
    """What a read asks for beside the body."""

    flags: set[str] = field(default_factory=set)
    rev: str | None = None
    open_revs: list[str] | str | None = None
    atts_since: list[str] | None = None

    @property
    def plain(self) -> bool:
        return not self.flags and self.rev is None and self.open_revs is None and self.atts_since is None


PLAIN = ReadOptions()


def parse_options(query: dict[str, str]) -> ReadOptions:
    """Errors: 400 for malformed revisions."""
    if not query:
        return PLAIN
    options = ReadOptions({name for name in FLAGS if query.get(name) == "true"})
    if query.get("meta") == "true":
        options.flags |= {"revs_info", "conflicts", "deleted_conflicts"}
    if "rev" in query:
        options.rev = normal_rev(query["rev"])
    if "open_revs" in query:
        options.open_revs = (
            "all"
            if query["open_revs"] == "all"
            else revs_list(parse_json(query["open_revs"].encode())) or None
        )
    if "atts_since" in query:
        options.atts_since = revs_list(parse_json(query["atts_since"].encode()))
        options.flags.add("attachments")
    if (options.rev is not None and "latest" not in options.flags) or options.open_revs is not None:
        options.flags -= WINNER_ONLY
    return options


def revs_list(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise bad_request("Invalid list of revisions")
    return [normal_rev(item) for item in value]


def open_document(db: Database, docid: str, options: ReadOptions) -> StoredDoc:
    """The winner, or the revision asked for. Errors: 404 missing or deleted."""
    doc = db.get(docid)
    if options.rev is not None and "latest" not in options.flags:
        found = doc if doc is not None and doc.rev == options.rev else db.get_rev(docid, options.rev)
        if found is None:
            raise not_found("missing")
        if doc is not None and found.tree is None:
            found.tree = doc.tree
        found.seq = doc.seq if doc is not None else 0
        return found
    if doc is None:
        raise not_found("missing")
    if doc.deleted and "deleted" not in options.flags:
        raise not_found("deleted")
    return doc


def open_revisions(db: Database, docid: str, options: ReadOptions) -> list[tuple[str, StoredDoc | None]]:
    """(revision, document or None) for `open_revs`, each once."""
    doc = db.get(docid)
    if doc is None:
        return (
            []
            if options.open_revs == "all"
            else [(rev, None) for rev in dict.fromkeys(options.open_revs or [])]
        )
    tree = db.tree(doc)
    wanted = tree.leaves_in_tree_order() if options.open_revs == "all" else list(options.open_revs or [])
    if "latest" in options.flags:
        wanted = [leaf for rev in wanted for leaf in (tree.leaves_under(rev) or [rev])]
    found: list[tuple[str, StoredDoc | None]] = []
    for rev in dict.fromkeys(wanted):
        stored = doc if rev == doc.rev else db.stored_revision(docid, rev) if rev in tree.nodes else None
        if stored is not None:
            stored.tree, stored.seq = doc.tree, doc.seq
        found.append((rev, stored))
    return found


def render(db: Database, doc: StoredDoc, options: ReadOptions) -> bytes:
    """The document's JSON with what the options add."""
    if not options.flags and options.atts_since is None:
        return doc.json()
    extra = b",".join(members(db, doc, options.flags))
    if doc.atts is None:
        return doc.json(extra)
    return doc.json(extra, attachments_json(db, doc, options))


def members(db: Database, doc: StoredDoc, flags: set[str]) -> list[bytes]:
    wants_tree = flags & {"revs", "revs_info", "conflicts", "deleted_conflicts"}
    if not wants_tree:
        return [b'"_local_seq":%d' % doc.seq] if "local_seq" in flags else []
    tree = db.tree(doc)
    parts = []
    if "revs" in flags:
        path = tree.path(doc.rev)[: db.revs_limit]
        ids = [rev[rev.index("-") + 1 :] for rev in path]
        parts.append(b'"_revisions":' + orjson.dumps({"start": position(doc.rev), "ids": ids}))
    if "revs_info" in flags:
        parts.append(b'"_revs_info":' + orjson.dumps(_revs_info(db, doc, tree)))
    live, deleted = tree.conflicts() if doc.has_tree else ([], [])
    if "conflicts" in flags and live:
        parts.append(b'"_conflicts":' + orjson.dumps(live))
    if "deleted_conflicts" in flags and deleted:
        parts.append(b'"_deleted_conflicts":' + orjson.dumps(deleted))
    if "local_seq" in flags:
        parts.append(b'"_local_seq":%d' % doc.seq)
    return parts


def _revs_info(db: Database, doc: StoredDoc, tree: RevisionTree) -> list[dict[str, str]]:
    stored = db.stored_revisions(doc.id) if doc.has_tree else set()
    winner = db.get(doc.id)
    stored |= {doc.rev} | ({winner.rev} if winner else set())
    found = []
    for rev in tree.path(doc.rev):
        status = "deleted" if tree.deleted(rev) else "available" if rev in stored else "missing"
        found.append({"rev": rev, "status": status if rev in stored else "missing"})
    return found


def attachments_json(db: Database, doc: StoredDoc, options: ReadOptions) -> bytes:
    """The `_attachments` member: stubs, or data in base64 where asked."""
    info = "att_encoding_info" in options.flags
    if doc.atts is None:
        return b"{}"
    if "attachments" not in options.flags:
        return stubs(doc.atts, encoding_info=info)
    since = known_position(db.tree(doc), doc.rev, options.atts_since)
    return orjson.dumps({r["name"]: attachments.member(db, r, since, info) for r in doc.attachments()})


def known_position(tree: RevisionTree, rev: str, since: list[str] | None) -> int:
    """The position of the newest revision that a client says it has; attachments newer than it are sent."""
    path = tree.path(rev) if since else []
    return max((position(known) for known in since or [] if known in path), default=BEFORE_ALL)


def leaves(db: Database, doc: StoredDoc) -> list[StoredDoc]:
    """Every leaf revision of a document, the winner first."""
    if not doc.has_tree:
        return [doc]
    found = [doc]
    for rev in db.tree(doc).leaves():
        stored = db.stored_revision(doc.id, rev) if rev != doc.rev else None
        if stored is not None:
            stored.tree, stored.seq = doc.tree, doc.seq
            found.append(stored)
    return found
