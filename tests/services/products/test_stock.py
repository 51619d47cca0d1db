"""Stock is never oversold and never stuck, whoever comes at once and whatever is repeated or breaks."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from redis import Redis

from services.products.actions import maintenance, stock
from services.products.dependencies import Dependencies
from services.products.documents import SETTLEMENT, product_id, settlement_id
from services.products.rules.ledger import Head, Line
from services.products.store.slot_cache import SlotCache
from shared.clock import iso, now, timestamp
from tests.services.products.conftest import Shop, eventually, product
from tests.services.products.reserving import KITCHEN, end, level, reservation, reserve


def test_the_slots_of_a_reservation_are_remembered_in_one_call(
    shop: Shop, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
):
    shop.load([product("together1", stock=5), product("together2", stock=7)])
    lines = [Line("together1", tuple(KITCHEN), 1), Line("together2", tuple(KITCHEN), 2)]
    remembered, put = [], SlotCache.put

    def counted(cache: SlotCache, heads: dict[Line, Head]) -> None:
        remembered.append(len(heads))
        put(cache, heads)

    monkeypatch.setattr(SlotCache, "put", counted)
    for number in range(2):
        remembered.clear()
        stock.reserve(deps, f"together{number}", lines, iso(now() + timedelta(minutes=15)), timestamp())
    assert remembered == [2]
    assert [deps.ledger.cached_heads(lines)[line].level for line in lines] == [3, 3]


def test_two_hundred_buyers_and_ten_units(shop: Shop):
    shop.load([product("scarce", stock=10), product("plenty", stock=1000)])
    with ThreadPoolExecutor(32) as buyers:
        statuses = list(
            buyers.map(lambda n: reserve(shop, f"race{n}", ("scarce", 1), ("plenty", 2)), range(200))
        )
    assert statuses.count(201) == 10
    assert set(statuses) == {201, 409}
    assert level(shop, "scarce") == 0
    assert level(shop, "plenty") == 1000 - 2 * 10


def test_odd_quantities_sell_as_far_as_they_go(shop: Shop):
    shop.load([product("odd", stock=50)])
    with ThreadPoolExecutor(16) as buyers:
        quantities = [n % 4 + 1 for n in range(60)]
        statuses = list(
            buyers.map(lambda pair: reserve(shop, f"odd{pair[0]}", ("odd", pair[1])), enumerate(quantities))
        )
    sold = sum(quantity for quantity, status in zip(quantities, statuses, strict=True) if status == 201)
    assert sold <= 50
    assert level(shop, "odd") == 50 - sold


def test_out_of_stock_says_how_many_are_left_and_takes_nothing(shop: Shop):
    shop.load([product("few", stock=2), product("many", stock=20)])
    answer = shop.service("/v1/internal/reservations", reservation("greedy", ("many", 5), ("few", 3)))
    assert (answer.status, answer.json["code"]) == (409, "out_of_stock")
    assert answer.json["items"] == [{"productid": "few", "available": 2}]
    assert (level(shop, "few"), level(shop, "many")) == (2, 20)


def test_a_repeated_reservation_takes_nothing_twice(shop: Shop, deps: Dependencies):
    shop.load([product("again", stock=9)])
    assert [reserve(shop, "rep", ("again", 4)) for _ in range(3)] == [201, 201, 201]
    assert level(shop, "again") == 5
    with ThreadPoolExecutor(8) as callers:
        statuses = set(callers.map(lambda _: reserve(shop, "rep", ("again", 4)), range(8)))
    if not deps.catalogue.has_one_copy:
        statuses.discard(503)  # at once the nodes of a cluster may not know yet whose it is
    assert statuses == {201}
    assert reserve(shop, "rep", ("again", 4)) == 201
    assert level(shop, "again") == 5


def test_a_reservation_that_is_asked_for_again_reads_the_orders_reservations_once(shop: Shop):
    """Besides them its settlements, the slots that it holds, and each of these by its id; a write says whether most nodes have it so."""
    shop.load([product("asked-twice", stock=9)])
    first = reservation("asked", ("asked-twice", 4))
    assert shop.service("/v1/internal/reservations", first).status == 201
    again = shop.service("/v1/internal/reservations", {**first, "again": True})
    assert (again.status, again.calls) == (201, {"read": 3, "global": 1, "write": 1})
    assert level(shop, "asked-twice") == 5


def test_a_repetition_is_not_refused_for_what_the_order_itself_took(shop: Shop):
    shop.load([product("last", stock=3), product("lasting", stock=3)])
    assert [reserve(shop, "all", ("last", 3), ("lasting", 2)) for _ in range(3)] == [201, 201, 201]
    assert reserve(shop, "other", ("last", 1)) == 409
    with ThreadPoolExecutor(8) as callers:
        statuses = callers.map(lambda _: reserve(shop, "all", ("last", 3), ("lasting", 2)), range(8))
        assert set(statuses) == {201}
    assert [level(shop, each) for each in ("last", "lasting")] == [0, 1]


def test_released_once_however_often_it_is_asked(shop: Shop):
    shop.load([product("back", stock=5)])
    assert reserve(shop, "rel", ("back", 5)) == 201
    with ThreadPoolExecutor(8) as callers:
        assert set(callers.map(lambda _: end(shop, "rel", "release", ("back", 5)), range(8))) == {200}
    assert level(shop, "back") == 5
    assert reserve(shop, "rel", ("back", 5)) == 409


def test_all_lines_of_an_order_go_back(shop: Shop):
    shop.load([product("pair1", stock=5), product("pair2", stock=6), product("pair3", stock=7)])
    basket = (("pair1", 1), ("pair2", 2), ("pair3", 3))
    assert reserve(shop, "pairs", *basket) == 201
    assert [level(shop, productid) for productid, _ in basket] == [4, 4, 4]
    assert end(shop, "pairs", "release", *basket) == 200
    assert [level(shop, productid) for productid, _ in basket] == [5, 6, 7]


def test_released_without_a_reservation_makes_no_stock(shop: Shop):
    shop.load([product("never", stock=3)])
    assert end(shop, "unknown", "release", ("never", 2)) == 200
    assert level(shop, "never") == 3


def test_sold_goods_come_back_once_for_each_reference(shop: Shop):
    shop.load([product("sent", stock=8)])
    assert reserve(shop, "sale", ("sent", 3)) == 201
    assert [end(shop, "sale", "confirmation", ("sent", 3)) for _ in range(2)] == [200, 200]
    assert level(shop, "sent") == 5
    for reference in ("return1", "return1", "return2"):
        assert end(shop, "sale", "release", ("sent", 1), reference=reference) == 200
    assert level(shop, "sent") == 7


def test_time_up_gives_back_in_two_sweeps_and_a_late_payment_takes_again(shop: Shop, deps: Dependencies):
    shop.load([product("slow", stock=4)])
    assert reserve(shop, "late", ("slow", 3), minutes=-1) == 201
    assert reserve(shop, "paid", ("slow", 1), minutes=-1) == 201
    assert end(shop, "paid", "confirmation", ("slow", 1)) == 200
    maintenance.sweep(deps, now())
    assert level(shop, "slow") == 0
    maintenance.sweep(deps, now() + timedelta(minutes=2))
    assert level(shop, "slow") == 3
    maintenance.sweep(deps, now() + timedelta(minutes=4))
    assert level(shop, "slow") == 3
    assert end(shop, "late", "confirmation", ("slow", 3)) == 200
    assert level(shop, "slow") == 0
    maintenance.sweep(deps, now() + timedelta(minutes=6))
    assert level(shop, "slow") == 0


def test_goods_are_given_back_after_the_worker_was_away_for_days(shop: Shop, deps: Dependencies):
    shop.load([product("away", stock=2)])
    assert reserve(shop, "away1", ("away", 2), minutes=1) == 201
    later = now() + timedelta(days=3)
    maintenance.sweep(deps, later)
    assert level(shop, "away") == 0
    maintenance.sweep(deps, later + timedelta(minutes=1))
    assert level(shop, "away") == 2
    deps.ledger.save_checkpoint(
        maintenance.SWEEP_CHECKPOINT, {**deps.ledger.checkpoint(maintenance.SWEEP_CHECKPOINT), "until": ""}
    )


def test_goods_that_a_sold_order_took_twice_are_back_within_a_minute(shop: Shop, deps: Dependencies):
    """A request that is cut off and sent again may take goods twice."""
    shop.load([product("twice", stock=5)])
    assert reserve(shop, "twice1", ("twice", 2)) == 201
    line = stock.Line("twice", tuple(KITCHEN), 2)
    deps.ledger.append(line, -2, "reserved", "again", timestamp(), orderid="twice1")
    assert end(shop, "twice1", "confirmation", ("twice", 2)) == 200
    assert end(shop, "twice1", "release", ("twice", 1), reference="return1") == 200
    maintenance.correct_settled(deps, now() + timedelta(seconds=20))
    assert level(shop, "twice") == 2
    for seconds in (31, 45):
        maintenance.correct_settled(deps, now() + timedelta(seconds=seconds))
        assert level(shop, "twice") == 4


def test_goods_taken_twice_are_given_back_when_a_node_told_of_the_sale_too_late(
    shop: Shop, deps: Dependencies
):
    """The index of a node that was away shows a sale when the others' sales of that time have been looked at."""
    shop.load([product("late", stock=5)])
    assert reserve(shop, "late1", ("late", 2)) == 201
    line = stock.Line("late", tuple(KITCHEN), 2)
    deps.ledger.append(line, -2, "reserved", "again", timestamp(), orderid="late1")
    assert end(shop, "late1", "confirmation", ("late", 2)) == 200
    place = deps.ledger.checkpoint(maintenance.SETTLED_CHECKPOINT)
    deps.ledger.save_checkpoint(
        maintenance.SETTLED_CHECKPOINT, {**place, "since": iso(now() + timedelta(minutes=1))}
    )
    maintenance.correct_settled(deps, now() + timedelta(minutes=2))
    assert level(shop, "late") == 1
    maintenance.correct_settled_of_two_days(deps, now() + timedelta(minutes=2))
    assert level(shop, "late") == 3
    changed = deps.ledger.checkpoint(maintenance.SETTLED_CHECKPOINT)
    deps.ledger.save_checkpoint(maintenance.SETTLED_CHECKPOINT, {**changed, "since": place.get("since", "")})


