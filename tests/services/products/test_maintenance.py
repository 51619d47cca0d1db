"""What a crash or a replication leaves half done is finished: by the next request, or by the worker."""

import pytest

from services.products.actions import catalogue, maintenance
from services.products.actions.conflicts import settle_conflicts
from services.products.actions.maintenance import finish_moves
from services.products.dependencies import Dependencies
from services.products.documents import BY_PRODUCTID, DESIGN, REVIEW, product_id, slot_id
from services.products.rules import ledger
from services.products.rules.ledger import Line
from services.products.rules.product import checked, complete, document
from services.products.store.ledger import Ledger
from services.worker.schedule import TIMETABLE
from shared.clock import now, timestamp
from shared.couch import Database, Server, counting
from shared.jobs import SUM_UP_PRODUCTS
from tests.services.products.conftest import ADMIN, Shop, eventually, product, token
from tests.services.products.reserving import KITCHEN, level, replicated, reserve
from tests.services.worker.processes import Worker
from tests.waiting import Holds

GARDEN = ["Garden"]


def half_moved(shop: Shop, deps: Dependencies, productid: str) -> None:
    """The new place is written, the old one not yet gone."""
    shop.load([product(productid, stock=5)])
    old = deps.catalogue.by_productid(productid)
    catalogue.move_stock(
        deps, Line(productid, tuple(KITCHEN), 0), Line(productid, tuple(GARDEN), 0), timestamp()
    )
    content = complete(checked(product(productid, taxonomy=GARDEN)).content)
    deps.catalogue.put(document(content, timestamp(), stock=5, moved_from=old["_id"]))


def test_a_product_in_both_places_is_read_once_and_the_worker_clears_up(shop: Shop, deps: Dependencies):
    half_moved(shop, deps, "half")
    eventually(lambda: shop.ok("/v1/products/half")["taxonomy"] == GARDEN)
    assert [each["taxonomy"] for each in shop.walk(subcategories="true") if each["productid"] == "half"] == [
        GARDEN
    ]
    assert finish_moves(deps, now()) == 1
    assert shop.walk(category="Home#Kitchen") == []
    assert finish_moves(deps, now()) == 0
    assert level(shop, "half") == 5


def test_the_move_can_simply_be_asked_for_again(shop: Shop, deps: Dependencies):
    half_moved(shop, deps, "again")
    assert shop.admin("PUT", "/v1/products/again", product("again", taxonomy=GARDEN)).status == 200
    left = deps.catalogue.get(product_id(KITCHEN, "again"))
    assert (left["type"], left["moved_to"]) == ("forward", product_id(GARDEN, "again"))
    assert level(shop, "again") == 5


def test_a_moved_product_is_found_by_way_of_where_it_was(shop: Shop, deps: Dependencies, server: Server):
    """On a cluster the copy that answers may not know the new place yet: the forward has the database read it by id."""
    shop.load([product("wanderer")])
    places = [product_id(taxonomy, "wanderer") for taxonomy in (KITCHEN, GARDEN)]
    assert shop.admin("PUT", "/v1/products/wanderer", product("wanderer", taxonomy=GARDEN)).status == 200
    rows = server.open(DESIGN).across_partitions.view(BY_PRODUCTID, key="wanderer", include_docs=True)
    assert {row["id"]: row["doc"]["_id"] for row in rows} == dict.fromkeys(places, places[1])
    assert [each["productid"] for each in shop.walk(category="Home#Kitchen")].count("wanderer") == 0
    assert shop.admin("DELETE", "/v1/products/wanderer").status == 204
    assert deps.catalogue.all_by_productid(["wanderer"]) == {}


def test_a_row_whose_document_became_a_forward_is_followed(shop: Shop, deps: Dependencies):
    """The index was read before the move, the document after it."""
    shop.load([product("between")])
    assert shop.admin("PUT", "/v1/products/between", product("between", taxonomy=GARDEN)).status == 200
    row = {"doc": deps.catalogue.get(product_id(KITCHEN, "between"))}
    assert [doc["taxonomy"] for doc in deps.catalogue._followed([row])] == [GARDEN]
    assert shop.admin("DELETE", "/v1/products/between").status == 204
    assert deps.catalogue._followed([row]) == []


