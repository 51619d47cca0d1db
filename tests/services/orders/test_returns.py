"""Goods that customers send back: requested, approved or refused, received line by line; only then paid back."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import requests

from services.orders.actions import fulfilment, return_requests
from services.orders.actions.returns import restock_returns
from services.orders.dependencies import Dependencies
from services.orders.documents import order_key
from services.orders.rules.pricing import ReturnTerms
from services.orders.rules.progress import is_finished
from services.orders.store.orders import row_of
from shared.clock import parse
from shared.couch import Database
from tests.people import Person
from tests.services.orders.conftest import Shop, clone
from tests.services.orders.test_after_sale import delivered
from tests.waiting import Holds, eventually, settles

Order = dict[str, Any]


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    return {"COURIER": "manual"}


@pytest.fixture
def kettle(shop: Shop) -> str:
    return shop.product(price=999, delivery=300)


@pytest.fixture
def order(shop: Shop, customer: Person, kettle: str) -> Order:
    """Three kettles and a pot that have arrived."""
    return delivered(shop, shop.placed(customer, {kettle: 3, shop.product(price=500, delivery=0): 1}))


def asked(
    shop: Shop, person: requests.Session, order: Order, items: dict[str, int], **more: Any
) -> requests.Response:
    wanted = [{"productid": productid, "quantity": quantity} for productid, quantity in items.items()]
    return shop.post(person, f"/v1/orders/{order['orderid']}/returns", {"items": wanted, **more})


def staff(
    shop: Shop, order: Order, number: int, verb: str, body: Any = None, person: requests.Session | None = None
) -> requests.Response:
    path = f"/v1/admin/orders/{order['orderid']}/returns/{number}/{verb}"
    return shop.post(person or shop.admin, path, body)


def parcel(*items: tuple[str, int, str]) -> Order:
    """The body of a receipt."""
    return {
        "items": [
            {"productid": productid, "quantity": quantity, "condition": condition}
            for productid, quantity, condition in items
        ]
    }


def seen(shop: Shop, order: Order) -> Order:
    return dict(shop.get(shop.admin, f"/v1/orders/{order['orderid']}").json())


def documents(database: Database, order: Order) -> list[Order]:
    docs = database.partition(f"order{order['orderid']}").all()
    assert all(doc["_rev"].startswith("1-") for doc in docs if doc["type"] != "ordersummary"), (
        "an order's documents are never updated"
    )
    return list(docs)


def test_nothing_is_paid_back_before_the_goods_are_here(
    shop: Shop, customer: Person, order: Order, kettle: str, ledger: Database
) -> None:
    answer = asked(shop, customer, order, {kettle: 2}, reason="too loud", note="boxed")
    assert answer.status_code == 201, answer.text
    back = answer.json()
    assert (back["number"], back["status"], back["reason"], back["note"]) == (
        1,
        "requested",
        "too loud",
        "boxed",
    )
    for status in ("requested", "approved"):
        found = seen(shop, order)
        assert (found["status"], found["returned"], found["refunded"]) == ("delivered", "none", "none")
        assert [each["status"] for each in found["returns"]] == [status]
        assert staff(shop, order, 1, "approval").json()["status"] == "approved"
    assert not [
        doc for doc in ledger.partition(f"order{order['orderid']}").all() if doc["type"] == "ledgerrefund"
    ]
    received = staff(shop, order, 1, "receipt", parcel((kettle, 1, "resaleable"), (kettle, 1, "damaged")))
    assert received.status_code == 201, received.text
    assert (received.json()["status"], received.json()["refund"]) == (
        "received",
        {"amount": 1998, "currency": "GBP"},
    )
    found = seen(shop, order)
    assert (found["status"], found["returned"], found["refunded"]) == ("delivered", "part", "part")
    assert [(line.get("returned"), line.get("status")) for line in found["items"]] == [
        (2, "partly_returned"),
        (None, None),
    ]
    refunds = [
        doc for doc in ledger.partition(f"order{order['orderid']}").all() if doc["type"] == "ledgerrefund"
    ]
    assert [each["total"]["amount"] for each in refunds] == [1998]


def test_only_what_can_be_sold_again_is_in_stock_again(
    shop: Shop,
    customer: Person,
    order: Order,
    kettle: str,
    deps: Dependencies,
    database: Database,
    holds: Holds,
) -> None:
    asked(shop, customer, order, {kettle: 3})
    staff(shop, order, 1, "approval")
    staff(shop, order, 1, "receipt", parcel((kettle, 1, "resaleable"), (kettle, 2, "damaged")))

    def restocked() -> bool:
        """On a cluster the job's node may have the receipt a little later; then the next job restocks."""
        fulfilment.advance_order(deps, order["orderid"])
        found = deps.orders.order(order["orderid"])
        return bool(found.returns) and found.restocked(found.returns[0])

    holds(restocked)
    fulfilment.advance_order(deps, order["orderid"])
    holds(lambda: shop.stock(kettle) == 98)
    reference = deps.orders.order(order["orderid"]).returns[0]["reference"]
    restock = database.get(order_key(order["orderid"], f"{reference}restocked"))
    database.delete(restock["_id"], restock["_rev"])  # as after a crash between putting back and noting it
    holds(lambda: not deps.orders.order(order["orderid"]).is_restocked(reference))
    restock_returns(deps, deps.orders.order(order["orderid"]))
    holds(lambda: shop.stock(kettle) == 98)
    holds(lambda: seen(shop, order)["returns"][0]["restocked"] is True)


