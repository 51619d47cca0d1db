"""Which tax rate holds where and when, and what parcels cost by weight and worth, against tables of their own: promotions and refunds included."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.orders.rules.pricing import Destination, NotDelivered, Quote, QuoteRequest, Terms, quote
from services.orders.rules.pricing.promotions import promotions
from services.orders.rules.pricing.rates import Band, FlatRate, ValueRate, WeightRate
from services.orders.rules.pricing.terms import ShippingMethod, TaxRate
from services.orders.rules.refund_taxes import refunded_taxes
from shared.money import money
from tests.services.orders.random_promotions import reckoned, some_promotions

CLASSES = ("standard", "reduced", "books")
PLACES = (
    ("GB", ""),
    ("DE", ""),
    ("US", "CA"),
    ("US", "NY"),
    ("CA", "QC"),
    ("CA", "ON"),
    ("ES", "GC"),
    ("IN", "Delhi"),
)
DAYS = ("", "2025-06-30", "2026-01-01", "2026-07-01", "2027-01-01")
ASKED = ("2025-06-29", "2025-06-30", "2026-01-01", "2026-06-30", "2026-12-31")


class Where(NamedTuple):
    """What a rate is for, and from when."""

    tax_class: str
    country: str
    region: str
    day: str


RULES = [
    Where(tax_class, country, region, day)
    for tax_class in CLASSES
    for country, region in {("", ""), *PLACES, *((country, "") for country, _ in PLACES)}
    for day in DAYS
]
Table = dict[Where, tuple[int, bool]]
tables = st.dictionaries(
    st.sampled_from(RULES), st.tuples(st.integers(0, 300_000), st.booleans()), max_size=15
)


def thing(number: int, price: int, **more: Any) -> dict[str, Any]:
    name = f"p{number}"
    return {
        "productid": name,
        "taxonomy": ["Home"],
        "name": name,
        "price": money(price, "GBP"),
        "delivery": None,
        **more,
    }


def of(table: Table) -> tuple[TaxRate, ...]:
    return tuple(
        TaxRate(" ".join(where), rate, included, where.tax_class, where.country, where.region, where.day)
        for where, (rate, included) in table.items()
    )


def holding(table: Table, tax_class: str, country: str, region: str, day: str) -> str:
    """The name of the rate that holds, looked up place by place, from the nearest to the whole world; "" for none."""
    for each in (tax_class, "standard"):
        for place in ((country, region), (country, ""), ("", "")):
            for since in sorted(DAYS, reverse=True):
                if since <= day and Where(each, *place, since) in table:
                    return " ".join(Where(each, *place, since))
    return ""


@given(
    tables,
    st.sampled_from(PLACES),
    st.sampled_from(ASKED),
    st.sampled_from(CLASSES),
    st.sampled_from(CLASSES),
)
def test_each_line_has_the_rate_of_its_class_at_its_place_on_its_day(
    table: Table, place: tuple[str, str], day: str, goods: str, shipping: str
) -> None:
    method = ShippingMethod("post", "Post", FlatRate({"GBP": 500}), tax_class=shipping)
    terms = Terms("GB", (method,), of(table))
    items = [{"productid": "p1", "quantity": 1}]
    found = quote(
        QuoteRequest(items, day, Destination(*place)), {"p1": thing(1, 1000, tax_class=goods)}, terms
    )
    for tax, tax_class, price in (
        (found.lines[0]["tax"], goods, 1000),
        (found.shipping["tax"], shipping, 500),
    ):
        expected = holding(table, tax_class, *place, day)
        assert tax["name"] == expected
        assert (tax["country"], tax["region"]) == place
        rate, included = next(
            (each for where, each in table.items() if " ".join(where) == expected), (0, True)
        )
        exact = Fraction(price * rate, 10**6 + rate * included)
        assert abs(tax["amount"]["amount"] - exact) <= 1, "one rate for both is rounded once"
        assert tax["base"]["amount"] == price - tax["amount"]["amount"] * included


KNOWN = {
    Where("standard", "", "", ""): (0, True),
    Where("standard", "DE", "", ""): (190_000, True),
    Where("standard", "DE", "", "2026-07-01"): (160_000, True),
    Where("reduced", "DE", "", ""): (70_000, True),
    Where("standard", "US", "", ""): (0, False),
    Where("standard", "US", "NY", ""): (88_750, False),
    Where("books", "US", "NY", "2026-01-01"): (0, False),
    Where("standard", "CA", "", ""): (50_000, False),
    Where("standard", "CA", "QC", ""): (149_750, False),
    Where("reduced", "CA", "", ""): (10_000, False),
}
CHOSEN = [
    ("standard", "DE", "", "2026-06-30", 190_000),
    ("standard", "DE", "", "2026-07-01", 160_000),
    ("reduced", "DE", "", "2026-07-01", 70_000),
    ("books", "DE", "", "2026-07-01", 160_000),
    ("standard", "US", "NY", "2026-07-01", 88_750),
    ("standard", "US", "ny", "2026-07-01", 88_750),
    ("books", "US", "NY", "2025-12-31", 88_750),
    ("books", "US", "NY", "2026-01-01", 0),
    ("standard", "US", "NJ", "2026-07-01", 0),
    ("standard", "CA", "QC", "2026-07-01", 149_750),
    ("standard", "CA", "ON", "2026-07-01", 50_000),
    ("reduced", "CA", "QC", "2026-07-01", 10_000),
    ("standard", "FR", "", "2026-07-01", 0),
]


@pytest.mark.parametrize(("tax_class", "country", "region", "day", "expected"), CHOSEN)
def test_rates_that_were_looked_up_by_hand(
    tax_class: str, country: str, region: str, day: str, expected: int
) -> None:
    terms = Terms("GB", (ShippingMethod("post", "Post", FlatRate({"GBP": 0})),), of(KNOWN))
    items = [{"productid": "p1", "quantity": 1}]
    request = QuoteRequest(items, day, Destination(country, region))
    tax = quote(request, {"p1": thing(1, 10**6, tax_class=tax_class)}, terms).lines[0]["tax"]
    assert round(tax["rate"] * 10_000) == expected


@dataclass(frozen=True)
class Basket:
    """Pieces by their price, weight and quantity."""

    pieces: tuple[tuple[int, int, int], ...]

    @property
    def grams(self) -> int:
        return sum(grams * quantity for _, grams, quantity in self.pieces)


baskets = st.lists(
    st.tuples(st.integers(0, 9_999), st.integers(0, 900), st.integers(1, 4)), min_size=1, max_size=5
).map(lambda pieces: Basket(tuple(pieces)))
STEPS = {0: 300, 250: 450, 1_000: 700, 5_000: 1_500}
PER_PARCEL, FLAT, FREE_FROM = 1_000, 350, 15_000
METHODS = (
    ShippingMethod("flat", "Flat", FlatRate({"GBP": FLAT}), parcel_grams=PER_PARCEL),
    ShippingMethod(
        "weight",
        "Weight",
        WeightRate(tuple(Band(start, price, "GBP") for start, price in STEPS.items())),
        parcel_grams=PER_PARCEL,
    ),
    ShippingMethod(
        "worth",
        "Worth",
        ValueRate((Band(0, 995, "GBP"), Band(5_000, 495, "GBP"))),
        free_from={"GBP": FREE_FROM},
    ),
)


def price_of_weight(grams: int) -> int:
    price = 0
    for start in STEPS:
        price = STEPS[start] if grams >= start else price
    return price


def parcels_of(basket: Basket) -> list[int]:
    """Piece by piece, the heaviest first, each into the first parcel with room."""
    if basket.grams <= PER_PARCEL:
        return [basket.grams]
    parcels: list[int] = []
    for grams in sorted(
        (grams for _, grams, quantity in basket.pieces for _ in range(quantity)), reverse=True
    ):
        open_ones = [place for place, weight in enumerate(parcels) if weight + grams <= PER_PARCEL]
        if open_ones:
            parcels[open_ones[0]] += grams
        else:
            parcels.append(grams)
    return parcels


def quoted(basket: Basket, all: list[Any], method: str) -> Quote | None:
    rate = TaxRate("VAT", 200_000, included=True)
    goods = {
        f"p{number}": thing(number, price, weight_grams=grams)
        for number, (price, grams, _) in enumerate(basket.pieces)
    }
    items = [
        {"productid": name, "quantity": each[2]} for name, each in zip(goods, basket.pieces, strict=True)
    ]
    terms = Terms("GB", METHODS, (rate,), promotions(all))
    try:
        return quote(QuoteRequest(items, "2026-11-23", shipping=method), goods, terms)
    except NotDelivered:
        return None


@given(baskets, some_promotions(), st.sampled_from([method.id for method in METHODS]))
def test_delivery_of_discounted_goods_by_weight_and_worth_adds_up_and_is_paid_back_whole(
    basket: Basket, all: list[Any], method: str
) -> None:
    """Weights are of all goods, worth is what is left of it after discounts; what staff then pay back piece by piece is the total."""
    found = quoted(basket, all, method)
    assert found is not None
    lines = [
        {"productid": f"p{number}", "quantity": quantity, "price": price * quantity}
        for number, (price, _, quantity) in enumerate(basket.pieces)
    ]
    taken = reckoned(lines, all, "GBP")
    worth, parcels = sum(line["price"] for line in lines), parcels_of(basket)
    assert max(parcels) <= PER_PARCEL
    prices: dict[str, Callable[[], int]] = {
        "flat": lambda: FLAT * len(parcels),
        "weight": lambda: sum(price_of_weight(grams) for grams in parcels),
        "worth": lambda: 0 if worth >= FREE_FROM else 495 if worth >= 5_000 else 995,
    }
    is_free = any(each.get("free_delivery") for each in found.discounts)
    offered = {option["id"]: option["price"]["amount"] for option in found.shipping_options}
    assert offered == {name: 0 if is_free else price() for name, price in prices.items()}
    assert found.delivery["amount"] == offered[method]
    assert [each["amount"]["amount"] for each in found.discounts] == taken
    total = worth + offered[method]
    assert found.total["amount"] == total
    back: list[list[Any]] = []
    for number in range(3):
        part = total - (total // 3) * 2 if number == 2 else total // 3
        back.append(refunded_taxes(found.taxes, back, part, []))
    assert sum(tax["amount"]["amount"] for each in back for tax in each) == sum(
        tax["amount"]["amount"] for tax in found.taxes
    )