def test_a_category_that_a_product_left_takes_it_again(shop: Shop, deps: Dependencies):
    for create in (
        lambda line: shop.admin("POST", "/v1/products", line).status == 201,
        lambda line: shop.load([line])["created"] == 1,
    ):
        assert create(product("back", stock=3))
        assert shop.admin("PUT", "/v1/products/back", product("back", taxonomy=GARDEN)).status == 200
        assert shop.admin("DELETE", "/v1/products/back").status == 204
        assert create(product("back", stock=2))
        assert (shop.ok("/v1/products/back")["taxonomy"], level(shop, "back")) == (KITCHEN, 2)
        assert maintenance.refresh(deps, [product_id(GARDEN, "back")]) == 0
        assert shop.admin("DELETE", "/v1/products/back").status == 204


def test_stock_on_its_way_to_another_category_is_found_by_the_next_buyer(
    shop: Shop, deps: Dependencies, holds: Holds
):
    """The chain is closed here and not yet opened there."""
    shop.load([product("way", stock=3)])
    deps.ledger.close(Line("way", tuple(KITCHEN), 0), GARDEN, "closing", timestamp())
    assert deps.ledger.chain(Line("way", tuple(GARDEN), 0)) == []
    for number in range(3):
        holds(lambda number=number: reserve(shop, f"way{number}", ("way", 1)) == 201)
    assert reserve(shop, "way3", ("way", 1)) == 409
    holds(lambda: sum(each["delta"] for each in deps.ledger.chain(Line("way", tuple(GARDEN), 0))) == 0)


def test_a_first_movement_without_its_product_is_taken_up_by_the_next_import(shop: Shop, deps: Dependencies):
    first = ledger.movement(
        ledger.Head(), Line("orphan", tuple(KITCHEN), 0), 8, ledger.CREATED, "created orphan", timestamp()
    )
    deps.ledger.write([first])
    shop.load([product("orphan", stock=8)])
    assert (shop.ok("/v1/products/orphan")["stock"], level(shop, "orphan")) == (8, 8)


def test_of_two_edits_on_two_replicas_the_later_stays(shop: Shop, deps: Dependencies, server: Server):
    shop.load([product("twice", stock=2)])
    shop.admin("PUT", "/v1/products/twice", product("twice", name="Later"))
    doc = deps.catalogue.by_productid("twice")
    rival = {
        **doc,
        "_rev": "2-ffffffffffffffffffffffffffffffff",
        "name": "Earlier",
        "edited": "2020-01-01T00:00:00.000Z",
        "stock": 99,
    }
    replicated(server, {name: value for name, value in rival.items() if not name.startswith("_conflicts")})
    eventually(lambda: settle_conflicts(deps) == 0 and len(deps.ledger.leaves(doc["_id"])) == 1)
    settled = deps.catalogue.get(doc["_id"])
    assert (settled["name"], settled["stock"]) == ("Later", 2)


def test_of_two_search_rules_on_two_replicas_the_later_stays(shop: Shop, deps: Dependencies, server: Server):
    path = "/v1/admin/search/synonyms/sofa"
    assert shop.admin("PUT", path, {"synonyms": ["couch"]}).status == 201
    doc = deps.rule_documents.get("synonym", "sofa")
    assert doc
    rival = doc | {"_rev": "1-ffffffffffffffffffffffffffffffff", "synonyms": ["settee"]}
    replicated(server, rival | {"edited": "2020-01-01T00:00:00.000Z"})
    eventually(lambda: settle_conflicts(deps) == 0 and len(deps.ledger.leaves(doc["_id"])) == 1)
    assert shop.ok(path, token(*ADMIN))["synonyms"] == ["couch"]


def test_sold_wins_over_expired_when_replicas_disagree(
    shop: Shop, deps: Dependencies, server: Server, holds: Holds
):
    shop.load([product("both", stock=2)])
    assert reserve(shop, "both1", ("both", 2), minutes=-1) == 201
    maintenance.sweep(deps, now())
    settlement = deps.reservations.settlements(
        [maintenance.settlement_id(KITCHEN, "both", "both1")]
    ).popitem()[1]
    replicated(server, {**settlement, "_rev": "1-00000000000000000000000000000000", "outcome": "sold"})
    maintenance.sweep(deps, now() + 2 * maintenance.SETTLE_AFTER)
    holds(lambda: level(shop, "both") == 0)

    def outcome() -> str:
        settle_conflicts(deps)
        return str(deps.reservations.settlements([settlement["_id"]])[settlement["_id"]]["outcome"])

    holds(lambda: outcome() == "sold")


