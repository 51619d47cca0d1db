"""Documents that were read are kept in memory: whoever reads after a write finds what was written."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local.minicouch.documents.database import Database
from deploy.local.minicouch.documents.edits import Edit
from deploy.local.minicouch.store import Store, recent
from deploy.local.minicouch.store.rows import StoredDoc


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path, Database)
    yield store
    store.close()


@pytest.fixture
def db(store: Store) -> Database:
    db = store.create("goods")
    assert isinstance(db, Database)
    asyncio.run(db.update_docs([Edit(f"d{n}", {"n": n}) for n in range(5)]))
    db.get_many(IDS)
    return db


IDS = [f"d{n}" for n in range(5)]


def bodies(db: Database) -> list[bytes | None]:
    docs = db.get_many(IDS)
    assert [docs.get(docid) and docs[docid].rev for docid in IDS] == [
        found and found.rev for found in map(db.get, IDS)
    ]
    return [docs[docid].body if docid in docs and not docs[docid].deleted else None for docid in IDS]


def test_a_change_a_deletion_and_a_purge_are_seen(db: Database) -> None:
    revs = {docid: doc.rev for docid, doc in db.get_many(IDS).items()}
    asyncio.run(
        db.update_docs([Edit("d1", {"n": "new"}, [revs["d1"]]), Edit("d2", {}, [revs["d2"]], deleted=True)])
    )
    db.purge("d3", [revs["d3"]])
    assert bodies(db) == [b'{"n":0}', b'{"n":"new"}', None, None, b'{"n":4}']
    asyncio.run(db.update_docs([Edit("d3", {"n": "again"})]))
    assert bodies(db)[3] == b'{"n":"again"}'


def test_a_conflict_that_wins_and_a_tree_that_was_cut_are_seen(db: Database) -> None:
    asyncio.run(db.update_docs([Edit("d0", {"n": "elsewhere"}, ["1-" + "f" * 32])], replicated=True))
    assert bodies(db)[0] == b'{"n":"elsewhere"}'
    doc = db.get_many(["d0"])["d0"]
    for number in range(2, 6):
        rev = db.get_many(["d0"])["d0"].rev
        asyncio.run(db.update_docs([Edit("d0", {"n": number}, [rev])]))
    with db.transaction() as change:
        change.set_setting("revs_limit", 2)
    before = db.get_many(["d0"])["d0"]
    db.compact_all()
    after = db.get_many(["d0"])["d0"]
    assert before.rev == after.rev != doc.rev
    assert len(db.tree(after).nodes) < len(db.tree(before).nodes)


def test_a_reader_that_is_overtaken_by_a_write_keeps_nothing(db: Database) -> None:
    """It read before the commit in its thread, and comes back after it."""
    state, old = db.counts, db.get_many(["d4"])["d4"]
    asyncio.run(db.update_docs([Edit("d4", {"n": "new"}, [old.rev])]))
    db._recent.keep([old], state)
    assert bodies(db)[4] == b'{"n":"new"}'


def test_what_is_kept_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "MAX_BYTES", 10 * (recent.DOC_BYTES + 100))
    kept, state = recent.RecentDocuments(), object()
    kept.forget(None, state)
    kept.keep((StoredDoc(f"d{n}", n, "1-a", 0, b"x" * 100) for n in range(50)), state)
    kept.keep([StoredDoc("large", 0, "1-a", 0, b"x" * (recent.MAX_DOC_BYTES + 1))], state)
    assert len([n for n in range(50) if kept.get(f"d{n}")]) == 10
    assert kept.get("large") is None
    for _ in range(5):  # what is asked for from now on comes in, and the oldest go
        kept.keep((StoredDoc(f"e{n}", n, "1-a", 0, b"x" * 100) for n in range(20)), state)
    assert [n for n in range(20) if kept.get(f"e{n}")]
    assert not kept.get("d0")


def test_a_little_more_than_fits_is_mostly_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Page after page in turn, as those who search in a shop ask."""
    monkeypatch.setattr(recent, "MAX_BYTES", 100 * (recent.DOC_BYTES + 100))
    kept, state, found = recent.RecentDocuments(), object(), 0
    kept.forget(None, state)
    for _ in range(10):
        for n in range(110):
            if kept.get(f"d{n}"):
                found += 1
            else:
                kept.keep([StoredDoc(f"d{n}", n, "1-a", 0, b"x" * 100)], state)
    assert found > 0.7 * 9 * 110
