"""What an order costs: lines at the looked-up prices, delivery charges, a tax line."""

from dataclasses import dataclass
from typing import Any

from services.orders.declarations import Line, Tax, line_key
from shared.errors import Conflict, Invalid
from shared.money import Money, money, shown

Doc = dict[str, Any]


class PriceChanged(Conflict):
    code, title = "price_changed", "The total is not the expected one any more"


class NoSuchProduct(Invalid):
    code, title = "unknown_product", "A product is not for sale"


class VariantNeeded(Invalid):
    code, title = "variant_needed", "A product is sold by variant"


class MixedCurrencies(Invalid):
    code, title = "mixed_currencies", "One order holds one currency"


@dataclass(frozen=True)
class Terms:
    """The shop's settings that decide a total."""

    delivery_per: str = "line"
    free_delivery_from: int = 0
    tax_name: str = "VAT"
    tax_basis_points: int = 2000
    tax_included: bool = True


@dataclass(frozen=True)
class Quote:
    """Priced lines and their sums, all of one currency."""

    lines: list[Line]
    goods: Money
    delivery: Money
    tax: Tax
    total: Money

    @property
    def units(self) -> int:
        return sum(line["quantity"] for line in self.lines)


def quote(requested: list[Doc], products: dict[str, Doc], terms: Terms) -> Quote:
    """Prices `requested` [{productid or sku, quantity}]; `products` as they are bought by each. Raises NoSuchProduct and
    VariantNeeded, naming each line that cannot be sold."""
    requested = merged(requested)
    _check_for_sale(requested, products)
    lines = [
        _line(number, line_key(item), products[line_key(item)], item["quantity"])
        for number, item in enumerate(requested, 1)
    ]
    currencies = {line["unitPrice"]["currency"] for line in lines}
    if len(currencies) > 1:
        raise MixedCurrencies(f"One order holds one currency, this one {', '.join(sorted(currencies))}.")
    return _summed(lines, currencies.pop(), terms)


def _check_for_sale(requested: list[Doc], products: dict[str, Doc]) -> None:
    unknown, unchosen = {}, {}
    for index, key in enumerate(line_key(item) for item in requested):
        product = products.get(key)
        if product is None:
            unknown[f"items.{index}.productid"] = [f"There is no product {key}."]
        elif product.get("sku", key) is None:
            unchosen[f"items.{index}.productid"] = [f"{key} is sold by variant: name one of its SKUs."]
        elif not product.get("for_sale", True):
            unknown[f"items.{index}.productid"] = [f"{key} of {product['name']} is not sold any more."]
    if unknown:
        raise NoSuchProduct("Leave out the products that are not for sale.", errors=unknown | unchosen)
    if unchosen:
        raise VariantNeeded("Choose a variant of each product that has them.", errors=unchosen)


def merged(requested: list[Doc]) -> list[Doc]:
    """The same product or variant named twice is one line."""
    quantities: dict[str, int] = {}
    for item in requested:
        quantities[line_key(item)] = quantities.get(line_key(item), 0) + item["quantity"]
    return [{"productid": key, "quantity": quantity} for key, quantity in quantities.items()]


def check_expected(found: Quote, expected: Money | None) -> None:
    """Raises PriceChanged unless the customer saw this total."""
    if expected is not None and expected != found.total:
        raise PriceChanged(
            f"The total is {shown(found.total)} now, not {shown(expected)}; show it and order again.",
            total=found.total,
            expected_total=expected,
        )


def _line(number: int, key: str, product: Doc, quantity: int) -> Line:
    price, currency = product["price"], product["price"]["currency"]
    charge = product.get("delivery") or money(0, currency)
    if charge["currency"] != currency:
        raise Invalid(
            f"{product['productid']} is priced in {currency} and delivered in {charge['currency']}."
        )
    line: Line = {
        "line": number,
        "productid": product["productid"],
        "taxonomy": product["taxonomy"],
        "name": product["name"],
        "quantity": quantity,
        "unitPrice": price,
        "delivery": charge,
        "total": money(price["amount"] * quantity, currency),
    }
    if key != product["productid"]:
        line["sku"] = key
    if options := product.get("selected_options"):
        line["options"] = options
    return line


def _summed(lines: list[Line], currency: str, terms: Terms) -> Quote:
    goods = sum(line["total"]["amount"] for line in lines)
    delivery = _delivery(lines, goods, terms)
    before_tax = goods + delivery
    rate = terms.tax_basis_points
    divisor = 10_000 + rate if terms.tax_included else 10_000
    tax = (before_tax * rate + divisor // 2) // divisor
    total = before_tax if terms.tax_included else before_tax + tax
    line: Tax = {
        "name": terms.tax_name,
        "basisPoints": rate,
        "included": terms.tax_included,
        "total": money(tax, currency),
    }
    return Quote(lines, money(goods, currency), money(delivery, currency), line, money(total, currency))


def _delivery(lines: list[Line], goods: int, terms: Terms) -> int:
    if terms.free_delivery_from and goods >= terms.free_delivery_from:
        return 0
    charges: list[int] = [line["delivery"]["amount"] for line in lines]
    if terms.delivery_per == "highest":
        return max(charges)
    if terms.delivery_per == "unit":
        return sum(charge * line["quantity"] for charge, line in zip(charges, lines, strict=True))
    return sum(charges)
