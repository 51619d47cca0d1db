"""What is left of an order's goods over what they cost the shop: by day, from the order's documents and the costs as they were at the order.

Of goods alone, without tax and delivery; gift cards that are sold are owed, not earned.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, cast

from services.orders.declarations.events import Refund
from services.orders.declarations.labels import Label, LabelRefund
from services.orders.declarations.parts import Line, SoldLine, line_key, net_price
from services.orders.declarations.returns import DAMAGED
from services.orders.declarations.summaries import MarginOfDay
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.labels import GIVEN_BACK
from services.orders.rules.parcel_labels import parcel_labels

FIGURES: Final = ("units", "known_units", "sales", "known_sales", "cost", "labels")
"""Pieces, those of them whose cost is known, what all and what these were sold for, and what these cost; what labels of parcels cost."""
Figures = tuple[int, int, int, int, int, int]


@dataclass
class _Goods:
    """A line: `sales` of all its `quantity`; `cost` of one piece, None where nobody knew it. How many were given and paid back yet."""

    quantity: int
    sales: int
    cost: int | None
    given_back: int = 0
    paid_back: int = 0


@dataclass
class _Ledger:
    """Figures by day, and what is left of all of them."""

    goods: dict[str, _Goods]
    days: dict[str, list[int]] = field(default_factory=dict)
    left: list[int] = field(default_factory=lambda: [0] * len(FIGURES))

    def book(self, date: str, figures: Figures) -> None:
        day = self.days.setdefault(date[:10], [0] * len(FIGURES))
        for sums in (day, self.left):
            sums[:] = [one + other for one, other in zip(sums, figures, strict=True)]

    def sold(self, date: str) -> None:
        for each in self.goods.values():
            known = each.cost is not None
            self.book(
                date,
                (
                    each.quantity,
                    each.quantity * known,
                    each.sales,
                    each.sales * known,
                    each.quantity * (each.cost or 0),
                    0,
                ),
            )

    def given_back(self, date: str, lines: Iterable[SoldLine]) -> None:
        """Goods that are the shop's again. Damaged ones have cost what they have cost."""
        for line in lines:
            if (goods := self.goods.get(line_key(line))) is None:
                continue
            quantity = min(line["quantity"], goods.quantity - goods.given_back)
            goods.given_back += quantity
            known = quantity * (goods.cost is not None)
            cost = 0 if line.get("condition") == DAMAGED else quantity * (goods.cost or 0)
            self.book(date, (-quantity, -known, 0, 0, -cost, 0))

    def paid_back(self, date: str, lines: Iterable[SoldLine]) -> None:
        """What was paid for these pieces; parts of a line add up to it."""
        for line in lines:
            if (goods := self.goods.get(line_key(line))) is None:
                continue
            before, upto = goods.paid_back, min(goods.quantity, goods.paid_back + line["quantity"])
            goods.paid_back = upto
            amount = goods.sales * upto // goods.quantity - goods.sales * before // goods.quantity
            self.reduced(date, amount, amount if goods.cost is not None else 0)

    def reduced(self, date: str, amount: int, known: int) -> None:
        """Never by more than is left: what is paid back beyond that was delivery."""
        _, _, sales, known_sales, *_ = self.left
        self.book(date, (0, 0, -min(amount, sales), -min(known, known_sales), 0, 0))

    def reduced_in_all(self, date: str, amount: int) -> None:
        """A part of everything that is left, whatever goods it is of."""
        _, _, sales, known_sales, *_ = self.left
        amount = min(amount, sales)
        self.reduced(date, amount, known_sales * amount // sales if sales else 0)

    def ended(self, date: str) -> None:
        """Nothing was sold after all."""
        units, known_units, sales, known_sales, cost, _ = self.left
        self.book(date, (-units, -known_units, -sales, -known_sales, -cost, 0))

    def label(self, label: Label | None, refund: LabelRefund | None) -> None:
        """What was paid for a label, and what is paid back for one that was not used."""
        if label is None:
            return
        cost = label["cost"]["amount"]
        self.book(label["date"], (0, 0, 0, 0, 0, cost))
        if refund is not None and refund["status"] in GIVEN_BACK:
            self.book(refund["date"], (0, 0, 0, 0, 0, -cost))


def margin_of(found: OrderDocuments) -> list[MarginOfDay]:
    """The figures of each day on which something was sold, given back or paid back; none of an order that is not paid."""
    if found.payment is None:
        return []
    costs = found.costs["costs"] if found.costs else {}
    ledger = _Ledger(
        {
            line_key(line): _Goods(line["quantity"], _sales(line), costs.get(line_key(line)))
            for line in found.order["basket"]
            if not line.get("gift_card")
        }
    )
    ledger.sold(found.payment["date"])
    for cancelled in found.line_cancellations:
        ledger.given_back(cancelled["date"], cancelled["lines"])
    for back in found.returns:
        ledger.given_back(back["date"], back["lines"])
    returned = {each.reference: each.refunded_lines for each in found.order_returns}
    for refund in found.refunds:
        if lines := refund.get("lines") or returned.get(refund["cause"]):
            ledger.paid_back(refund["date"], lines)
        else:
            ledger.reduced_in_all(refund["date"], _without_tax(refund))
    for each in found.order_returns:
        ledger.label(each.label, each.label_refund)
    for parcel in parcel_labels(found):
        ledger.label(parcel.label, parcel.refund)
    if found.cancellation is not None:
        ledger.ended(max(found.cancellation["date"], found.payment["date"]))
    return [_of_day(day, sums) for day, sums in sorted(ledger.days.items()) if any(sums)]


def _of_day(day: str, sums: list[int]) -> MarginOfDay:
    """Without what is nothing."""
    named = {name: value for name, value in zip(FIGURES, sums, strict=True) if value}
    return cast(MarginOfDay, {"date": day, **named})


def _sales(line: Line) -> int:
    return line["tax"]["base"]["amount"] if "tax" in line else net_price(line)


def _without_tax(refund: Refund) -> int:
    taxes = sum(tax["amount"]["amount"] for tax in refund.get("taxes", []))
    return refund["total"]["amount"] - refund.get("gift_cards_sold", 0) - taxes