def test_a_sale_that_crossed_the_sweep_is_taken_again(shop: Shop, deps: Dependencies):
    shop.load([product("cross", stock=4)])
    assert reserve(shop, "cross1", ("cross", 3), minutes=-1) == 201
    assert end(shop, "cross1", "confirmation", ("cross", 3)) == 200
    assert end(shop, "cross1", "release", ("cross", 1), reference="return1") == 200
    deps.ledger.append(
        stock.Line("cross", tuple(KITCHEN), 2), 2, "released", "crossed", timestamp(), orderid="cross1"
    )
    assert level(shop, "cross") == 4
    for minutes in (2, 3):
        maintenance.sweep(deps, now() + timedelta(minutes=minutes))
        assert level(shop, "cross") == 2


def test_a_return_that_crashed_half_way_is_finished_by_its_repetition(shop: Shop, deps: Dependencies):
    shop.load([product("halfback", stock=5)])
    line = stock.Line("halfback", tuple(KITCHEN), 2)
    stock.reserve(deps, "hb", [line], "2099-01-01T00:00:00.000Z", timestamp())
    stock.confirm(deps, "hb", [line], timestamp())
    settlement = SETTLEMENT.new(
        settlement_id(KITCHEN, "halfback", "hb", "return1"),
        productid="halfback",
        taxonomy=KITCHEN,
        orderid="hb",
        outcome="released",
        quantity=2,
        date=iso(now() - timedelta(minutes=1)),
        reference="return1",
    )
    deps.ledger.write([settlement])
    assert level(shop, "halfback") == 3
    for _ in range(2):
        assert end(shop, "hb", "release", ("halfback", 2), reference="return1") == 200
    assert level(shop, "halfback") == 5


