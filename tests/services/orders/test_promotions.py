"""Promotions set at the desk: what a quote, an order, its refund and its return then come to, in every replica."""

import secrets
from typing import Any

import pytest
import requests

from services.orders.actions.emails import compose
from services.orders.dependencies import open_dependencies
from services.orders.settings import Settings
from shared.couch import Database
from shared.settings import load
from tests.people import Person
from tests.services.orders.conftest import Shop, calls, clone
from tests.waiting import eventually

TEN_PERCENT = [{"kind": "percent", "basis_points": 1000}]


def promotion(shop: Shop, **content: Any) -> dict[str, Any]:
    """A new one, ten percent off unless `actions` say otherwise."""
    return shop.made("/v1/admin/promotions", {"name": "An offer", "actions": TEN_PERCENT, **content})


def code() -> str:
    return f"C{secrets.token_hex(4)}".upper()


def quoted(
    url: str, items: dict[str, int], *codes: str, by: requests.Session | None = None
) -> requests.Response:
    body = {
        "items": [{"productid": productid, "quantity": quantity} for productid, quantity in items.items()],
        "codes": list(codes),
    }
    return (by or requests).post(f"{url}/v1/orders/quote", json=body, timeout=30)


def test_a_code_lowers_what_is_quoted_ordered_and_paid(
    shop: Shop, customer: Person, replica: str, database: Database
) -> None:
    kettle, pot, ten = shop.product(price=1250), shop.product(price=333), code()
    made = promotion(shop, codes=[ten.lower()])
    assert (made["codes"], made["version"], made["edited_by"]) == ([ten], 1, f"user {shop.admin.userid}")
    items = {kettle: 2, pot: 1}
    for url in (shop.orders, replica):
        eventually(lambda url=url: quoted(url, items, ten).ok)
        quote = quoted(url, items, ten).json()
    (discount,) = quote["discounts"]
    assert (discount["code"], discount["name"], discount["amount"]["amount"]) == (ten, "An offer", 283)
    assert [line["discount"]["amount"] for line in quote["items"]] == [250, 33]
    assert quote["total"]["amount"] == 2 * 1250 + 333 - 283 + quote["deliveryCharge"]["amount"]
    assert "discount" not in quoted(shop.orders, items).json()["items"][0]
    order = shop.placed(customer, items, codes=[ten], expected_total=quote["total"])
    assert order["discounts"] == quote["discounts"]
    assert order["items"] == quote["items"]
    assert order["payment"]["total"] == order["total"] == quote["total"]
    assert sum(line["amount"] for line in database.get(f"order{order['orderid']}:payment")["lines"]) == 2550


def test_what_applies_by_itself_needs_no_code_and_no_call(shop: Shop, customer: Person) -> None:
    kettle = shop.product(price=1000)
    products = [{"kind": "products", "products": [kettle]}]
    made = promotion(shop, name="Kettle week", conditions=products)
    listed = requests.get(f"{shop.orders}/v1/promotions", timeout=30)
    assert {"id": made["id"], "name": "Kettle week"} in listed.json()["items"]
    assert sum(calls(listed).values()) == 0
    quote = quoted(shop.orders, {kettle: 1})
    assert calls(quote) == {"partition": 0, "global": 0, "read": 0, "write": 0}
    assert [(each["name"], each.get("code")) for each in quote.json()["discounts"]] == [("Kettle week", None)]
    assert shop.placed(customer, {kettle: 1})["discounts"] == quote.json()["discounts"]


def test_a_code_is_refused_with_its_reason_and_nothing_is_ordered(shop: Shop, customer: Person) -> None:
    kettle, ten = shop.product(price=1000), code()
    promotion(
        shop, codes=[ten], conditions=[{"kind": "minimum", "amount": {"amount": 1001, "currency": "GBP"}}]
    )
    for answer in (quoted(shop.orders, {kettle: 1}, ten), shop.order(customer, {kettle: 1}, codes=[ten])):
        assert (answer.status_code, answer.json()["code"]) == (422, "code_not_valid")
        assert answer.json()["reason"] == "minimum_not_reached"
        assert answer.json()["errors"] == {"codes.0": [f"{ten}: It needs goods worth £10.01 or more."]}
    assert quoted(shop.orders, {kettle: 2}, ten).status_code == 200
    assert quoted(shop.orders, {kettle: 2}, "nonsense").json()["reason"] == "unknown"


