"""How much of an order can still come back, and what it is worth."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from services.orders.declarations.order import Order
from services.orders.declarations.parts import Line, SoldLine, StockLine, line_key, net_price
from services.orders.declarations.returns import ReturnedLine
from services.orders.rules.pricing import merged
from services.orders.rules.writing import sold, sold_line
from shared.clock import parse
from shared.errors import Invalid
from shared.money import apportion, rounding_step


def returned_lines(
    basket: list[Line],
    returns: Sequence[Mapping[str, Any]],
    requested: list[dict[str, Any]],
    arrived: Iterable[SoldLine] | None = None,
) -> list[SoldLine]:
    """The lines of a new return after those of `returns`. Raises Invalid when more would come back than has `arrived` (everything, if not said)."""
    bought = {line_key(line): line for line in basket}
    back = quantities_by_key(line for earlier in returns for line in earlier["lines"])
    here = quantities_by_key(whole_lines(basket) if arrived is None else arrived)
    lines: list[SoldLine] = []
    errors: dict[str, list[str]] = {}
    for index, item in enumerate(merged(requested)):
        line = bought.get(item["productid"])
        remaining = here.get(item["productid"], 0) - back.get(item["productid"], 0)
        if line is None or item["quantity"] > remaining:
            errors[f"items.{index}.quantity"] = [f"{remaining} of {item['productid']} can still be returned."]
        else:
            lines.append(sold(line, item["quantity"], _worth(line, back, item["quantity"])))
    if errors:
        raise Invalid("More cannot come back than was bought.", errors=errors)
    return lines


def received_lines(
    basket: list[Line],
    earlier: Iterable[SoldLine],
    requested: Iterable[SoldLine],
    items: list[dict[str, Any]],
) -> list[ReturnedLine]:
    """What came back of a return, by product and condition. Raises Invalid for more than was requested."""
    bought, back = {line_key(line): line for line in basket}, quantities_by_key(earlier)
    left = quantities_by_key(requested)
    quantities: dict[tuple[str, str], int] = {}
    errors: dict[str, list[str]] = {}
    for index, item in enumerate(items):
        key, quantity = line_key(item), item["quantity"]
        if quantity > left.get(key, 0):
            errors[f"items.{index}.quantity"] = [f"{left.get(key, 0)} of {key} are left of this return."]
            continue
        left[key] -= quantity
        quantities[key, item["condition"]] = quantities.get((key, item["condition"]), 0) + quantity
    if errors:
        raise Invalid("More cannot come back than was requested.", errors=errors)
    lines: list[ReturnedLine] = []
    for (key, condition), quantity in sorted(quantities.items()):
        amount = _worth(bought[key], back, quantity)
        back[key] = back.get(key, 0) + quantity
        lines.append({**sold(bought[key], quantity, amount), "condition": condition})
    return lines


def last_day_to_return(delivered: str, days: int) -> datetime | None:
    """Until when goods can be sent back; None for ever."""
    return parse(delivered) + timedelta(days=days) if days else None


def _worth(line: Line, back: dict[str, int], quantity: int) -> int:
    """What the goods cost beyond those of the line that are back: parts add up to the line."""
    before, total = back.get(line_key(line), 0), net_price(line)
    return total * (before + quantity) // line["quantity"] - total * before // line["quantity"]


def goods_value(order: Order, lines: Sequence[SoldLine]) -> int:
    """What was paid for all these goods, with their tax; delivery is not paid back.

    A line that is paid back in parts is worth together what was paid for it, and never more.
    """
    bought = {
        line_key(line): (payable, line["quantity"])
        for line, payable in zip(order["basket"], payables(order), strict=True)
    }
    back = quantities_by_key(lines)
    step = rounding_step(order["total"]["currency"], [payable for payable, _ in bought.values()])
    return sum(
        bought[key][0] // step * min(quantity, bought[key][1]) // bought[key][1] * step
        for key, quantity in back.items()
    )


def payables(order: Order) -> list[int]:
    """What is paid for each line. An order of the last version holds one tax for all: one added on top is apportioned."""
    basket, tax = order["basket"], order["tax"]
    totals = [line["total"]["amount"] for line in basket]
    if "taxes" in order:
        return [line["payable"]["amount"] for line in basket]
    if tax["included"]:
        return totals
    added = apportion(tax["total"]["amount"], [*totals, order["delivery"]["amount"]])
    return [total + share for total, share in zip(totals, added, strict=False)]


def whole_lines(basket: Sequence[Line]) -> list[SoldLine]:
    """All of an order; gift cards neither go out in a parcel nor come back."""
    return [sold_line(line) for line in basket if not line.get("gift_card")]


def quantities_by_key(lines: Iterable[SoldLine]) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in lines:
        found[line_key(line)] = found.get(line_key(line), 0) + line["quantity"]
    return found


def stock_lines(basket: list[Line], lines: Sequence[SoldLine]) -> list[StockLine]:
    """The lines of a return as the stock ledger takes them."""
    taxonomies = {line_key(line): line["taxonomy"] for line in basket}
    return [stock_line(line, taxonomies[line_key(line)]) for line in lines]


def stock_line(line: SoldLine, taxonomy: list[str]) -> StockLine:
    found: StockLine = {"productid": line["productid"], "taxonomy": taxonomy, "quantity": line["quantity"]}
    if sku := line.get("sku"):
        found["sku"] = sku
    return found
