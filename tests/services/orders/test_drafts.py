"""Draft orders of staff: made, changed by two people, reckoned like a basket, placed once in cash or by a payment link."""

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import requests

from services.orders.actions import draft_placing, drafts, fulfilment
from services.orders.actions.drafts import Editor
from services.orders.dependencies import Dependencies
from services.orders.documents import draft_key
from shared.clock import now
from shared.couch import Database
from tests.maildir import read_mail
from tests.people import Person
from tests.services.orders.conftest import Shop, calls, clone

PATH = "/v1/admin/drafts"
PLACE = {
    "name": "Grace Hopper",
    "line1": "1 Mill Lane",
    "city": "York",
    "postcode": "YO1 7PR",
    "country": "GB",
}
EDITOR = Editor("user clerk", is_admin=True, network="127.0.0.1")


@pytest.fixture(scope="module")
def staff(shop: Shop) -> Person:
    person = shop.customer()
    given = shop.admin.put(
        f"{shop.users}/v1/admin/staff/{person.userid}", json={"roles": ["customer", "staff"]}, timeout=30
    )
    assert given.status_code == 200, given.text
    return Person(shop.users, person.email)


@pytest.fixture
def advance(deps: Dependencies) -> Callable[[str], None]:
    """What the worker does for an order now; no worker runs here."""
    return lambda orderid: fulfilment.advance_order(deps, orderid) and None


def content(shop: Shop, **more: Any) -> dict[str, Any]:
    items = [{"productid": shop.product(price=1000, delivery=200), "quantity": 2}]
    email = f"guest-{secrets.token_hex(4)}@example.com"
    return {"email": email, "name": "Grace", "items": items, "address": PLACE, **more}


def of_account(shop: Shop, userid: str) -> dict[str, Any]:
    """The same for a customer with an account."""
    body = content(shop, userid=userid)
    return {name: value for name, value in body.items() if name not in ("email", "name")}


def made(shop: Shop, person: requests.Session, body: dict[str, Any]) -> dict[str, Any]:
    answer = shop.post(person, PATH, body)
    assert answer.status_code == 201, answer.text
    return {**answer.json(), "etag": answer.headers["ETag"]}


def placed(
    shop: Shop, person: requests.Session, id: str, kind: str = "cash", **more: Any
) -> requests.Response:
    return shop.post(person, f"{PATH}/{id}/order", {"payment": {"kind": kind, **more}})


def orders_of(database: Database, id: str) -> list[dict[str, Any]]:
    return [doc for doc in _all(database) if doc["type"] == "order" and doc.get("draft") == id]


def _all(database: Database) -> list[dict[str, Any]]:
    docs = database.across_partitions.documents("order", "order{", limit=100_000)
    return [doc for doc in docs if "type" in doc]


def test_a_draft_costs_what_a_customer_would_pay_and_holds_nothing(shop: Shop, staff: Person) -> None:
    body = content(shop)
    draft = made(shop, staff, body)
    asked = {"items": body["items"], "address": PLACE}
    assert draft["quote"]["total"] == shop.post(staff, "/v1/orders/quote", asked).json()["total"]
    assert draft["quote"]["total"]["amount"] == 2200
    assert draft["state"] == "open"
    assert shop.stock(body["items"][0]["productid"]) == 100
    read = shop.get(staff, f"{PATH}/{draft['id']}")
    assert read.json() == {name: value for name, value in draft.items() if name != "etag"}
    assert read.headers["ETag"] == draft["etag"]


def test_drafts_are_listed_newest_first_for_one_partition_query(shop: Shop, staff: Person) -> None:
    ids = [made(shop, staff, content(shop))["id"] for _ in range(3)]
    first = shop.get(staff, f"{PATH}?limit=2")
    assert [each["id"] for each in first.json()["items"]] == ids[:0:-1]
    assert calls(first) == {"partition": 1, "global": 0, "read": 0, "write": 0}
    second = shop.get(staff, f"{PATH}?limit=2&cursor={first.json()['next']}").json()
    assert second["items"][0]["id"] == ids[0]


