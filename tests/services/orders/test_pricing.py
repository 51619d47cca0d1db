"""Quotes of random orders in any currency, against a reckoning of their own in fractions."""

from collections import defaultdict
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from services.orders.declarations.order import Order
from services.orders.declarations.parts import net_price
from services.orders.rules.pricing import Destination, Quote, QuoteRequest, Terms, quote
from services.orders.rules.pricing.promotions import AmountOff, promotions
from services.orders.rules.pricing.rates import ProductCharges
from services.orders.rules.pricing.terms import ShippingMethod, TaxRate
from services.orders.rules.refund_taxes import refunded_taxes, taxes_of_lines
from services.orders.rules.returns import goods_value, returned_lines
from shared.money import CURRENCIES, apportion, money
from tests.services.orders.random_promotions import some_promotions

TODAY = "2026-11-22"
CLASSES = ("standard", "reduced", "zero")
amounts = st.integers(0, 10**7)


@st.composite
def goods(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    currency = draw(st.sampled_from(sorted(CURRENCIES)))
    return {
        f"p{number}": {
            "productid": f"p{number}",
            "taxonomy": ["Home"],
            "name": f"Thing {number}",
            "price": money(draw(amounts), currency),
            "delivery": money(draw(st.integers(0, 5000)), currency),
            "tax_class": draw(st.sampled_from(CLASSES)),
        }
        for number in range(draw(st.integers(1, 6)))
    }


@st.composite
def all_terms(draw: st.DrawFn) -> Terms:
    method = ShippingMethod(
        "post",
        "Post",
        ProductCharges(draw(st.sampled_from(("line", "unit", "highest")))),
        tax_class=draw(st.sampled_from(CLASSES)),
    )
    rates = tuple(
        TaxRate(each, draw(st.integers(0, 400_000)), draw(st.booleans()), each, country)
        for each in CLASSES[: draw(st.integers(0, 3))]
        for country in ("GB", "")
    )
    return Terms("GB", (method,), rates, promotions(draw(some_promotions())))


def priced(products: dict[str, dict[str, Any]], quantities: list[int], terms: Terms) -> Quote:
    items = [
        {"productid": each, "quantity": quantity}
        for each, quantity in zip(products, quantities, strict=False)
    ]
    return quote(QuoteRequest(items, TODAY, Destination("GB")), products, terms)


def exact_tax(price: int, percent: float, included: bool) -> Fraction:
    rate = Fraction(str(percent)) / 100
    return price * rate / (1 + rate) if included else price * rate


quantities = st.lists(st.integers(1, 1000), min_size=6, max_size=6)


@given(goods(), quantities, all_terms())
def test_lines_shipping_and_taxes_add_up_to_the_total(
    products: dict[str, dict[str, Any]], numbers: list[int], terms: Terms
) -> None:
    found = priced(products, numbers, terms)
    parts = [(net_price(line), line["tax"]) for line in found.lines]
    parts.append((found.shipping["price"]["amount"], found.shipping["tax"]))
    exact: dict[tuple[str, float, bool], Fraction] = defaultdict(Fraction)
    rounded: dict[tuple[str, float, bool], int] = defaultdict(int)
    for price, tax in parts:
        key = (tax["name"], tax["rate"], tax["included"])
        mine = exact_tax(price, tax["rate"], tax["included"])
        exact[key] += mine
        rounded[key] += tax["amount"]["amount"]
        assert abs(tax["amount"]["amount"] - mine) < 1 + Fraction(1, 2)
        before_tax = price - tax["amount"]["amount"] if tax["included"] else price
        assert tax["base"]["amount"] == before_tax
    for key, amount in exact.items():
        assert abs(rounded[key] - amount) <= Fraction(1, 2)
    total = sum(price + (0 if tax["included"] else tax["amount"]["amount"]) for price, tax in parts)
    assert found.total["amount"] == total
    assert sum(row["base"]["amount"] + row["amount"]["amount"] for row in found.taxes) == total
    assert found.tax["total"]["amount"] == sum(rounded.values())


@given(goods(), quantities, all_terms(), st.randoms(use_true_random=False))
def test_what_comes_back_in_parts_is_worth_what_was_paid_for_it(
    products: dict[str, dict[str, Any]], numbers: list[int], terms: Terms, random: Any
) -> None:
    found = priced(products, numbers, terms)
    order: Any = {
        "basket": found.lines,
        "delivery": found.delivery,
        "tax": found.tax,
        "taxes": found.taxes,
        "total": found.total,
    }
    pieces = [(line["productid"], line["quantity"]) for line in found.lines]
    returns: list[Any] = []
    while pieces:
        productid, left = pieces.pop(random.randrange(len(pieces)))
        now = random.randint(1, left)
        pieces += [(productid, left - now)] if left > now else []
        lines = returned_lines(found.lines, returns, [{"productid": productid, "quantity": now}])
        returns.append({"lines": lines})
    back = [line for each in returns for line in each["lines"]]
    discounts = sum(discount["amount"]["amount"] for discount in found.discounts)
    assert sum(line["amount"] for line in back) == found.goods["amount"] - discounts
    delivery = found.shipping["tax"]["base"]["amount"] + found.shipping["tax"]["amount"]["amount"]
    assert goods_value(order, back) == found.total["amount"] - delivery


@given(goods(), quantities, all_terms(), st.randoms(use_true_random=False))
def test_refunds_and_returns_give_back_each_tax_as_it_was_paid(
    products: dict[str, dict[str, Any]], numbers: list[int], terms: Terms, random: Any
) -> None:
    """In any order, until all is paid back: of no rate more than was paid of it, and each refund adds up to its parts."""
    found = priced(products, numbers, terms)
    order: Any = {"basket": found.lines, "tax": found.tax, "taxes": found.taxes}
    before: list[Any] = []
    returned: list[Any] = []
    left = found.total["amount"]
    while left:
        lines, wanted = [], []
        if random.random() < 0.5:
            line = random.choice(found.lines)
            gone = sum(each["quantity"] for each in returned if each["productid"] == line["productid"])
            if line["quantity"] > gone:
                lines = [
                    {"productid": line["productid"], "quantity": random.randint(1, line["quantity"] - gone)}
                ]
                wanted = taxes_of_lines(order, returned, lines)
                returned += lines
        amount = sum(tax[part]["amount"] for tax in wanted for part in ("base", "amount"))
        amount = min(amount or random.randint(1, left), left)
        taxes = refunded_taxes(found.taxes, before, amount, wanted)
        assert sum(tax["base"]["amount"] + tax["amount"]["amount"] for tax in taxes) == amount
        before.append(taxes)
        left -= amount
    back: dict[tuple[str, str, float, bool], list[int]] = defaultdict(lambda: [0, 0])
    for tax in (tax for taxes in before for tax in taxes):
        sums = back[tax["country"], tax["name"], tax["rate"], tax["included"]]
        sums[0] += tax["base"]["amount"]
        sums[1] += tax["amount"]["amount"]
    for tax in found.taxes:
        sums = back[tax["country"], tax["name"], tax["rate"], tax["included"]]
        assert sums == [tax["base"]["amount"], tax["amount"]["amount"]]


@given(goods(), quantities, st.integers(0, 4000))
def test_an_order_of_the_last_version_is_paid_back_with_its_share_of_the_tax(
    products: dict[str, dict[str, Any]], numbers: list[int], basis_points: int
) -> None:
    """It holds one tax for the whole order and nothing of its lines."""
    found = priced(products, numbers, Terms("GB", (ShippingMethod("post", "Post", ProductCharges()),), ()))
    before_tax = found.total["amount"]
    tax = (before_tax * basis_points + 5_000) // 10_000
    currency = found.total["currency"]
    lines: Any = [
        {name: value for name, value in line.items() if name not in ("tax", "payable")}
        for line in found.lines
    ]
    order: Order = {  # type: ignore[typeddict-item]  # as far as returns look at it
        "basket": lines,
        "delivery": found.delivery,
        "tax": {"name": "VAT", "basisPoints": basis_points, "included": False, "total": money(tax, currency)},
        "total": money(before_tax + tax, currency),
    }
    wanted = [{"productid": line["productid"], "quantity": line["quantity"]} for line in found.lines]
    value = goods_value(order, returned_lines(lines, [], wanted))
    exact = found.goods["amount"] * (1 + Fraction(basis_points, 10_000))
    assert abs(value - exact) <= len(lines) + 1
    assert value <= before_tax + tax


@given(goods(), quantities, all_terms(), st.sampled_from(("BHD", "KWD", "OMR", "TND")), st.data())
def test_prices_of_three_decimals_that_cards_can_pay_stay_so(
    products: dict[str, dict[str, Any]], numbers: list[int], terms: Terms, currency: str, data: st.DataObject
) -> None:
    """Where every price is a multiple of ten fils, so are lines, added tax, total, and what any pieces are worth; the tax is right to half of ten."""
    for each in products.values():
        each["price"] = money(each["price"]["amount"] // 10 * 10, currency)
        each["delivery"] = money(each["delivery"]["amount"] // 10 * 10, currency)
    found = priced(products, numbers, terms)
    taken = [each for each in found.discounts if each["amount"]["amount"] % 10]
    assert not taken or any(
        isinstance(action, AmountOff) for each in terms.promotions.automatic for action in each.actions
    )
    if taken:
        return  # an amount that the shop itself wrote down so
    assert found.total["amount"] % 10 == 0
    assert all(line["payable"]["amount"] % 10 == 0 for line in found.lines)
    for row in found.taxes:
        if not row["included"]:
            rate = Fraction(str(row["rate"])) / 100
            assert abs(row["amount"]["amount"] - row["base"]["amount"] * rate) <= 5
    order: Any = {"basket": found.lines, "tax": found.tax, "taxes": found.taxes, "total": found.total}
    pieces = [
        {"productid": line["productid"], "quantity": data.draw(st.integers(1, line["quantity"]))}
        for line in found.lines
    ]
    assert goods_value(order, pieces) % 10 == 0


@given(st.integers(0, 10**9), st.lists(st.integers(0, 10**6), min_size=1, max_size=20))
def test_parts_add_up_and_each_is_within_one_of_its_share(total: int, weights: list[int]) -> None:
    parts = apportion(total, weights)
    if not sum(weights):
        assert parts == [0] * len(weights)
        return
    assert sum(parts) == total
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - Fraction(total * weight, sum(weights))) < 1
    if total <= sum(weights):
        assert all(part <= weight for part, weight in zip(parts, weights, strict=True))
