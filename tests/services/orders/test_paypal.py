"""PayPal behind the same interface: its adapter is one class and one row, and whatever holds of orders on a payment page holds here."""

import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest
import requests

from services.orders.actions import fulfilment
from services.orders.clients import paypal as adapter
from services.orders.clients.payments import PaymentDeclined
from services.orders.clients.paypal import PayPalProvider
from services.orders.dependencies import Dependencies
from shared.clock import now
from shared.couch import Database
from shared.money import money
from tests.forwarding import Forward, Response, as_one_of_three, forwarding
from tests.patience import patient
from tests.people import Person
from tests.services.orders.conftest import Shop, clone
from tests.services.orders.paypal_standin import CLIENT_ID, SECRET, WEBHOOK_ID, PayPalStandIn, unit
from tests.waiting import Holds

BY_PAYPAL = {"payment": {"provider": "paypal"}}


@pytest.fixture(scope="module")
def paypal() -> Iterator[PayPalStandIn]:
    standin = PayPalStandIn()
    yield standin
    standin.close()


@pytest.fixture(scope="module", params=["order", "dispatch"])
def captured_at(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def orders_settings(paypal: PayPalStandIn, captured_at: str) -> dict[str, str]:
    return {
        "PAYMENT_PROVIDERS": "paypal",
        "PAYPAL_URL": paypal.url,
        "PAYPAL_CLIENT_ID": CLIENT_ID,
        "PAYPAL_SECRET": SECRET,
        "PAYPAL_WEBHOOK_ID": WEBHOOK_ID,
        "CAPTURE_AT": captured_at,
        "COURIER": "manual",
    }


def refresh(shop: Shop, person: Person, orderid: str) -> dict[str, Any]:
    answer = shop.post(person, f"/v1/orders/{orderid}/payment")
    assert answer.status_code == 200, answer.text
    return answer.json()


def gone_back(shop: Shop, person: Person, orderid: str) -> dict[str, Any]:
    answer = patient(lambda: shop.post(person, f"/v1/orders/{orderid}/payment/cancellation"))
    assert answer.status_code == 200, answer.text
    return answer.json()


def opened(
    shop: Shop, person: Person, paypal: PayPalStandIn, stock: int = 3
) -> tuple[str, str, dict[str, Any]]:
    """An order that waits on PayPal's page: its id, its product's, PayPal's order."""
    product = shop.product(price=1001, delivery=99, stock=stock)
    order = shop.placed(person, {product: 1}, **BY_PAYPAL)
    (known,) = paypal.of(order["orderid"])
    assert order["payment_page"]["url"].endswith(f"token={known['id']}")
    assert unit(known)["amount"]["value"] == "11.00"
    return order["orderid"], product, known


def test_approved_returned_dispatched_and_refunded(
    shop: Shop, customer: Person, paypal: PayPalStandIn, captured_at: str
) -> None:
    orderid, _, known = opened(shop, customer, paypal)
    assert refresh(shop, customer, orderid)["status"] == "placed"
    paypal.approve(known)
    for _ in range(2):
        paid = refresh(shop, customer, orderid)
        assert (paid["status"], paid["payment"]["captured"]) == ("paid", captured_at == "order")
    sent = shop.post(shop.admin, f"/v1/admin/orders/{orderid}/dispatch", {"courier": "Owl", "courierid": "1"})
    assert sent.status_code == 201, sent.text
    key = {"Idempotency-Key": secrets.token_hex(8)}
    for _ in range(2):
        path, body = f"/v1/admin/orders/{orderid}/refunds", {"amount": 250, "reason": "late"}
        assert shop.post(shop.admin, path, body, headers=key).json()["refunds"][0]["settled"] is True
    payments = unit(known)["payments"]
    assert [each["amount"]["value"] for each in payments["captures"]] == ["11.00"]
    assert [each["amount"]["value"] for each in payments["refunds"]] == ["2.50"]


def test_who_comes_back_from_the_page_has_paid_where_a_node_does_not_list_it_yet(
    shop: Shop, customer: Person, paypal: PayPalStandIn, couch_url: str, service: Callable[..., str]
) -> None:
    """The page was opened at another node a moment ago: the order stayed unpaid until the webhook came."""
    orderid, _, known = opened(shop, customer, paypal)
    paypal.approve(known)

    def without_page(method: str, path: str, body: bytes, forward: Forward) -> Response:
        status, headers, content = forward()
        if f"/_partition/order{orderid}/_all_docs" in path:
            found = orjson.loads(content)
            rows = [row for row in found["rows"] if not row["id"].endswith(":session")]
            content = orjson.dumps(found | {"rows": rows})
        return status, headers, as_one_of_three(method, path, content)

    with forwarding(couch_url, without_page) as url:
        paid = refresh(replace(shop, orders=service("orders", COUCH_URL=url)), customer, orderid)
    assert paid["status"] == "paid"


def test_each_parcel_captures_its_share_and_a_refund_is_of_several(
    shop: Shop, customer: Person, paypal: PayPalStandIn, captured_at: str
) -> None:
    """PayPal refunds each capture by itself: a refund that is more than one of them is made of both, once."""
    at_once = captured_at == "order"
    product = shop.product(price=1000, delivery=0)
    orderid = shop.placed(customer, {product: 2}, **BY_PAYPAL)["orderid"]
    (known,) = paypal.of(orderid)
    paypal.approve(known)
    shop.post(customer, f"/v1/orders/{orderid}/payment")
    for number, taken in ((1, ["10.00"]), (2, ["10.00", "10.00"])):
        body = {"courier": "Owl", "courierid": str(number), "items": [{"productid": product, "quantity": 1}]}
        for _ in range(2):
            sent = shop.post(shop.admin, f"/v1/admin/orders/{orderid}/dispatch", body)
            assert sent.status_code == 201, sent.text
        assert [each["amount"]["value"] for each in unit(known)["payments"]["captures"]] == (
            ["20.00"] if at_once else taken
        )
    key = {"Idempotency-Key": "both"}
    for _ in range(2):
        answer = shop.post(
            shop.admin, f"/v1/admin/orders/{orderid}/refunds", {"amount": 1500, "reason": "late"}, headers=key
        )
        assert answer.status_code == 201, answer.text
    assert answer.json()["refunds"][0]["settled"] is True
    assert [each["amount"]["value"] for each in unit(known)["payments"]["refunds"]] == (
        ["15.00"] if at_once else ["10.00", "5.00"]
    )


def test_the_webhook_alone(shop: Shop, customer: Person, paypal: PayPalStandIn) -> None:
    orderid, _, known = opened(shop, customer, paypal)
    paypal.approve(known)
    headers, body = paypal.event(
        "CHECKOUT.ORDER.APPROVED", {"id": known["id"], "purchase_units": known["purchase_units"]}
    )
    url = f"{shop.orders}/v1/webhooks/payments/paypal"
    forged = requests.post(url, data=body.replace(b"APPROVED", b"VOIDED"), headers=headers, timeout=30)
    assert forged.status_code == 401
    for _ in range(2):
        told = requests.post(url, data=body, headers=headers, timeout=30)
        assert told.status_code == 200, told.text
    assert shop.get(customer, f"/v1/orders/{orderid}").json()["status"] == "paid"


def test_an_answer_that_was_lost_captures_once(
    shop: Shop, customer: Person, paypal: PayPalStandIn, captured_at: str
) -> None:
    paypal.lose.append("/v2/checkout/orders")
    orderid, _, known = opened(shop, customer, paypal)
    paypal.approve(known)
    verb = "capture" if captured_at == "order" else "authorize"
    paypal.lose.append(f"/v2/checkout/orders/{known['id']}/{verb}")
    first = shop.post(customer, f"/v1/orders/{orderid}/payment")
    assert first.status_code in (200, 503)
    assert refresh(shop, customer, orderid)["status"] == "paid"


def tell(shop: Shop, paypal: PayPalStandIn, known: dict[str, Any], what: str) -> int:
    """PayPal's webhook says that the customer has `approved`, or that the money was `taken`; the answer's status."""
    if what == "approved":
        resource = {"id": known["id"], "purchase_units": known["purchase_units"]}
        headers, body = paypal.event("CHECKOUT.ORDER.APPROVED", resource)
    else:
        (made,) = taken(known)
        related = {"supplementary_data": {"related_ids": {"order_id": known["id"]}}}
        headers, body = paypal.event("PAYMENT.CAPTURE.COMPLETED", {**made, **related})
    url = f"{shop.orders}/v1/webhooks/payments/paypal"
    return requests.post(url, data=body, headers=headers, timeout=30).status_code


def taken(known: dict[str, Any]) -> list[dict[str, Any]]:
    """What PayPal has captured, or reserved, for an order."""
    payments = unit(known)["payments"]
    return payments.get("authorizations") or payments.get("captures", [])


@pytest.mark.parametrize(
    "events",
    [("approved", "taken"), ("taken", "approved"), ("taken", "taken", "approved", "approved")],
    ids="-".join,
)
def test_events_come_late_doubled_and_in_any_order(
    shop: Shop,
    customer: Person,
    paypal: PayPalStandIn,
    database: Database,
    captured_at: str,
    events: tuple[str, ...],
) -> None:
    """The answer to the capture was lost, and so was the customer's return: the events alone tell of the money."""
    orderid, product, known = opened(shop, customer, paypal, stock=1)
    paypal.approve(known)
    verb = "capture" if captured_at == "order" else "authorize"
    paypal.lose.append(f"/v2/checkout/orders/{known['id']}/{verb}")
    tell(shop, paypal, known, "approved")
    assert len(taken(known)) == 1, "the money is there, whether the shop knows of it or not"
    assert [tell(shop, paypal, known, event) for event in events] == [200] * len(events)
    paid = shop.get(customer, f"/v1/orders/{orderid}").json()
    assert (paid["status"], paid["payment"]["total"]["amount"]) == ("paid", 1100)
    before = documents_of(database, orderid)
    assert shop.post(customer, f"/v1/orders/{orderid}/cancellation", {}).status_code == 201
    ended = documents_of(database, orderid)
    assert ended > before
    assert [tell(shop, paypal, known, event) for event in events] == [200] * len(events)
    assert documents_of(database, orderid) == ended, "after the end they change nothing"
    assert shop.stock(product) == 1
    assert len(unit(known)["payments"].get("refunds", [])) == (1 if captured_at == "order" else 0)


def documents_of(database: Database, orderid: str) -> set[tuple[str, str]]:
    """Ids and revisions of all that is written of an order."""
    return {(doc["_id"], doc["_rev"]) for doc in database.partition(f"order{orderid}").all()}


def test_return_and_events_at_once_take_the_money_once(
    shop: Shop, customer: Person, paypal: PayPalStandIn
) -> None:
    orderid, product, known = opened(shop, customer, paypal, stock=1)
    paypal.approve(known)

    def come_back(number: int) -> int:
        if number % 2:
            return tell(shop, paypal, known, "approved")
        return shop.post(clone(customer), f"/v1/orders/{orderid}/payment").status_code

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(come_back, range(6))) <= {200, 409, 503}
    assert refresh(shop, customer, orderid)["status"] == "paid"
    assert len(taken(known)) == 1
    assert shop.stock(product) == 0


