"""What was sold at a stall, at the prices that were taken there: they hold the tax, and nothing is delivered."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from services.orders.declarations.parts import line_key
from services.orders.rules.pricing.cart import AgreedPrice, Cart, CartLine, ShippingOption
from services.orders.rules.pricing.pipeline import Quote, quote_of
from services.orders.rules.pricing.rates import FlatRate
from services.orders.rules.pricing.tax import rate_for, tax_of, with_tax
from services.orders.rules.pricing.terms import STANDARD_CLASS, ShippingMethod, TaxRate, Terms
from shared.money import Money, money

Doc = Mapping[str, Any]
STALL_SHIPPING: Final = "stall"
"""The shipping method of what was handed over at a stall."""
TAKEN: Final = "Taken at the stall"
"""Why a price is another than the shop's now."""


def stall_price(product: Doc, terms: Terms, day: str) -> Money:
    """What one costs at a stall: the shop's price, with the tax that is due at home where prices do not hold it."""
    price: Money = product["price"]
    rate = rate_for(terms.tax_rates, _tax_class(product), terms.home, day)
    added = tax_of(price["amount"], rate) if rate is not None and not rate.included else 0
    return money(price["amount"] + added, price["currency"])


def stall_quote(
    items: Sequence[Doc], products: Mapping[str, Doc], terms: Terms, stall: str, day: str
) -> Quote:
    """What `items` {productid or sku, quantity, price, name, product, taxonomy} came to. What `products` does not know any more is as it was told.

    A price that is another than the present one is kept beside that. Taxes are those of the shop's own place, on the day of the sale.
    """
    currency = items[0]["price"]["currency"]
    method = ShippingMethod(STALL_SHIPPING, stall, FlatRate({}), collect_from=stall)
    lines = tuple(_line(item, products.get(line_key(item)), terms, day) for item in items)
    cart = Cart(currency, lines, shipping=ShippingOption(method, 0, 0))
    included = replace(terms, tax_rates=tuple(_included(rate) for rate in terms.tax_rates))
    return quote_of(with_tax(cart, included, terms.home, day))


def _included(rate: TaxRate) -> TaxRate:
    return replace(rate, included=True)


def _tax_class(product: Doc) -> str:
    return product.get("tax_class") or STANDARD_CLASS


def _line(item: Doc, known: Doc | None, terms: Terms, day: str) -> CartLine:
    key, taken = line_key(item), item["price"]
    present = stall_price(known, terms, day) if known is not None and known.get("price") else taken
    is_other = present != taken and present["currency"] == taken["currency"]
    about: Doc = known or {"productid": item.get("product") or key, **item}
    return CartLine(
        key=key,
        productid=known["productid"] if known is not None else item.get("product") or key,
        taxonomy=about["taxonomy"],
        name=about["name"],
        options=about.get("selected_options") or {},
        quantity=item["quantity"],
        unit_price=taken["amount"],
        delivery_charge=0,
        tax_class=_tax_class(about),
        grams=about.get("weight_grams") or 0,
        price=taken["amount"] * item["quantity"],
        agreed=AgreedPrice(present["amount"], TAKEN) if is_other else None,
    )