def test_two_who_change_a_draft_are_told_what_the_other_wrote(shop: Shop, staff: Person) -> None:
    body = content(shop)
    draft = made(shop, staff, body)
    url = f"{shop.orders}{PATH}/{draft['id']}"
    version = {"If-Match": draft["etag"]}
    first = staff.put(url, json={**body, "note": "calls back"}, headers=version, timeout=30)
    assert first.status_code == 200, first.text
    second = shop.admin.put(url, json={**body, "name": "Grace H."}, headers=version, timeout=30)
    assert second.status_code == 409
    problem = second.json()
    assert (problem["code"], problem["changed"]) == ("draft_changed", ["name", "note"])
    assert problem["edited_by"] == f"user {staff.userid}"
    assert shop.get(staff, f"{PATH}/{draft['id']}").json()["note"] == "calls back"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"items": [{"productid": "no-such-product", "quantity": 1}]}, "unknown_product"),
        ({"codes": ["NOSUCHCODE"]}, "code_not_valid"),
        ({"shipping": "no-such-method"}, "shipping_not_available"),
        ({"gift_cards": ["0000-0000-0000-0000"]}, "gift_card_not_valid"),
        ({"userid": "somebody"}, "invalid"),
    ],
)
def test_what_cannot_be_sold_is_refused_with_a_reason(
    shop: Shop, staff: Person, change: dict[str, Any], code: str
) -> None:
    refused = shop.post(staff, PATH, {**content(shop), **change})
    assert refused.status_code in (409, 422), refused.text
    assert code in ("invalid", refused.json()["code"])


def test_only_staff_have_drafts(shop: Shop, customer: Person, staff: Person) -> None:
    draft = made(shop, staff, content(shop))
    for path, body in ((PATH, {}), (f"{PATH}/{draft['id']}/order", {"payment": {"kind": "cash"}})):
        assert shop.post(customer, path, body).status_code == 403
    cash = shop.order(customer, {shop.product(): 1}, payment={"provider": "cash", "token": "x"})
    assert cash.status_code == 409
    assert cash.json()["code"] == "provider_not_connected"


def test_an_agreed_price_and_a_discount_have_their_reasons(shop: Shop, staff: Person) -> None:
    body = content(shop)
    key = body["items"][0]["productid"]
    other = shop.product(price=500, delivery=0)
    body["items"] = [
        {"productid": key, "quantity": 2, "price": {"amount": 900, "currency": "GBP"}, "reason": "scratched"},
        {"productid": other, "quantity": 1, "discount": {"basis_points": 1000, "reason": "ten off"}},
    ]
    body["discount"] = {"amount": {"amount": 115, "currency": "GBP"}, "reason": "for the wait"}
    draft = made(shop, staff, body)
    quote = draft["quote"]
    assert [each["unitPrice"]["amount"] for each in quote["items"]] == [900, 500]
    assert [(each["name"], each["amount"]["amount"]) for each in quote["discounts"]] == [
        ("ten off", 50),
        ("for the wait", 115),
    ]
    assert quote["goods"]["amount"] == 2300
    order = placed(shop, staff, draft["id"]).json()
    assert order["total"] == quote["total"]
    assert order["items"][0]["manual_price"] == {
        "regular": {"amount": 1000, "currency": "GBP"},
        "reason": "scratched",
    }
    assert sum(line["payable"]["amount"] for line in order["items"]) + 200 == order["total"]["amount"]


