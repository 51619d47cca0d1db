"""Who waits for goods, read from a chain: by random orders, releases and deliveries, against a queue that is kept by hand."""

import random
from typing import Any

import pytest

from services.products.rules.backorders import terms_of, waiting_by_order
from services.products.rules.ledger import (
    ADJUSTED,
    RELEASED,
    RESERVED,
    Head,
    Line,
    OutOfStock,
    after,
    movement,
)

LINE = Line("lamp", ("Home",), 0, backorder_limit=30)


def moved(chain: list[Any], delta: int, orderid: str = "") -> None:
    head = after(chain[-1]) if chain else Head()
    reason = (RESERVED if delta < 0 else RELEASED) if orderid else ADJUSTED
    more = {"orderid": orderid} if orderid else {}
    line = LINE if orderid else Line("lamp", ("Home",), 0)
    chain.append(movement(head, line, delta, reason, f"m{len(chain)}", "2026-11-23", **more))


def waiting(chain: list[Any]) -> dict[str, int]:
    return waiting_by_order(([each] for each in reversed(chain)), chain[-1]["level"])


class Queue:
    """Pieces in the order in which they were asked for; each has its goods, or waits."""

    def __init__(self) -> None:
        self.free, self.pieces = 0, list[list[Any]]()

    def give(self) -> None:
        for piece in self.pieces:
            if self.free and not piece[1]:
                piece[1], self.free = True, self.free - 1

    def take(self, orderid: str, count: int) -> None:
        self.pieces += [[orderid, False] for _ in range(count)]
        self.give()

    def come(self, count: int) -> None:
        self.free += count
        self.give()

    def give_back(self, orderid: str, count: int) -> None:
        """Those that wait first."""
        own = [each for each in reversed(self.pieces) if each[0] == orderid]
        for piece in sorted(own, key=lambda each: each[1])[:count]:
            self.pieces.remove(piece)
            self.free += piece[1]
        self.give()

    def waiting(self) -> dict[str, int]:
        names = [orderid for orderid, has in self.pieces if not has]
        return {name: names.count(name) for name in names}


@pytest.mark.parametrize("seed", range(200))
def test_the_last_pieces_of_a_chain_wait_as_in_a_queue_and_nobody_waits_again(seed: int) -> None:
    chance, chain, queue = random.Random(seed), list[Any](), Queue()
    held: dict[str, int] = {}
    moved(chain, 5)
    queue.come(5)
    ready: dict[str, int] = {}
    for step in range(60):
        kind, count = chance.choice(["take", "take", "come", "back"]), chance.randint(1, 6)
        if kind == "take" and chain[-1]["level"] + 30 >= count:
            moved(chain, -count, f"o{step}")
            queue.take(f"o{step}", count)
            held[f"o{step}"] = count
        elif kind == "come":
            moved(chain, count)
            queue.come(count)
        elif kind == "back" and held:
            name = chance.choice(sorted(held))
            count = min(count, held[name])
            moved(chain, count, name)
            queue.give_back(name, count)
            held[name] -= count
            ready[name] = min(ready.get(name, 0), held[name])
            if not held[name]:
                del held[name]
        assert waiting(chain) == queue.waiting()
        for name, count in held.items():
            has = count - waiting(chain).get(name, 0)
            assert has >= ready.get(name, 0), f"{name} had its goods and waits again"
            ready[name] = has


def test_goods_are_sold_down_to_their_limit_and_others_not_below_nothing() -> None:
    head = Head(1, 2)
    assert movement(head, LINE, -32, RESERVED, "m", "d")["level"] == -30
    with pytest.raises(OutOfStock) as refused:
        movement(head, LINE, -33, RESERVED, "m", "d")
    assert refused.value.extra["items"][0]["available"] == 32
    with pytest.raises(OutOfStock):
        movement(head, Line("lamp", ("Home",), 0), -3, RESERVED, "m", "d")
    assert movement(Head(1, -9), Line("lamp", ("Home",), 0), 4, ADJUSTED, "m", "d")["level"] == -5
    with pytest.raises(OutOfStock) as refused:
        movement(Head(1, -9), Line("lamp", ("Home",), 0), -1, ADJUSTED, "m", "d")
    assert refused.value.extra["items"][0]["available"] == 0


def test_all_who_may_have_a_slot_in_doubt_wait() -> None:
    leaves: Any = [{"orderid": each, "delta": -1} for each in ("a", "b")]
    assert waiting_by_order([leaves, [{"orderid": "c", "delta": -1}]], -1) == {"a": 1, "b": 1}  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("doc", "variant", "default", "expected"),
    [
        ({}, None, False, None),
        ({}, None, True, {"date": ""}),
        ({"backorder": False}, None, True, None),
        ({"backorder": True, "backorder_date": "2026-12-12"}, None, False, {"date": "2026-12-12"}),
        ({"backorder": True}, {"sku": "s", "backorder": False}, True, None),
        ({"backorder": False}, {"sku": "s", "backorder": True}, False, {"date": ""}),
        ({"backorder": True, "kind": "gift_card"}, None, True, None),
        (
            {"backorder": True, "backorder_limit": 9, "variant_waiting": {"s": 4}},
            {"sku": "s", "backorder_limit": 7},
            False,
            {"date": "", "limit": 7, "left": 3},
        ),
    ],
)
def test_the_word_of_a_variant_counts_before_the_products_and_the_shops(
    doc: dict[str, Any], variant: dict[str, Any] | None, default: bool, expected: Any
) -> None:
    assert terms_of(doc, variant, default) == expected
