"""How many databases are kept open: those that somebody is at stay, the others are closed, longest unused first."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from deploy.local.minicouch.documents.database import Database
from deploy.local.minicouch.documents.edits import Edit
from deploy.local.minicouch.errors import CouchError
from deploy.local.minicouch.store import Store

LATER = 3600.0


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, Database)


async def filled(store: Store, *names: str) -> list[Database]:
    made = []
    for name in names:
        db = store.create(name)
        assert isinstance(db, Database)
        await db.update_docs([Edit("a", {"n": n}) for n in range(1)])
        made.append(db)
    return made


def names(store: Store) -> list[str]:
    return sorted(db.name for db in store.opened())


def test_the_longest_unused_are_closed_and_open_again_as_they_were(store: Store) -> None:
    asyncio.run(filled(store, "a", "b", "c", "d"))
    store.open("a")
    store.close_idle(2, time.monotonic() + LATER)
    assert names(store) == ["a", "d"]
    again = store.open("b")
    assert again.doc_count == 1
    assert again.get("a") is not None
    store.close_idle(2, time.monotonic() - LATER)
    assert names(store) == ["a", "b", "d"], "used a moment ago"
    store.close()


def test_nobody_loses_the_database_he_is_at(store: Store) -> None:
    async def scene() -> None:
        (db,) = await filled(store, "a")
        store.create("_users")
        db.visitors += 1
        store.close_idle(0, time.monotonic() + LATER)
        assert names(store) == ["_users", "a"]
        db.visitors -= 1
        build = db.handles["building", "x"] = asyncio.get_running_loop().create_future()
        store.close_idle(0, time.monotonic() + LATER)
        assert names(store) == ["_users", "a"]
        build.set_result(None)
        writing = asyncio.create_task(db.update_docs([Edit("b", {})]))
        await asyncio.sleep(0)
        store.close_idle(0, time.monotonic() + LATER)
        assert names(store) == ["_users", "a"], "a write is on its way to the disk"
        assert not isinstance((await writing)[0], CouchError)

    asyncio.run(scene())
    store.close_idle(0, time.monotonic() + LATER)
    assert names(store) == ["_users"]
    assert {doc.id for doc in store.open("a").range()} == {"a", "b"}
    store.close()


def test_a_reader_whose_client_has_left_ends_in_peace(store: Store) -> None:
    (db,) = asyncio.run(filled(store, "a"))
    rows = db.range()
    assert next(rows).id == "a"
    store.close_idle(0, time.monotonic() + LATER)
    assert db.get("a") is not None
    assert list(rows) == []
    store.close()


def test_a_database_that_is_deleted_is_closed_after_what_is_being_written(store: Store) -> None:
    """SQLite crashes the interpreter when a connection is closed under a thread that is at it."""
    [db] = asyncio.run(filled(store, "a"))
    begun, goes_on = Event(), Event()

    def write() -> None:
        with db.transaction():
            begun.set()
            goes_on.wait(10)

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(write)
        assert begun.wait(10)
        deleting = pool.submit(store.delete, "a")
        time.sleep(0.3)
        goes_on.set()
        writing.result(10)
        deleting.result(10)
    assert names(store) == []