def test_staff_take_off_as_much_as_the_shop_allows_and_an_admin_more(shop: Shop, staff: Person) -> None:
    body = content(shop, discount={"basis_points": 2000, "reason": "allowed"})
    assert made(shop, staff, body)["quote"]["goods"]["amount"] == 2000
    body["discount"] = {"basis_points": 2100, "reason": "too much"}
    refused = shop.post(staff, PATH, body)
    assert (refused.status_code, refused.json()["code"]) == (422, "manual_discount_too_large")
    agreed = {"price": {"amount": 700, "currency": "GBP"}, "reason": "too cheap"}
    cheap = content(shop)
    cheap["items"][0] |= agreed
    assert shop.post(staff, PATH, cheap).json()["code"] == "manual_discount_too_large"
    draft = made(shop, shop.admin, body)
    url = f"{shop.orders}{PATH}/{draft['id']}"
    assert staff.put(url, json={**body, "note": "the admin agreed"}, timeout=30).status_code == 200
    more = {**body, "discount": {"basis_points": 9000, "reason": "even more"}}
    assert staff.put(url, json=more, timeout=30).json()["code"] == "manual_discount_too_large"
    assert placed(shop, staff, draft["id"]).status_code == 201


def test_a_discount_in_another_currency_or_on_nothing_is_refused(shop: Shop, staff: Person) -> None:
    euros = {"amount": {"amount": 100, "currency": "EUR"}, "reason": "euros"}
    refused = shop.post(staff, PATH, content(shop, discount=euros))
    assert (refused.status_code, refused.json()["code"]) == (422, "other_currency")


def test_paid_in_cash_it_is_an_order_like_any_other(
    shop: Shop, staff: Person, database: Database, ledger: Database, advance: Callable
) -> None:
    body = content(shop, note="left the umbrella here")
    draft = made(shop, staff, body)
    answer = placed(shop, staff, draft["id"], reference="receipt 7")
    assert answer.status_code == 201, answer.text
    order = answer.json()
    assert order["status"] == "paid"
    assert order["placed_by"] == f"user {staff.userid}"
    assert (order["payment"]["provider"], order["payment"]["provider_ref"]) == ("cash", "receipt 7")
    assert shop.stock(body["items"][0]["productid"]) == 98
    assert not [
        doc
        for doc in ledger.across_partitions.documents("", "z", limit=1000)
        if order["orderid"] in doc["_id"]
    ]
    notes = shop.get(staff, f"/v1/admin/orders/{order['orderid']}/notes").json()["items"]
    assert [note["text"] for note in notes] == ["left the umbrella here"]
    again = placed(shop, staff, draft["id"], reference="receipt 7")
    assert (again.status_code, again.json()["orderid"]) == (201, order["orderid"])
    other = placed(shop, staff, draft["id"], "bank_transfer")
    assert (other.status_code, other.json()["code"]) == (409, "draft_placed")
    assert other.json()["orderid"] == order["orderid"]
    assert len(orders_of(database, draft["id"])) == 1
    listed = shop.get(staff, f"{PATH}/{draft['id']}").json()
    assert (listed["state"], listed["order"]["number"]) == ("placed", order["number"])
    changed = staff.put(f"{shop.orders}{PATH}/{draft['id']}", json=body, timeout=30)
    assert changed.json()["code"] == "draft_placed"
    advance(order["orderid"])
    assert read_mail(shop.mail, body["email"])


def test_an_order_for_an_account_is_in_its_history(shop: Shop, staff: Person, customer: Person) -> None:
    draft = made(shop, staff, of_account(shop, customer.userid))
    order = placed(shop, staff, draft["id"], "bank_transfer", reference="T-1").json()
    assert order["userid"] == customer.userid
    assert shop.get(customer, f"/v1/orders/{order['orderid']}").json()["status"] == "paid"
    assert order["orderid"] in {each["orderid"] for each in shop.get(customer, "/v1/orders").json()["items"]}


