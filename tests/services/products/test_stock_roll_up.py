"""Old movements of a stock become totals: the level is the same at every moment, whoever is killed and whoever else does it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from services.products.actions import maintenance, stock_roll_up
from services.products.dependencies import Dependencies
from services.products.documents import DESIGN, RESERVATION, SETTLEMENT, reservation_id, settlement_id
from services.products.rules import ledger
from services.products.rules.ledger import Head, Line
from services.products.rules.roll_up import KEPT_SLOTS, SETTLED, level_of
from services.products.store.stock_totals import StockTotals
from shared.clock import iso, now
from shared.couch import Database, Doc, Server
from shared.errors import Unavailable
from tests.services.products.conftest import Shop, product
from tests.services.products.reserving import KITCHEN, end, level, replicated, reserve

GARDEN = ["Garden"]
DAY = timedelta(days=1)
LONG_AGO = now() - 500 * DAY


@pytest.fixture(scope="module")
def database(server: Server, shop: Shop) -> Database:
    return server.open(DESIGN)


def sold(deps: Dependencies, line: Line, count: int, date: datetime = LONG_AGO) -> None:
    """So many orders of one each, as they were when the last of them was paid."""
    _, head = deps.ledger.end(line)
    for start in range(0, count, 250):
        docs: list[Doc] = []
        for number in range(start, min(start + 250, count)):
            docs += _sale(line, head, f"{line.name}-{head.slot}", iso(date + timedelta(seconds=number)))
            head = ledger.after(docs[-1])
        assert not any(row.error for row in deps.ledger.write(docs))
    deps.ledger.remember({line: head})


def _sale(line: Line, head: Head, orderid: str, date: str) -> Iterator[Doc]:
    about = {**line.fields, "orderid": orderid, "quantity": 1, "date": date}
    yield RESERVATION.build(reservation_id(line.taxonomy, line.key, orderid), expires=date, **about)
    yield SETTLEMENT.build(
        settlement_id(line.taxonomy, line.key, orderid), outcome=ledger.SOLD, mark=orderid, **about
    )
    yield ledger.movement(head, line, -1, ledger.RESERVED, f"mark-{orderid}", date, orderid=orderid)


def kept(database: Database, productid: str, taxonomy: list[str] = KITCHEN) -> list[str]:
    """The ids of all that lies beside a product."""
    return [doc["_id"] for doc in database.partition("#".join(taxonomy)).all(f"{productid}:")]


def test_a_stock_that_sold_much_leaves_a_total_and_its_last_movements(
    shop: Shop, deps: Dependencies, database: Database
) -> None:
    shop.load([product("busy", stock=5000)])
    line = Line("busy", tuple(KITCHEN), 0)
    sold(deps, line, 2149)
    assert len(kept(database, "busy")) == 1 + 3 * 2149
    assert stock_roll_up.roll_up(deps, now()) == 0, "the totals only"
    assert level(shop, "busy") == deps.ledger.level(line) == 5000 - 2149
    assert stock_roll_up.roll_up(deps, now()) == 0, "a day later at the earliest"
    assert len(kept(database, "busy")) == 1 + 3 * 2149 + 2
    assert stock_roll_up.roll_up(deps, now() + SETTLED) == 2
    assert level(shop, "busy") == deps.ledger.level(line) == 5000 - 2149
    assert len(kept(database, "busy")) == 1 + 1 + 3 * 150, "the first slot, a total, and the last sales whole"
    assert stock_roll_up.roll_up(deps, now() + 2 * SETTLED) == 0

    assert reserve(shop, "today", ("busy", 3)) == 201
    assert end(shop, "today", "confirmation", ("busy", 3)) == 200
    deps.ledger.save_checkpoint(
        maintenance.SWEEP_CHECKPOINT, deps.ledger.checkpoint(maintenance.SWEEP_CHECKPOINT) | {"until": ""}
    )
    maintenance.sweep(deps, now())
    maintenance.correct_settled(deps, now() + DAY)
    maintenance.refresh(deps, [f"{'#'.join(KITCHEN)}:busy"])
    assert level(shop, "busy") == deps.ledger.level(line) == 5000 - 2149 - 3
    assert shop.ok("/v1/products/busy")["stock"] == 5000 - 2149 - 3
    history = shop.admin("GET", "/v1/products/busy/stock").json["movements"]
    assert (len(history), history[0]["slot"]) == (100, 2151)


def test_what_was_sold_long_ago_can_still_come_back(shop: Shop, deps: Dependencies) -> None:
    """Its reservation is gone with its movement: it is put into stock all the same, once for each return."""
    shop.load([product("faithful", stock=2000)])
    line = Line("faithful", tuple(KITCHEN), 0)
    sold(deps, line, 1149)
    for moment in (now(), now() + SETTLED):
        stock_roll_up.roll_up(deps, moment)
    for again in range(2):
        assert end(shop, "faithful-5", "release", ("faithful", 1), reference="return1") == 200, again
        assert level(shop, "faithful") == deps.ledger.level(line) == 2000 - 1149 + 1
    assert end(shop, "faithful-1140", "release", ("faithful", 1), reference="return1") == 200
    assert level(shop, "faithful") == deps.ledger.level(line) == 2000 - 1149 + 2


def test_whoever_is_killed_and_whoever_else_rolls_up_the_level_stays(
    shop: Shop, deps: Dependencies, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after each write in turn, and then two workers at once."""
    shop.load([product("tough", stock=3000)])
    line = Line("tough", tuple(KITCHEN), 0)
    sold(deps, line, 2149)
    with ThreadPoolExecutor(2) as workers:
        assert list(workers.map(lambda _: stock_roll_up.roll_up(deps, now()), range(2))) == [0, 0]
    remove = StockTotals.remove
    for killed_at in (1, 2, 3, 5):
        calls = iter(range(1, 100))

        def dying(
            store: StockTotals, docs: list[Doc], calls: Iterator[int] = calls, at: int = killed_at
        ) -> None:
            docs = list(docs)
            if next(calls) == at:
                remove(store, docs[: len(docs) // 2])
                raise Unavailable("killed")
            remove(store, docs)

        monkeypatch.setattr(StockTotals, "remove", dying)
        with pytest.raises(Unavailable):
            stock_roll_up.roll_up(deps, now() + SETTLED)
        assert level(shop, "tough") == deps.ledger.level(line) == 3000 - 2149
    monkeypatch.undo()
    with ThreadPoolExecutor(2) as workers:
        list(workers.map(lambda _: stock_roll_up.roll_up(deps, now() + SETTLED), range(2)))
    assert level(shop, "tough") == deps.ledger.level(line) == 3000 - 2149
    assert len(kept(database, "tough")) == 1 + 1 + 3 * 150


def test_a_stock_that_came_back_to_its_category_is_not_brought_twice(shop: Shop, deps: Dependencies) -> None:
    """Who still knows the category in between asks there whether its stock has arrived here: the total knows that it has."""
    shop.load([product("traveller", stock=2000)])
    for taxonomy in (GARDEN, KITCHEN):
        assert (
            shop.admin("PUT", "/v1/products/traveller", product("traveller", taxonomy=taxonomy)).status == 200
        )
    line = Line("traveller", tuple(KITCHEN), 0)
    sold(deps, line, 1200)
    for moment in (now(), now() + SETTLED):
        stock_roll_up.roll_up(deps, moment)
    assert 3 not in {each["slot"] for each in deps.ledger.chain(line)}, "the slot in which it came back"
    place, head = deps.ledger.end(Line("traveller", tuple(GARDEN), 0))
    assert (place.taxonomy, head.level) == (tuple(KITCHEN), 800)
    assert level(shop, "traveller") == deps.ledger.level(line) == 800


def test_what_is_in_doubt_or_not_old_enough_stays(
    shop: Shop, deps: Dependencies, server: Server, database: Database
) -> None:
    shop.load([product("doubt", stock=2000), product("young", stock=2000), product("short", stock=2000)])
    doubt, young, short = (Line(name, tuple(KITCHEN), 0) for name in ("doubt", "young", "short"))
    sold(deps, doubt, 1149)
    sold(deps, young, 1149, now() - 300 * DAY)
    sold(deps, short, 1000 + KEPT_SLOTS - 2)
    slot = deps.ledger.chain(doubt)[500]
    other = {**slot, "_rev": "1-ffffffffffffffffffffffffffffffff", "mark": "of another replica"}
    replicated(server, other)
    for moment in (now(), now() + SETTLED):
        stock_roll_up.roll_up(deps, moment)
    assert [len(deps.ledger.chain(line)) for line in (doubt, young, short)] == [
        1150,
        1150,
        1000 + KEPT_SLOTS - 1,
    ]
    assert [len(deps.stock_totals.of(line)) for line in (doubt, young, short)] == [0, 0, 1]
    assert level(shop, "short") == deps.ledger.level(short) == 2000 - 1098


def test_a_level_is_the_last_total_and_the_thousands_after_it() -> None:
    def row(slot: int, value: int, *total: str) -> Doc:
        return {"key": ["p", "", slot, *total], "value": value}

    chain = [row(1000, 7), row(2000, -3), row(3000, -1)]
    assert level_of([]) == 0
    assert level_of(chain) == 3
    assert level_of([*chain, row(1000, 7, "total")]) == 3
    assert level_of([*chain, row(1000, 7, "total"), row(2000, 4, "total")]) == 3
    assert level_of([row(2000, -2), row(2000, 4, "total"), row(3000, -1)]) == 3
    assert level_of([row(2000, 4, "total")]) == 4
