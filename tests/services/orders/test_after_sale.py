"""What happens after an order is paid, through HTTP: by hand, by webhook, cancelled, refunded, sent back; nothing is ever updated."""

import json
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from services.orders.actions.summaries import summarise_order
from services.orders.clients.signatures import HEADER, sign
from services.orders.dependencies import Dependencies
from services.orders.store.dead_letters import DeadLetterStore
from shared.couch import Database
from tests.contract import keep_contract
from tests.patience import patient
from tests.people import Person
from tests.services.orders.conftest import Shop, clone
from tests.waiting import Holds, eventually

COURIER_SECRET, SANDBOX_SECRET = "local-courier-webhook-secret", "local-sandbox-webhook-secret"
PARCEL = {"courier": "post", "courierid": "p1"}


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    return {"COURIER": "manual"}


@pytest.fixture
def order(shop: Shop, customer: Person) -> dict[str, Any]:
    """A fresh paid order of two kettles and a pot."""
    return shop.placed(
        customer, {shop.product(price=1000, delivery=300): 2, shop.product(price=500, delivery=0): 1}
    )


def documents(database: Database, order: dict[str, Any]) -> dict[str, dict[str, Any]]:
    docs = database.partition(f"order{order['orderid']}").all()
    assert all(doc["_rev"].startswith("1-") for doc in docs if doc["type"] != "ordersummary"), (
        "an order's documents are never updated"
    )
    return {doc["_id"].partition(":")[2]: doc for doc in docs}


def after(
    shop: Shop, person: requests.Session, order: dict[str, Any], what: str, body: Any = None, **options: Any
) -> requests.Response:
    return shop.post(person, f"/v1/orders/{order['orderid']}/{what}", {} if body is None else body, **options)


def desk(shop: Shop, order: dict[str, Any], what: str, body: Any = None, **options: Any) -> requests.Response:
    return shop.post(shop.admin, f"/v1/admin/orders/{order['orderid']}/{what}", body, **options)


def of_customers(answer: dict[str, Any]) -> dict[str, Any]:
    """What its customer is told of an order that staff asked for."""
    return {name: value for name, value in answer.items() if name not in ("first_order", "labels")}


def delivered(shop: Shop, order: dict[str, Any]) -> dict[str, Any]:
    assert desk(shop, order, "dispatch", PARCEL).status_code == 201
    answer = desk(shop, order, "delivery")
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_dispatch_and_delivery_by_hand(
    shop: Shop, customer: Person, order: dict[str, Any], database: Database
) -> None:
    assert desk(shop, order, "delivery").status_code == 409
    sent = desk(shop, order, "dispatch", PARCEL).json()
    assert (sent["status"], sent["dispatch"]["courierid"]) == ("dispatched", "p1")
    assert desk(shop, order, "dispatch", PARCEL).json() == sent
    other = desk(shop, order, "dispatch", {"courier": "post", "courierid": "p2"})
    assert (other.status_code, other.json()["code"]) == (409, "transition_not_allowed")
    arrived = desk(shop, order, "delivery").json()
    assert arrived["status"] == "delivered"
    assert desk(shop, order, "delivery").json() == arrived
    assert shop.get(customer, f"/v1/orders/{order['orderid']}").json() == of_customers(arrived)
    assert {"order", "payment", "decision", "dispatch", "delivery"} <= documents(database, order).keys()


def test_a_cancelled_order_is_paid_back_and_its_goods_are_for_sale_again(
    shop: Shop, customer: Person, order: dict[str, Any], database: Database, ledger: Database
) -> None:
    productid = order["items"][0]["productid"]
    assert shop.stock(productid) == 98
    answer = after(shop, customer, order, "cancellation", {"reason": "too late"})
    assert answer.status_code == 201, answer.text
    cancelled = answer.json()
    assert (cancelled["status"], cancelled["refunded"]) == ("cancelled", "whole")
    assert [(refund["total"], refund["settled"]) for refund in cancelled["refunds"]] == [
        (order["total"], True)
    ]
    assert shop.stock(productid) == 100
    assert after(shop, customer, order, "cancellation").json() == cancelled
    for refused in (
        desk(shop, order, "dispatch", PARCEL),
        desk(shop, order, "refunds", {"amount": 1}),
        after(shop, customer, order, "returns", {"items": [{"productid": productid, "quantity": 1}]}),
    ):
        assert (refused.status_code, refused.json()["code"]) == (409, "transition_not_allowed")
        assert refused.json()["order_status"] == "cancelled"
    refunds = [
        doc for doc in ledger.partition(f"order{order['orderid']}").all() if doc["type"] == "ledgerrefund"
    ]
    assert [refund["total"] for refund in refunds] == [order["total"]]
    assert {"decision", "refund1", "cancellationsettled", "cancellation"} <= documents(database, order).keys()


