"""Stock that follows its product to another category while a node of the cluster shows what the others refused, or lacks what they have."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import orjson
import pytest

from services.products.actions.conflicts import settle_conflicts
from services.products.dependencies import Dependencies
from services.products.documents import product_id, slot_id
from services.products.rules.ledger import MOVED_AWAY, MOVED_HERE, Line, losers
from services.products.store.catalogue import Catalogue
from services.products.store.ledger import Ledger
from shared.clock import iso, now, timestamp
from shared.couch import Server
from shared.errors import Unavailable
from tests.forwarding import Forward, Response, as_one_of_three, forwarding
from tests.services.products.conftest import Shop, eventually, open_as_worker, product
from tests.services.products.reserving import KITCHEN, level, replicated, reserve

GARDEN = ["Home", "Garden"]


@dataclass
class Node:
    """One of three. Its lists show what is in `kept` in place of what the others have, and lack what is None there. Of what it writes with a
    `reason` of `unsure` too few of the others hear."""

    kept: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    unsure: str = ""

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        if "/_all_docs" in path and self.kept:
            found = orjson.loads(content)
            rows = [row for row in found["rows"] if self.kept.get(row["id"], row) is not None]
            shown = [row | {"doc": self.kept.get(row["id"], row.get("doc"))} for row in rows]
            return status, headers, orjson.dumps(found | {"rows": shown})
        if path.endswith("/_bulk_docs") and self.unsure:
            docs, rows = orjson.loads(body)["docs"], orjson.loads(content)
            heard = [doc.get("reason") != self.unsure for doc in docs]
            rows = [row if sure else row | {"accepted": True} for row, sure in zip(rows, heard, strict=True)]
            return status if all(heard) else 202, headers, orjson.dumps(rows)
        return status, headers, as_one_of_three(method, path, content)


@pytest.fixture
def node() -> Node:
    return Node()


@pytest.fixture
def at_node(couch_url: str, node: Node, shop: Shop, environment: dict[str, str]) -> Iterator[Ledger]:
    with forwarding(couch_url, node.answer) as url:
        yield open_as_worker({**environment, "COUCH_URL": url}).ledger


def stocked(shop: Shop, productid: str, stock: int = 10) -> Line:
    shop.load([product(productid, taxonomy=KITCHEN, stock=stock)])
    return Line(productid, tuple(KITCHEN), 0)


def there(line: Line) -> Line:
    return replace(line, taxonomy=tuple(GARDEN))


def close(ledger: Ledger, line: Line) -> dict[str, Any]:
    closing = ledger.closing(line, ledger.end_here(line), GARDEN, timestamp())
    [row] = ledger.write([closing])
    assert ledger.is_own(closing, row)
    return closing


def test_an_end_that_the_others_refused_is_not_followed(
    shop: Shop, deps: Dependencies, at_node: Ledger, node: Node
):
    """The product began to move just when somebody bought one: what is sold there is sold, and nothing is in the other category."""
    line = stocked(shop, "refused")
    refused = deps.ledger.closing(line, deps.ledger.end_here(line), GARDEN, timestamp())
    assert reserve(shop, "quicker", ("refused", 1)) == 201
    node.kept = {slot_id(KITCHEN, "refused", 2): {**refused, "_rev": f"1-{'f' * 32}"}}
    assert at_node.end(line)[1].level == 9
    assert deps.ledger.chain(there(line)) == []


def test_what_a_refused_writer_left_is_no_end_of_a_chain(
    shop: Shop, deps: Dependencies, at_node: Ledger, node: Node
):
    """Who bought five was quicker than who bought one: the next one sees what the five left."""
    line = stocked(shop, "quantities", stock=6)
    assert reserve(shop, "five", ("quantities", 5)) == 201
    [five, *_] = deps.ledger.movements(line, 1)
    refused = {**five, "delta": -1, "level": 5, "mark": "refused", "_rev": f"1-{'f' * 32}"}
    node.kept = {five["_id"]: refused}
    assert at_node.end(line)[1].level == 1


def test_an_end_that_too_few_nodes_took_stays_for_whoever_followed_it(
    shop: Shop, deps: Dependencies, at_node: Ledger, node: Node
):
    line, node.unsure = stocked(shop, "unsure"), MOVED_AWAY
    with pytest.raises(Unavailable):
        close(at_node, line)
    node.unsure = ""
    place, head = at_node.end(line)
    assert (place.taxonomy, head.level) == (tuple(GARDEN), 10)


def test_who_brings_stock_that_another_has_brought_takes_nothing_away(
    shop: Shop, deps: Dependencies, at_node: Ledger, node: Node
):
    """Both write the same, and too few nodes take the second one's: it was withdrawn with the first one's, and brought once more later."""
    line = stocked(shop, "brought")
    closing = close(deps.ledger, line)
    deps.ledger.open_moved(closing, there(line))
    node.kept, node.unsure = {slot_id(GARDEN, "brought", 1): None}, MOVED_HERE
    with pytest.raises(Unavailable):
        at_node.open_moved(closing, there(line))
    assert [each["delta"] for each in deps.ledger.chain(there(line))] == [10]


def test_stock_that_came_is_not_brought_again_where_a_node_lacks_it(
    shop: Shop, deps: Dependencies, at_node: Ledger, node: Node
):
    line = stocked(shop, "lacking")
    closing = close(deps.ledger, line)
    deps.ledger.open_moved(closing, there(line))
    deps.ledger.append(there(line), -1, "adjusted", "one", timestamp())
    node.kept = {slot_id(GARDEN, "lacking", 1): None}
    assert at_node.end(line)[1].level == 9
    assert [each["delta"] for each in deps.ledger.chain(there(line))] == [10, -1]
    assert [each["slot"] for each in at_node.movements(there(line), 5)] == [2, 1]


def test_what_was_done_before_is_not_done_again_where_a_node_lacks_it(
    shop: Shop, deps: Dependencies, at_node: Ledger, node: Node
):
    """Somebody sends a stock correction again, with its key."""
    line = stocked(shop, "repeated")
    for mark in ("first", "second"):
        deps.ledger.append_once(line, 1, "adjusted", mark, timestamp())
    node.kept = {slot_id(KITCHEN, "repeated", 2): None}
    assert at_node.append_once(line, 1, "adjusted", "first", timestamp())["slot"] == 2
    node.kept = {slot_id(KITCHEN, "repeated", 3): None}
    assert at_node.append_once(line, 1, "adjusted", "second", timestamp())["slot"] == 3
    assert level(shop, "repeated") == 12


def test_an_end_that_two_wrote_is_followed_by_nobody_until_it_is_settled(
    shop: Shop, deps: Dependencies, at_node: Ledger, server: Server
):
    """The move was killed, and of its end and a sale nobody knows which most nodes took: the sale stays, for nobody followed the end."""
    line = stocked(shop, "contested")
    long_ago = iso(now() - timedelta(minutes=5))
    closing = deps.ledger.closing(line, deps.ledger.end_here(line), GARDEN, long_ago)
    assert reserve(shop, "buyer", ("contested", 1)) == 201
    replicated(server, {**closing, "_rev": f"1-{'f' * 32}"})
    with pytest.raises(Unavailable):
        at_node.end(line)
    assert deps.ledger.chain(there(line)) == []
    eventually(lambda: settle_conflicts(deps) or at_node.end(line)[1].level == 9)
    assert level(shop, "contested") == 9


def test_an_end_that_was_followed_stays(shop: Shop, deps: Dependencies, server: Server):
    line = stocked(shop, "followed")
    closing = close(deps.ledger, line)
    deps.ledger.open_moved(closing, there(line))
    late = {**closing, "mark": "late", "reason": "reserved", "orderid": "late", "delta": -1, "level": 9}
    late.pop("moved_to")
    replicated(server, {**late, "_rev": f"1-{'f' * 32}"})
    eventually(lambda: settle_conflicts(deps))
    assert [each["mark"] for each in deps.ledger.chain(line)][1:] == [closing["mark"]]
    assert deps.ledger.end(line)[1].level == 10


def test_who_ends_a_chain_takes_away_what_others_left_in_its_slot(
    shop: Shop, deps: Dependencies, at_node: Ledger, server: Server
):
    line = stocked(shop, "cleared")
    closing = deps.ledger.closing(line, deps.ledger.end_here(line), GARDEN, timestamp())
    [row] = at_node.write([closing])
    replicated(server, {**closing, "mark": "late", "delta": -1, "level": 9, "_rev": f"1-{'f' * 32}"})
    assert at_node.is_own(closing, row)
    assert [leaf["mark"] for leaf in at_node.leaves(closing["_id"])] == [closing["mark"]]


def test_stock_that_is_there_already_moves_nowhere(shop: Shop, deps: Dependencies):
    """A move that was cut off after its stock is finished by the next one."""
    line = stocked(shop, "ahead")
    deps.ledger.open_moved(close(deps.ledger, line), there(line))
    assert shop.admin("PUT", "/v1/products/ahead", product("ahead", taxonomy=GARDEN)).status == 200
    assert [each["reason"] for each in deps.ledger.chain(there(line))] == [MOVED_HERE]


def test_a_product_that_comes_back_is_found_where_the_view_does_not_have_it_yet(
    shop: Shop, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
):
    """It moved away a moment ago: who moves it back reads the forward that it left, and was told that there is no such product."""
    stocked(shop, "returning")
    assert shop.admin("PUT", "/v1/products/returning", product("returning", taxonomy=GARDEN)).status == 200
    monkeypatch.setattr(Catalogue, "_places", lambda *_, **__: [])
    [found] = deps.catalogue.copies("returning", expected_id=product_id(KITCHEN, "returning"))
    assert found["taxonomy"] == GARDEN


def test_of_two_that_end_a_chain_alike_one_stays():
    first, second = ({"mark": mark, "moved_to": GARDEN} for mark in ("a", "b"))
    assert losers([first, second], {}, (), followed=("a", "b")) == [second]
