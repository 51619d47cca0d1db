"""Grouped reductions of levels that are not kept: long groups are added up from blocks, short ones from their rows."""

from pathlib import Path

import orjson

from deploy.local.minicouch.collation import sort_key
from deploy.local.minicouch.reducers import built_in
from deploy.local.minicouch.store.indexes import Index, Range, ViewSpec, shape_of

REDUCER = built_in("_sum", sort_key)


def test_long_groups_between_many_short_ones_are_not_read_row_by_row(tmp_path: Path) -> None:
    """Orders by a customer's word and status: each word is a group of two rows, no word at all one of every order."""
    read = {}
    for count in (2_000, 16_000):
        index = Index(tmp_path / f"{count}.sqlite", [ViewSpec(REDUCER)])
        changes = []
        for n in range(count):
            words, status = ("", f"word{n}"), ("paid", "sent", "late")[n % 3 if n % 7 else 0]
            keys = [[word, kind, n] for word in words for kind in ("", status)]
            changes.append((f"d{n:06}", [[(sort_key(k), orjson.dumps(k), b"1") for k in keys]]))
        index.apply(changes, count, fresh=True)
        index.summarise()
        steps = 0

        def step() -> int:
            nonlocal steps
            steps += 1
            return 0

        orders = [
            len([None for _, (rows,) in changes if b'"%b"' % kind in rows[1][1]])
            for kind in (b"late", b"paid", b"sent")
        ]
        wanted = list(
            zip([b'["",""]', b'["","late"]', b'["","paid"]', b'["","sent"]'], [count, *orders], strict=True)
        )
        with index.reading() as db:
            assert 2 not in shape_of(db, 0).levels, "a level of so many groups is not kept"
            db.set_progress_handler(step, 100)
            for descending in (False, True):
                none = Range((sort_key([""]), ""), (sort_key(["", {}]), ""), descending)
                assert list(index.groups(db, 0, none, 2)) == (wanted[::-1] if descending else wanted)
            db.set_progress_handler(None, 0)
            read[count] = steps
            part = Range((sort_key(["", "", 1_000]), "d001000"), (sort_key(["", "paid", 1_000]), "d001000"))
            before = len([n for n in range(1_000) if n % 3 == 0 or n % 7 == 0])
            assert list(index.groups(db, 0, part, 2)) == [
                (b'["",""]', count - 1_000),
                (b'["","late"]', orders[0]),
                (b'["","paid"]', before),
            ]
            whole = dict(index.groups(db, 0, Range(), 2))
            assert (len(whole), sum(whole.values())) == (4 + 2 * count, 4 * count)
        index.close()
    assert read[16_000] < 3 * read[2_000]


def test_groups_of_numbers_that_begin_alike_are_kept_apart(tmp_path: Path) -> None:
    """Whole numbers above 2**53 share the bytes of a double, and go on behind them."""
    index = Index(tmp_path / "numbers.sqlite", [ViewSpec(REDUCER)])
    numbers = [1 << 60, (1 << 60) + 1, (1 << 60) + 2]
    changes = []
    for n in range(1_200):
        key = [numbers[n % 3], "word", n]
        changes.append((f"d{n:06}", [[(sort_key(key), orjson.dumps(key), b"1")]]))
    index.apply(changes, len(changes), fresh=True)
    index.summarise()
    with index.reading() as db:
        assert {1, 2} <= set(shape_of(db, 0).levels)
        for level, wanted in ((1, b"[%d]"), (2, b'[%d,"word"]')):
            assert list(index.groups(db, 0, Range(), level)) == [(wanted % number, 400) for number in numbers]
    index.close()
