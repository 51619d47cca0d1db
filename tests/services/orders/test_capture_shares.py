"""Reserved money, parcel by parcel: whatever is sent, cancelled and refunded in whatever order, what the bank took and paid back adds up."""

from math import ceil
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.orders.actions import credits
from services.orders.actions.line_cancellations import cancel_lines
from services.orders.actions.line_refunds import NothingToRefund, refund_items
from services.orders.actions.parcels import dispatch_order
from services.orders.actions.refunds import charged_part, refund_order, refundable
from services.orders.clients.payments import Capture, PaymentClosed
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.captures import capturable, taken
from services.orders.rules.pricing import Terms
from services.orders.rules.writing import payment_of
from shared.couch import Doc
from shared.money import money
from tests.services.orders.test_pricing import all_terms, goods, priced
from tests.services.orders.test_rules import order_document

SENT, CANCELLED, REFUNDED, PIECES = "sent", "cancelled", "refunded", "pieces refunded"


class Bank:
    """A provider that holds `total`, and refuses what a bank refuses: more than it holds, a second capture where it takes one."""

    def __init__(self, total: int, *, several: bool) -> None:
        self.total, self.several = total, several
        self.captures: dict[int, int] = {}
        self.backs: dict[str, int] = {}
        self.ended = False

    @property
    def net(self) -> int:
        return sum(self.captures.values()) - sum(self.backs.values())

    def capture(self, orderid: str, ref: str, capture: Capture) -> str:
        if capture.number in self.captures:
            return "taken"
        if self.ended or sum(self.captures.values()) + capture.total["amount"] > self.total:
            raise PaymentClosed
        assert self.several or capture.is_only
        assert capture.before == sum(self.captures.values())
        self.captures[capture.number] = capture.total["amount"]
        self.ended = capture.final
        return "taken"

    def step(self, currency: str) -> int:
        return 1

    def holds(self, ref: str) -> bool:
        return not self.ended

    def release(self, orderid: str, ref: str) -> str | None:
        if self.captures:
            return None
        self.ended = True
        return "released"

    def refund(self, orderid: str, ref: str, key: str, total: dict[str, Any]) -> str:
        self.backs.setdefault(key, total["amount"])
        assert self.net >= 0, "more is paid back than was taken"
        return "back"


class Store:
    """The documents of one order, each written once."""

    def __init__(self, *docs: Doc) -> None:
        self.docs = {doc["_id"]: doc for doc in docs}

    def add(self, doc: Doc) -> tuple[Doc, bool]:
        known = self.docs.setdefault(doc["_id"], doc)
        return known, known is doc

    def order(self, _: str) -> OrderDocuments:
        return OrderDocuments(list(self.docs.values()))


def shop_of(order: Doc, bank: Bank, credit: int) -> Any:
    currency = order["total"]["currency"]
    parts = [{"kind": "gift_card", "id": "c", "name": "Card", "amount": money(credit, currency)}]
    payment = payment_of(
        order,
        "bank",
        "ref",
        money(bank.total, currency),
        order["date"],
        sold=True,
        capture_before="2026-03-08T12:00:00.000Z",
        several_captures=bank.several,
        credits=parts if credit else [],
    )
    nothing = SimpleNamespace(confirm=lambda *_: None, take_back=lambda *_: None, release=lambda *_: None)
    return SimpleNamespace(
        orders=Store(order, payment),
        settings=SimpleNamespace(secret_key="secret"),
        hosted=lambda _: bank,
        provider=lambda _: bank,
        products=nothing,
    )


acts = st.lists(
    st.tuples(
        st.sampled_from((SENT, SENT, CANCELLED, REFUNDED, PIECES)),
        st.dictionaries(st.integers(0, 5), st.integers(1, 400), min_size=1),
        st.integers(0, 120),
    ),
    max_size=9,
)


