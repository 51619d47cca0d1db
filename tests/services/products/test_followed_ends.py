"""Stock that came in, that too few nodes of a cluster took, and that somebody follows before its writer takes it back: it is there once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import orjson
import pytest

from services.products.dependencies import Dependencies
from services.products.rules.ledger import ADJUSTED, Head, Line, head_of
from services.products.store.ledger import Ledger
from shared.clock import timestamp
from shared.couch import Server, time_ordered_id
from tests.forwarding import Forward, Response, as_one_of_three, forwarding
from tests.services.products.conftest import Shop, open_as_worker, product
from tests.services.products.reserving import KITCHEN, replicated


@dataclass
class Node:
    """One of three. Of the next `unsure` writes too few of the others hear, and `meanwhile` happens before the first of them is answered."""

    unsure: int = 0
    meanwhile: list[Callable[[], None]] = field(default_factory=list)

    def answer(self, method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        if path.endswith("/_bulk_docs") and self.unsure and b'"slot"' in body:
            self.unsure -= 1
            rows = [row | {"accepted": True} if row.get("ok") else row for row in orjson.loads(content)]
            while self.meanwhile:
                self.meanwhile.pop()()
            return 202, headers, orjson.dumps(rows)
        return status, headers, as_one_of_three(method, path, content)


@pytest.fixture
def node() -> Node:
    return Node()


@pytest.fixture
def at_node(couch_url: str, node: Node, shop: Shop, environment: dict[str, str]) -> Iterator[Ledger]:
    with forwarding(couch_url, node.answer) as url:
        yield open_as_worker({**environment, "COUCH_URL": url}).ledger


def come_in(ledger: Ledger, line: Line, delta: int = 5) -> None:
    ledger.append(line, delta, ADJUSTED, time_ordered_id(), timestamp())


def stocked(shop: Shop, deps: Dependencies, productid: str) -> Line:
    """Ten came in and one is sold."""
    shop.load([product(productid, taxonomy=KITCHEN, stock=10)])
    line = Line(productid, tuple(KITCHEN), 0)
    come_in(deps.ledger, line, -1)
    return line


def is_exact(deps: Dependencies, line: Line) -> bool:
    """Whether the level at the end is the sum of the movements, each behind the one before it."""
    chain = deps.ledger.chain(line)
    sums = [sum(each["delta"] for each in chain[: number + 1]) for number in range(len(chain))]
    return [each["level"] for each in chain] == sums


def test_what_somebody_follows_is_taken_by_most_nodes_and_not_taken_back(
    shop: Shop, deps: Dependencies, at_node: Ledger, node: Node
) -> None:
    line = stocked(shop, deps, "followed")
    node.unsure, node.meanwhile = 1, [lambda: come_in(at_node, line, -12)]
    come_in(at_node, line)
    assert [each["delta"] for each in deps.ledger.chain(line)] == [10, -1, 5, -12]
    assert is_exact(deps, line)
    assert deps.ledger.end(line)[1].level == 2


def test_what_most_nodes_do_not_take_is_followed_as_if_it_had_not_come(
    shop: Shop, deps: Dependencies, at_node: Ledger, node: Node
) -> None:
    line, seen = stocked(shop, deps, "in-doubt"), []
    node.unsure, node.meanwhile = 9, [lambda: seen.append(at_node.end(line)[1])]
    come_in(at_node, line)
    assert [head.level for head in seen] == [9]
    assert sum(each["delta"] for each in deps.ledger.chain(line)) == 14


def test_of_several_that_wrote_one_slot_perhaps_none_has_come(
    shop: Shop, deps: Dependencies, at_node: Ledger, server: Server
) -> None:
    line = stocked(shop, deps, "several")
    come_in(deps.ledger, line)
    [last, _] = deps.ledger.movements(line, 2)
    replicated(server, {**last, "delta": 7, "level": 16, "mark": "another", "_rev": f"1-{'0' * 32}"})
    assert at_node.end(line)[1] == Head(3, 9)
    assert head_of([last, {**last, "delta": -1, "level": 8}]) == Head(3, 8)
