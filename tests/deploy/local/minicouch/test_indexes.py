"""Index files against a plain sorted list: rows, offsets, reductions and groups after any history of changes."""

import asyncio
import contextlib
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from deploy.local.minicouch import collation, mango
from deploy.local.minicouch.building import declared
from deploy.local.minicouch.collation import sort_key
from deploy.local.minicouch.collation.raw import raw_key
from deploy.local.minicouch.documents.database import Database
from deploy.local.minicouch.documents.edits import Edit
from deploy.local.minicouch.errors import CouchError
from deploy.local.minicouch.indexes.indexing import (
    IndexSpec,
    advance,
    advance_together,
    get_index,
    ready,
)
from deploy.local.minicouch.reducers import built_in
from deploy.local.minicouch.store import Store, StoredDoc, indexes
from deploy.local.minicouch.store.indexes import (
    ICU,
    Index,
    KeyOrder,
    Range,
    ViewSpec,
    shape_of,
)
from tests.deploy.local.minicouch.index_model import LEVELS, REDUCER, Model


@pytest.fixture(params=[(20, 1), (300, 2), (1500, 3), (2500, 4)], ids=lambda p: f"{p[0]} documents")
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Model, int]]:
    count, seed = request.param
    model = Model(tmp_path / "index.sqlite", seed)
    yield model, count
    model.index.close()


