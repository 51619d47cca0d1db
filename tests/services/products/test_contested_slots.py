"""A slot of the stock that two writers had at once, as on a cluster, is settled: nothing is sold twice, no unit is lost."""

from datetime import timedelta

from redis import Redis

from services.products.actions import maintenance
from services.products.actions.conflicts import settle_conflicts
from services.products.dependencies import Dependencies
from services.products.documents import settlement_id, slot_id
from services.products.rules.ledger import Line
from shared.clock import iso, now, timestamp
from shared.couch import Server
from tests.services.products.conftest import Shop, eventually, product
from tests.services.products.reserving import KITCHEN, conflicts, end, level, replicated, reserve


def test_a_slot_that_replicas_wrote_differently_is_settled_by_the_rule(
    shop: Shop, deps: Dependencies, server: Server, redis_url: str
):
    """Two writers had slot 2 at once, as on a cluster: the refused one went on to slot 3, its revision stayed behind."""
    shop.load([product("split", stock=10)])
    assert reserve(shop, "winner", ("split", 1)) == 201
    slot = deps.catalogue.get(slot_id(KITCHEN, "split", 2))
    ghost = {
        **slot,
        "_rev": "1-ffffffffffffffffffffffffffffffff",
        "delta": -4,
        "level": 6,
        "mark": "ghost",
        "orderid": "loser",
    }
    replicated(server, ghost)
    assert end(shop, "loser", "release", ("split", 4)) == 200
    Redis.from_url(redis_url).flushdb()
    assert reserve(shop, "next", ("split", 7)) == 409
    assert reserve(shop, "next2", ("split", 6)) == 201
    eventually(lambda: not (settle_conflicts(deps) or conflicts(deps, "split")))
    chain = deps.ledger.chain(Line("split", tuple(KITCHEN), 0))
    assert [each["mark"] for each in chain if each["slot"] == 2] == [slot["mark"]]
    assert level(shop, "split") == deps.ledger.end(Line("split", tuple(KITCHEN), 0))[1].level == 10 - 1 - 6


def in_doubt(shop: Shop, deps: Dependencies, server: Server, productid: str) -> None:
    """Slot 2 has two writers, as on a cluster: `told` was told that it has it and was sold; `died` was killed before it heard that it has
    not, came again, took slot 3 and was sold as well."""
    shop.load([product(productid, stock=10)])
    for orderid in (f"told-{productid}", f"died-{productid}"):
        assert reserve(shop, orderid, (productid, 1)) == 201
        assert end(shop, orderid, "confirmation", (productid, 1)) == 200
    slot = deps.catalogue.get(slot_id(KITCHEN, productid, 2))
    rival = {"_rev": "1-00000000000000000000000000000000", "mark": "0", "orderid": f"died-{productid}"}
    replicated(server, {**slot, **rival})
    eventually(lambda: conflicts(deps, productid))


def test_a_slot_of_two_orders_that_were_both_sold_belongs_to_who_has_no_other(
    shop: Shop, deps: Dependencies, server: Server
):
    """It stayed in doubt for ever, and the order that had it took another one: a unit too few to sell."""
    in_doubt(shop, deps, server, "doubted")
    maintenance.correct_settled(deps, now() + timedelta(seconds=31))
    assert level(shop, "doubted") == 8, "nothing is taken again while it is not known whose slot it is"
    eventually(lambda: not (settle_conflicts(deps) or conflicts(deps, "doubted")))
    chain = deps.ledger.chain(Line("doubted", tuple(KITCHEN), 0))
    assert [each["orderid"] for each in chain if each["slot"] > 1] == ["told-doubted", "died-doubted"]
    maintenance.correct_settled(deps, now() + timedelta(seconds=31))
    assert level(shop, "doubted") == 8


def test_what_an_order_took_in_place_of_a_slot_that_turns_out_to_be_its_own_comes_back(
    shop: Shop, deps: Dependencies, server: Server
):
    """Also when its sale is longer ago than is looked at for goods that were taken twice."""
    in_doubt(shop, deps, server, "regained")
    for order in ("told", "died"):
        docid = settlement_id(KITCHEN, "regained", f"{order}-regained")
        deps.reservations.put_settlement(
            {**deps.reservations.settlements([docid])[docid], "date": iso(now() - timedelta(days=3))}
        )
    line = Line("regained", tuple(KITCHEN), 1)
    deps.ledger.append(line, -1, "reserved", "again", timestamp(), orderid="told-regained")
    assert level(shop, "regained") == 7
    eventually(lambda: not (settle_conflicts(deps) or conflicts(deps, "regained")))
    assert level(shop, "regained") == 8
    eventually(
        lambda: (
            deps.reservations.held([(f"{each}-regained", "regained") for each in ("told", "died")])
            == {("told-regained", "regained"): 1, ("died-regained", "regained"): 1}
        )
    )