def test_a_return_that_was_begun_a_moment_ago_is_not_taken_for_done(shop: Shop, deps: Dependencies):
    """Its writer may be at it still, or have died: who repeats it comes again until it can be told."""
    shop.load([product("fresh", stock=5)])
    line = stock.Line("fresh", tuple(KITCHEN), 2)
    stock.reserve(deps, "fb", [line], "2099-01-01T00:00:00.000Z", timestamp())
    stock.confirm(deps, "fb", [line], timestamp())
    settlement = SETTLEMENT.new(
        settlement_id(KITCHEN, "fresh", "fb", "return1"),
        productid="fresh",
        taxonomy=KITCHEN,
        orderid="fb",
        outcome="released",
        quantity=2,
        date=timestamp(),
        reference="return1",
    )
    deps.ledger.write([settlement])
    assert end(shop, "fb", "release", ("fresh", 2), reference="return1") == 503
    assert level(shop, "fresh") == 3
    (stored,) = deps.reservations.settlements([settlement["_id"]]).values()
    deps.reservations.put_settlement({**stored, "date": iso(now() - timedelta(minutes=1))})
    for _ in range(2):
        assert end(shop, "fb", "release", ("fresh", 2), reference="return1") == 200
    assert level(shop, "fresh") == 5


def test_a_late_payment_for_goods_that_are_gone_is_refused(shop: Shop, deps: Dependencies):
    shop.load([product("gone", stock=1)])
    assert reserve(shop, "first", ("gone", 1), minutes=-1) == 201
    maintenance.sweep(deps, now())
    maintenance.sweep(deps, now() + timedelta(minutes=2))
    assert reserve(shop, "second", ("gone", 1)) == 201
    answer = shop.service(
        "/v1/internal/reservations/first/confirmation", {"items": reservation("first", ("gone", 1))["items"]}
    )
    assert (answer.status, answer.json["code"]) == (409, "reservation_closed")
    assert level(shop, "gone") == 0


