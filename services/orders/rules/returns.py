"""How much of an order can still come back, and what it is worth."""

from collections.abc import Sequence
from typing import Any

from services.orders.declarations import Line, Order, Return, SoldLine, StockLine, line_key
from services.orders.rules.pricing import merged
from services.orders.rules.writing import sold
from shared.errors import Invalid


def returned_lines(
    basket: list[Line], returns: list[Return], requested: list[dict[str, Any]]
) -> list[SoldLine]:
    """The lines of a new return. Raises Invalid when more would come back than was bought."""
    bought = {line_key(line): line for line in basket}
    back: dict[str, int] = {}
    for returned in (line for earlier in returns for line in earlier["lines"]):
        back[line_key(returned)] = back.get(line_key(returned), 0) + returned["quantity"]
    lines: list[SoldLine] = []
    errors: dict[str, list[str]] = {}
    for index, item in enumerate(merged(requested)):
        line = bought.get(item["productid"])
        remaining = line["quantity"] - back.get(item["productid"], 0) if line else 0
        if line is None or item["quantity"] > remaining:
            errors[f"items.{index}.quantity"] = [f"{remaining} of {item['productid']} can still be returned."]
        else:
            lines.append(
                sold(line, item["quantity"], line["total"]["amount"] * item["quantity"] // line["quantity"])
            )
    if errors:
        raise Invalid("More cannot come back than was bought.", errors=errors)
    return lines


def goods_value(order: Order, lines: Sequence[SoldLine]) -> int:
    """What the returned goods cost, with their share of a tax that was added on top; delivery is not paid back."""
    amount: int = sum(line["amount"] for line in lines)
    basis_points: int = 0 if order["tax"]["included"] else order["tax"]["basisPoints"]
    return amount + (amount * basis_points + 5_000) // 10_000


def stock_lines(basket: list[Line], lines: list[SoldLine]) -> list[StockLine]:
    """The lines of a return as the stock ledger takes them."""
    taxonomies = {line_key(line): line["taxonomy"] for line in basket}
    return [stock_line(line, taxonomies[line_key(line)]) for line in lines]


def stock_line(line: SoldLine, taxonomy: list[str]) -> StockLine:
    found: StockLine = {"productid": line["productid"], "taxonomy": taxonomy, "quantity": line["quantity"]}
    if sku := line.get("sku"):
        found["sku"] = sku
    return found