def test_what_is_on_its_way_cannot_be_cancelled(shop: Shop, customer: Person, order: dict[str, Any]) -> None:
    desk(shop, order, "dispatch", PARCEL)
    refused = after(shop, customer, order, "cancellation")
    assert (refused.status_code, refused.json()["code"]) == (409, "transition_not_allowed")
    assert refused.json()["allowed"] == ["deliver", "refund"]


def test_cancelling_and_dispatching_at_once_does_one_of_them(
    shop: Shop, customer: Person, database: Database, refusals: set[int]
) -> None:
    items = {shop.product(): 1}
    for _ in range(6):
        order = shop.placed(customer, items)
        buyer, staff = clone(customer), clone(shop.admin)
        with ThreadPoolExecutor(4) as pool:
            cancelling = [pool.submit(after, shop, buyer, order, "cancellation") for _ in range(2)]
            path = f"/v1/admin/orders/{order['orderid']}/dispatch"
            dispatching = [pool.submit(shop.post, staff, path, PARCEL) for _ in range(2)]
        codes = [{each.result().status_code for each in each_kind} for each_kind in (cancelling, dispatching)]
        done, refused = sorted(codes, key=lambda each: 201 not in each)
        assert {201} <= done <= {201, *refusals - {409}}, codes
        assert refused <= refusals, codes
        assert ("cancellation" in documents(database, order)) != ("dispatch" in documents(database, order))


def test_refunds_in_parts_never_exceed_what_was_paid(
    shop: Shop, order: dict[str, Any], ledger: Database
) -> None:
    key = {"Idempotency-Key": secrets.token_hex(8)}
    part = {"amount": {"amount": 800, "currency": "GBP"}, "reason": "scratched"}
    first, again = (desk(shop, order, "refunds", part, headers=key) for _ in range(2))
    assert first.status_code == 201, first.text
    assert again.json() == first.json()
    assert (first.json()["refunded"], first.json()["status"]) == ("part", "paid")
    other = desk(shop, order, "refunds", {**part, "reason": "other"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    too_much = desk(shop, order, "refunds", {"amount": 2001})
    assert (too_much.status_code, too_much.json()["code"]) == (409, "refund_too_large")
    assert too_much.json()["left"] == {"amount": 2000, "currency": "GBP"}
    assert desk(shop, order, "refunds", {"amount": {"amount": 1, "currency": "EUR"}}).status_code == 422
    whole = desk(shop, order, "refunds", {"amount": 2000}).json()
    assert whole["refunded"] == "whole"
    refunds = [
        doc for doc in ledger.partition(f"order{order['orderid']}").all() if doc["type"] == "ledgerrefund"
    ]
    assert sum(refund["total"]["amount"] for refund in refunds) == order["total"]["amount"]


def test_many_refunds_at_once_stay_within_the_payment(
    shop: Shop, order: dict[str, Any], refusals: set[int]
) -> None:
    staff = clone(shop.admin)
    path = f"/v1/admin/orders/{order['orderid']}/refunds"
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: shop.post(staff, path, {"amount": 1000}), range(6)))
    codes = sorted(answer.status_code for answer in answers)
    assert codes.count(201) <= 2
    assert set(codes) <= {201, *refusals}
    found = shop.get(shop.admin, f"/v1/orders/{order['orderid']}").json()
    assert sum(refund["total"]["amount"] for refund in found["refunds"]) == 1000 * codes.count(201)


def test_goods_come_back_after_delivery(shop: Shop, customer: Person, order: dict[str, Any]) -> None:
    kettle = order["items"][0]["productid"]
    one = {"items": [{"productid": kettle, "quantity": 1}], "reason": "too loud"}
    assert after(shop, customer, order, "returns", one).status_code == 409
    delivered(shop, order)
    key = {"Idempotency-Key": secrets.token_hex(8)}
    first, again = (after(shop, customer, order, "returns", one, headers=key) for _ in range(2))
    assert first.status_code == 201, first.text
    assert again.json() == first.json()
    assert (first.json()["number"], first.json()["status"]) == (1, "requested")
    too_many = after(shop, customer, order, "returns", {"items": [{"productid": kettle, "quantity": 2}]})
    assert too_many.status_code == 422
    assert "items.0.quantity" in too_many.json()["errors"]
    shop.sent_back(customer, order["orderid"], {kettle: 1})
    found = shop.get(customer, f"/v1/orders/{order['orderid']}").json()
    assert [(back["number"], back["status"]) for back in found["returns"]] == [
        (1, "requested"),
        (2, "received"),
    ]
    assert sum(refund["total"]["amount"] for refund in found["refunds"]) == 1000