def test_the_usual_reservation_is_one_write(shop: Shop):
    shop.load([product("hot", stock=100), product("hot2", stock=100)])
    shop.service("/v1/internal/reservations", reservation("warm", ("hot", 1), ("hot2", 1)))
    answer = shop.service("/v1/internal/reservations", reservation("cost", ("hot", 1), ("hot2", 1)))
    assert (answer.status, answer.calls) == (201, {"write": 1})
    body = {"items": reservation("cost", ("hot", 1), ("hot2", 1))["items"]}
    assert shop.service("/v1/internal/reservations/cost/confirmation", body).calls == {"write": 1}


def test_hints_may_be_lost_or_late(shop: Shop, deps: Dependencies, redis_url: str):
    shop.load([product("hint", stock=6)])
    redis = Redis.from_url(redis_url)
    assert reserve(shop, "h1", ("hint", 2)) == 201
    redis.flushdb()
    assert reserve(shop, "h2", ("hint", 2)) == 201
    for key in redis.keys("stock:*hint"):
        redis.set(key, "1 6")
    assert reserve(shop, "h3", ("hint", 3)) == 409
    assert reserve(shop, "h4", ("hint", 2)) == 201
    assert level(shop, "hint") == 0


def test_admins_move_stock_but_not_below_zero(shop: Shop):
    shop.load([product("admin-stock", stock=2)])
    answer = shop.admin(
        "POST", "/v1/products/admin-stock/stock", {"delta": 5, "reason": "delivery"}, Idempotency_Key="d1"
    )
    assert (answer.status, answer.json["stock"]) == (201, 7)
    assert (
        shop.admin(
            "POST", "/v1/products/admin-stock/stock", {"delta": 5, "reason": "delivery"}, Idempotency_Key="d1"
        ).json
        == answer.json
    )
    assert shop.ok("/v1/products/admin-stock")["stock"] == 7
    assert (
        shop.admin("POST", "/v1/products/admin-stock/stock", {"delta": -8, "reason": "broken"}).status == 409
    )
    low = shop.admin("GET", "/v1/products/low-stock?most=7&limit=100").json["items"]
    assert "admin-stock" in {each["productid"] for each in low}
    movements = shop.admin("GET", "/v1/products/admin-stock/stock").json["movements"]
    assert [(each["delta"], each["level"]) for each in movements] == [(5, 7), (2, 2)]


def test_summaries_follow_the_movements(shop: Shop, deps: Dependencies):
    shop.load([product("shown", stock=5), product("beside", stock=6)])
    assert reserve(shop, "shown1", ("shown", 2), ("beside", 1)) == 201
    assert shop.ok("/v1/products/shown")["stock"] == 5
    eventually(lambda: maintenance.sum_up(deps) == 0)
    ids = [product_id(KITCHEN, each) for each in ("shown", "beside")]
    eventually(lambda: [doc["stock"] for doc in deps.catalogue.get_many(ids).values()] == [3, 5])
    assert maintenance.sum_up(deps) == 0