def test_a_refund_of_cash_is_recorded_by_staff(
    shop: Shop, staff: Person, ledger: Database, deps: Dependencies, advance: Callable
) -> None:
    draft = made(shop, staff, content(shop))
    order = placed(shop, staff, draft["id"]).json()
    path = f"/v1/admin/orders/{order['orderid']}/refunds"
    refunded = shop.post(staff, path, {"amount": 500, "reason": "a scratch"}).json()["refunds"][0]
    assert (refunded["settled"], refunded["by_hand"]) == (False, True)
    advance(order["orderid"])
    assert not shop.get(staff, f"/v1/orders/{order['orderid']}").json()["refunds"][0]["settled"]
    assert shop.post(staff, f"{path}/2/settlement", {}).status_code == 404
    for _ in range(2):
        done = shop.post(staff, f"{path}/1/settlement", {"reference": "till 3"})
        assert (done.status_code, done.json()["refunds"][0]["settled"]) == (201, True)
    docs = [doc for doc in deps.orders.documents_of(order["orderid"]) if doc["type"] == "settlement"]
    assert [(doc["by"], doc["provider"], doc["provider_ref"]) for doc in docs] == [
        (f"user {staff.userid}", "cash", "till 3")
    ]
    assert not [
        doc
        for doc in ledger.across_partitions.documents("", "z", limit=1000)
        if order["orderid"] in doc["_id"]
    ]
    card = shop.placed(shop.customer(), {shop.product(): 1})
    paid_back = shop.post(staff, f"/v1/admin/orders/{card['orderid']}/refunds", {"amount": 1, "reason": "x"})
    assert paid_back.json()["refunds"][0]["settled"]
    by_itself = shop.post(staff, f"/v1/admin/orders/{card['orderid']}/refunds/1/settlement", {})
    assert by_itself.json()["code"] == "not_by_hand"


def test_cash_is_in_the_sales_report_and_the_invoice(shop: Shop, staff: Person) -> None:
    def gross() -> int:
        total = shop.get(shop.admin, "/v1/admin/reports/sales?currency=GBP").json()["total"]
        return int(total["gross"]["amount"])

    before = gross()
    order = placed(shop, staff, made(shop, staff, content(shop))["id"]).json()
    assert gross() - before == 2200
    invoice = shop.get(
        staff, f"/v1/orders/{order['orderid']}/invoice", headers={"Accept": "application/json"}
    )
    assert invoice.status_code == 200
    assert invoice.json()["number"]


def test_a_payment_link_is_sent_paid_and_shown(
    shop: Shop, staff: Person, advance: Callable, database: Database
) -> None:
    body = content(shop)
    draft = made(shop, staff, body)
    order = placed(shop, staff, draft["id"], "link").json()
    assert order["status"] == "placed"
    assert order["payment_link"]
    again = placed(shop, staff, draft["id"], "link").json()
    assert again["orderid"] == order["orderid"]
    advance(order["orderid"])
    advance(order["orderid"])
    letters = read_mail(shop.mail, body["email"])
    assert len(letters) == 1
    text = letters[0].text
    assert order["payment_page"]["url"] in text
    assert "22.00" in text
    sent = shop.get(staff, f"/v1/admin/orders/{order['orderid']}/emails").json()["items"]
    assert [each["kind"] for each in sent] == ["payment-link"]
    resent = shop.post(staff, f"/v1/admin/orders/{order['orderid']}/emails", {"kind": "payment-link"})
    assert resent.status_code == 201, resent.text
    key = order["payment_page"]["url"].partition("key=")[2]
    page = f"/v1/orders/{order['orderid']}/sandbox-payment"
    anybody = requests.Session()
    assert shop.get(anybody, f"{page}?key=guessed").status_code == 404
    assert shop.get(anybody, f"{page}?key={key}").json()["total"]["amount"] == 2200
    assert shop.post(anybody, page, {"key": key, "token": "tok_declined"}).status_code == 402
    for _ in range(2):
        paid = shop.post(anybody, page, {"key": key, "token": "tok_timeout"})
        assert (paid.status_code, paid.json()["paid"]) == (200, True)
    found = shop.get(staff, f"/v1/orders/{order['orderid']}").json()
    assert found["status"] == "paid"
    advance(order["orderid"])
    kinds = [
        each["kind"]
        for each in shop.get(staff, f"/v1/admin/orders/{order['orderid']}/emails").json()["items"]
    ]
    assert (kinds.count("payment-link"), kinds.count("payment")) == (2, 1)
    assert len(orders_of(database, draft["id"])) == 1


