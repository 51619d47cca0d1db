"""What the sample shop's goods cost: in two currencies, on sale, and for a customer group."""

from datetime import UTC, datetime

from deploy.local.layout import SAMPLE_CURRENCIES
from deploy.local.shop.history import history
from deploy.local.shop.products import TRADE, sample_products

LINES = [item.line for item in sample_products()]
CURRENCIES = set(SAMPLE_CURRENCIES.split(","))


def test_everything_is_sold_and_delivered_in_each_currency() -> None:
    for line in LINES:
        assert line["prices"].keys() == CURRENCIES
        assert line["prices"][line["price"]["currency"]] == line["price"]["amount"]
        assert (line["delivery_prices"].keys() == CURRENCIES) == bool(line["delivery"]["amount"])
        own = [variant["prices"] for variant in line.get("variants", ()) if "prices" in variant]
        assert all(prices.keys() == CURRENCIES for prices in own)


def test_everything_costs_the_shop_less_than_it_is_sold_for_and_past_orders_say_what() -> None:
    """So that the margin report of a new shop shows something."""
    costs = {line["productid"]: line["cost_prices"] for line in LINES}
    for line in LINES:
        lowest = [line["prices"], *(sale["prices"] for sale in line.get("sales", ()))][-1]
        assert all(0 < costs[line["productid"]][currency] < lowest[currency] for currency in CURRENCIES)
    for order in history(LINES, datetime(2026, 1, 1, tzinfo=UTC)):
        for item in order["items"]:
            assert item["cost"]["amount"] == costs[item["productid"]][order["currency"]]


def test_some_things_are_on_sale_and_some_are_cheaper_for_the_trade() -> None:
    sales = [(line["prices"], sale["prices"]) for line in LINES for sale in line.get("sales", ())]
    trade = [(line["prices"], line["group_prices"][TRADE]) for line in LINES if "group_prices" in line]
    assert min(len(sales), len(trade)) > 10
    for regular, reduced in (*sales, *trade):
        assert reduced.keys() == CURRENCIES
        assert all(0 < reduced[currency] < regular[currency] for currency in CURRENCIES)
    assert any(line.get("variants") and line.get("sales") for line in LINES)
