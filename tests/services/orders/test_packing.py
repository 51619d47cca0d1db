"""Orders in several parcels: no piece is lost or parted, no parcel too heavy, and the price is that of each parcel by itself."""

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from services.orders.rules.pricing import Destination, QuoteRequest, Terms, quote
from services.orders.rules.pricing.packing import MAX_PARCELS, weights_of_parcels
from services.orders.rules.pricing.promotions import promotions
from services.orders.rules.pricing.rates import Band, FlatRate, WeightRate
from services.orders.rules.pricing.terms import ShippingMethod
from shared.money import money

HOME = Destination("GB")
PIECES = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 6)), min_size=1, max_size=5)


def flat(pieces: list[tuple[int, int]]) -> list[int]:
    return [grams for grams, quantity in pieces for _ in range(quantity)]


def is_packable(weights: list[int], parcels: tuple[int, ...]) -> bool:
    """Whether the pieces can be laid out so that the parcels weigh exactly this; tried piece by piece."""
    states = {tuple(sorted(parcels))}
    for weight in sorted(weights, reverse=True):
        states = {
            tuple(sorted((*state[:place], state[place] - weight, *state[place + 1 :])))
            for state in states
            for place in range(len(state))
            if state[place] >= weight
        }
    return (0,) * len(parcels) in states


@given(PIECES, st.integers(1, 60), st.randoms())
def test_parcels_hold_every_piece_once_and_none_is_too_heavy(
    pieces: list[tuple[int, int]], heaviest: int, random: Any
) -> None:
    found = weights_of_parcels(pieces, heaviest)
    weights = flat(pieces)
    if found is None:
        assert max(weights) > heaviest or sum(weights) > heaviest * MAX_PARCELS / 2
        return
    assert sum(found) == sum(weights)
    assert len(found) == 1 or all(0 < each <= heaviest for each in found)
    assert all(one + other > heaviest for one, other in itertools.combinations(found, 2)), "two fit into one"
    if len(weights) <= 12:
        assert is_packable(weights, found)
    shuffled = pieces[:]
    random.shuffle(shuffled)
    assert weights_of_parcels(shuffled, heaviest) == found, "whatever the order of the lines"


@given(PIECES, st.integers(1, 60), st.integers(0, 900), st.lists(st.integers(0, 900), min_size=3, max_size=3))
def test_an_order_costs_what_its_parcels_cost_alone(
    pieces: list[tuple[int, int]], heaviest: int, price: int, prices: list[int]
) -> None:
    """Each parcel sent by itself, as an order of one piece of its weight."""
    bands = tuple(Band(start, each, "GBP") for start, each in zip((0, 15, 30), prices, strict=True))
    everywhere = ShippingMethod("anyway", "Anyway", FlatRate({"GBP": 10_000}))
    for rate in (FlatRate({"GBP": price}), WeightRate(bands)):
        method = ShippingMethod("split", "Split", rate, parcel_grams=heaviest)
        found = cost(pieces, (method, everywhere))
        parcels = weights_of_parcels(pieces, heaviest)
        if parcels is None:
            assert found is None
        else:
            each = [cost([(grams, 1)], (method, everywhere)) for grams in parcels]
            assert found == sum(amount for amount in each if amount is not None)


def cost(pieces: list[tuple[int, int]], methods: tuple[ShippingMethod, ...]) -> int | None:
    """What `split` costs for these pieces; None where it does not take them."""
    products = {
        f"p{place}": {
            "productid": f"p{place}",
            "taxonomy": ["A"],
            "name": "P",
            "price": money(100, "GBP"),
            "weight_grams": grams,
        }
        for place, (grams, _) in enumerate(pieces)
    }
    items = [{"productid": f"p{place}", "quantity": quantity} for place, (_, quantity) in enumerate(pieces)]
    terms = Terms("GB", methods, (), promotions(()))
    found = quote(QuoteRequest(items, "2026-11-23", HOME), products, terms)
    return next((each["price"]["amount"] for each in found.shipping_options if each["id"] == "split"), None)