def test_a_link_that_nobody_pays_gives_everything_back(
    shop: Shop, staff: Person, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = content(shop)
    key = body["items"][0]["productid"]
    order = placed(shop, staff, made(shop, staff, body)["id"], "link").json()
    assert shop.stock(key) == 98
    fulfilment.advance_order(deps, order["orderid"])
    assert shop.get(staff, f"/v1/orders/{order['orderid']}").json()["status"] == "placed"
    for module in (fulfilment,):
        monkeypatch.setattr(module, "now", lambda: now() + timedelta(hours=1))
    fulfilment.advance_order(deps, order["orderid"])
    assert shop.get(staff, f"/v1/orders/{order['orderid']}").json()["status"] == "placed"
    monkeypatch.setattr(fulfilment, "now", lambda: now() + timedelta(hours=25))
    fulfilment.advance_order(deps, order["orderid"])
    ended = shop.get(staff, f"/v1/orders/{order['orderid']}").json()
    assert (ended["status"], ended["payment"]) == ("cancelled", None)
    assert shop.stock(key) == 100


def test_staff_cancel_an_order_that_waits_for_its_link(shop: Shop, staff: Person) -> None:
    body = content(shop)
    order = placed(shop, staff, made(shop, staff, body)["id"], "link").json()
    ended = shop.post(staff, f"/v1/orders/{order['orderid']}/payment/cancellation", {})
    assert ended.json()["status"] == "cancelled"
    assert shop.stock(body["items"][0]["productid"]) == 100
    key = order["payment_page"]["url"].partition("key=")[2]
    late = shop.post(
        requests.Session(), f"/v1/orders/{order['orderid']}/sandbox-payment", {"key": key, "token": "tok_ok"}
    )
    assert (late.status_code, late.json()["paid"]) == (200, False)
    assert (
        shop.post(staff, f"/v1/admin/orders/{order['orderid']}/emails", {"kind": "payment-link"}).status_code
        == 404
    )


def test_two_clerks_at_once_place_one_order(shop: Shop, staff: Person, database: Database) -> None:
    draft = made(shop, staff, content(shop))
    people = [clone(staff if number % 2 else shop.admin) for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda person: placed(shop, person, draft["id"]), people))
    assert {answer.status_code for answer in answers} == {201}, [answer.text for answer in answers]
    assert len({answer.json()["orderid"] for answer in answers}) == 1
    assert len(orders_of(database, draft["id"])) == 1


def test_sold_out_it_stays_a_draft_and_can_be_placed_when_goods_are_there(
    shop: Shop, staff: Person, database: Database
) -> None:
    body = content(shop)
    key = body["items"][0]["productid"]
    shop.admin.post(
        f"{shop.products}/v1/products/{key}/stock", json={"delta": -100, "reason": "lost"}, timeout=30
    )
    draft = made(shop, staff, body)
    refused = placed(shop, staff, draft["id"])
    assert (refused.status_code, refused.json()["code"]) == (409, "out_of_stock")
    assert shop.get(staff, f"{PATH}/{draft['id']}").json()["state"] == "open"
    shop.admin.post(
        f"{shop.products}/v1/products/{key}/stock", json={"delta": 5, "reason": "found"}, timeout=30
    )
    assert placed(shop, staff, draft["id"]).json()["status"] == "paid"
    assert len(orders_of(database, draft["id"])) == 2


def test_another_total_than_was_shown_places_nothing(shop: Shop, staff: Person, database: Database) -> None:
    draft = made(shop, staff, content(shop))
    body = {"payment": {"kind": "cash"}, "expected_total": {"amount": 1, "currency": "GBP"}}
    refused = shop.post(staff, f"{PATH}/{draft['id']}/order", body)
    assert (refused.status_code, refused.json()["code"]) == (409, "price_changed")
    assert orders_of(database, draft["id"]) == []