def test_a_new_version_and_the_end_of_a_promotion_hold_at_once(
    shop: Shop, customer: Person, replica: str, database: Database
) -> None:
    kettle, ten = shop.product(price=1000), code()
    made = promotion(shop, codes=[ten])
    path = f"/v1/admin/promotions/{made['id']}"
    order = shop.placed(customer, {kettle: 1}, codes=[ten])
    content = {name: made[name] for name in ("name", "codes", "actions")}
    half = content | {"actions": [{"kind": "percent", "basis_points": 5000}]}
    etag = shop.get(shop.admin, path).headers["ETag"]
    changed = shop.admin.put(f"{shop.orders}{path}", json=half, headers={"If-Match": etag}, timeout=30)
    assert (changed.status_code, changed.json()["version"]) == (200, 2), changed.text
    stale = shop.admin.put(f"{shop.orders}{path}", json=content, headers={"If-Match": etag}, timeout=30)
    assert stale.status_code == 412
    eventually(lambda: quoted(replica, {kettle: 1}, ten).json().get("total", {}).get("amount") == 750)
    assert database.get(f"promotion{made['id']}:v000001")["actions"] == TEN_PERCENT
    ended = half | {"active": False}
    assert shop.admin.put(f"{shop.orders}{path}", json=ended, timeout=30).status_code == 200
    eventually(lambda: quoted(replica, {kettle: 1}, ten).json().get("reason") == "expired")
    history = shop.get(shop.admin, f"{path}/history").json()["items"]
    assert [(each["version"], each["active"]) for each in history] == [(3, False), (2, True), (1, True)]
    assert shop.get(customer, f"/v1/orders/{order['orderid']}").json()["discounts"] == order["discounts"]


def test_two_promotions_never_have_one_code_until_the_first_has_ended(shop: Shop) -> None:
    ten = code()
    first = promotion(shop, codes=[ten])
    body = {"name": "Another", "codes": [ten], "actions": TEN_PERCENT}
    refused = shop.post(shop.admin, "/v1/admin/promotions", body)
    assert (refused.status_code, refused.json()["code"]) == (409, "code_taken")
    ended = {"name": "An offer", "codes": [ten], "actions": TEN_PERCENT, "active": False}
    path = f"{shop.orders}/v1/admin/promotions/{first['id']}"
    assert shop.admin.put(path, json=ended, timeout=30).status_code == 200
    second = promotion(shop, codes=[ten])
    assert (
        quoted(shop.orders, {shop.product(price=1000): 1}, ten).json()["discounts"][0]["promotion"]
        == second["id"]
    )
    assert shop.admin.put(path, json=ended | {"active": True}, timeout=30).json()["code"] == "code_taken"


@pytest.mark.parametrize(
    ("field", "content"),
    [
        ("actions", {"actions": [{"kind": "percent"}]}),
        ("actions", {"actions": [{"kind": "buy_x_get_y", "buy": 2}]}),
        ("actions", {"actions": []}),
        ("conditions", {"conditions": [{"kind": "minimum"}]}),
        ("codes", {"codes": ["no spaces"]}),
        ("to", {"from": "2026-12-02", "to": "2026-12-01"}),
        ("from", {"from": "tomorrow"}),
    ],
)
def test_a_promotion_that_says_nothing_is_refused_by_field(
    shop: Shop, field: str, content: dict[str, Any]
) -> None:
    body = {"name": "An offer", "actions": TEN_PERCENT, **content}
    answer = shop.post(shop.admin, "/v1/admin/promotions", body)
    assert answer.status_code == 422, answer.text
    assert field in answer.json()["errors"]