@settings(deadline=None, max_examples=150)
@given(
    goods(),
    st.lists(st.integers(1, 400), min_size=6, max_size=6),
    all_terms(),
    acts,
    st.booleans(),
    st.integers(0, 130),
)
def test_what_is_taken_and_paid_back_adds_up_to_the_order(
    products: dict[str, Doc], numbers: list[int], terms: Terms, acts: list[Any], several: bool, percent: int
) -> None:
    """Any currency, with discounts, tax on top or included, shipping and a gift card; never more than has gone out."""
    found = priced(products, numbers, terms)
    order = order_document(
        basket=found.lines, goods=found.goods, delivery=found.delivery, tax=found.tax, taxes=found.taxes,
        shipping=found.shipping, total=found.total, userid=None, currency=found.total["currency"], number="A-1",
    )  # fmt: skip
    credit = min(found.total["amount"], found.total["amount"] * percent // 100)
    bank = Bank(found.total["amount"] - credit, several=several)
    if not bank.total:
        return
    deps = shop_of(order, bank, credit)
    backs: dict[str, int] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            credits, "refund", lambda _, part, __, key, *___: backs.setdefault(key, part["amount"]["amount"])
        )
        for number, (act, pieces, share) in enumerate(acts):
            try_to(deps, act, pieces, share, number)
            check_not_too_much(deps.orders.order("1"), bank, credit - sum(backs.values()))
        everything_else(deps)
    check_the_end(deps.orders.order("1"), bank, credit, backs)


def try_to(deps: Any, act: str, pieces: dict[int, int], share: int, number: int) -> None:
    """What staff do, as far as it is possible."""
    found = deps.orders.order("1")
    left = found.left_to_send
    if found.is_being_cancelled:
        return
    if act == REFUNDED:
        amount = refundable(found)
        amount["amount"] = amount["amount"] * share // 100 if share <= 100 else amount["amount"]
        if amount["amount"]:
            refund_order(deps, found, amount, "", (f"key{number}", "f"))
        return
    wanted = {f"p{place}": quantity for place, quantity in pieces.items()}
    if act == PIECES:
        bought = {line["productid"] for line in found.order["basket"]}
        try:
            items = [{"productid": key, "quantity": 1} for key in wanted if key in bought]
            if items:
                refund_items(deps, found, items, "", (f"key{number}", "f"))
        except (NothingToRefund, Exception) as error:
            if type(error).__name__ not in ("NothingToRefund", "Invalid"):
                raise
        return
    items = [
        {"productid": key, "quantity": min(quantity, left[key])}
        for key, quantity in wanted.items()
        if key in left
    ]
    if items and act == SENT:
        dispatch_order(deps, found, "Owl", str(number), "user x", items=items)
    elif items:
        cancel_lines(deps, found, items, "user x", "", (f"key{number}", "f"))


def everything_else(deps: Any) -> None:
    found = deps.orders.order("1")
    if found.left_to_send and not found.is_being_cancelled:
        dispatch_order(deps, found, "Owl", "last", "user x")


def check_not_too_much(found: OrderDocuments, bank: Bank, credit: int) -> None:
    """What was taken is at most what has gone out, each line rounded up, and the shipping, less what the gift card pays of it; nothing
    before the first parcel."""
    order, sent = found.order, dict[str, int]()
    for parcel in found.parcels:
        for line in parcel.lines:
            sent[line["productid"]] = sent.get(line["productid"], 0) + line["quantity"]
    value = sum(
        ceil(line["payable"]["amount"] * sent.get(line["productid"], 0) / line["quantity"])
        for line in order["basket"]
    )
    shipping = order["total"]["amount"] - sum(line["payable"]["amount"] for line in order["basket"])
    assert bank.net <= (max(0, value + shipping + len(order["basket"]) - credit) if sent else 0)
    assert bank.several or len(bank.captures) <= 1
    assert taken(found)["amount"] == sum(bank.captures.values())
    assert taken(found)["amount"] + capturable(found)["amount"] <= bank.total


def check_the_end(found: OrderDocuments, bank: Bank, credit: int, backs: dict[str, int]) -> None:
    assert all(found.settled(refund) for refund in found.refunds if refund["total"]["amount"])
    assert bank.net == bank.total - sum(charged_part(refund) for refund in found.refunds)
    refunded = sum(refund["total"]["amount"] for refund in found.refunds)
    assert bank.net + credit - sum(backs.values()) == found.order["total"]["amount"] - refunded
    assert capturable(found)["amount"] == 0
    assert bank.ended