def test_courier_webhooks_are_signed_timed_and_harmless_when_replayed(
    shop: Shop, customer: Person, order: dict[str, Any]
) -> None:
    event = {"event": "dispatched", "orderid": order["orderid"], "courierid": "w1"}
    body = json.dumps(event).encode()
    signature = sign(COURIER_SECRET, body)
    url = f"{shop.orders}/v1/webhooks/couriers/fastpost"

    def send(content: bytes, header: str) -> requests.Response:
        headers = {HEADER: header, "Content-Type": "application/json"}
        return requests.post(url, data=content, headers=headers, timeout=30)

    old = sign(COURIER_SECRET, body, int(time.time()) - 301)
    for content, header in ((body, sign("wrong", body)), (body + b" ", signature), (body, old), (body, "")):
        refused = send(content, header)
        assert (refused.status_code, refused.json()["code"]) == (401, "bad_signature")
    path = f"/v1/orders/{order['orderid']}"
    assert shop.get(customer, path).json()["status"] == "paid"
    assert send(body, signature).status_code == 200
    sent = shop.get(customer, path).json()
    assert (sent["status"], sent["dispatch"]["courier"]) == ("dispatched", "fastpost")
    assert send(body, signature).status_code == 200
    assert shop.get(customer, path).json() == sent
    foreign = json.dumps({**event, "event": "delivered", "courierid": "w2"}).encode()
    assert send(foreign, sign(COURIER_SECRET, foreign)).status_code == 409, "that is another parcel"
    arrived = json.dumps({**event, "event": "delivered"}).encode()
    assert send(arrived, sign(COURIER_SECRET, arrived)).status_code == 200
    assert shop.get(customer, path).json()["status"] == "delivered"
    broken = b"[]"
    assert send(broken, sign(COURIER_SECRET, broken)).status_code == 400
    for date in (5, ["2026-01-01"], "0001-01-01T00:00:00+23:00"):
        dated = json.dumps({**event, "date": date}).encode()
        assert send(dated, sign(COURIER_SECRET, dated)).status_code == 422


def test_payment_webhooks_only_make_us_ask_the_provider(
    shop: Shop, customer: Person, order: dict[str, Any]
) -> None:
    url = f"{shop.orders}/v1/webhooks/payments/sandbox"
    body = json.dumps({"type": "payment.succeeded", "orderid": order["orderid"]}).encode()
    before = shop.get(customer, f"/v1/orders/{order['orderid']}").json()
    answer = requests.post(url, data=body, headers={HEADER: sign(SANDBOX_SECRET, body)}, timeout=30)
    assert answer.status_code == 200, answer.text
    assert shop.get(customer, f"/v1/orders/{order['orderid']}").json() == before
    assert requests.post(url, data=body, headers={HEADER: sign("x", body)}, timeout=30).status_code == 401
    elsewhere = f"{shop.orders}/v1/webhooks/payments/unknown"
    assert requests.post(elsewhere, data=body, timeout=30).status_code == 404


def listed_with(shop: Shop, orderid: str, ask: dict[str, Any]) -> dict[str, Any] | None:
    """The desk's list once the order is in it."""
    page = shop.get(shop.admin, "/v1/admin/orders", params=ask).json()
    return page if orderid in {item["orderid"] for item in page["items"]} else None


def test_staff_see_all_orders_and_customers_do_not(
    shop: Shop, customer: Person, order: dict[str, Any], deps: Dependencies
) -> None:
    assert shop.get(customer, "/v1/admin/orders").status_code == 403
    assert shop.get(requests.Session(), "/v1/admin/orders").status_code == 401
    summarise_order(deps, order["orderid"])
    ask = {"limit": 100, "status": "paid"}
    page = eventually(lambda: listed_with(shop, order["orderid"], ask))
    assert {item["status"] for item in page["items"]} == {"paid"}
    early = shop.get(shop.admin, "/v1/admin/orders", params={"to": "2020-01-01"}).json()
    assert order["orderid"] not in {item["orderid"] for item in early["items"]}


def test_the_other_services_ask_about_orders(
    shop: Shop, order: dict[str, Any], database: Database, environment: dict[str, str]
) -> None:
    service = {"Authorization": f"Service {environment['SERVICE_SECRET']}"}

    def bought(productid: str) -> bool:
        params = {"userid": order["userid"], "productid": productid}
        url = f"{shop.orders}/v1/internal/orders/bought"
        return requests.get(url, params=params, headers=service, timeout=30).json()["bought"]

    assert bought(order["items"][0]["productid"])
    assert not bought(shop.product())
    url = f"{shop.orders}/v1/internal/users/{order['userid']}"
    exported = requests.get(f"{url}/orders", headers=service, timeout=60).json()["items"]
    assert order["orderid"] in {each["orderid"] for each in exported}
    assert requests.get(f"{url}/orders", timeout=30).status_code == 401