def test_any_history_answers_like_a_sorted_list(model: tuple[Model, int]) -> None:
    under_test, count = model
    under_test.change(list(range(count)), fresh=True)
    under_test.index.summarise()
    under_test.check()
    for _ in range(4):
        under_test.change(
            under_test.chance.sample(range(count + 50), under_test.chance.choice([1, 3, min(count, 20)]))
        )
        under_test.check(3)
    under_test.change(list(range(count, count + count // 2)))
    under_test.check(3)
    doomed = [n for n in range(count) if under_test.chance.random() < 0.9]
    for start in range(0, len(doomed), 50):
        under_test.change(doomed[start : start + 50], empty=True)
    under_test.check(3)


def test_an_unfinished_bulk_build_answers_from_the_rows(tmp_path: Path) -> None:
    model = Model(tmp_path / "index.sqlite", 7)
    model.change(list(range(600)), fresh=True)
    model.check()
    model.index.close()
    model.index = Index(tmp_path / "index.sqlite", [ViewSpec(REDUCER)])
    assert model.index.stale
    assert model.index.seq == 600
    model.index.summarise()
    model.check()
    model.index.close()


def test_a_report_reads_its_groups_and_not_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost is counted: what a grouped and a ranged reduction read does not grow with the rows."""
    read = {}
    for count in (2_000, 40_000):
        index = Index(tmp_path / f"{count}.sqlite", [ViewSpec(REDUCER)])
        keys = [["GBP", 2019 + n % 5, n % 12 + 1, n % 28 + 1, n] for n in range(count)]
        changes = [(f"d{n}", [[(sort_key(k), orjson.dumps(k), b"1")]]) for n, k in enumerate(keys)]
        index.apply(changes, count, fresh=True)
        index.summarise()
        with index.reading() as db:
            steps = 0

            def step() -> int:
                nonlocal steps
                steps += 1
                return 0

            db.set_progress_handler(step, 100)
            assert sum(state for _, state in index.groups(db, 0, Range(), 3)) == count
            (part,) = index.reduce(db, 0, [Range((sort_key(["GBP", 2020, 6]), ""), None)])
            assert 0 < part < count
            db.set_progress_handler(None, 0)
            read[count] = steps
            assert 2 in shape_of(db, 0).levels
        index.close()
    assert read[40_000] < 6 * read[2_000]


def test_what_did_not_change_is_not_written(tmp_path: Path) -> None:
    index = Index(tmp_path / "index.sqlite", [ViewSpec(REDUCER)])
    row = (sort_key("a"), b'"a"', b"1")
    index.apply([("d", [[row]])], 1)
    with index.reading() as db:
        version = db.execute("PRAGMA data_version").fetchone()
    index.apply([("d", [[row]])], 2)
    assert index.rows(0, Range()) == [(sort_key("a"), "d", b'"a"', b"1")]
    assert index.seq == 2
    assert version
    index.close()


def test_of_a_document_only_the_rows_that_changed_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index(tmp_path / "index.sqlite", [ViewSpec(REDUCER)])
    rows = [(sort_key(n), b"%d" % n, b"1") for n in range(10)]
    index.apply([("d", [rows])], 1)
    accounted: list[tuple[int, int]] = []
    account = index._account

    def noted(db: Any, view: int, spec: Any, added: list[Any], removed: list[Any], times: float) -> None:
        accounted.append((len(added), len(removed)))
        account(db, view, spec, added, removed, times)

    monkeypatch.setattr(index, "_account", noted)
    changed = [*rows[:4], (sort_key(4.5), b"4.5", b"1"), *rows[5:]]
    index.apply([("d", [changed])], 2)
    assert accounted == [(1, 1)]
    assert [k for *_, k, _ in index.rows(0, Range())] == [k for _, k, _ in changed]
    assert index.count(0) == 10
    index.close()


def test_rows_of_one_document_and_key_stay_in_one_block(tmp_path: Path) -> None:
    index = Index(tmp_path / "index.sqlite", [ViewSpec(REDUCER)])
    many = [(sort_key("a"), b'"a"', b"%d" % n) for n in range(1000)]
    index.apply([("d", [many]), ("e", [many])], 2, fresh=True)
    index.summarise()
    with index.reading() as db:
        assert index.reduce(db, 0, [Range(None, (sort_key("a"), "e"))]) == [sum(range(1000))]
        assert index.offset(db, 0, Range((sort_key("a"), "e"))) == 1000
    index.close()


@pytest.mark.parametrize("summarised", [False, True])
def test_groups_longer_than_what_is_read_at_once(tmp_path: Path, summarised: bool) -> None:
    index = Index(tmp_path / "index.sqlite", [ViewSpec(REDUCER)])
    keys = [["a", n // 2500] for n in range(5000)] + [["b", 1]]
    index.apply(
        [(f"{n:05}", [[(sort_key(k), orjson.dumps(k), b"%d" % n)]]) for n, k in enumerate(keys)],
        1,
        fresh=True,
    )
    if summarised:
        index.summarise()
    with index.reading() as db:
        for descending in (False, True):
            found = list(index.groups(db, 0, Range(None, None, descending), 1))
            wanted = [(b'["a"]', sum(range(5000))), (b'["b"]', 5000)]
            assert found == (wanted[::-1] if descending else wanted)
        assert index.reduce(db, 0, [Range()]) == [sum(range(5001))]
    index.close()


def test_a_full_disk_refuses_and_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    index = Index(tmp_path / "index.sqlite", [ViewSpec(REDUCER)])
    index.apply([("d", [[(sort_key("a"), b'"a"', b"1")]])], 1)
    index._writer.execute("PRAGMA max_page_count = 20")
    much = [(sort_key(n), b"%d" % n, b'"%s"' % (b"x" * 3000)) for n in range(200)]
    with pytest.raises(CouchError, match="not enough room"):
        index.apply([("e", [much])], 2)
    assert (index.seq, index.count(0)) == (1, 1)
    index._writer.execute("PRAGMA max_page_count = 2000000")
    index.apply([("e", [much])], 2)
    assert (index.seq, index.count(0)) == (2, 201)
    index.close()


def test_a_damaged_file_is_built_again(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    index = Index.open(path, [ViewSpec(REDUCER)])
    index.apply([("d", [[(sort_key("a"), b'"a"', b"1")]])], 1)
    index.close()
    path.write_bytes(b"no database at all " * 500)
    again = Index.open(path, [ViewSpec(REDUCER)])
    assert (again.seq, again.count(0)) == (0, 0)
    again.close()


def test_a_file_that_somebody_else_writes_is_not_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its writer met a disk I/O error, since the file was gone from under it, and the index was built again."""
    path = tmp_path / "index.sqlite"
    index = Index.open(path, [ViewSpec(REDUCER)])
    index.apply([("d", [[(sort_key("a"), b'"a"', b"1")]])], 1)
    monkeypatch.setattr(indexes, "LOCK_SECONDS", 0.1)
    with index._write(), pytest.raises(sqlite3.OperationalError, match="locked"):
        Index.open(path, [ViewSpec(REDUCER)])
    index.apply([("e", [[(sort_key("b"), b'"b"', b"2")]])], 2)
    again = Index.open(path, [ViewSpec(REDUCER)])
    assert (again.seq, again.count(0)) == (2, 2)
    again.close()
    index.close()


def test_another_collation_builds_the_file_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "index.sqlite"
    index = Index.open(path, [ViewSpec(REDUCER)])
    index.apply([("d", [[(sort_key("a"), b'"a"', b"1")]])], 1)
    index.close()
    same = Index.open(path, [ViewSpec(REDUCER)])
    assert (same.seq, same.count(0)) == (1, 1)
    same.close()
    monkeypatch.setattr(collation, "version", lambda: 1)
    again = Index.open(path, [ViewSpec(REDUCER)])
    assert (again.seq, again.count(0)) == (0, 0)
    again.close()


def test_prefixes_of_keys_agree() -> None:
    for value in (["a", 1, None], [[1, 2], {"x": 1}], [], "abc", 5, [2**70, "ä"]):
        for order in (ICU, KeyOrder(raw_key)):
            key = b"part:" + order.encode(value)
            assert order.prefixes(key, value, 3) == [order.prefix(key, value, n) for n in range(4)]


def test_summaries_left_stale_by_a_stop_are_built_by_the_next_reader(tmp_path: Path) -> None:
    spec = IndexSpec("s", (ViewSpec(REDUCER),), lambda docs: [[[(["k", doc.id], 1)]] for doc in docs])

    async def story() -> None:
        store = Store(tmp_path, Database)
        db = store.create("a")
        await db.update_docs([Edit(f"{n}", {"n": n}) for n in range(600)])
        index = get_index(db, spec)
        while advance(db, spec, index, db.update_seq):
            pass
        assert index.stale
        store.close()
        store = Store(tmp_path, Database)
        assert not (await ready(store.open("a"), spec)).stale
        store.close()

    asyncio.run(story())


REDUCERS: dict[str, Any] = {
    "_sum": lambda chance: chance.choice([3, [1, 2], [1, 2, 3], {"a": 1}, {"a": 1, "b": {"c": 2}}, 5]),
    "_stats": lambda chance: chance.randrange(9),
    "_count": lambda chance: None,
    "_approx_count_distinct": lambda chance: None,
    "_top_2": lambda chance: chance.randrange(99),
    "_last": lambda chance: chance.randrange(99),
}


def without_causes(found: Any) -> Any:
    """Which value of several a refusal names depends on where blocks begin."""
    if isinstance(found, dict):
        return {name: without_causes(value) for name, value in found.items() if name != "caused_by"}
    return [without_causes(item) for item in found] if isinstance(found, list | tuple) else found


@pytest.mark.parametrize("name", REDUCERS)
@pytest.mark.parametrize("mixed", [False, True], ids=["one kind", "mixed kinds"])
def test_rows_that_only_came_add_up_to_what_a_rebuild_finds(tmp_path: Path, name: str, mixed: bool) -> None:
    reducer, chance = built_in(name, sort_key), random.Random(5)
    index = Index(tmp_path / "index.sqlite", [ViewSpec(reducer)])

    def add(first: int, count: int) -> None:
        made = random.Random(8 if not mixed else chance.random())
        changes = []
        for n in range(first, first + count):
            key = ["GBP", chance.randrange(3), chance.randrange(40)][: chance.choice([2, 3, 3, 3])]
            value = REDUCERS[name](made if mixed else random.Random(8))
            changes.append((f"d{n}", [[(sort_key(key), orjson.dumps(key), orjson.dumps(value))]]))
        index.apply(changes, first + count)

    add(0, 3000)
    index.summarise()
    for first in range(3000, 4500, 150):
        add(first, 150)
    assert not index.stale
    with index.reading() as db:
        ranges = [Range((sort_key(["GBP", n]), ""), None) for n in range(3)]
        grown = [list(index.groups(db, 0, Range(), level)) for level in LEVELS], index.reduce(db, 0, ranges)
        offsets = [index.offset(db, 0, rng) for rng in ranges]
        db.execute("UPDATE views SET stale = 1")
        plain = [list(index.groups(db, 0, Range(), level)) for level in LEVELS], index.reduce(db, 0, ranges)
        assert offsets == [index.offset(db, 0, rng) for rng in ranges]
        db.execute("ROLLBACK")
    assert without_causes(grown) == without_causes(plain)
    index.close()


def test_a_row_costs_the_same_beside_few_and_many(tmp_path: Path) -> None:
    """What keeping up reads is counted in steps of SQLite's machine."""
    cost = {}
    for count in (4_000, 64_000):
        index = Index(tmp_path / f"{count}.sqlite", [ViewSpec(REDUCER)])

        def changes(numbers: Any, chance: random.Random) -> list[Any]:
            keys = [["GBP", chance.randrange(9), chance.randrange(300)] for _ in numbers]
            return [
                (f"d{n}", [[(sort_key(k), orjson.dumps(k), b"1")]])
                for n, k in zip(numbers, keys, strict=True)
            ]

        index.apply(changes(range(count), random.Random(1)), count, fresh=True)
        index.summarise()
        with index._write() as db:
            steps = 0

            def step() -> int:
                nonlocal steps
                steps += 1
                return 0

            db.set_progress_handler(step, 100)
        for first in range(count, count + 1000, 100):
            index.apply(changes(range(first, first + 100), random.Random(first)), first + 100)
        assert not index.stale
        cost[count] = steps
        index.close()
    assert cost[64_000] < 2 * cost[4_000]


def test_a_long_way_to_catch_up_leaves_the_summaries_for_its_end(tmp_path: Path) -> None:
    model = Model(tmp_path / "index.sqlite", 9)
    model.change(list(range(3000)), fresh=True)
    model.index.summarise()
    model.change(list(range(3000, 3050)))
    assert not model.index.stale
    model.change(list(range(3050, 3100)), times=101)
    assert model.index.stale
    model.check(3)
    model.index.summarise()
    model.check(3)
    model.index.close()


def test_json_indexes_read_each_document_once_and_none_of_other_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    definitions = {
        "by_n": (["n"], {}),
        "reds": (["n", "m"], {"type": "red"}),
        "rare": (["m"], {"type": "rare"}),
    }
    views = {
        name: mango.design_member(
            "json", {"fields": fields, **({"partial_filter_selector": wanted} if wanted else {})}
        )[1]
        for name, (fields, wanted) in definitions.items()
    }
    with contextlib.closing(Store(tmp_path, Database)) as store:
        db = store.create("goods")
        assert isinstance(db, Database)
        kinds = ("red", "green", "rare")
        docs = [Edit(f"d{n}", {"n": n, "m": -n, "type": kinds[n % 3]}) for n in range(30)]
        design = Edit("_design/lists", {"language": "query", "views": views})
        asyncio.run(db.update_docs([design, *docs]))
        specs = list(declared.specs(db, db.design_docs()))
        parsed: Counter[str] = Counter()
        whole = StoredDoc.dict
        monkeypatch.setattr(StoredDoc, "dict", lambda doc: parsed.update([doc.id]) or whole(doc))
        while advance_together(db, specs[1:], db.update_seq, 100):
            pass
        assert parsed == Counter(edit.id for edit in docs if edit.body["type"] in ("red", "rare"))
        while advance(db, specs[0], get_index(db, specs[0]), db.update_seq):
            pass
        assert [get_index(db, spec).count(0) for spec in specs] == [30, 10, 10]
