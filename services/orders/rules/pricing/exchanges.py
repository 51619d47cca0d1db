"""What goods cost that are sent for others: what was paid for those, and the difference between the two prices of today."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from services.orders.declarations.exchanges import OfferedLine
from services.orders.rules.pricing.carriers import Destination
from services.orders.rules.pricing.cart import Cart, CartLine, Discount
from services.orders.rules.pricing.pipeline import Quote, TaxStep, quote_of
from services.orders.rules.pricing.promotions import Promotion
from services.orders.rules.pricing.rates import FlatRate
from services.orders.rules.pricing.shipping import with_shipping
from services.orders.rules.pricing.terms import ShippingMethod, Terms

EXCHANGE_SHIPPING: Final = "exchange"
DISCOUNT: Final = Promotion("exchange", 1, "Discount of the first order", ())


def exchange_price(paid: int, today_returned: int | None, today_wanted: int) -> int:
    """Of one piece: the price that was paid for what comes back, and by how much the other is dearer or cheaper today. So another size
    at the same price costs nothing more, though both have become dearer. Without a price of today for what comes back, the new price."""
    return today_wanted if today_returned is None else max(0, paid + today_wanted - today_returned)


def offered_quote(
    lines: Sequence[OfferedLine],
    currency: str,
    terms: Terms,
    destination: Destination | None,
    date: str,
    tax: TaxStep,
    at_most: int,
) -> Quote:
    """What these goods cost, delivered free. What they are dearer than `at_most` by nothing but rounding (a minor unit a piece) is left out."""
    together: dict[str, list[OfferedLine]] = {}
    for line in lines:
        together.setdefault(line["wanted"], []).append(line)
    cart = Cart(currency, tuple(_cart_line(same) for same in together.values()))
    found = _quote(cart, terms, destination or terms.home, date, tax)
    pieces = sum(line["quantity"] for line in lines)
    for _ in range(pieces):
        over = found.total["amount"] - at_most
        if not 0 < over <= pieces:
            break
        cart = _cheaper(cart, over)
        found = _quote(cart, terms, destination or terms.home, date, tax)
    return found


def _quote(cart: Cart, terms: Terms, destination: Destination, date: str, tax: TaxStep) -> Quote:
    method = ShippingMethod(EXCHANGE_SHIPPING, "Exchange", FlatRate({cart.currency: 0}))
    off = sum(line.discount for line in cart.lines)
    discounted = replace(cart, discounts=(Discount(DISCOUNT, "", off),) if off else ())
    shipped = with_shipping(discounted, replace(terms, methods=(method,)), destination, "", None)
    return quote_of(tax(shipped, terms, destination, date))


def _cheaper(cart: Cart, over: int) -> Cart:
    dearest = max(cart.lines, key=lambda line: line.price)
    lines = (
        replace(line, price=max(0, line.price - over)) if line is dearest else line for line in cart.lines
    )
    return replace(cart, lines=tuple(lines))


def _cart_line(same: Sequence[OfferedLine]) -> CartLine:
    """Pieces of one product or variant; where they are sent for goods of several prices, the dearest is theirs and the rest a discount."""
    line, quantity = same[0], sum(each["quantity"] for each in same)
    price = sum(max(0, each["unit_price"] * each["quantity"] - each["discount"]) for each in same)
    return CartLine(
        key=line["wanted"],
        productid=line["productid"],
        taxonomy=line["taxonomy"],
        name=line["name"],
        options=line.get("options", {}),
        quantity=quantity,
        unit_price=max(each["unit_price"] for each in same),
        delivery_charge=0,
        tax_class=line["tax_class"],
        grams=0,
        price=price,
    )


def offered_line(
    key: str, quantity: int, offer: Mapping[str, Any], unit_price: int, discount: int
) -> OfferedLine:
    """So many of a product or variant, as it was looked up, for those of the line `key`."""
    found: OfferedLine = {
        "key": key,
        "wanted": str(offer.get("sku") or offer["productid"]),
        "quantity": quantity,
        "productid": offer["productid"],
        "taxonomy": offer["taxonomy"],
        "name": offer["name"],
        "tax_class": offer.get("tax_class") or "standard",
        "unit_price": unit_price,
        "discount": discount,
    }
    if offer.get("sku") and offer["sku"] != offer["productid"]:
        found["sku"] = offer["sku"]
    if options := offer.get("selected_options"):
        found["options"] = options
    return found