@pytest.mark.parametrize(
    "change", [{"items": []}, {"address": None}, {"email": None}], ids=["no items", "no address", "no e-mail"]
)
def test_what_a_link_needs_is_said(shop: Shop, staff: Person, change: dict[str, Any]) -> None:
    body = {name: value for name, value in {**content(shop), **change}.items() if value is not None}
    refused = placed(shop, staff, made(shop, staff, body)["id"], "link")
    assert refused.status_code == 422
    assert list(refused.json()["errors"]) == list(change)


def test_a_gift_card_is_kept_without_its_code(shop: Shop, staff: Person, database: Database) -> None:
    value = {"amount": 700, "currency": "GBP"}
    card = shop.post(shop.admin, "/v1/admin/gift-cards", {"value": value}).json()
    draft = made(shop, staff, content(shop, gift_cards=[card["code"]]))
    assert draft["quote"]["to_pay"]["amount"] == 1500
    stored = database.get(draft_key(draft["id"]))
    assert card["code"] not in str(stored)
    assert card["code"].replace("-", "") not in str(stored)
    kept = content(shop, gift_cards=[draft["gift_cards"][0]["id"]])
    changed = staff.put(f"{shop.orders}{PATH}/{draft['id']}", json=kept, timeout=30)
    assert changed.status_code == 200, changed.text
    strange = shop.post(staff, PATH, content(shop, gift_cards=[draft["gift_cards"][0]["id"]]))
    assert strange.json()["code"] == "gift_card_not_valid"
    order = placed(shop, staff, draft["id"]).json()
    assert (order["to_pay"]["amount"], order["payment"]["total"]["amount"]) == (1500, 2200)
    left = shop.get(shop.admin, f"/v1/admin/gift-cards/{card['id']}").json()["balance"]["amount"]
    assert left == 0


class Died(BaseException):
    """The process was killed."""


@pytest.mark.parametrize("kind", ["cash", "link"])
@pytest.mark.parametrize("moment", ["place_order", "_finish"])
def test_killed_on_the_way_it_is_one_order_when_it_is_placed_again(
    shop: Shop,
    staff: Person,
    deps: Dependencies,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
    kind: str,
) -> None:
    draft = made(shop, staff, content(shop))

    def die(*_: Any) -> None:
        raise Died

    payment = {"kind": kind, "reference": "", "provider": ""}
    with monkeypatch.context() as patched:
        patched.setattr(draft_placing, moment, die)
        with pytest.raises(Died):
            draft_placing.place_draft(deps, draft["id"], payment, None, EDITOR)
    assert shop.get(staff, f"{PATH}/{draft['id']}").json()["state"] == "placing"
    locked = staff.put(f"{shop.orders}{PATH}/{draft['id']}", json=content(shop), timeout=30)
    assert locked.json()["code"] == "draft_being_placed"
    assert staff.delete(f"{shop.orders}{PATH}/{draft['id']}", timeout=30).status_code == 409
    assert placed(shop, staff, draft["id"], kind).status_code == 201
    assert len(orders_of(database, draft["id"])) == 1
    assert shop.get(staff, f"{PATH}/{draft['id']}").json()["state"] == "placed"