def test_a_code_for_first_orders_is_for_accounts_that_have_none(shop: Shop) -> None:
    kettle, first, newcomer = shop.product(price=1000), code(), shop.customer()
    promotion(shop, codes=[first], conditions=[{"kind": "first_order"}])
    assert quoted(shop.orders, {kettle: 1}, first).json()["reason"] == "first_order_only"
    assert quoted(shop.orders, {kettle: 1}, first, by=newcomer).status_code == 200
    shop.placed(newcomer, {kettle: 1}, codes=[first])
    eventually(
        lambda: (
            quoted(shop.orders, {kettle: 1}, first, by=clone(newcomer)).json().get("reason")
            == "not_first_order"
        )
    )


def test_a_return_gives_back_what_was_paid_and_a_refund_what_is_left(shop: Shop, customer: Person) -> None:
    kettle, pot, ten = shop.product(price=999, delivery=0), shop.product(price=500, delivery=0), code()
    promotion(shop, codes=[ten], actions=[{"kind": "amount", "amount": {"amount": 700, "currency": "GBP"}}])
    order = shop.placed(customer, {kettle: 2, pot: 1}, codes=[ten])
    path = f"/v1/admin/orders/{order['orderid']}"
    courier = {"courier": "Pedal & Post", "courierid": "1"}
    for step in ("dispatch", "delivery"):
        assert shop.post(shop.admin, f"{path}/{step}", courier).ok
    payable = {line["productid"]: line["payable"]["amount"] for line in order["items"]}
    assert sum(payable.values()) == order["total"]["amount"] == 2498 - 700
    for _ in range(2):
        shop.sent_back(customer, order["orderid"], {kettle: 1})
    found = shop.get(customer, f"/v1/orders/{order['orderid']}").json()
    assert sum(refund["total"]["amount"] for refund in found["refunds"]) == payable[kettle]
    too_much = shop.post(shop.admin, f"{path}/refunds", {"amount": payable[pot] + 1, "reason": ""})
    assert too_much.json()["code"] == "refund_too_large"
    assert shop.post(shop.admin, f"{path}/refunds", {"amount": payable[pot], "reason": ""}).ok
    assert shop.get(customer, f"/v1/orders/{order['orderid']}").json()["refunded"] == "whole"


def test_an_order_that_costs_nothing_any_more_asks_no_provider(
    shop: Shop, customer: Person, ledger: Database
) -> None:
    kettle, free = shop.product(price=1000), code()
    made = promotion(
        shop,
        codes=[free],
        limit=5,
        actions=[{"kind": "percent", "basis_points": 10_000}, {"kind": "free_delivery"}],
    )
    order = shop.placed(customer, {kettle: 2}, codes=[free], token="tok_declined")
    assert (order["status"], order["total"]["amount"], order["payment"]["provider"]) == ("paid", 0, "none")
    assert not ledger.partition(f"order{order['orderid']}").all()
    uses = f"/v1/admin/promotions/{made['id']}/uses"
    assert shop.get(shop.admin, uses).json() == {"used": 1, "limit": 5}
    assert shop.post(customer, f"/v1/orders/{order['orderid']}/cancellation", {"reason": ""}).ok
    assert shop.get(shop.admin, uses).json()["used"] == 0
    assert shop.stock(kettle) == 100


def test_the_e_mail_says_what_came_off(shop: Shop, customer: Person, environment: dict[str, str]) -> None:
    kettle, ten = shop.product(price=1000), code()
    promotion(shop, name="Spring sale", codes=[ten], actions=[*TEN_PERCENT, {"kind": "free_delivery"}])
    order = shop.placed(customer, {kettle: 1}, codes=[ten])
    deps = open_dependencies(load(Settings, environment))
    text = compose(deps, deps.orders.order(order["orderid"]), "payment").plain
    assert f"Spring sale ({ten})  −£1.00" in text
    assert "Delivery  £0.00" in text
