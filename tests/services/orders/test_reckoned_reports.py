"""Reports beside a reckoning of their own: what a small shop sold, gave back, exchanged and owes, at the borders of months, days and hours."""

from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from services.orders.actions import fulfilment, reports
from services.orders.actions.summaries import summarise_order
from services.orders.dependencies import Dependencies
from services.orders.rules.daily_figures import day_due
from tests.services.orders.conftest import Shop
from tests.services.orders.gift_cards import granted, issued
from tests.services.orders.test_after_sale import delivered
from tests.services.orders.test_desk_orders import line, send
from tests.services.orders.test_gift_card_products import gift_card_product, recipient
from tests.services.orders.test_returns import parcel, staff
from tests.services.orders.test_variants import shirt
from tests.waiting import eventually

Order = dict[str, Any]
MOMENTS = (
    *("2024-12-31T23:59:59Z", "2025-01-01T00:00:00Z"),
    *("2025-01-31T23:59:59Z", "2025-02-01T00:00:00Z", "2025-02-28T23:59:59Z", "2025-03-01T00:00:00Z"),
    *("2025-03-29T22:59:59Z", "2025-03-29T23:00:00Z", "2025-03-30T00:59:59Z", "2025-03-30T01:00:00Z"),
    *("2025-03-30T21:59:59Z", "2025-03-30T22:00:00Z"),
    *("2025-10-25T18:29:59Z", "2025-10-25T18:30:00Z", "2025-10-25T21:59:59Z", "2025-10-25T22:00:00Z"),
    *("2025-10-26T00:30:00Z", "2025-10-26T01:30:00Z", "2025-10-26T18:29:59Z", "2025-10-26T22:59:59Z"),
    *("2025-10-26T23:00:00Z",),
)
"""Of years, months, days and hours in UTC, of days in Berlin (of 23 and of 25 hours) and in Kolkata."""
CURRENCIES = ("SEK", "DKK")
LENGTHS = {"year": 4, "month": 7, "day": 10, "hour": 13}


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    return {"COURIER": "manual"}


