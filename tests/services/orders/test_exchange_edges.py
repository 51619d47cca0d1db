"""Exchanges at their edges: sent at once and dearer, kept for no longer than returns are taken, with tax on top, of somebody who is erased."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from services.orders.actions import fulfilment
from services.orders.dependencies import Dependencies
from services.products.actions import maintenance
from services.products.dependencies import open_dependencies
from services.products.documents import DESIGN as PRODUCTS
from services.products.settings import Settings
from shared.clock import iso, now
from shared.couch import Database, Server
from shared.settings import load
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn
from tests.services.orders.test_exchanges import approved, asked, bought, kept_of, received, same_price
from tests.services.orders.test_returns import seen
from tests.services.orders.test_variants import shirt
from tests.waiting import Holds, eventually

BY_STRIPE = {"provider": "stripe", "token": "pm_card_visa"}


@pytest.fixture(scope="module")
def orders_settings(stripe: StripeStandIn) -> dict[str, str]:
    return {
        "COURIER": "manual",
        "PAYMENT_PROVIDERS": "sandbox,stripe",
        "STRIPE_URL": stripe.url,
        "STRIPE_API_KEY": API_KEY,
        "STRIPE_WEBHOOK_SECRET": "whsec",
    }


def set_shop(shop: Shop, **values: Any) -> None:
    path = f"{shop.orders}/v1/admin/settings"
    before = shop.admin.get(path, timeout=30)
    headers = {"If-Match": before.headers["ETag"]} if before.ok else {}
    body = {"country": "GB", **values}
    assert shop.admin.put(path, json=body, headers=headers, timeout=30).status_code == 200


@pytest.fixture
def at_once(shop: Shop) -> Iterator[None]:
    set_shop(shop, exchange_before_receipt=True)
    yield
    set_shop(shop, exchange_before_receipt=False)


def test_dearer_goods_that_are_sent_at_once_are_sent_when_the_difference_is_paid(
    shop: Shop, customer: Person, stripe: StripeStandIn, deps: Dependencies, at_once: None, holds: Holds
) -> None:
    product = shirt(shop)
    small, large = f"{product}-M", f"{product}-L"
    order = bought(shop, customer, small, payment=BY_STRIPE)
    assert asked(shop, customer, order, small, large).status_code == 201

    def offer() -> dict[str, Any] | None:
        found = approved(shop, order)["exchange"]
        return found if found["status"] == "offered" else None

    offered = eventually(offer)
    assert offered, "the settings are read anew"
    linked = seen(shop, {"orderid": offered["orderid"]})
    assert (linked["status"], linked["to_pay"]["amount"]) == ("placed", 300)
    holds(lambda: (shop.stock(large), shop.stock(small)) == (9, 9))
    (session,) = stripe.checkout.of(linked["orderid"])
    stripe.checkout.pay(session["id"])
    shop.post(customer, f"/v1/orders/{linked['orderid']}/payment")
    fulfilment.advance_order(deps, linked["orderid"])
    holds(lambda: seen(shop, order)["returns"][0]["exchange"]["status"] == "paid")
    holds(lambda: seen(shop, linked)["status"] == "paid")
    received(shop, order, small)
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    holds(lambda: (shop.stock(large), shop.stock(small)) == (9, 10))
    holds(lambda: len(seen(shop, order)["refunds"]) == 1)
    assert not stripe.refunds


def test_what_was_kept_for_too_long_is_given_back_and_the_money_too_where_it_is_sold_meanwhile(
    shop: Shop,
    customer: Person,
    deps: Dependencies,
    ledger: Database,
    server: Server,
    environment: dict[str, str],
) -> None:
    """The goods are kept until `return_days` have run out: here their reservation is made to have run out."""
    product = same_price(shop, stock=1)
    small, large = f"{product}-M", f"{product}-L"
    order = bought(shop, customer, small)
    asked(shop, customer, order, small, large)
    approved(shop, order)
    fulfilment.advance_order(deps, order["orderid"])
    assert shop.stock(large) == 0
    products = server.open(PRODUCTS)
    kept = deps.orders.order(order["orderid"]).order_returns[0].offer
    assert kept is not None
    rows = products.across_partitions.documents("", "\uffff", limit=100_000)
    (reservation,) = [
        doc for doc in rows if doc.get("type") == "reservation" and doc.get("orderid") == kept["orderid"]
    ]
    products.put({**reservation, "expires": iso(now())})
    keepers = open_dependencies(load(Settings, environment))
    for later in (timedelta(), maintenance.SETTLE_AFTER + timedelta(minutes=2)):
        maintenance.sweep(keepers, now() + later)
    assert shop.stock(large) == 1
    shop.placed(customer, {large: 1})
    done = received(shop, order, small)
    assert done["exchange"]["status"] == "sold_out"
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    assert seen(shop, order)["refunds"][0]["settled"]
    assert kept_of(ledger, order) == order["total"]["amount"] - 1000
    assert (shop.stock(large), shop.stock(small)) == (0, 1)


def test_the_tax_that_is_added_is_moved_with_the_goods(
    shop: Shop, customer: Person, deps: Dependencies, ledger: Database
) -> None:
    """Another size at the same price costs nothing more, whatever tax comes on top of it."""
    path = f"{shop.orders}/v1/admin/tax-rates"
    body = {"country": "GB", "name": "Levy", "rate": 10, "included": False, "active": True}
    made = shop.admin.post(path, json=body, timeout=30)
    assert made.status_code == 201, made.text
    try:
        product = same_price(shop)
        small, large = f"{product}-M", f"{product}-L"
        order = eventually(lambda: _taxed(bought(shop, customer, small)), seconds=60)
        assert order, "the rate is read anew"
        asked(shop, customer, order, small, large)
        assert approved(shop, order)["exchange"]["difference"]["amount"] == 0
        linked = seen(shop, {"orderid": received(shop, order, small)["exchange"]["orderid"]})
        assert (linked["status"], linked["total"]["amount"], linked["to_pay"]["amount"]) == ("paid", 1100, 0)
        assert linked["tax"]["total"]["amount"] == 100
        fulfilment.advance_order(deps, order["orderid"])
        assert kept_of(ledger, order) == order["total"]["amount"]
    finally:
        url = f"{path}/{made.json()['id']}"
        shop.admin.put(
            url, json={**body, "active": False}, headers={"If-Match": made.headers["ETag"]}, timeout=30
        )


def _taxed(order: dict[str, Any]) -> dict[str, Any] | None:
    return order if order["tax"]["total"]["amount"] and not order["tax"]["included"] else None


def test_what_goods_of_an_exchange_are_worth_can_become_store_credit(
    shop: Shop, customer: Person, deps: Dependencies, ledger: Database
) -> None:
    """Their money was charged with the first order; who wants it as store credit does not get it on the card."""
    product = same_price(shop)
    small, large = f"{product}-M", f"{product}-L"
    order = bought(shop, customer, small)
    asked(shop, customer, order, small, large)
    approved(shop, order)
    linked = seen(shop, {"orderid": received(shop, order, small)["exchange"]["orderid"]})
    path = f"/v1/admin/orders/{linked['orderid']}/refunds"
    for amount, to in ((400, "store_credit"), (250, "original"), (350, "store_credit")):
        body = {"amount": amount, "reason": "Late", "to": to}
        assert shop.post(shop.admin, path, body).status_code == 201
    fulfilment.advance_order(deps, linked["orderid"])
    refunds = seen(shop, linked)["refunds"]
    parts = [[(each["kind"], each["amount"]["amount"]) for each in refund["credits"]] for refund in refunds]
    assert parts == [[("store_credit", 400)], [("exchange", 250)], [("store_credit", 350)]]
    assert all(refund["settled"] for refund in refunds)
    (credit,) = shop.get(customer, "/v1/store-credit").json()["items"]
    assert credit["balance"]["amount"] == 750
    assert kept_of(ledger, order) == order["total"]["amount"] - 250


def test_nothing_is_sent_to_somebody_who_was_erased_before_the_goods_came(
    shop: Shop, deps: Dependencies, ledger: Database
) -> None:
    person = shop.customer()
    product = same_price(shop)
    small, large = f"{product}-M", f"{product}-L"
    order = bought(shop, person, small)
    asked(shop, person, order, small, large)
    approved(shop, order)
    gone = shop.admin.delete(f"{shop.users}/v1/admin/users/{person.userid}", timeout=60)
    assert gone.status_code in (200, 202, 204), gone.text
    assert received(shop, order, small)["exchange"]["status"] == "unpaid"
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    assert (shop.stock(large), shop.stock(small)) == (10, 10)
    assert kept_of(ledger, order) == order["total"]["amount"] - 1000
    assert [refund["settled"] for refund in seen(shop, order)["refunds"]] == [True]
