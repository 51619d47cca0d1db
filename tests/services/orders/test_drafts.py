"""Draft orders of staff: made, changed by two people, reckoned like a basket, found and gone again."""

from typing import Any

import pytest

from services.orders.actions import drafts
from services.orders.dependencies import Dependencies
from tests.people import Person
from tests.services.orders.conftest import Shop, calls
from tests.services.orders.draft_orders import PATH, PLACE, content, made, of_account, placed


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