def test_an_order_is_returned_once_all_of_it_came_back(shop: Shop, customer: Person, order: Order) -> None:
    goods = {line["productid"]: line["quantity"] for line in order["items"]}
    for number, (productid, quantity) in enumerate(goods.items(), 1):
        found = shop.sent_back(customer, order["orderid"], {productid: quantity})
        assert found["status"] == ("returned" if number == len(goods) else "delivered")
    assert found["returned"] == "whole"
    back = sum(each["total"]["amount"] for each in found["refunds"])
    assert back == order["total"]["amount"] - order["deliveryCharge"]["amount"]

    def row() -> tuple[str, str, int] | None:
        listed = shop.get(shop.admin, "/v1/admin/orders?limit=100").json()["items"]
        found = [each for each in listed if each["orderid"] == order["orderid"]]
        return (found[0]["status"], found[0]["returned"], found[0]["open_returns"]) if found else None

    settles(lambda: row() == ("returned", "whole", 0))


def test_a_refused_return_says_why_and_blocks_nothing(
    shop: Shop, customer: Person, order: Order, kettle: str
) -> None:
    asked(shop, customer, order, {kettle: 3})
    assert asked(shop, customer, order, {kettle: 1}).status_code == 422
    assert staff(shop, order, 1, "refusal", {"reason": ""}).status_code == 422
    for _ in range(2):
        refused = staff(shop, order, 1, "refusal", {"reason": "It was used"}).json()
        assert (refused["status"], refused["refusal_reason"]) == ("refused", "It was used")
    for verb, body in (("approval", None), ("receipt", parcel((kettle, 1, "resaleable")))):
        late = staff(shop, order, 1, verb, body)
        assert (late.status_code, late.json()["code"]) == (409, "return_ended")
    assert asked(shop, customer, order, {kettle: 3}).json()["number"] == 2
    assert staff(shop, order, 2, "approval").json()["status"] == "approved"
    assert staff(shop, order, 2, "refusal", {"reason": "It never came"}).json()["status"] == "refused"
    assert staff(shop, order, 2, "receipt", parcel((kettle, 1, "resaleable"))).status_code == 409
    assert seen(shop, order)["refunded"] == "none"