def test_a_refund_whose_answer_was_lost_is_paid_back_once(
    shop: Shop, customer: Person, paypal: PayPalStandIn, captured_at: str
) -> None:
    orderid, _, known = opened(shop, customer, paypal)
    paypal.approve(known)
    refresh(shop, customer, orderid)
    sent = shop.post(shop.admin, f"/v1/admin/orders/{orderid}/dispatch", {"courier": "Owl", "courierid": "1"})
    assert sent.status_code == 201, sent.text
    (capture,) = unit(known)["payments"]["captures"]
    paypal.lose.append(f"/v2/payments/captures/{capture['id']}/refund")
    key = {"Idempotency-Key": secrets.token_hex(8)}
    path, body = f"/v1/admin/orders/{orderid}/refunds", {"amount": 300, "reason": "lost"}
    shop.post(shop.admin, path, body, headers=key)
    again = shop.post(shop.admin, path, body, headers=key)
    assert again.json()["refunds"][0]["settled"] is True, again.text
    assert [each["amount"]["value"] for each in unit(known)["payments"]["refunds"]] == ["3.00"]


def refunded(shop: Shop, person: Person, paypal: PayPalStandIn, amount: int) -> tuple[str, dict[str, Any]]:
    """An order that left and was paid back in part: its id, PayPal's order."""
    orderid, _, known = opened(shop, person, paypal)
    paypal.approve(known)
    refresh(shop, person, orderid)
    sent = shop.post(shop.admin, f"/v1/admin/orders/{orderid}/dispatch", {"courier": "Owl", "courierid": "1"})
    assert sent.status_code == 201, sent.text
    body = {"amount": amount, "reason": "late", "notify": False}
    assert shop.post(shop.admin, f"/v1/admin/orders/{orderid}/refunds", body).status_code == 201
    return orderid, known