def test_an_erased_person_is_out_of_their_orders_and_the_books_still_add_up(
    shop: Shop, database: Database, environment: dict[str, str], holds: Holds
) -> None:
    person = shop.customer()
    paid = shop.placed(person, {shop.product(): 1})
    declined = shop.order(
        person, {shop.product(): 1}, payment={"provider": "sandbox", "token": "tok_declined"}
    )
    assert declined.status_code == 402
    service = {"Authorization": f"Service {environment['SERVICE_SECRET']}"}
    url = f"{shop.orders}/v1/internal/users/{person.userid}/anonymise"

    def anonymise() -> int:
        answer = patient(lambda: requests.post(url, json={}, headers=service, timeout=30))
        return int(answer.json()["orders"])

    first = anonymise()
    assert first == 2 or not database.has_one_copy, first
    holds(lambda: anonymise() == 0)

    def left() -> list[str]:
        found = [row.doc for row in database.changes(limit=100_000).rows if row.doc]
        return [json.dumps(doc) for doc in found if doc.get("userid") == person.userid]

    assert left()
    holds(lambda: not any(person.email in doc or "High Street" in doc for doc in left()))
    order = shop.get(shop.admin, f"/v1/orders/{paid['orderid']}").json()
    assert (order["email"], order["deliveryAddress"], order["total"]) == ("", None, paid["total"])


@pytest.mark.timeout(900)  # thousands of requests
def test_every_endpoint_keeps_its_contract(
    shop: Shop, order: dict[str, Any], environment: dict[str, str], database: Database
) -> None:
    service = {"Authorization": f"Service {environment['SERVICE_SECRET']}"}
    admin = {"Authorization": shop.admin.headers["Authorization"]}

    def headers(case: Any) -> dict[str, str]:
        return service if "/internal/" in case.path else admin

    stricter = {
        "POST /v1/orders": "either address or address_id, and products that are for sale",
        "POST /v1/orders/quote": "products that are for sale",
        "POST /v1/gift-cards/balance": "a code that was issued",
        "POST /v1/admin/shipping-methods": "prices for the rate that is chosen",
        "PUT /v1/admin/shipping-methods/{id}": "prices for the rate that is chosen",
        "POST /v1/admin/tax-rates": "at most four decimals",
        "PUT /v1/admin/tax-rates/{id}": "at most four decimals",
        "POST /v1/admin/promotions": "what each kind of condition and action needs, and a code of its own",
        "PUT /v1/admin/promotions/{id}": "what each kind of condition and action needs, and a code of its own",
        "POST /v1/admin/drafts": "either a price or a discount, and products that are for sale",
        "PUT /v1/admin/drafts/{id}": "either a price or a discount, and addresses without control characters",
        "GET /v1/admin/reports/tax": "whole days",
        "GET /v1/admin/reports/comparison": "whole days, from one to another",
        "GET /v1/admin/reports/customers": "whole days, from one to another",
        "GET /v1/admin/orders": "from before to",
        "GET /v1/admin/orders/counts": "either a stall or words, without control characters",
        "GET /v1/admin/stall/sales": "from a day to a later one, a month at most",
        "GET /v1/admin/orders/spend": "either a customer or the e-mail of a guest",
        "PUT /v1/admin/settings": "e-mail addresses, a time zone and a logo that there are",
        "POST /v1/admin/orders/{orderid}/refunds": "either an amount or items",
        "POST /v1/internal/users/{userid}/anonymise": "an e-mail address that can be one",
        "POST /v1/admin/reports": "whole days for best sellers",
        "POST /v1/admin/reports/closings": "a day for a day's closing, a month for a month's",
        "POST /v1/admin/stall/sales": "the items add up to the total, in its currency",
        "POST /v1/admin/stall/cash-ups": "one currency",
    }
    imports = ("POST /v1/admin/orders/import",)
    busy = 0 if database.has_one_copy else 20
    asked = keep_contract(
        shop.orders, headers, examples=8, stricter=stricter, free_text=imports, busy_seconds=busy
    )
    assert asked > 20


def test_dead_letters_are_a_list_with_pages(shop: Shop, database: Database) -> None:
    subjects = [f"lost{secrets.token_hex(4)}" for _ in range(3)]
    for subject in subjects:
        DeadLetterStore(database).add("orders.advance", subject, 1, error="e", detail="", transient=False)
    path, seen, cursor = "/v1/admin/dead-letters", [], None
    while cursor is not None or not seen:
        page = shop.get(shop.admin, path, params={"limit": 2, "cursor": cursor}).json()
        assert 1 <= len(page["items"]) <= 2
        seen += [each["orderid"] for each in page["items"]]
        cursor = page["next"]
    assert sorted(seen) == sorted(subjects)
    assert shop.get(shop.admin, path, params={"cursor": "AAAA"}).status_code == 400
    assert shop.get(shop.admin, path, params={"limit": 101}).status_code == 422
