"""What was sold at a stall becomes an order, once, whatever the stock and the price list say by the time it is told."""

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from services.orders.dependencies import Dependencies
from shared.clock import now
from shared.couch import Database
from tests.maildir import read_mail
from tests.people import Person
from tests.services.orders.conftest import Shop, calls, clone
from tests.services.orders.stall import PATH, level, recorded, sale, sent


def amount(found: dict[str, Any]) -> int:
    return int(found["amount"])


def test_a_sale_is_an_order_paid_and_handed_over(
    shop: Shop, staff: Person, advance: Callable, deps: Dependencies
) -> None:
    product = shop.product(price=1250, delivery=300)
    body = sale({product: (2, 1250)}, payment={"kind": "cash", "given": {"amount": 3000, "currency": "GBP"}})
    order = recorded(shop, staff, body)
    assert (order["status"], amount(order["total"])) == ("delivered", 2500)
    assert order["date"] == order["payment"]["date"] == body["sold_at"]
    assert order["payment"]["provider"] == "cash"
    assert order["stall"] == {
        "name": "Market Square",
        "sold_by": "seller-1",
        "day": body["sold_at"][:10],
        "given": {"amount": 3000, "currency": "GBP"},
    }
    assert order["placed_by"] == f"user {staff.userid}"
    assert "oversold" not in order
    assert [amount(each["amount"]) + amount(each["base"]) for each in order["taxes"]] == [2500]
    assert shop.stock(product) == 98
    assert advance(order["orderid"]) is None
    after = shop.get(staff, f"/v1/orders/{order['orderid']}").json()
    assert (after["status"], len(after["parcels"]), after["waiting"]) == ("delivered", 1, 0)
    kinds = {doc["kind"] for doc in deps.orders.documents_of(order["orderid"]) if doc["type"] == "notice"}
    assert kinds == {"payment", "dispatch", "delivery"}


def test_a_receipt_goes_to_who_wants_one_and_no_word_of_a_parcel(
    shop: Shop, staff: Person, advance: Callable
) -> None:
    email = f"stall-{secrets.token_hex(4)}@example.com"
    order = recorded(shop, staff, sale({shop.product(): (1, 1250)}, email=email))
    advance(order["orderid"])
    advance(order["orderid"])
    mails = read_mail(shop.mail, email)
    assert len(mails) == 1
    assert order["number"] in str(mails[0])