def read_refund(shop: Shop, orderid: str) -> dict[str, Any]:
    (refund,) = shop.get(shop.admin, f"/v1/orders/{orderid}").json()["refunds"]
    return {name: refund.get(name) for name in ("settled", "by_hand", "failed_total")}


PAID_BACK = {"settled": True, "by_hand": None, "failed_total": None}
DUE_AGAIN = {"settled": False, "by_hand": True, "failed_total": {"amount": 250, "currency": "GBP"}}


def test_a_refund_that_fails_later_is_due_again_until_staff_have_paid_it_back(
    shop: Shop, customer: Person, paypal: PayPalStandIn, deps: Dependencies
) -> None:
    orderid, known = refunded(shop, customer, paypal, 250)
    (refund,) = unit(known)["payments"]["refunds"]
    url = f"{shop.orders}/v1/webhooks/payments/paypal"

    def tell(kind: str) -> None:
        headers, body = paypal.event(kind, refund)
        told = requests.post(url, data=body, headers=headers, timeout=30)
        assert told.status_code == 200, told.text

    tell("PAYMENT.CAPTURE.REFUNDED")
    tell("PAYMENT.REFUND.FAILED")
    assert read_refund(shop, orderid) == PAID_BACK, "PayPal itself does not say so"
    paypal.fail(known)
    for _ in range(2):
        tell("PAYMENT.REFUND.FAILED")
        fulfilment.advance_order(deps, orderid)
    assert read_refund(shop, orderid) == DUE_AGAIN
    assert len(unit(known)["payments"]["refunds"]) == 1, "staff decide what to do"
    trail = [
        each
        for month in {now().strftime("%Y-%m")}
        for each in deps.orders.database.partition(f"audit{month}").all()
        if each["action"] == "note failed refund" and each["subject"] == orderid
    ]
    assert [each["details"]["amount"]["amount"] for each in trail] == [250]
    path = f"/v1/admin/orders/{orderid}/refunds/1/settlement"
    for _ in range(2):
        recorded = shop.post(shop.admin, path, {"reference": "bank transfer 7"})
        assert recorded.status_code == 201, recorded.text
        assert read_refund(shop, orderid) == PAID_BACK
    tell("PAYMENT.REFUND.FAILED")
    assert read_refund(shop, orderid) == PAID_BACK


