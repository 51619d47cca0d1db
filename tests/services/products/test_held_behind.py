"""What an order keeps out of stock, at a node of a cluster whose view and lists lack the last slots: read by their ids these count."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import orjson
import pytest

from services.products.actions.maintenance import SETTLE_AFTER, correct_settled
from services.products.actions.stock import release, reserve
from services.products.dependencies import Dependencies
from services.products.documents import DESIGN
from services.products.rules.ledger import Line
from services.products.store.slot_cache import SlotCache
from shared.clock import iso, now, timestamp
from shared.couch import Server
from tests.forwarding import Forward, Response, as_one_of_three, forwarding
from tests.services.products.conftest import Shop, open_as_worker, product
from tests.services.products.reserving import KITCHEN, level


@dataclass
class Node:
    """One of three. It lacks the slots from number `first` on until it writes one, and counts what an order holds as `held` says."""

    first: int = 1_000
    held: dict[str, int] = field(default_factory=dict)

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        if path.endswith("/_bulk_docs") and b":stock:" in body:
            self.first = 1_000
        content = as_one_of_three(method, path, content)
        if "/_view/held" in path or ("/_partition/" in path and "/_all_docs" in path):
            found = orjson.loads(content)
            rows = [row for row in found["rows"] if not self._lacks(row.get("id", ""))]
            for row in rows:
                if "id" not in row:
                    row["value"] = self.held.get(row["key"][0], row["value"])
            content = orjson.dumps(found | {"rows": rows})
        return status, headers, content

    def _lacks(self, docid: str) -> bool:
        _, is_slot, number = docid.partition(":stock:")
        return bool(is_slot) and int(number) >= self.first


@pytest.fixture
def node() -> Node:
    return Node()


@pytest.fixture
def behind(couch_url: str, node: Node, shop: Shop, environment: dict[str, str]) -> Iterator[Dependencies]:
    with forwarding(couch_url, node.answer) as url:
        yield open_as_worker({**environment, "COUCH_URL": url})


def stocked(shop: Shop, productid: str) -> Line:
    shop.load([product(productid, stock=10)])
    return Line(productid, tuple(KITCHEN), 2)


def reserved(deps: Dependencies, orderid: str, line: Line, *, again: bool = False) -> None:
    reserve(deps, orderid, [line], iso(now() + timedelta(minutes=15)), timestamp(), again=again)


@pytest.mark.parametrize("remembers", [True, False])
def test_what_was_reserved_a_moment_ago_goes_back_at_once(
    shop: Shop,
    deps: Dependencies,
    behind: Dependencies,
    node: Node,
    monkeypatch: pytest.MonkeyPatch,
    *,
    remembers: bool,
) -> None:
    """A code was used up, a card declined: the goods of so many checkouts were out of stock until the worker looked at them."""
    line = stocked(shop, f"refused{remembers}")
    for orderid in ("before", "declined", "after"):
        reserved(deps, f"{orderid}{remembers}", line)
    if not remembers:
        monkeypatch.setattr(SlotCache, "get", lambda *_: {})
    node.first = 2
    release(behind, f"declined{remembers}", [line], "release", timestamp())
    assert level(shop, line.productid) == 6


def test_who_reserves_again_takes_nothing_twice(
    shop: Shop, deps: Dependencies, behind: Dependencies, node: Node
) -> None:
    line = stocked(shop, "repeated")
    reserved(deps, "repeats", line)
    node.first = 2
    reserved(behind, "repeats", line, again=True)
    assert level(shop, "repeated") == 8


@pytest.mark.parametrize("delta", [1, -1])
def test_a_level_that_counts_a_movement_which_was_taken_back_is_corrected_once_the_chain_rests(
    shop: Shop, deps: Dependencies, behind: Dependencies, server: Server, *, delta: int
) -> None:
    """Too few nodes took it, and somebody followed it before it was taken back: one too many was sold, or one was never sold."""
    line = stocked(shop, f"followed{delta}")
    gone = deps.ledger.append(line, delta, "adjusted", "gone", timestamp())
    reserved(deps, f"follows{delta}", line)
    release(deps, f"follows{delta}", [line], "release", timestamp())
    stored = server.open(DESIGN).get(gone["_id"])
    deps.ledger.remove([stored])
    assert level(shop, line.productid) == 10 + delta
    correct_settled(behind, now() + timedelta(seconds=20))
    assert level(shop, line.productid) == 10 + delta, "the chain does not rest yet"
    for _ in range(2):
        correct_settled(behind, now() + SETTLE_AFTER + timedelta(seconds=1))
        assert level(shop, line.productid) == 10
    assert [each["reason"] for each in deps.ledger.movements(line, 2)] == ["corrected", "released"]


def test_what_went_back_does_not_go_back_once_more(
    shop: Shop, deps: Dependencies, behind: Dependencies, node: Node
) -> None:
    """A node that comes back after a while still counts what it had: there would be more to sell than there is."""
    line = stocked(shop, "returned")
    reserved(deps, "returns", line)
    release(deps, "returns", [line], "release", timestamp())
    node.first, node.held = 3, {"returns": 2}
    assert correct_settled(behind, now() + SETTLE_AFTER + timedelta(seconds=1)) == 0
    assert level(shop, "returned") == 10
