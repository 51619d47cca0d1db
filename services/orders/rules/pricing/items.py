"""The first step of a quote: requested items at the prices that were looked up."""

from typing import Any

from services.orders.declarations.credits import GIFT_CARD
from services.orders.declarations.parts import Backorder, line_key
from services.orders.rules.pricing.cart import Cart, CartLine
from services.orders.rules.pricing.terms import STANDARD_CLASS
from shared.errors import Invalid

Doc = dict[str, Any]


class NoSuchProduct(Invalid):
    code, title = "unknown_product", "A product is not for sale"


class VariantNeeded(Invalid):
    code, title = "variant_needed", "A product is sold by variant"


class MixedCurrencies(Invalid):
    code, title = "mixed_currencies", "One order holds one currency"


def priced(requested: list[Doc], products: dict[str, Doc]) -> Cart:
    """`requested` [{productid or sku, quantity}] at the prices of `products`, as they are bought by each.

    Raises NoSuchProduct and VariantNeeded, naming each line that cannot be sold, and MixedCurrencies.
    """
    requested = merged(requested)
    _check_for_sale(requested, products)
    currencies = {products[line_key(item)]["price"]["currency"] for item in requested}
    if len(currencies) > 1:
        raise MixedCurrencies(f"One order holds one currency, this one {', '.join(sorted(currencies))}.")
    lines = tuple(_line(line_key(item), products[line_key(item)], item["quantity"]) for item in requested)
    return Cart(currencies.pop(), lines)


def merged(requested: list[Doc]) -> list[Doc]:
    """The same product or variant named twice is one line."""
    quantities: dict[str, int] = {}
    for item in requested:
        quantities[line_key(item)] = quantities.get(line_key(item), 0) + item["quantity"]
    return [{"productid": key, "quantity": quantity} for key, quantity in quantities.items()]


def _check_for_sale(requested: list[Doc], products: dict[str, Doc]) -> None:
    unknown, unchosen = {}, {}
    for index, key in enumerate(line_key(item) for item in requested):
        product = products.get(key)
        if product is None:
            unknown[f"items.{index}.productid"] = [f"There is no product {key}."]
        elif product.get("sku", key) is None:
            unchosen[f"items.{index}.productid"] = [f"{key} is sold by variant: name one of its SKUs."]
        elif currency := product.get("not_sold_in"):
            unknown[f"items.{index}.productid"] = [f"{product['name']} is not sold in {currency}."]
        elif not product.get("for_sale", True):
            unknown[f"items.{index}.productid"] = [f"{key} of {product['name']} is not sold any more."]
    if unknown:
        raise NoSuchProduct("Leave out the products that are not for sale.", errors=unknown | unchosen)
    if unchosen:
        raise VariantNeeded("Choose a variant of each product that has them.", errors=unchosen)


def _line(key: str, product: Doc, quantity: int) -> CartLine:
    price, charge = product["price"], product.get("delivery")
    if charge and charge["currency"] != price["currency"]:
        raise Invalid(
            f"{product['productid']} is priced in {price['currency']} and delivered in {charge['currency']}."
        )
    return CartLine(
        key=key,
        productid=product["productid"],
        taxonomy=product["taxonomy"],
        name=product["name"],
        options=product.get("selected_options") or {},
        quantity=quantity,
        unit_price=price["amount"],
        delivery_charge=charge["amount"] if charge else 0,
        tax_class=product.get("tax_class") or STANDARD_CLASS,
        grams=product.get("weight_grams") or 0,
        price=price["amount"] * quantity,
        is_gift_card=product.get("kind") == GIFT_CARD,
        backorder=_backorder(product, quantity),
        cost=product.get("cost"),
    )


def _backorder(product: Doc, quantity: int) -> Backorder | None:
    """On which terms it is sold beyond its stock; None where it is not."""
    terms = product.get("backorder_terms")
    if not terms:
        return None
    found: Backorder = {"waiting": max(0, quantity - product.get("stock", 0)), "date": terms["date"]}
    if "limit" in terms:
        found["limit"] = terms["limit"]
    return found
