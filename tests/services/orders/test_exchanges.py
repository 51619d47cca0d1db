"""Other goods for those that come back: kept when it is approved, sent as a linked order when they are here, paid by what was paid for them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
import requests

from services.orders.actions import fulfilment
from services.orders.actions.order_emails import composed
from services.orders.dependencies import Dependencies
from services.orders.rules.order_returns import END_KEY
from shared.clock import parse
from shared.couch import Database
from tests.forwarding import Forward, Response, as_one_of_three, forwarding
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.gift_cards import issued, left_on
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn
from tests.services.orders.test_after_sale import delivered
from tests.services.orders.test_returns import parcel, seen, staff
from tests.services.orders.test_variants import shirt
from tests.waiting import eventually

Order = dict[str, Any]


@pytest.fixture(scope="module")
def orders_settings(stripe: StripeStandIn) -> dict[str, str]:
    return {
        "COURIER": "manual",
        "PAYMENT_PROVIDERS": "sandbox,stripe",
        "STRIPE_URL": stripe.url,
        "STRIPE_API_KEY": API_KEY,
        "STRIPE_WEBHOOK_SECRET": "whsec",
    }


def arrival(deps: Dependencies, order: Order) -> str:
    """The e-mail about goods that came back."""
    found = deps.orders.order(order["orderid"])
    (back,) = found.order_returns
    return composed(deps, found, f"{back.reference}{END_KEY}").text


@pytest.fixture
def product(shop: Shop) -> str:
    """M costs 10.00, L 13.00; ten of each."""
    return shirt(shop)


def bought(shop: Shop, person: Person, sku: str, quantity: int = 1, **more: Any) -> Order:
    return delivered(shop, shop.placed(person, {sku: quantity}, **more))


def asked(
    shop: Shop, person: requests.Session, order: Order, sku: str, wanted: str, quantity: int = 1
) -> requests.Response:
    items = [{"sku": sku, "quantity": quantity, "exchange_for": wanted}]
    return shop.post(person, f"/v1/orders/{order['orderid']}/returns", {"items": items})


def received(shop: Shop, order: Order, sku: str, quantity: int = 1, condition: str = "resaleable") -> Order:
    answer = staff(shop, order, 1, "receipt", parcel((sku, quantity, condition)))
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def approved(shop: Shop, order: Order, body: Any = None) -> Order:
    answer = staff(shop, order, 1, "approval", body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_another_size_at_the_same_price_is_sent_once_the_goods_are_here(
    shop: Shop, customer: Person, stripe: StripeStandIn, deps: Dependencies, ledger: Database
) -> None:
    product = same_price(shop)
    small, large = f"{product}-M", f"{product}-L"
    order = bought(shop, customer, small, 2)
    back = asked(shop, customer, order, small, large, 2).json()
    assert back["exchange"] == {
        "status": "requested",
        "orderid": None,
        "items": [{"productid": small, "exchange_for": large, "quantity": 2}],
        "difference": None,
        "paid_with": None,
    }
    assert shop.stock(large) == 10
    for _ in range(2):
        kept = approved(shop, order)["exchange"]
        assert (kept["status"], kept["difference"]["amount"], kept["orderid"]) == ("approved", 0, None)
        assert shop.stock(large) == 8
    done = received(shop, order, small, 2)
    assert done["refund"]["amount"] == 2000
    assert (done["exchange"]["status"], done["exchange"]["paid_with"]["amount"]) == ("paid", 2000)
    told = arrival(deps, order)
    assert "2 x Shirt" in told
    assert "(M)" in told
    assert "£20.00 go towards what you get instead." in told
    assert "paid back" not in told
    linked = seen(shop, {"orderid": done["exchange"]["orderid"]})
    assert linked["exchange_of"] == {
        "orderid": order["orderid"],
        "number": order["number"],
        "return_number": 1,
    }
    assert (linked["status"], linked["to_pay"]["amount"], linked["total"]["amount"]) == ("paid", 0, 2000)
    assert [(line["sku"], line["quantity"]) for line in linked["items"]] == [(large, 2)]
    assert linked["credits"][0]["kind"] == "exchange"
    assert shop.get(customer, f"/v1/orders/{linked['orderid']}").status_code == 200
    fulfilment.advance_order(deps, order["orderid"])
    fulfilment.advance_order(deps, linked["orderid"])
    assert (shop.stock(large), shop.stock(small)) == (8, 10)
    found = seen(shop, order)
    assert [refund["settled"] for refund in found["refunds"]] == [True]
    assert (
        kept_of(ledger, order) == order["total"]["amount"]
    )  # the provider keeps all: other goods are sent for it
    assert {"requested", "decision", "ended", "exchanged"} <= {
        doc["kind"].removeprefix(reference_of(deps, order))
        for doc in deps.orders.documents_of(order["orderid"])
        if doc["type"] == "notice"
    }


def without_exchange(method: str, path: str, body: bytes, forward: Forward) -> Response:
    """Of a node of a cluster that has not got the order yet which was placed for what came back."""
    status, headers, content = forward()
    if "/_partition/order" in path and path.partition("?")[0].endswith("/_all_docs"):
        found = orjson.loads(content)
        if any((row.get("doc") or {}).get("exchange_of") for row in found["rows"]):
            content = orjson.dumps(found | {"rows": []})
    return status, headers, as_one_of_three(method, path, content)


def test_it_is_paid_at_once_where_a_node_does_not_list_it_yet(
    shop: Shop, customer: Person, couch_url: str, service: Callable[..., str]
) -> None:
    product = same_price(shop)
    small, large = f"{product}-M", f"{product}-L"
    order = bought(shop, customer, small)
    assert asked(shop, customer, order, small, large).status_code == 201
    approved(shop, order)
    with forwarding(couch_url, without_exchange) as url:
        done = received(replace(shop, orders=service("orders", COUCH_URL=url)), order, small)
    assert done["exchange"]["status"] == "paid"
    assert seen(shop, {"orderid": done["exchange"]["orderid"]})["status"] == "paid"


def test_the_worker_writes_nothing_more_to_keep_what_an_approval_keeps(
    shop: Shop, customer: Person, deps: Dependencies
) -> None:
    """It makes sure of it, in case the approval died before."""
    product = same_price(shop)
    order = bought(shop, customer, f"{product}-M")
    asked(shop, customer, order, f"{product}-M", f"{product}-L")
    approved(shop, order)
    before = extensions(shop)
    fulfilment.advance_order(deps, order["orderid"])
    reads, writes = (after - known for after, known in zip(extensions(shop), before, strict=True))
    assert (reads > 0, writes) == (True, 0)


def extensions(shop: Shop) -> tuple[int, int]:
    """Reads and writes of the products service to keep goods for longer."""
    text = requests.get(f"{shop.products}/metrics", timeout=30).text
    lines = [
        each
        for each in text.splitlines()
        if each.startswith("aisle_database_calls_total") and "extension" in each
    ]
    found = {
        kind: sum(int(float(each.split()[-1])) for each in lines if f'kind="{kind}"' in each)
        for kind in ("partition", "read", "write")
    }
    return found["partition"] + found["read"], found["write"]


def test_goods_that_came_for_others_can_be_sent_back_too_and_are_paid_back_to_who_paid_first(
    shop: Shop, customer: Person, deps: Dependencies, ledger: Database
) -> None:
    product = same_price(shop)
    small, large = f"{product}-M", f"{product}-L"
    order = bought(shop, customer, small)
    asked(shop, customer, order, small, large)
    approved(shop, order)
    linked = seen(shop, {"orderid": received(shop, order, small)["exchange"]["orderid"]})
    delivered(shop, linked)
    again = asked(shop, customer, linked, large, small)
    assert again.status_code == 201
    approved(shop, linked)
    third = seen(shop, {"orderid": received(shop, linked, large)["exchange"]["orderid"]})
    assert third["credits"][0]["id"] == order["orderid"]
    delivered(shop, third)
    shop.sent_back(customer, third["orderid"], {small: 1})
    assert kept_of(ledger, order) == order["total"]["amount"] - 1000
    for each in (order, linked, third):
        fulfilment.advance_order(deps, each["orderid"])
    assert (shop.stock(small), shop.stock(large)) == (10, 10)


def test_what_is_dearer_is_paid_on_a_page_and_what_nobody_pays_is_paid_back(
    shop: Shop, customer: Person, product: str, stripe: StripeStandIn, deps: Dependencies, ledger: Database
) -> None:
    small, large = f"{product}-M", f"{product}-L"
    by_stripe = {"provider": "stripe", "token": "pm_card_visa"}
    order = bought(shop, customer, small, 2, payment=by_stripe)
    asked(shop, customer, order, small, large, 2)
    assert approved(shop, order)["exchange"]["difference"]["amount"] == 600
    offered = received(shop, order, small, 2)["exchange"]
    assert offered["status"] == "offered"
    assert not seen(shop, order)["refunds"][0]["settled"]
    linked = seen(shop, {"orderid": offered["orderid"]})
    assert (linked["status"], linked["to_pay"]["amount"]) == ("placed", 600)
    (session,) = stripe.checkout.of(linked["orderid"])
    assert session["amount_total"] == 600
    fulfilment.advance_order(deps, order["orderid"])
    assert not seen(shop, order)["refunds"][0]["settled"]
    stripe.checkout.pay(session["id"])
    paid = shop.post(customer, f"/v1/orders/{linked['orderid']}/payment").json()
    assert (paid["status"], paid["payment"]["total"]["amount"]) == ("paid", 2600)
    fulfilment.advance_order(deps, linked["orderid"])
    found = seen(shop, order)
    assert (found["returns"][0]["exchange"]["status"], found["refunds"][0]["settled"]) == ("paid", True)
    assert not stripe.refunds

    other = bought(shop, customer, small, payment=by_stripe)
    asked(shop, customer, other, small, large)
    approved(shop, other)
    refused = received(shop, other, small)["exchange"]["orderid"]
    assert shop.stock(large) == 7
    shop.post(customer, f"/v1/orders/{refused}/payment/cancellation")
    fulfilment.advance_order(deps, refused)
    found = seen(shop, other)
    assert (found["returns"][0]["exchange"]["status"], found["refunds"][0]["settled"]) == ("unpaid", True)
    assert [refund["amount"] for refund in stripe.refunds] == [1000]
    assert shop.stock(large) == 8


def test_what_is_cheaper_is_paid_back_for_the_rest(
    shop: Shop, customer: Person, product: str, deps: Dependencies, ledger: Database
) -> None:
    order = bought(shop, customer, f"{product}-L")
    asked(shop, customer, order, f"{product}-L", f"{product}-M")
    assert approved(shop, order)["exchange"]["difference"]["amount"] == -300
    done = received(shop, order, f"{product}-L", condition="damaged")
    assert (done["refund"]["amount"], done["exchange"]["paid_with"]["amount"]) == (1300, 1000)
    fulfilment.advance_order(deps, order["orderid"])
    assert kept_of(ledger, order) == order["total"]["amount"] - 300
    assert (shop.stock(f"{product}-L"), shop.stock(f"{product}-M")) == (9, 9)


def test_what_does_not_come_back_is_not_sent_and_can_be_sold_again(
    shop: Shop, customer: Person, deps: Dependencies, ledger: Database
) -> None:
    product = same_price(shop)
    small, large = f"{product}-M", f"{product}-L"
    order = bought(shop, customer, small, 3)
    asked(shop, customer, order, small, large, 3)
    approved(shop, order)
    assert shop.stock(large) == 7
    linked = seen(shop, {"orderid": received(shop, order, small, 1)["exchange"]["orderid"]})
    assert [line["quantity"] for line in linked["items"]] == [1]
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    assert shop.stock(large) == 9
    cancelled = shop.post(shop.admin, f"/v1/orders/{linked['orderid']}/cancellation", {})
    assert cancelled.status_code == 201, cancelled.text
    fulfilment.advance_order(deps, linked["orderid"])
    assert shop.stock(large) == 10
    assert kept_of(ledger, order) == order["total"]["amount"] - 1000


def test_a_refused_return_gives_the_goods_back(
    shop: Shop, customer: Person, deps: Dependencies, ledger: Database
) -> None:
    product = same_price(shop)
    order = bought(shop, customer, f"{product}-M")
    asked(shop, customer, order, f"{product}-M", f"{product}-L")
    approved(shop, order)
    assert shop.stock(f"{product}-L") == 9
    assert staff(shop, order, 1, "refusal", {"reason": "It never came."}).status_code == 201
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    assert shop.stock(f"{product}-L") == 10


def test_what_is_sold_out_cannot_be_approved_but_paid_back(shop: Shop, customer: Person) -> None:
    product = same_price(shop, stock=1)
    order = bought(shop, customer, f"{product}-M")
    asked(shop, customer, order, f"{product}-M", f"{product}-L")
    shop.placed(customer, {f"{product}-L": 1})
    sold_out = staff(shop, order, 1, "approval")
    assert (sold_out.status_code, sold_out.json()["code"]) == (409, "out_of_stock")
    assert seen(shop, order)["returns"][0]["status"] == "requested"
    assert approved(shop, order, {"exchange": []})["exchange"] is None
    assert received(shop, order, f"{product}-M")["refund"]["amount"] == 1000


def test_customers_choose_another_variant_and_staff_any_product(
    shop: Shop, customer: Person, product: str
) -> None:
    kettle = shop.product(price=1000, delivery=0)
    order = bought(shop, customer, f"{product}-M")
    refused = asked(shop, customer, order, f"{product}-M", kettle)
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["items.0.exchange_for"])
    for wrong in (product, "no-such-sku"):
        assert asked(shop, customer, order, f"{product}-M", wrong).status_code == 422
    assert asked(shop, customer, order, f"{product}-M", f"{product}-L").status_code == 201
    other = [{"sku": f"{product}-M", "quantity": 1, "exchange_for": kettle}]
    assert approved(shop, order, {"exchange": other})["exchange"]["items"][0]["exchange_for"] == kettle
    linked = seen(shop, {"orderid": received(shop, order, f"{product}-M")["exchange"]["orderid"]})
    assert [line["productid"] for line in linked["items"]] == [kettle]


def test_what_a_gift_card_has_paid_goes_back_to_it_at_last(
    shop: Shop, customer: Person, deps: Dependencies, ledger: Database
) -> None:
    product = same_price(shop)
    small, large = f"{product}-M", f"{product}-L"
    card = issued(shop, 600)
    order = bought(shop, customer, small, gift_cards=[card["code"]])
    asked(shop, customer, order, small, large)
    approved(shop, order)
    linked = seen(shop, {"orderid": received(shop, order, small)["exchange"]["orderid"]})
    assert [(credit["kind"], credit["amount"]["amount"]) for credit in linked["credits"]] == [
        ("gift_card", 600),
        ("exchange", 400),
    ]
    assert left_on(shop, card) == 0
    delivered(shop, linked)
    shop.sent_back(customer, linked["orderid"], {large: 1})
    assert left_on(shop, card) == 600
    assert kept_of(ledger, order) == order["total"]["amount"] - 400


def test_a_shop_may_send_before_the_goods_are_here(shop: Shop, customer: Person) -> None:
    product = same_price(shop)
    path = f"{shop.orders}/v1/admin/settings"
    before = shop.admin.get(path, timeout=30)
    headers = {"If-Match": before.headers["ETag"]} if before.ok else {}
    order = bought(shop, customer, f"{product}-M")
    days = {True: 7, False: 30}

    def change(headers: dict[str, str], *, first: bool) -> None:
        body = {"country": "GB", "exchange_before_receipt": first, "approve_returns": first}
        body["return_days"] = days[first]
        assert shop.admin.put(path, json=body, headers=headers, timeout=30).status_code == 200
        eventually(
            lambda: (
                (parse(seen(shop, order)["returnable_until"]) - parse(order["delivery"]["date"])).days
                == days[first]
            )
        )

    change(headers, first=True)
    try:
        back = asked(shop, customer, order, f"{product}-M", f"{product}-L").json()
        assert (back["status"], back["exchange"]["status"]) == ("approved", "paid")
        assert shop.stock(f"{product}-L") == 9
    finally:
        change({"If-Match": shop.admin.get(path, timeout=30).headers["ETag"]}, first=False)


def same_price(shop: Shop, stock: int = 10) -> str:
    """A shirt whose sizes both cost 10.00."""
    productid = shirt(shop, stock)
    path = f"{shop.products}/v1/products/{productid}"
    found = shop.admin.get(path, timeout=30).json()
    for variant in found["variants"]:
        variant.pop("prices", None)
    answer = shop.admin.put(path, json=found, timeout=30)
    assert answer.status_code == 200, answer.text
    return productid


def kept_of(ledger: Database, order: Order) -> int:
    """What the sandbox has of an order, with what gift cards paid: charged less paid back."""
    docs = list(ledger.partition(f"order{order['orderid']}").all())
    paid = sum(doc["total"]["amount"] for doc in docs if doc["type"] == "charge")
    back = sum(doc["total"]["amount"] for doc in docs if doc["type"] == "ledgerrefund")
    return int(paid - back) + sum(credit["amount"]["amount"] for credit in order["credits"])


def reference_of(deps: Dependencies, order: Order) -> str:
    return deps.orders.order(order["orderid"]).order_returns[0].reference