@pytest.fixture(scope="module")
def past(shop: Shop) -> list[tuple[str, str, int]]:
    """(moment, currency, amount) of orders that were imported; no sum of some of them is another's."""
    sold = [(moment, CURRENCIES[number % 3 // 2], 100 + 2**number) for number, moment in enumerate(MOMENTS)]
    lines = []
    for number, (moment, currency, amount) in enumerate(sold):
        made = line(f"reckoned-{number}", moment, currency=currency)
        made["items"][0]["unitPrice"] = {"amount": amount, "currency": currency}
        lines.append(made)
    send(shop, lines)
    return sold


def asked(shop: Shop, name: str, **params: str) -> Any:
    answer = shop.get(shop.admin, f"/v1/admin/reports/{name}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("by", LENGTHS)
def test_each_period_has_what_was_sold_in_it(shop: Shop, past: list[tuple[str, str, int]], by: str) -> None:
    expected = Counter[tuple[str, str]]()
    for moment, currency, amount in past:
        expected[currency, moment[: LENGTHS[by]]] += amount

    def found() -> dict[tuple[str, str], int]:
        span = {"from": "2024", "to": "2026"}
        groups = asked(shop, "sales", by=by, **span)["groups"]
        return {
            (group["currency"], row["period"]): row["gross"]["amount"]
            for group in groups
            if group["currency"] in CURRENCIES
            for row in group["rows"]
        }

    eventually(lambda: found() == expected)
    assert found() == expected


@pytest.mark.parametrize(("start", "end"), [("2025-02-01", "2025-03-01"), ("2025-10-26", "2025-10-27")])
def test_a_period_is_compared_with_as_many_days_before(
    shop: Shop, past: list[tuple[str, str, int]], start: str, end: str
) -> None:
    days = date.fromisoformat(end) - date.fromisoformat(start)
    before = str(date.fromisoformat(start) - days)
    expected = {
        currency: tuple(
            sum(amount for moment, name, amount in past if name == currency and one <= moment[:10] < other)
            for one, other in ((start, end), (before, start))
        )
        for currency in CURRENCIES
    }

    def found() -> dict[str, tuple[int, int]]:
        rows = {
            row["currency"]: row for row in asked(shop, "comparison", **{"from": start, "to": end})["rows"]
        }
        return {
            name: tuple(rows[name][when]["gross"]["amount"] for when in ("present", "before"))
            if name in rows
            else (0, 0)
            for name in CURRENCIES
        }

    eventually(lambda: found() == expected)
    assert found() == expected


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Asia/Kolkata", "UTC"])
@pytest.mark.parametrize(
    "day", [date(2025, 3, 29), date(2025, 3, 30), date(2025, 10, 25), date(2025, 10, 26)]
)
def test_a_day_of_the_shop_has_what_was_sold_by_its_clock(
    past: list[tuple[str, str, int]], deps: Dependencies, zone: str, day: date
) -> None:
    clock = ZoneInfo(zone)
    due = day_due(clock, datetime.combine(day + timedelta(days=1), time(7), clock))
    assert due is not None
    assert due.name == str(day)
    for when, span in ((day, due.span), (day - timedelta(days=1), due.before)):
        expected = Counter[str]()
        for moment, currency, amount in past:
            local = datetime.fromisoformat(moment).astimezone(clock)
            if local.date() == when:
                expected[currency] += amount
        groups = reports.sales(deps, "total", span, allow_stale=False)["groups"]
        found = {each["currency"]: each["total"]["gross"]["amount"] for each in groups}
        assert {name: found.get(name, 0) for name in CURRENCIES} == {
            name: expected[name] for name in CURRENCIES
        }


def test_what_was_sold_given_back_exchanged_and_owed_adds_up(shop: Shop, deps: Dependencies) -> None:
    customer = shop.customer()
    lamp, euro = shop.product(price=1999, delivery=300), shop.product(price=2500, delivery=0, currency="EUR")
    code = "RECKONED"
    promotion = {"name": "Ten", "codes": [code], "actions": [{"kind": "percent", "basis_points": 1000}]}
    shop.made("/v1/admin/promotions", promotion)
    first = delivered(shop, shop.placed(customer, {lamp: 3}, codes=[code]))
    gift = gift_card_product(shop, 5000)
    sold = shop.placed(customer, {gift: 1, lamp: 1}, gift_recipient=recipient())
    undone = shop.placed(customer, {gift: 1, lamp: 1}, gift_recipient=recipient())
    assert shop.post(customer, f"/v1/orders/{undone['orderid']}/cancellation", {}).status_code == 201
    by_card = shop.placed(customer, {lamp: 1}, gift_cards=[issued(shop, 1500)["code"]])
    granted(shop, customer, 700)
    by_credit = shop.placed(customer, {lamp: 1}, store_credit=True)
    sizes = shirt(shop)
    large, small = f"{sizes}-L", f"{sizes}-M"
    swapped = delivered(shop, shop.placed(customer, {large: 1}))
    wanted = {"items": [{"sku": large, "quantity": 1, "exchange_for": small}]}
    assert shop.post(customer, f"/v1/orders/{swapped['orderid']}/returns", wanted).status_code == 201
    assert staff(shop, swapped, 1, "approval").status_code == 201
    linked = staff(shop, swapped, 1, "receipt", parcel((large, 1, "damaged"))).json()["exchange"]["orderid"]
    abroad = shop.placed(customer, {euro: 2}, currency="EUR")
    back = {"amount": {"amount": 1000, "currency": "EUR"}, "reason": "Scratched."}
    assert shop.post(shop.admin, f"/v1/admin/orders/{abroad['orderid']}/refunds", back).status_code == 201
    shop.sent_back(customer, first["orderid"], {lamp: 1})
    ids = [each["orderid"] for each in (first, sold, undone, by_card, by_credit, swapped, abroad)] + [linked]
    for orderid in ids:
        fulfilment.advance_order(deps, orderid)
        summarise_order(deps, orderid)
    orders = [shop.get(shop.admin, f"/v1/orders/{orderid}").json() for orderid in ids]
    today = datetime.now(UTC).date()
    span = {"from": str(today), "to": str(today + timedelta(days=2))}
    for currency in ("GBP", "EUR"):
        expected = reckoned(currency, orders)
        eventually(lambda c=currency, e=expected: said(shop, c, span) == e)
        assert said(shop, currency, span) == expected
    assert reckoned("GBP", orders)["returning_orders"] == 5, "an exchange is no customer who came back"


def reckoned(currency: str, orders: list[Order]) -> dict[str, int]:
    """Out of the orders themselves. The cancelled order's gift card is owed to nobody any more, and was never earned."""
    own = [order for order in orders if order["total"]["currency"] == currency]
    earned = [order["total"]["amount"] - cards_in(order) for order in own]
    bought = [(order, gross) for order, gross in zip(own, earned, strict=True) if "exchange_of" not in order]
    refunds = [
        refund["total"]["amount"] - (cards_in(order) if order["status"] == "cancelled" else 0)
        for order in own
        for refund in order["refunds"]
    ]
    is_first = currency == "GBP"
    returns = [back for order in own for back in order["returns"] if back["received"]]
    return {
        "orders": len(own),
        "gross": sum(earned),
        "refunds": sum(refunds),
        "discounts": sum(each["amount"]["amount"] for order in own for each in order["discounts"]),
        "returns": len(returns),
        "returned_units": sum(line["quantity"] for back in returns for line in back["lines"]),
        "new_customers": int(is_first),
        "new_gross": bought[0][1] if is_first else 0,
        "returning_orders": len(bought) - is_first,
        "returning_gross": sum(gross for _, gross in bought[int(is_first) :]),
        "sold": sum(earned),
        "paid back": sum(refunds),
    }


def cards_in(order: Order) -> int:
    """What of an order was paid for gift cards."""
    return sum(item["total"]["amount"] for item in order["items"] if item.get("gift_card"))


def said(shop: Shop, currency: str, span: dict[str, str]) -> dict[str, int]:
    """By the comparison, and last by the report of sales."""
    rows = {row["currency"]: row["present"] for row in asked(shop, "comparison", **span)["rows"]}
    groups = {
        group["currency"]: group["total"] for group in asked(shop, "sales", by="total", **span)["groups"]
    }
    if currency not in rows or currency not in groups:
        return {}
    plain = {
        name: value["amount"] if isinstance(value, dict) else value for name, value in rows[currency].items()
    }
    names = ("orders", "gross", "refunds", "discounts", "returns", "returned_units")
    customers = ("new_customers", "new_gross", "returning_orders", "returning_gross")
    sales = groups[currency]
    assert plain["orders"] == sales["orders"]
    taxes = [row for row in asked(shop, "tax", **span)["rows"] if row["amount"]["currency"] == currency]
    assert plain["tax"] == sum(row["amount"]["amount"] for row in taxes)
    return {name: plain[name] for name in (*names, *customers)} | {
        "sold": sales["gross"]["amount"],
        "paid back": sales["refunds"]["amount"],
    }