def test_a_refund_that_fails_at_once_is_due_too(
    shop: Shop, customer: Person, paypal: PayPalStandIn, deps: Dependencies, holds: Holds
) -> None:
    paypal.fails = True
    try:
        orderid, known = refunded(shop, customer, paypal, 250)
    finally:
        paypal.fails = False
    for _ in range(2):
        holds(lambda: read_refund(shop, orderid) == DUE_AGAIN)
        fulfilment.advance_order(deps, orderid)
    assert len(unit(known)["payments"]["refunds"]) == 1
    found = deps.orders.order(orderid)
    assert found.progress.refunds == found.progress.settlements, "nothing is left for the worker"


def test_going_back_frees_the_goods_and_a_late_approval_costs_nothing(
    shop: Shop, customer: Person, paypal: PayPalStandIn
) -> None:
    orderid, product, known = opened(shop, customer, paypal, stock=1)
    back = gone_back(shop, customer, orderid)
    assert back["status"] == "cancelled"
    assert shop.stock(product) == 1
    paypal.approve(known)
    refresh(shop, customer, orderid)
    assert unit(known)["payments"] == {}


def test_declined(shop: Shop, customer: Person, paypal: PayPalStandIn) -> None:
    orderid, product, known = opened(shop, customer, paypal, stock=1)
    paypal.approve(known)
    paypal.declines = True
    try:
        assert refresh(shop, customer, orderid)["status"] == "placed"
        back = gone_back(shop, customer, orderid)
    finally:
        paypal.declines = False
    assert back["status"] == "cancelled"
    assert shop.stock(product) == 1


def test_who_is_declined_and_approves_another_card_pays(
    shop: Shop, customer: Person, paypal: PayPalStandIn
) -> None:
    orderid, product, known = opened(shop, customer, paypal, stock=1)
    paypal.approve(known)
    paypal.declines = True
    try:
        waiting = refresh(shop, customer, orderid)
    finally:
        paypal.declines = False
    assert (waiting["status"], waiting["payment_page"]["problem"]) == (
        "placed",
        "PayPal declined the payment.",
    )
    paypal.approve(known)
    for _ in range(2):
        assert refresh(shop, customer, orderid)["status"] == "paid"
    assert len(taken(known)) == 1
    assert shop.stock(product) == 0