def test_a_sale_sent_twice_by_two_people_and_at_once_is_one_order(
    shop: Shop, staff: Person, database: Database
) -> None:
    product, key = shop.product(stock=10), f"stall-{secrets.token_hex(8)}"
    body = sale({product: (3, 1250)})
    people = [clone(staff), clone(shop.admin), clone(staff), clone(shop.admin)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda person: sent(shop, person, body, key), people))
    assert {answer.status_code for answer in answers} == {201}, [answer.text for answer in answers]
    (orderid,) = {answer.json()["orderid"] for answer in answers}
    assert shop.stock(product) == 7
    types = [doc["type"] for doc in database.partition(f"order{orderid}").all()]
    assert sorted(types) == sorted(
        [
            "order",
            "customer",
            "orderlineitem",
            "decision",
            "orderdispatch",
            "orderdelivery",
            "orderpayment",
            "notice",
            "notice",
        ]
    )
    other = sent(shop, staff, sale({product: (1, 1250)}), key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert shop.stock(product) == 7


def test_the_last_piece_sold_twice_goes_through_and_is_shown_oversold(shop: Shop, staff: Person) -> None:
    product = shop.product(stock=1)
    first = recorded(shop, staff, sale({product: (1, 1250)}))
    key, body = secrets.token_hex(8), sale({product: (2, 1250)})
    second = recorded(shop, staff, body, key)
    assert "oversold" not in first
    assert [(line["productid"], line["quantity"]) for line in second["oversold"]["lines"]] == [(product, 2)]
    assert recorded(shop, staff, body, key)["oversold"] == second["oversold"]
    assert second["status"] == "delivered"
    assert (level(shop, product), shop.stock(product)) == (-2, 0)
    listed = shop.get(staff, f"{PATH}/oversold")
    assert calls(listed) == {"partition": 1, "global": 0, "read": 0, "write": 0}
    assert listed.json()["items"][0]["orderid"] == second["orderid"]
    assert first["orderid"] not in {each["orderid"] for each in listed.json()["items"]}
    refused = shop.order(shop.customer(), {product: 1})
    assert (refused.status_code, refused.json()["code"]) == (409, "out_of_stock")
    trail = shop.admin.get(
        f"{shop.users}/v1/admin/audit", params={"subject": second["orderid"]}, timeout=30
    ).json()["items"]
    assert [each["action"] for each in trail] == ["oversell at stall"]
    shop.admin.post(
        f"{shop.products}/v1/products/{product}/stock", json={"delta": 3, "reason": "came"}, timeout=30
    ).raise_for_status()
    assert shop.stock(product) == 1


def test_a_price_that_has_changed_since_is_noted_and_not_refused(shop: Shop, staff: Person) -> None:
    product = shop.product(price=1300)
    order = recorded(shop, staff, sale({product: (2, 1250)}))
    line = order["items"][0]
    assert amount(order["total"]) == 2500
    assert amount(line["unitPrice"]) == 1250
    assert line["manual_price"] == {
        "regular": {"amount": 1300, "currency": "GBP"},
        "reason": "Taken at the stall",
    }


def test_what_the_shop_does_not_sell_any_more_was_sold_all_the_same(shop: Shop, staff: Person) -> None:
    gone = f"gone-{secrets.token_hex(4)}"
    order = recorded(shop, staff, sale({gone: (1, 500)}))
    assert (order["items"][0]["name"], amount(order["total"])) == (f"Kettle {gone}", 500)
    assert order["oversold"]["lines"][0]["quantity"] == 1


def test_a_sale_from_a_device_whose_clock_is_ahead_is_of_now(shop: Shop, staff: Person) -> None:
    before = now()
    order = recorded(shop, staff, sale({shop.product(): (1, 1250)}, minutes_ago=-600))
    assert order["date"] >= before.isoformat()[:19]
    assert order["date"] <= now().isoformat()


@pytest.mark.parametrize(
    "change",
    [
        {"total": {"amount": 1, "currency": "GBP"}},
        {"total": {"amount": 1250, "currency": "EUR"}},
        {"payment": {"kind": "stripe"}},
        {"items": []},
        {"sold_at": "yesterday"},
        {"stall": ""},
    ],
)
def test_a_sale_that_makes_no_sense_says_so_and_leaves_nothing(
    shop: Shop, staff: Person, change: dict[str, Any]
) -> None:
    product = shop.product()
    refused = sent(shop, staff, {**sale({product: (1, 1250)}), **change})
    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"]
    assert shop.stock(product) == 100


def test_only_staff_sell_and_every_sale_has_a_key(shop: Shop, customer: Person, staff: Person) -> None:
    body = sale({shop.product(): (1, 1250)})
    assert sent(shop, customer, body).status_code == 403
    assert sent(shop, requests.Session(), body).status_code == 401
    assert shop.post(staff, f"{PATH}/sales", body).json()["code"] == "idempotency_key_required"
    for path in ("days/2026-11-23", "oversold"):
        assert shop.get(customer, f"{PATH}/{path}").status_code == 403
    assert shop.post(customer, f"{PATH}/goods", {"category": "Home"}).status_code == 403
    assert shop.post(customer, f"{PATH}/cash-ups", {}).status_code == 403


def test_it_is_in_the_sales_the_taxes_and_on_an_invoice(shop: Shop, staff: Person) -> None:
    def figures() -> tuple[int, int]:
        sales = shop.get(shop.admin, "/v1/admin/reports/sales?currency=GBP").json()["total"]
        rows = shop.get(shop.admin, "/v1/admin/reports/tax").json()["rows"]
        taxes = sum(amount(row["amount"]) for row in rows if row["amount"]["currency"] == "GBP")
        return amount(sales["gross"]), taxes

    gross, tax = figures()
    order = recorded(shop, staff, sale({shop.product(): (4, 1250)}, payment={"kind": "terminal"}))
    later = figures()
    assert (later[0] - gross, later[1] - tax) == (5000, amount(order["tax"]["total"]))
    json = {"Accept": "application/json"}
    invoice = shop.get(staff, f"/v1/orders/{order['orderid']}/invoice", headers=json)
    assert invoice.status_code == 200, invoice.text
    assert invoice.json()["number"]


def test_cash_goes_back_by_hand_and_goods_come_back_into_stock(
    shop: Shop, staff: Person, advance: Callable
) -> None:
    product = shop.product()
    order = recorded(shop, staff, sale({product: (2, 1250)}))
    advance(order["orderid"])
    after = shop.sent_back(shop.admin, order["orderid"], {product: 1})
    advance(order["orderid"])
    after = shop.get(staff, f"/v1/orders/{order['orderid']}").json()
    refund = after["refunds"][0]
    assert (refund["by_hand"], refund["settled"], amount(refund["total"])) == (True, False, 1250)
    assert shop.stock(product) == 99
    path = f"/v1/admin/orders/{order['orderid']}/refunds/1/settlement"
    assert shop.post(staff, path, {"reference": "till"}).json()["refunds"][0]["settled"]


def test_a_day_has_its_sales_its_takings_and_the_cash_that_was_counted(shop: Shop, staff: Person) -> None:
    stall, product = f"Stall {secrets.token_hex(3)}", shop.product()
    money = {"amount": 0, "currency": "GBP"}
    orders = [
        recorded(shop, staff, sale({product: (1, price)}, stall=stall, payment={"kind": kind}))
        for price, kind in ((1250, "cash"), (1200, "cash"), (900, "terminal"))
    ]
    day = orders[0]["stall"]["day"]
    found = shop.get(staff, f"{PATH}/days/{day}")
    assert calls(found) == {"partition": 1, "global": 0, "read": 0, "write": 0}
    (takings,) = [each for each in found.json()["takings"] if each["stall"] == stall]
    assert (takings["sales"], amount(takings["cash"]), amount(takings["terminal"])) == (3, 2450, 900)
    listed = {each["orderid"]: each for each in found.json()["sales"]}
    assert [listed[order["orderid"]]["price_changed"] for order in orders] == [False, True, True]
    content = {
        "day": day,
        "stall": stall,
        "sold_by": "seller-1",
        "counted": money | {"amount": 7000},
        "opening": money | {"amount": 5000},
        "paid_out": money | {"amount": 400},
        "note": "one note was torn",
    }
    key = {"Idempotency-Key": secrets.token_hex(8)}
    for _ in range(2):
        counted = shop.post(staff, f"{PATH}/cash-ups", content, headers=key)
        assert counted.status_code == 201, counted.text
        assert (amount(counted.json()["expected"]), counted.json()["difference"]) == (7050, -50)
    kept = [
        each for each in shop.get(staff, f"{PATH}/days/{day}").json()["cash_ups"] if each["stall"] == stall
    ]
    assert [(each["note"], each["by"]) for each in kept] == [("one note was torn", f"user {staff.userid}")]
    assert shop.get(staff, f"{PATH}/days/yesterday").json()["code"] == "no_such_day"


def test_a_device_learns_what_it_needs_and_no_cost_price(shop: Shop, staff: Person) -> None:
    category = f"Stall {secrets.token_hex(3)}"
    product = shop.product(price=1250, stock=7, taxonomy=[category], cost_prices={"GBP": 400})
    found = shop.post(staff, f"{PATH}/goods", {"category": category})
    assert found.status_code == 200, found.text
    (item,) = found.json()["items"]
    assert shop.post(staff, f"{PATH}/goods", {"category": "No such thing"}).json() == {"items": []}
    assert (item["key"], item["stock"], item["price"]) == (product, 7, {"amount": 1250, "currency": "GBP"})
    assert set(item) == {
        "key", "productid", "sku", "name", "taxonomy", "selected_options", "image", "stock", "price",
    }  # fmt: skip