def test_a_receipt_is_of_an_approved_return_and_of_no_more_than_was_requested(
    shop: Shop, customer: Person, order: Order, kettle: str
) -> None:
    asked(shop, customer, order, {kettle: 2})
    early = staff(shop, order, 1, "receipt", parcel((kettle, 1, "resaleable")))
    assert (early.status_code, early.json()["code"]) == (409, "return_not_approved")
    staff(shop, order, 1, "approval")
    other = order["items"][1]["productid"]
    for items in (
        [(kettle, 3, "resaleable")],
        [(kettle, 1, "resaleable"), (kettle, 2, "damaged")],
        [(other, 1, "resaleable")],
        [(kettle, 1, "as new")],
        [],
    ):
        assert staff(shop, order, 1, "receipt", parcel(*items)).status_code == 422
    assert staff(shop, order, 1, "receipt", parcel((kettle, 1, "resaleable"))).status_code == 201
    again = staff(shop, order, 1, "receipt", parcel((kettle, 1, "damaged")))
    assert (again.status_code, again.json()["code"]) == (409, "return_ended")
    assert staff(shop, order, 1, "receipt", parcel((kettle, 1, "resaleable"))).status_code == 201
    assert asked(shop, customer, order, {kettle: 2}).status_code == 201, "one of the two did not come"
    assert staff(shop, order, 9, "approval").json()["code"] == "no_such_return"


def test_staff_who_receive_the_same_return_at_once_pay_it_back_once(
    shop: Shop, customer: Person, kettle: str, refusals: set[int], holds: Holds
) -> None:
    for _ in range(3):
        order = delivered(shop, shop.placed(customer, {kettle: 3}))
        asked(shop, customer, order, {kettle: 3})
        staff(shop, order, 1, "approval")
        bodies = [parcel((kettle, 3, "resaleable")), parcel((kettle, 1, "damaged"))] * 3
        people = [clone(shop.admin) for _ in bodies]
        with ThreadPoolExecutor(6) as pool:
            answers = list(
                pool.map(
                    lambda each, order=order: staff(shop, order, 1, "receipt", each[0], each[1]),
                    zip(bodies, people, strict=True),
                )
            )
        codes = [answer.status_code for answer in answers]
        done, refused = sorted((codes[::2], codes[1::2]), key=lambda each: 201 not in each)
        assert {201} <= set(done) <= {201, *refusals - {409}}, codes
        assert set(refused) <= refusals, codes
        holds(lambda order=order: len(seen(shop, order)["refunds"]) == 1)


def test_requests_at_once_are_for_no_more_than_was_bought(
    shop: Shop, customer: Person, order: Order, kettle: str, refusals: set[int], holds: Holds
) -> None:
    people = [clone(customer) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda person: asked(shop, person, order, {kettle: 1}), people))
    codes = [answer.status_code for answer in answers]
    assert set(codes) <= {201, 422} | refusals

    def returns() -> list[Order]:
        return list(seen(shop, order)["returns"])

    holds(lambda: len(returns()) == codes.count(201))
    if 503 not in codes:  # what was taken back may leave its number free
        assert [each["number"] for each in returns()] == list(range(1, codes.count(201) + 1))
    assert sum(line["quantity"] for each in returns() for line in each["lines"]) <= 3


def test_returns_are_paid_back_to_the_penny_in_whatever_order_they_come(shop: Shop, customer: Person) -> None:
    """7.01 off three kettles of 9.99: no piece has a share in whole pence."""
    kettle = shop.product(price=999, delivery=0)
    code = f"OFF{secrets.token_hex(4)}"
    body = {
        "name": "Seven off",
        "codes": [code],
        "actions": [{"kind": "amount", "amount": {"amount": 701, "currency": "GBP"}}],
    }
    assert shop.post(shop.admin, "/v1/admin/promotions", body).status_code == 201
    order = delivered(shop, eventually(lambda: ordered_with(shop, customer, kettle, code)))
    for _ in range(3):
        asked(shop, customer, order, {kettle: 1})
    for number in (3, 1, 2):
        staff(shop, order, number, "approval")
        assert staff(shop, order, number, "receipt", parcel((kettle, 1, "resaleable"))).status_code == 201
    found = seen(shop, order)
    assert (found["status"], found["refunded"]) == ("returned", "whole")
    assert sum(each["total"]["amount"] for each in found["refunds"]) == 3 * 999 - 701


