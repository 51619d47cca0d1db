"""What staff change of prices by hand: an agreed price of a line, and discounts of a line or of the whole order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from services.orders.declarations.parts import Line
from services.orders.rules.pricing.cart import AgreedPrice, Cart, CartLine
from services.orders.rules.pricing.discounts import taken_off
from services.orders.rules.pricing.promotions import MANUAL, Action, AmountOff, Percent, Promotion
from shared.errors import Invalid
from shared.money import Money

Doc = Mapping[str, Any]


class NotInCurrency(Invalid):
    code, title = "other_currency", "A price is in another currency than the order"


class NotLowered(Invalid):
    code, title = "nothing_taken_off", "A discount takes nothing off"


@dataclass(frozen=True)
class ManualPrices:
    """`prices`: (price of one, reason) by SKU or productid; `discounts` are taken off one after the other, behind all promotions."""

    prices: Mapping[str, tuple[Money, str]] = field(default_factory=dict)
    discounts: tuple[Promotion, ...] = ()


NOTHING_MANUAL: Final = ManualPrices()


def manual_prices(items: Sequence[Doc], discount: Doc | None) -> ManualPrices:
    """What a draft's items and its discount say."""
    prices = {item["productid"]: (item["price"], item.get("reason", "")) for item in items if "price" in item}
    of_lines = [
        _discount(item["discount"], frozenset({item["productid"]})) for item in items if "discount" in item
    ]
    whole = [_discount(discount, frozenset())] if discount else []
    return ManualPrices(prices, (*of_lines, *whole))


def with_agreed_prices(cart: Cart, manual: ManualPrices) -> Cart:
    """Raises NotInCurrency; Invalid for a gift card, which is worth its price."""
    if not manual.prices:
        return cart
    return replace(cart, lines=tuple(_agreed(line, cart.currency, manual) for line in cart.lines))


def with_manual_discounts(cart: Cart, manual: ManualPrices) -> Cart:
    """Raises NotInCurrency, NotLowered."""
    for promotion in manual.discounts:
        (action,) = promotion.actions
        if isinstance(action, AmountOff) and action.currency != cart.currency:
            raise _other_currency(cart.currency)
        after = taken_off(cart, promotion)
        if after is cart:
            raise NotLowered(f"{promotion.name}: nothing is left that it could be taken off.")
        cart = after
    return cart


def manual_reduction(lines: Sequence[Line], discounts: Sequence[Doc]) -> tuple[int, int]:
    """(what staff took off, what the goods cost without that and without promotions), in minor units."""
    regular = sum(_regular(line) * line["quantity"] for line in lines)
    lowered = sum(max(0, _regular(line) - line["unitPrice"]["amount"]) * line["quantity"] for line in lines)
    off: int = sum(each["amount"]["amount"] for each in discounts if each["promotion"] == MANUAL)
    return lowered + off, regular


def _regular(line: Line) -> int:
    price = line["manual_price"]["regular"] if "manual_price" in line else line["unitPrice"]
    return price["amount"]


def _discount(found: Doc, products: frozenset[str]) -> Promotion:
    action: Action = (
        AmountOff(found["amount"]["amount"], found["amount"]["currency"])
        if "amount" in found
        else Percent(found["basis_points"])
    )
    return Promotion(MANUAL, 1, found["reason"], (action,), products=products)


def _agreed(line: CartLine, currency: str, manual: ManualPrices) -> CartLine:
    if line.key not in manual.prices:
        return line
    price, reason = manual.prices[line.key]
    if line.is_gift_card:
        raise Invalid(f"{line.name} is worth its price: give a discount on other goods instead.")
    if price["currency"] != currency:
        raise _other_currency(currency)
    amount = price["amount"]
    return replace(
        line,
        unit_price=amount,
        price=amount * line.quantity,
        agreed=AgreedPrice(line.unit_price, reason),
    )


def _other_currency(currency: str) -> NotInCurrency:
    return NotInCurrency(f"This order is in {currency}: write its prices and discounts in that.")