def test_an_attempt_that_the_worker_ended_leaves_the_draft_to_be_placed_again(
    shop: Shop, staff: Person, deps: Dependencies, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed with the goods reserved: the sweep gives them back, and the next press begins anew."""
    from services.orders.actions import claims

    body = content(shop)
    draft = made(shop, staff, body)

    def die(*_: Any) -> None:
        raise Died

    with monkeypatch.context() as patched:
        patched.setattr(claims, "take", die)
        with pytest.raises(Died):
            draft_placing.place_draft(
                deps, draft["id"], {"kind": "cash", "reference": "", "provider": ""}, None, EDITOR
            )
        patched.setattr(fulfilment, "now", lambda: now() + timedelta(minutes=5))
        [order] = orders_of(database, draft["id"])
        fulfilment.advance_order(deps, order["orderid"])
    assert shop.stock(body["items"][0]["productid"]) == 100
    first = placed(shop, staff, draft["id"])
    assert (first.status_code, first.json()["code"]) == (409, "attempt_closed")
    second = placed(shop, staff, draft["id"])
    assert (second.status_code, second.json()["status"]) == (201, "paid")
    assert shop.stock(body["items"][0]["productid"]) == 98


def test_drafts_expire(shop: Shop, staff: Person, deps: Dependencies) -> None:
    old, young = (made(shop, staff, content(shop)) for _ in range(2))
    stored = drafts.get(deps, old["id"])
    deps.drafts.put({**stored, "expires": "2020-01-01T00:00:00.000Z"})
    assert drafts.remove_expired(deps) == 1
    assert shop.get(staff, f"{PATH}/{old['id']}").status_code == 404
    assert shop.get(staff, f"{PATH}/{young['id']}").status_code == 200


def test_drafts_are_in_the_export_of_who_they_are_for(shop: Shop, staff: Person) -> None:
    guest = made(shop, staff, content(shop))
    asked = shop.post(shop.admin, "/v1/admin/guests/export", {"email": guest["email"].upper()})
    assert [each["id"] for each in asked.json()["drafts"]] == [guest["id"]]
    assert asked.json()["drafts"][0]["address"]
    person = shop.customer()
    own = made(shop, staff, of_account(shop, person.userid))
    for who, method, path in (
        (person, "GET", "/v1/users/me/export"),
        (shop.admin, "POST", f"/v1/admin/customers/{person.userid}/export"),
    ):
        exported = who.request(method, f"{shop.users}{path}", timeout=60)
        assert [each["id"] for each in exported.json()["drafts"]] == [own["id"]]


def test_erasing_somebody_removes_their_drafts(shop: Shop, staff: Person) -> None:
    guest = made(shop, staff, content(shop))
    erased = shop.post(shop.admin, "/v1/admin/guests/erasure", {"email": guest["email"].upper()})
    assert erased.status_code == 200, erased.text
    assert shop.get(staff, f"{PATH}/{guest['id']}").status_code == 404
    person = shop.customer()
    both = [
        {**content(shop), "email": person.email},
        of_account(shop, person.userid),
    ]
    ids = [made(shop, staff, body)["id"] for body in both]
    gone = shop.admin.delete(f"{shop.users}/v1/admin/users/{person.userid}", timeout=60)
    assert gone.status_code in (200, 202, 204), gone.text
    assert [shop.get(staff, f"{PATH}/{id}").status_code for id in ids] == [404, 404]


def test_removing_a_draft_keeps_its_order(shop: Shop, staff: Person) -> None:
    draft = made(shop, staff, content(shop))
    order = placed(shop, staff, draft["id"]).json()
    url = f"{shop.orders}{PATH}/{draft['id']}"
    assert staff.delete(url, timeout=30).status_code == 204
    assert staff.delete(url, timeout=30).status_code == 404
    assert shop.get(staff, f"/v1/orders/{order['orderid']}").status_code == 200


def test_a_group_pays_its_prices(shop: Shop, staff: Person) -> None:
    person = shop.customer()
    shop.admin.put(f"{shop.users}/v1/admin/users/{person.userid}/group", json={"group": "trade"}, timeout=30)
    body = of_account(shop, person.userid)
    product = body["items"][0]["productid"]
    url = f"{shop.products}/v1/products/{product}"
    known = shop.admin.get(url, timeout=30).json()
    known["group_prices"] = {"trade": {"GBP": 600}}
    taken = {
        name: known[name]
        for name in (
            "productid",
            "taxonomy",
            "keywords",
            "brand",
            "name",
            "description",
            "colours",
            "image",
            "price",
            "delivery",
        )
    }
    saved = shop.admin.put(url, json={**taken, "group_prices": {"trade": {"GBP": 600}}}, timeout=30)
    assert saved.status_code == 200, saved.text
    assert made(shop, staff, body)["quote"]["goods"]["amount"] == 1200
