"""Scans of the changes: what may be passed over unread, and counted without reading."""

import asyncio
import itertools
import random
from pathlib import Path
from typing import Any

import orjson
import pytest

from deploy.local.minicouch import mango
from deploy.local.minicouch.documents.database import Database
from deploy.local.minicouch.documents.edits import Edit
from deploy.local.minicouch.store import Narrowing, Store

VALUES: list[Any] = [
    "a",
    "b",
    "ab",
    "a\u0000",
    "A",
    "ä",
    "a\u0308",
    'a"',
    "",
    "a b",
    1,
    None,
    True,
    ["a"],
    ["c", "a\u0000"],
    [],
    {"type": "a"},
]
SELECTORS: list[dict[str, Any]] = [
    {"type": "a"},
    {"type": {"$in": ["a", "ab"]}},
    {"type": {"$in": ["a", 1]}},
    {"type": "ä"},
    {"type": {"$ne": "a"}},
    {"$or": [{"type": "a"}, {"n": "b"}]},
    {"$and": [{"type": "a"}, {"n": {"$gt": None}}]},
    {"$nor": [{"type": "a"}]},
    {"$not": {"type": "a"}},
    {"type": {"type": "a"}},
    {"type.type": "a"},
    {"type": {"$all": ["a"]}},
    {"type": {"$elemMatch": {"$eq": "a"}}},
    {"type": {"$exists": False}},
    {"_id": "d"},
    {"type": 'a"'},
]


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_no_document_that_matches_is_passed_over(selector: dict[str, Any]) -> None:
    matches, plausible = mango.matcher(selector), mango.plausible(selector)
    bodies: list[dict[str, Any]] = [{}, {"n": {"type": "a"}}]
    bodies += [{"type": a, "n": b} for a, b in itertools.product(VALUES, VALUES)]
    for body in bodies:
        assert plausible(orjson.dumps(body)) or not matches({"_id": "d", "_rev": "1-a", **body}), body


def test_what_is_not_wanted_is_seen_without_parsing() -> None:
    plausible = mango.plausible({"type": {"$in": ["payment", "refund"]}})
    assert plausible(b'{"type":"payment"}')
    assert not plausible(b'{"type":"item","n":"payment"}')


def test_changes_are_narrowed_and_counted_exactly(tmp_path: Path) -> None:
    asyncio.run(_narrowed_and_counted(Store(tmp_path, Database)))


async def _narrowed_and_counted(store: Store) -> None:
    db = store.create("a")
    assert isinstance(db, Database)
    revs = await db.update_docs([Edit(f"d{n}", {}) for n in range(60)] + [Edit("_design/x", {})])
    for purge in (False, True):
        for n in random.Random(1).sample(range(60), 20):
            current = db.get(f"d{n}")
            assert current is not None
            await db.update_docs([Edit(f"d{n}", {"n": n}, [current.rev], deleted=n % 3 == 0 and not purge)])
        if purge:
            db.purge("d59", [db.get("d59").rev])  # type: ignore[union-attr]
        known = [doc for doc in db.changes_since(0) if not doc.purged]
        for seq in range(db.update_seq + 1):
            assert db.changes_after_count(seq) == sum(doc.seq > seq for doc in known)
    wanted = Narrowing(ids=frozenset({"d1", "d2", "none"}))
    assert {doc.id for doc in db.changes_since(0, narrowing=wanted)} == {"d1", "d2"}
    assert [doc.id for doc in db.changes_before(db.update_seq, 9, Narrowing(design=True))] == ["_design/x"]
    assert len(revs) == 61
    store.close()
