"""The steps of a quote one after the other, and what comes out: lines, shipping, taxes and total as the order holds them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from services.orders.declarations.parts import (
    AppliedDiscount,
    AppliedTax,
    Line,
    Shipping,
    ShippingOffer,
    Tax,
    UnpricedShipping,
)
from services.orders.rules.pricing.carriers import CarrierParcel, CarrierRates, Destination
from services.orders.rules.pricing.cart import Cart, CartLine, Discount, Share, ShippingOption
from services.orders.rules.pricing.discounts import Shopper, with_discounts
from services.orders.rules.pricing.items import priced
from services.orders.rules.pricing.manual import (
    NOTHING_MANUAL,
    ManualPrices,
    with_agreed_prices,
    with_manual_discounts,
)
from services.orders.rules.pricing.promotions import Promotion
from services.orders.rules.pricing.shipping import carrier_parcels, with_shipping
from services.orders.rules.pricing.tax import with_tax
from services.orders.rules.pricing.terms import Terms
from shared.errors import Conflict
from shared.money import Money, money, shown

Doc = dict[str, Any]
TaxStep = Callable[[Cart, Terms, Destination, str], Cart]
"""A cart with the tax that is due at the destination on a day, as `with_tax` works it out from the terms."""


class PriceChanged(Conflict):
    code, title = "price_changed", "The total is not the expected one any more"


@dataclass(frozen=True)
class QuoteRequest:
    """What somebody wants: items, where to (None: the shop's own country), by which method (empty: the default), on which day.

    `shopper`: who it is and which codes they have, as far as discounts depend on it. `manual`: what staff take off.
    """

    items: list[Doc]
    date: str
    destination: Destination | None = None
    shipping: str = ""
    shopper: Shopper | None = None
    manual: ManualPrices = NOTHING_MANUAL


@dataclass(frozen=True)
class Quote:
    """What an order costs and why, in the order's own words. `goods` are before discounts; `promotions` are those that
    took something off, with their codes: free delivery takes nothing off what is collected, and is not used up by it.

    `costs`: what one piece costs the shop, by SKU or productid, where that is known; for staff alone.
    """

    lines: list[Line]
    goods: Money
    discounts: list[AppliedDiscount]
    promotions: tuple[tuple[Promotion, str], ...]
    shipping: Shipping
    shipping_options: list[ShippingOffer]
    unpriced_shipping: list[UnpricedShipping]
    taxes: list[AppliedTax]
    total: Money
    costs: dict[str, int]

    @property
    def units(self) -> int:
        return sum(line["quantity"] for line in self.lines)

    @property
    def delivery(self) -> Money:
        return self.shipping["price"]

    @property
    def tax(self) -> Tax:
        """All taxes in one line, under the name and rate of the one with the largest base."""
        main = max(self.taxes, key=lambda row: (row["amount"]["amount"] > 0, row["base"]["amount"]))
        return {
            "name": main["name"],
            "basisPoints": round(main["rate"] * 100),
            "included": main["included"],
            "total": money(sum(row["amount"]["amount"] for row in self.taxes), self.total["currency"]),
        }


def quote(
    request: QuoteRequest,
    products: dict[str, Doc],
    terms: Terms,
    carrier_rates: CarrierRates | None = None,
    tax: TaxStep = with_tax,
) -> Quote:
    """What `request` costs now: `products` as they were looked up, at the shop's `terms`, by `carrier_rates` as they were asked for.

    Raises NoSuchProduct, VariantNeeded, MixedCurrencies, CodeNotValid, NotDelivered, ShippingNotAvailable, CarrierUnavailable.
    """
    destination = request.destination or terms.home
    cart = with_agreed_prices(priced(request.items, products), request.manual)
    cart = with_discounts(cart, terms.promotions, request.shopper or Shopper(request.date))
    cart = with_manual_discounts(cart, request.manual)
    cart = with_shipping(cart, terms, destination, request.shipping, carrier_rates)
    cart = tax(cart, terms, destination, request.date)
    return quote_of(cart)


def asked_of_carriers(
    request: QuoteRequest, products: dict[str, Doc], terms: Terms
) -> dict[str, tuple[CarrierParcel, ...] | None]:
    """What each rate provider is asked that the quote depends on; None where a weight is not known.

    Raises NoSuchProduct, VariantNeeded, MixedCurrencies.
    """
    if not terms.rate_providers:
        return {}
    return carrier_parcels(priced(request.items, products), terms, request.destination or terms.home)


def check_expected(found: Quote, expected: Money | None) -> None:
    """Raises PriceChanged unless the customer saw this total."""
    if expected is not None and expected != found.total:
        raise PriceChanged(
            f"The total is {shown(found.total)} now, not {shown(expected)}; show it and order again.",
            total=found.total,
            expected_total=expected,
        )


def quote_of(cart: Cart) -> Quote:
    if cart.shipping is None or cart.shipping_tax is None:
        raise TypeError("a quote has shipping and its tax")
    currency = cart.currency
    lines = [
        _line(number, line, currency, discounted=bool(cart.discounts))
        for number, line in enumerate(cart.lines, 1)
    ]
    applied = [*(line["tax"] for line in lines), _applied(cart.shipping_tax, currency)]
    payable = sum(line["payable"]["amount"] for line in lines) + cart.shipping_tax.payable
    return Quote(
        lines=lines,
        goods=money(sum(line.regular_price for line in cart.lines), currency),
        discounts=[_discount(discount, currency) for discount in cart.discounts],
        promotions=tuple(
            (discount.promotion, discount.code)
            for discount in cart.discounts
            if discount.amount or _frees(discount, cart.shipping)
        ),
        shipping={**_offer(cart.shipping, currency), "tax": applied[-1]},
        shipping_options=[_offer(option, currency) for option in cart.options],
        unpriced_shipping=[
            {"id": method.id, "name": method.name, "reason": problem.value}
            for method, problem in cart.unpriced
        ],
        taxes=by_rate([tax for tax in applied if _is_due(tax)] or applied[:1]),
        total=money(payable, currency),
        costs={line.key: line.cost for line in cart.lines if line.cost is not None},
    )


def by_rate(applied: list[AppliedTax]) -> list[AppliedTax]:
    """The taxes of lines and shipping added up by place and rate, in the order in which they come."""
    found: dict[tuple[Any, ...], AppliedTax] = {}
    for tax in applied:
        key = (tax["country"], tax["region"], tax["name"], tax["rate"], tax["included"])
        before = found.get(key)
        found[key] = _added(before, tax) if before else tax
    return list(found.values())


def _frees(discount: Discount, shipping: ShippingOption) -> bool:
    """Whether it makes the delivery that was chosen cheaper."""
    return shipping.price < shipping.regular_price and any(
        free.frees(shipping.method.id) for free in discount.free_delivery
    )


def _is_due(tax: AppliedTax) -> bool:
    """False of what costs nothing and has no rate."""
    return bool(tax["name"] or tax["base"]["amount"])


def _added(one: AppliedTax, other: AppliedTax) -> AppliedTax:
    currency = one["base"]["currency"]
    return {
        **one,
        "base": money(one["base"]["amount"] + other["base"]["amount"], currency),
        "amount": money(one["amount"]["amount"] + other["amount"]["amount"], currency),
    }


def _discount(discount: Discount, currency: str) -> AppliedDiscount:
    promotion = discount.promotion
    found: AppliedDiscount = {
        "promotion": promotion.id,
        "version": promotion.version,
        "name": promotion.name,
        "amount": money(discount.amount, currency),
    }
    if discount.code:
        found["code"] = discount.code
    if discount.free_delivery:
        found["free_delivery"] = True
    return found


def _line(number: int, line: CartLine, currency: str, *, discounted: bool) -> Line:
    if line.tax is None:
        raise TypeError("a line has its tax")
    found: Line = {
        "line": number,
        "productid": line.productid,
        "taxonomy": line.taxonomy,
        "name": line.name,
        "quantity": line.quantity,
        "unitPrice": money(line.unit_price, currency),
        "delivery": money(line.delivery_charge, currency),
        "total": money(line.regular_price, currency),
        "tax": _applied(line.tax, currency),
        "payable": money(line.tax.payable, currency),
    }
    if line.agreed is not None:
        found["manual_price"] = {
            "regular": money(line.agreed.regular, currency),
            "reason": line.agreed.reason,
        }
    if discounted:
        found["discount"] = money(line.discount, currency)
    if line.key != line.productid:
        found["sku"] = line.key
    if line.options:
        found["options"] = line.options
    if line.is_gift_card:
        found["gift_card"] = True
    if line.backorder is not None:
        found["backorder"] = line.backorder
    return found


def _applied(share: Share, currency: str) -> AppliedTax:
    rate = share.rate
    return {
        "name": rate.name if rate else "",
        "rate": rate.percent if rate else 0,
        "included": rate.included if rate else True,
        "country": share.country,
        "region": share.region,
        "base": money(share.base, currency),
        "amount": money(share.amount, currency),
    }


def _offer(option: ShippingOption, currency: str) -> ShippingOffer:
    method = option.method
    found: ShippingOffer = {"id": method.id, "name": method.name, "price": money(option.price, currency)}
    rate = option.carrier_rate
    if method.min_days is not None and method.max_days is not None:
        found["days"] = {"min": method.min_days, "max": method.max_days}
    elif rate is not None and rate.days is not None:
        found["days"] = {"min": rate.days, "max": rate.days}
    if method.collect_from:
        found["collect_from"] = method.collect_from
    if rate is not None:
        found["carrier"] = {"name": rate.carrier, "service": rate.service}
    if option.parcels > 1:
        found["parcels"] = option.parcels
    if option.is_fallback:
        found["fallback"] = True
    return found