def test_without_a_return_and_without_a_webhook_the_sweep_takes_what_was_approved(
    shop: Shop,
    customer: Person,
    paypal: PayPalStandIn,
    deps: Dependencies,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And what was not approved in time ends, with the goods back."""
    (paid, _, known), (left, product, other) = (opened(shop, customer, paypal, stock=1) for _ in range(2))
    paypal.approve(known)
    later = now() + timedelta(hours=2)
    for place in (fulfilment, adapter):
        monkeypatch.setattr(place, "now", lambda: later)
    for orderid in (paid, left, paid, left):
        fulfilment.advance_order(deps, orderid)
    statuses = [
        shop.get(customer, f"/v1/orders/{orderid}").json()["payment"] is not None for orderid in (paid, left)
    ]
    assert statuses == [True, False]
    assert (len(taken(known)), unit(other)["payments"]) == (1, {})
    assert shop.get(customer, f"/v1/orders/{left}").json()["status"] == "cancelled"
    assert shop.stock(product) == 1


def test_while_paypal_lets_the_shop_ask_nothing_no_order_ends_and_nobody_is_declined(
    shop: Shop, customer: Person, paypal: PayPalStandIn, captured_at: str
) -> None:
    """Such as with a secret that was replaced: what was taken by then is found again."""
    orderid, product, known = opened(shop, customer, paypal, stock=1)
    paypal.approve(known)
    paypal.lose.append(
        f"/v2/checkout/orders/{known['id']}/{'capture' if captured_at == 'order' else 'authorize'}"
    )
    tell(shop, paypal, known, "approved")
    paypal.forbids = True
    try:
        told = shop.post(customer, f"/v1/orders/{orderid}/payment")
        refused = shop.order(customer, {shop.product(): 1}, **BY_PAYPAL)
    finally:
        paypal.forbids = False
    assert (told.status_code, refused.status_code) == (503, 503), (told.text, refused.text)
    assert refused.json()["code"] == "payment_provider_unavailable"
    assert refresh(shop, customer, orderid)["status"] == "paid"
    assert shop.stock(product) == 0


@pytest.mark.parametrize("arrived", [True, False])
def test_a_capture_that_pends(
    shop: Shop, customer: Person, paypal: PayPalStandIn, deps: Dependencies, captured_at: str, arrived: bool
) -> None:
    orderid, product, known = opened(shop, customer, paypal, stock=1)
    paypal.approve(known)
    paypal.pends = True
    try:
        waiting = refresh(shop, customer, orderid)
    finally:
        paypal.pends = False
    assert waiting["payment_processing"] is (captured_at == "order")
    if captured_at == "order":
        paypal.settle(known, arrived=arrived)
    else:
        arrived = True
    fulfilment.advance_order(deps, orderid)
    after = shop.get(customer, f"/v1/orders/{orderid}").json()
    assert after["status"] == ("paid" if arrived else "cancelled")
    assert shop.stock(product) == (0 if arrived else 1)


def test_cancelled_before_dispatch(
    shop: Shop, customer: Person, paypal: PayPalStandIn, captured_at: str
) -> None:
    orderid, product, known = opened(shop, customer, paypal, stock=1)
    paypal.approve(known)
    refresh(shop, customer, orderid)
    answer = shop.post(customer, f"/v1/orders/{orderid}/cancellation", {})
    assert answer.status_code == 201, answer.text
    assert answer.json()["refunds"][0]["settled"] is True
    payments = unit(known)["payments"]
    if captured_at == "order":
        assert [each["amount"]["value"] for each in payments["refunds"]] == ["11.00"]
    else:
        assert payments["authorizations"][0]["status"] == "VOIDED"
    assert shop.stock(product) == 1


@pytest.mark.parametrize(
    ("amount", "currency", "value"), [(1999, "JPY", "1999"), (199900, "HUF", "1999"), (5, "EUR", "0.05")]
)
def test_amounts_as_paypal_writes_them(amount: int, currency: str, value: str) -> None:
    assert adapter._amount(money(amount, currency)) == {"currency_code": currency, "value": value}
    assert adapter._money({"currency_code": currency, "value": value}) == money(amount, currency)


def test_what_paypal_does_not_take(paypal: PayPalStandIn) -> None:
    provider = PayPalProvider(paypal.url, CLIENT_ID, SECRET, WEBHOOK_ID)
    with pytest.raises(PaymentDeclined):
        provider.charge("o1", money(100, "EUR"), "tok_ok")
    with pytest.raises(PaymentDeclined):
        adapter._amount(money(199950, "HUF"))