def ordered_with(shop: Shop, person: Person, productid: str, code: str) -> Order | None:
    answer = shop.order(person, {productid: 3}, codes=[code])
    return dict(answer.json()) if answer.status_code == 201 else None


def test_goods_can_be_sent_back_for_some_time(
    shop: Shop, customer: Person, order: Order, kettle: str, deps: Dependencies
) -> None:
    until, arrived = seen(shop, order)["returnable_until"], order["delivery"]["date"]
    assert (parse(until) - parse(arrived)).days == 30
    found, body = (
        deps.orders.order(order["orderid"]),
        {"items": [{"productid": kettle, "quantity": 1}], "reason": "", "note": ""},
    )
    closed = with_terms(deps, ReturnTerms(days=0, approved=True))
    _, back = return_requests.request_return(closed, found, body, None, "user 1")
    assert back.status == "approved"
    old = found.with_document({**found.delivery, "date": "2020-01-01T00:00:00.000Z"})  # type: ignore[dict-item]
    with pytest.raises(return_requests.ReturnTooLate):
        return_requests.request_return(deps, old, body, None, "user 1")
    _, back = return_requests.request_return(deps, old, body, None, "user 2", at_any_time=True)
    assert back.number == 2


def with_terms(deps: Dependencies, terms: ReturnTerms) -> Any:
    """The same dependencies under other terms of returns."""

    class WithTerms:
        def __getattr__(self, name: str) -> Any:
            return replace(deps.terms, returns=terms) if name == "terms" else getattr(deps, name)

    return WithTerms()


def test_an_approval_that_is_paid_back_first_is_paid_back_once(
    shop: Shop, order: Order, kettle: str, deps: Dependencies
) -> None:
    first = with_terms(deps, ReturnTerms(refund_first=True))
    body = {"items": [{"productid": kettle, "quantity": 2}], "reason": "", "note": ""}
    found, back = return_requests.request_return(
        first, deps.orders.order(order["orderid"]), body, None, "user 1"
    )
    assert (back.status, found.refunds) == ("requested", [])
    found, _ = return_requests.approve_return(first, found, "1", "user 2")
    assert [each["total"]["amount"] for each in found.refunds] == [1998]
    with pytest.raises(return_requests.ReturnEnded):
        return_requests.refuse_return(first, found, "1", "never came", "user 2")
    items = parcel((kettle, 2, "resaleable"))["items"]
    found, _ = return_requests.receive_return(first, found, "1", items, "user 2")
    assert [each["total"]["amount"] for each in found.refunds] == [1998]
    fulfilment.advance_order(deps, order["orderid"])
    found = deps.orders.order(order["orderid"])
    assert is_finished(found.progress)


def test_the_worker_ends_what_a_crash_left_open(
    shop: Shop,
    customer: Person,
    order: Order,
    kettle: str,
    deps: Dependencies,
    database: Database,
    holds: Holds,
) -> None:
    """The receipt alone is written: refund, stock and e-mails follow from it, and the sweep finds it until they are there."""
    asked(shop, customer, order, {kettle: 1})
    staff(shop, order, 1, "approval")
    staff(shop, order, 1, "receipt", parcel((kettle, 1, "resaleable")))
    fulfilment.advance_order(deps, order["orderid"])
    holds(lambda: sweep_sees(deps, order, finished=True))
    for doc in documents(database, order):
        if (
            doc["type"] in ("refund", "settlement", "restock")
            or doc["type"] == "notice"
            and "return" in doc["kind"]
        ):
            database.delete(doc["_id"], doc["_rev"])
    holds(lambda: sweep_sees(deps, order, finished=False))
    for _ in range(2):
        fulfilment.advance_order(deps, order["orderid"])
    found = seen(shop, order)
    assert [(each["total"]["amount"], each["settled"]) for each in found["refunds"]] == [(999, True)]
    assert shop.stock(kettle) == 98
    holds(lambda: sweep_sees(deps, order, finished=True))