def test_what_was_sold_or_reviewed_alone_is_summed_up(shop: Shop, deps: Dependencies):
    shop.load([product("summed", stock=9)])
    docid = product_id(KITCHEN, "summed")
    sold, reviewed = f"{docid}:stock:000000002", f"{docid}:review:ann"
    assert reserve(shop, "summed1", ("summed", 4)) == 201
    with counting() as calls:
        assert maintenance.refresh_after(deps, [sold, f"{docid}:order:summed1"]) == 1
    assert (calls.calls["partition"], calls.calls["global"]) == (0, 0)
    review = REVIEW.build(
        reviewed,
        productid="summed",
        taxonomy=KITCHEN,
        userid="ann",
        stars=3,
        title="",
        text="",
        date=timestamp(),
    )
    assert deps.reviews.add(review)
    with counting() as calls:
        assert maintenance.refresh_after(deps, [reviewed]) == 1
    assert (calls.calls["partition"], calls.calls["global"]) == (1, 0)
    with counting() as calls:
        assert maintenance.refresh_after(deps, [sold, reviewed]) == 0
    assert calls.calls["partition"] == 1
    shown = deps.catalogue.get(docid)
    assert (shown["stock"], shown["rating"]) == (5, {"average": 3.0, "count": 1})


@pytest.mark.parametrize("known", ["nothing", "late"])
def test_the_end_of_a_chain_is_read_where_no_process_has_seen_it(
    shop: Shop, deps: Dependencies, monkeypatch: pytest.MonkeyPatch, known: str, holds: Holds
):
    """Redis was emptied, or the process that wrote the last movement was killed before it could say so."""
    productid = f"unseen{known}"
    shop.load([product(productid, stock=9)])
    docid, line = product_id(KITCHEN, productid), Line(productid, tuple(KITCHEN), 0)
    assert reserve(shop, f"{productid}1", (productid, 4)) == 201
    seen = deps.ledger.cached_heads([line]) if known == "late" else {}
    assert reserve(shop, f"{productid}2", (productid, 3)) == 201
    holds(lambda: len(deps.ledger.chain(line)) == 3)
    monkeypatch.setattr(Ledger, "cached_heads", lambda self, lines: seen)
    with counting() as calls:
        assert maintenance.refresh_after(deps, [f"{docid}:stock:00000000{slot}" for slot in (3, 2)]) == 1
    assert (calls.calls["partition"], calls.calls["global"]) == (1, 0)
    assert deps.catalogue.get(docid)["stock"] == 2


@pytest.mark.parametrize(("copies", "again"), [(1, False), (3, True)])
def test_what_was_summed_up_is_looked_at_again_where_a_copy_may_be_late(
    shop: Shop, deps: Dependencies, monkeypatch: pytest.MonkeyPatch, copies: int, again: bool
):
    productid = f"copies{copies}"
    shop.load([product(productid, stock=9)])
    eventually(lambda: maintenance.sum_up(deps) == 0)
    maintenance.sum_up(deps)
    monkeypatch.setattr(Database, "copies", copies)
    assert reserve(shop, f"{productid}sold", (productid, 4)) == 201
    eventually(lambda: maintenance.sum_up(deps) == 1)
    looked_at: set[str] = set()
    monkeypatch.setattr(maintenance, "refresh_after", lambda deps, ids: looked_at.update(ids) or 0)
    assert maintenance.sum_up(deps) == 0
    assert (slot_id(KITCHEN, productid, 2) in looked_at) == again
    assert shop.ok(f"/v1/products/{productid}")["stock"] == 5


def test_a_running_worker_sums_up_what_was_sold(shop: Shop, environment: dict[str, str], tmp_path, prepared):
    shop.load([product("live", stock=9)])
    assert any(row.job == SUM_UP_PRODUCTS for row in TIMETABLE)
    assert reserve(shop, "live1", ("live", 4)) == 201
    worker = Worker(
        {**environment, "PRODUCTS_URL": shop.url, "ORDERS_URL": shop.url, "USERS_URL": shop.url}, tmp_path
    )
    try:
        eventually(lambda: shop.ok("/v1/products/live")["stock"] == 5)
    finally:
        worker.stop()
    assert shop.ok("/v1/products/live")["stock"] == 5
