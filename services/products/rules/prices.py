"""What a product or a variant costs: in a currency, at a moment, to a customer group.

The regular price counts, unless a sale is in force or the group has a price: then the lowest. A variant without a price of its own
in a currency costs, and is on sale for, what the product is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from services.products.declarations.product import Product
from services.products.price_fields import regular_prices
from shared.couch import Document
from shared.money import Money, money

PRICE_TERMS = ("compare_at_prices", "sales", "group_prices")
"""What else but `prices` decides about a price, of products and of variants."""


class PriceContext(NamedTuple):
    """When, in which currency ("": each product's own) and for which customer group prices are asked. `staff` see also what is
    still to come, and what others pay. `backorders`: the shop sells beyond its stock where a product says nothing else."""

    moment: str = ""
    currency: str = ""
    group: str = ""
    staff: bool = False
    backorders: bool = False

    def of(self, product: Mapping[str, Any]) -> str:
        """The currency of a product's price."""
        return self.currency or own_currency(product)


class CurrentPrice(NamedTuple):
    """What is paid, what that is compared with when it is more, and until when it holds."""

    price: Money
    compare_at_price: Money | None = None
    sale_ends: str | None = None

    def fields(self) -> dict[str, Any]:
        """As an answer has it: what says nothing is left out."""
        return {name: value for name, value in self._asdict().items() if value is not None}


def own_currency(product: Mapping[str, Any]) -> str:
    currency: str = product["price"]["currency"]
    return currency


def is_sold_in(product: Mapping[str, Any], currency: str) -> bool:
    """Whether it has a price in this currency; "" is its own."""
    return not currency or currency in regular_prices(product)


def regular_amount(
    product: Mapping[str, Any], variant: Mapping[str, Any] | None, currency: str
) -> int | None:
    """What is paid while no sale runs: a variant's own price, else the product's; None for what is not sold in this currency."""
    own: int | None = variant.get("prices", {}).get(currency) if variant else None
    return regular_prices(product).get(currency) if own is None else own


def current_price(
    product: Mapping[str, Any], variant: Mapping[str, Any] | None, context: PriceContext
) -> CurrentPrice | None:
    """None for what is not sold in this currency."""
    currency = context.of(product)
    amount = regular = regular_amount(product, variant, currency)
    if amount is None or regular is None:
        return None
    priced, ends = _priced(product, variant, currency), None
    for sale in _in_force(priced, context.moment):
        sale_amount = sale["prices"].get(currency, amount)
        if sale_amount < amount:
            amount, ends = sale_amount, sale.get("until")
    for each in priced if context.group else ():
        group_amount = each.get("group_prices", {}).get(context.group, {}).get(currency, amount)
        if group_amount < amount:
            amount, ends = group_amount, None
    compared = next(
        (found for each in priced if (found := each.get("compare_at_prices", {}).get(currency))), regular
    )
    return CurrentPrice(
        money(amount, currency), money(compared, currency) if compared > amount else None, ends
    )


def _priced(
    product: Mapping[str, Any], variant: Mapping[str, Any] | None, currency: str
) -> Sequence[Mapping[str, Any]]:
    """Whose sales, group prices and comparisons count, the first before the second."""
    if variant is None:
        return (product,)
    return (variant,) if currency in variant.get("prices", {}) else (variant, product)


def _in_force(priced: Iterable[Mapping[str, Any]], moment: str) -> Iterator[Mapping[str, Any]]:
    for each in priced:
        for sale in each.get("sales", ()):
            if sale.get("from", "") <= moment < sale.get("until", "~"):
                yield sale


def has_terms(product: Mapping[str, Any]) -> bool:
    """Whether more than regular prices decide what it costs."""
    variants = product.get("variants", ())
    return any(map(product.get, PRICE_TERMS)) or any(any(map(each.get, PRICE_TERMS)) for each in variants)


def lowest_and_highest(
    product: Mapping[str, Any], context: PriceContext
) -> tuple[CurrentPrice, Money] | None:
    """What its cheapest and its dearest active variant cost; of a product without variants, what it costs."""
    active = [each for each in product.get("variants", ()) if each.get("active", True)] or [None]
    prices = [found for each in active if (found := current_price(product, each, context)) is not None]
    if not prices:
        return None
    return min(prices, key=lambda found: found.price["amount"]), max(
        (found.price for found in prices), key=lambda price: price["amount"]
    )


def current_prices(product: Mapping[str, Any], moment: str) -> dict[str, int]:
    """{currency: what everybody pays now}; nothing while these are its regular prices."""
    if not any(each.get("sales") for each in (product, *product.get("variants", ()))):
        return {}
    regular = regular_prices(product)
    found = {currency: lowest_and_highest(product, PriceContext(moment, currency)) for currency in regular}
    current = {currency: prices[0].price["amount"] for currency, prices in found.items() if prices}
    return current if current != dict(regular) else {}


def with_current_prices(doc: Document, moment: str) -> Product:
    """The same document with what lists sort and filter by, as it is at this moment."""
    rest = {name: value for name, value in doc.items() if name != "current_prices"}
    current = current_prices(doc, moment)
    return cast(Product, {**rest, "current_prices": current} if current else rest)


def known_amounts(product: Mapping[str, Any], currency: str) -> set[int]:
    """All that somebody may have read as its price in this currency."""
    found = {regular_prices(product).get(currency, -1)}
    for each in (product, *product.get("variants", ())):
        tables = [
            *(sale["prices"] for sale in each.get("sales", ())),
            *each.get("group_prices", {}).values(),
            each.get("prices", {}),
        ]
        found |= {table[currency] for table in tables if currency in table}
    return found
