"""What of an order goes out in which parcel, what was cancelled of it, and what is left.

The decisions of an order are numbered: `decision`, `decision2`, ... Each hands some of the goods to a courier or cancels some, of those
that the ones before have left. Who wants to decide has read the last one and writes the next, whose id only one writer can take; who
is refused reads again. So no piece goes out twice, and none that was cancelled. The n-th decision to dispatch is the n-th parcel.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from services.orders.declarations.events import Decision, LineCancellation, OrderDelivery, OrderDispatch
from services.orders.declarations.parts import Line, SoldLine, line_key, net_price
from services.orders.documents import LINE_CANCELLATION
from services.orders.rules.pricing import merged
from services.orders.rules.returns import quantities_by_key, whole_lines
from services.orders.rules.writing import numbered_key, sold
from shared.errors import Invalid

DISPATCH, CANCEL = "dispatch", "cancel"

Quantities = dict[str, int]


@dataclass(frozen=True)
class Parcel:
    """Goods that left together, and their arrival."""

    number: int
    lines: Sequence[SoldLine]
    dispatch: OrderDispatch
    delivery: OrderDelivery | None

    @property
    def kind(self) -> str:
        """Of the e-mail that it left."""
        return numbered_key(DISPATCH, self.number)

    @property
    def delivery_kind(self) -> str:
        """Of the e-mail that it has arrived."""
        return numbered_key("delivery", self.number)

    def is_sent_as(self, courier: str, courierid: str) -> bool:
        return (self.dispatch["courier"], self.dispatch["courierid"]) == (courier, courierid)


def numbered(by_key: Mapping[str, Any], name: str) -> dict[int, Any]:
    """The documents of a numbered kind, by number, in their order."""
    begin = [key for key in by_key if key.startswith(name)]
    numbers = {key: key.removeprefix(name) or "1" for key in begin}
    found = {int(number): by_key[key] for key, number in numbers.items() if number.isdigit()}
    return dict(sorted(found.items()))


def parcels_of(basket: Sequence[Line], by_key: Mapping[str, Any]) -> list[Parcel]:
    """By number."""
    deliveries = numbered(by_key, "delivery")
    return [
        Parcel(number, dispatch.get("lines") or whole_lines(basket), dispatch, deliveries.get(number))
        for number, dispatch in numbered(by_key, DISPATCH).items()
    ]


def undecided(
    basket: Sequence[Line], decisions: Sequence[Decision | LineCancellation], parcels: Sequence[Parcel]
) -> Quantities:
    """How many of each line nobody has sent or cancelled yet. Gift cards go out by e-mail."""
    left = {line_key(line): line["quantity"] for line in basket if not line.get("gift_card")}
    lines: list[SoldLine] = []
    for decision in decisions:
        if "lines" not in decision:
            return {}
        lines += decision["lines"]
    sent = sum(decision["type"] != LINE_CANCELLATION.name for decision in decisions)
    for parcel in parcels[sent:]:
        lines += parcel.lines
    gone = quantities_by_key(lines)
    return {key: rest for key, quantity in left.items() if (rest := quantity - gone.get(key, 0)) > 0}


def chosen_lines(
    basket: Sequence[Line], left: Quantities, items: Sequence[dict[str, Any]] | None, verb: str
) -> list[SoldLine]:
    """Of each line so many as `items` say, or all that is left. Raises Invalid when that is more than is left."""
    known = {line_key(line): line for line in basket}
    wanted = merged(list(items)) if items is not None else None
    if wanted is None:
        wanted = [{"productid": key, "quantity": quantity} for key, quantity in left.items()]
    errors = {
        f"items.{index}.quantity": [f"{left.get(item['productid'], 0)} of {item['productid']} can be {verb}."]
        for index, item in enumerate(wanted)
        if item["quantity"] > left.get(item["productid"], 0)
    }
    if errors:
        raise Invalid(f"More cannot be {verb} than is left.", errors=errors)
    return [_part(known[item["productid"]], left, item["quantity"]) for item in wanted]


def _part(line: Line, left: Quantities, quantity: int) -> SoldLine:
    """Pieces of a line with what they cost beyond those that are gone: parts add up to the line."""
    gone, total = line["quantity"] - left[line_key(line)], net_price(line)
    amount = total * (gone + quantity) // line["quantity"] - total * gone // line["quantity"]
    return sold(line, quantity, amount)


def is_everything(left: Quantities, lines: Sequence[SoldLine]) -> bool:
    """Whether these are all pieces that are left."""
    return quantities_by_key(lines) == left


def line_numbers(
    line: Line, parcels: Sequence[Parcel], cancellations: Sequence[LineCancellation]
) -> dict[str, int]:
    """How many of a line were sent, have arrived, and were cancelled."""
    key = line_key(line)
    return {
        "dispatched": _count(key, [each.lines for each in parcels]),
        "delivered": _count(key, [each.lines for each in parcels if each.delivery]),
        "cancelled": _count(key, [each["lines"] for each in cancellations]),
    }


def _count(key: str, lines: Sequence[Sequence[SoldLine]]) -> int:
    return sum(line["quantity"] for each in lines for line in each if line_key(line) == key)