def sweep_sees(deps: Dependencies, order: Order, *, finished: bool) -> bool:
    """Whether the sweep sees of an order what its documents say, and whether it is finished."""
    found = deps.orders.order(order["orderid"])
    page = deps.orders.orders_placed_since(order["date"], limit=1000)
    sums = [each[4] for each in map(row_of, page.items) if each[0] == order["orderid"]]
    return sums == [found.progress] and is_finished(found.progress) is finished


def test_each_step_sends_an_e_mail(
    shop: Shop, order: Order, kettle: str, customer: Person, deps: Dependencies
) -> None:
    def mails() -> str:
        fulfilment.advance_order(deps, order["orderid"])
        found = [each.read_text() for each in (shop.mail / "new").iterdir()]
        return "\n".join(text for text in found if order["orderid"] in text and "eturn" in text)

    asked(shop, customer, order, {kettle: 2})
    assert "Your return 1 was requested" in mails()
    staff(shop, order, 1, "approval")
    assert "Your return 1 is approved" in mails()
    staff(shop, order, 1, "receipt", parcel((kettle, 2, "damaged")))
    assert "Your return 1 has arrived" in mails()
    asked(shop, customer, order, {kettle: 1})
    staff(shop, order, 2, "refusal", {"reason": "Scratched by you"})
    assert "Scratched by you" in mails()
    assert mails() == mails()
    notices = [
        doc["_id"] for doc in deps.orders.order(order["orderid"]).of_type("notice") if "return" in doc["kind"]
    ]
    assert len(notices) == 5


def test_customers_and_strangers_cannot_decide(
    shop: Shop, customer: Person, order: Order, kettle: str
) -> None:
    assert asked(shop, shop.customer(), order, {kettle: 1}).status_code == 404
    asked(shop, customer, order, {kettle: 1})
    for verb, body in (
        ("approval", None),
        ("refusal", {"reason": "no"}),
        ("receipt", parcel((kettle, 1, "damaged"))),
    ):
        assert staff(shop, order, 1, verb, body, customer).status_code == 403
    assert [each["status"] for each in seen(shop, order)["returns"]] == ["requested"]


def test_the_shop_s_settings_say_how_returns_are_dealt_with(
    shop: Shop, customer: Person, order: Order, kettle: str, deps: Dependencies
) -> None:
    path = f"{shop.orders}/v1/admin/settings"
    before = shop.admin.get(path, timeout=30)
    settings = {"country": "GB", "approve_returns": True, "return_days": 7, "return_address": "Dock 4, Hull"}
    kept = {"country": "GB", "approve_returns": False, "return_days": 30, "return_address": ""}
    headers = {"If-Match": before.headers["ETag"]} if before.ok else {}
    assert shop.admin.put(path, json=settings, headers=headers, timeout=30).status_code == 200
    try:
        eventually(
            lambda: (
                (parse(seen(shop, order)["returnable_until"]) - parse(order["delivery"]["date"])).days == 7
            )
        )
        assert asked(shop, customer, order, {kettle: 1}).json()["status"] == "approved"
        assert deps.terms.returns.address == "Dock 4, Hull"
    finally:
        now = shop.admin.get(path, timeout=30)
        again = shop.admin.put(path, json=kept, headers={"If-Match": now.headers["ETag"]}, timeout=30)
        assert again.status_code == 200
        eventually(
            lambda: (
                (parse(seen(shop, order)["returnable_until"]) - parse(order["delivery"]["date"])).days == 30
            )
        )
