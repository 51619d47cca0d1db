"""The requests of the cost page that need orders of their own: labels and exchanges."""

import secrets
from collections.abc import Callable
from typing import Any

import requests

from tests.journeys.counting import GOODS
from tests.journeys.shop import Shop
from tests.services.orders.easypost_standin import EasyPostStandIn

Headers = dict[str, str]
ADDRESS = {"name": "Ada", "line1": "1 Mill Lane", "city": "York", "postcode": "YO1 7PR", "country": "GB"}
BOUGHT, HANDED_OVER = "desk: a label bought", "desk: a parcel handed over with its label"
EXCHANGE_APPROVED = "desk: a return approved, for which other goods are kept"
EXCHANGE_RECEIVED = "desk: its goods received, and the others ordered"
WITH_WORKER = frozenset((BOUGHT, HANDED_OVER, EXCHANGE_APPROVED, EXCHANGE_RECEIVED))
TRIES = 3
"""The worker hears of the first document of a request, and may write the order's summary before it: one read more, every time where it is quick."""


def label_settings(carriers: EasyPostStandIn) -> dict[str, str]:
    return {
        **carriers.label_settings,
        "SHOP_ADDRESS": "9 Mill Lane; Leeds LS1 4DY",
    }


def label_actions(
    shop: Shop, admin: Headers, customer: Headers
) -> dict[str, Callable[[], requests.Response]]:
    """By the names of the page's rows; each may be called once, to warm what is kept, and TRIES."""
    orders = shop.url("orders")
    more = {"delta": 1000, "reason": "delivery"}
    stocked = requests.post(
        f"{shop.url('products')}/v1/products/{GOODS[0]}/stock", json=more, headers=admin, timeout=30
    )
    assert stocked.ok, stocked.text

    def act(orderid: str, step: str, body: Any = None) -> requests.Response:
        headers = {**admin, "Idempotency-Key": secrets.token_hex(8)}
        url = f"{orders}/v1/admin/orders/{orderid}/{step}"
        return requests.post(url, json=body, headers=headers, timeout=30)

    def placed() -> str:
        body = {
            "items": [{"productid": GOODS[0], "quantity": 1}],
            "address": ADDRESS,
            "payment": {"provider": "sandbox", "token": "tok_ok"},
        }
        headers = {**customer, "Idempotency-Key": secrets.token_hex(8)}
        answer = requests.post(f"{orders}/v1/orders", json=body, headers=headers, timeout=30)
        assert answer.ok, answer.text
        return str(answer.json()["orderid"])

    def labelled() -> str:
        orderid = placed()
        answer = act(orderid, "labels", weight)
        assert answer.ok, answer.text
        return orderid

    def asked_back() -> str:
        orderid = placed()
        for step, body in (("dispatch", {"courier": "Van", "courierid": orderid}), ("delivery", {})):
            assert act(orderid, step, body).ok
        item = {"productid": GOODS[0], "quantity": 1, "exchange_for": GOODS[0]}
        headers = {**customer, "Idempotency-Key": secrets.token_hex(8)}
        answer = requests.post(
            f"{orders}/v1/orders/{orderid}/returns", json={"items": [item]}, headers=headers, timeout=30
        )
        assert answer.ok, answer.text
        return orderid

    def approved() -> str:
        orderid = asked_back()
        answer = act(orderid, "returns/1/approval")
        assert answer.ok, answer.text
        return orderid

    weight = {"weight_grams": 400}
    came = {"items": [{"productid": GOODS[0], "quantity": 1, "condition": "resaleable"}]}
    asked = [asked_back() for _ in range(1 + TRIES)]
    waiting = [approved() for _ in range(1 + TRIES)]
    unlabelled = [placed() for _ in range(1 + TRIES)]
    ready = [labelled() for _ in range(1 + TRIES)]
    return {
        BOUGHT: lambda: act(unlabelled.pop(), "labels", weight),
        HANDED_OVER: lambda: act(ready.pop(), "labels/1/dispatch"),
        EXCHANGE_APPROVED: lambda: act(asked.pop(), "returns/1/approval"),
        EXCHANGE_RECEIVED: lambda: act(waiting.pop(), "returns/1/receipt", came),
    }
