"""What the desk asks of a customer's or a guest's orders: the list, what was spent, and all of it for who asks for their data."""

import secrets
from typing import Any

import requests

from tests.people import Person
from tests.services.orders.conftest import Shop, calls
from tests.services.orders.test_desk_orders import line, send
from tests.waiting import eventually

ORDERS = "/v1/admin/orders"


def test_the_orders_of_a_customer_are_one_global_query_with_numbers_and_names(shop: Shop) -> None:
    userid, other = f"u{secrets.token_hex(6)}", f"u{secrets.token_hex(6)}"
    email, made = f"{userid}@example.com", [f"o{secrets.token_hex(6)}" for _ in range(3)]
    whose = {"userid": userid, "email": email, "name": "Ann"}
    days = [f"2014-01-0{day}T00:00:00Z" for day in (1, 2, 3)]
    send(shop, [line(orderid, day, **whose) for orderid, day in zip(made, days, strict=True)])
    send(shop, [line(f"o{secrets.token_hex(6)}", days[0], userid=other)])

    def listed() -> Any:
        return shop.get(shop.admin, ORDERS, params={"customer": userid})

    eventually(lambda: [each["orderid"] for each in listed().json()["items"]] == made[::-1])
    answer = listed()
    assert calls(answer) == {"partition": 0, "global": 1, "read": 1, "write": 0}
    assert {each["email"] for each in answer.json()["items"]} == {email}
    page = shop.get(shop.admin, ORDERS, params={"customer": userid, "limit": 2}).json()
    rest = {"customer": userid, "limit": 2, "cursor": page["next"]}
    assert [each["orderid"] for each in shop.get(shop.admin, ORDERS, params=rest).json()["items"]] == [
        made[0]
    ]
    foreign = {"customer": other, "limit": 2, "cursor": page["next"]}
    assert shop.get(shop.admin, ORDERS, params=foreign).status_code == 400
    mixed = shop.get(shop.admin, ORDERS, params={"customer": userid, "status": "paid"})
    assert mixed.status_code == 422
    assert "customer" in mixed.json()["errors"]


def test_what_somebody_spent_is_a_sum_by_currency(shop: Shop) -> None:
    email, userid = f"Guest.{secrets.token_hex(4)}@spend.example", f"u{secrets.token_hex(6)}"
    lines = [
        line(f"own{secrets.token_hex(4)}", "2015-01-01", userid=userid),
        line(f"own{secrets.token_hex(4)}", "2015-01-02", userid=userid),
        line(f"guest{secrets.token_hex(4)}", "2015-01-03", userid=None, email=email),
    ]
    send(shop, lines)

    def spent(**whose: str) -> list[dict[str, Any]]:
        answer = shop.get(shop.admin, f"{ORDERS}/spend", params=whose)
        assert answer.status_code == 200, answer.text
        assert calls(answer)["global"] == 1
        return answer.json()["items"]

    def sums(orders: int, amount: int) -> list[dict[str, Any]]:
        money = {"amount": amount, "currency": "GBP"}
        none = {"amount": 0, "currency": "GBP"}
        return [{"orders": orders, "paid": money, "repaid": none, "net": money}]

    eventually(lambda: spent(customer=userid) == sums(2, 1000))
    eventually(lambda: spent(email=email.upper()) == sums(1, 500))
    assert spent(customer="nobody") == []
    for params in ({}, {"customer": userid, "email": email}):
        assert shop.get(shop.admin, f"{ORDERS}/spend", params=params).status_code == 422


def test_a_guests_orders_are_handed_out_whole_until_they_are_erased(shop: Shop, customer: Person) -> None:
    email, guest = f"guest{secrets.token_hex(5)}@example.com", requests.Session()
    order = shop.placed(guest, {shop.product(): 2}, email=email, address="1 Mill Lane\nYork YO1 7PR")
    path = f"{ORDERS}/{order['orderid']}/notes"
    assert shop.post(shop.admin, path, {"text": "Rang twice."}).status_code == 201
    asked = {"email": email.upper()}
    answer = shop.post(shop.admin, "/v1/admin/guests/export", asked)
    assert answer.status_code == 200, answer.text
    (found,) = answer.json()["items"]
    assert (found["orderid"], found["notes"][0]["text"]) == (order["orderid"], "Rang twice.")
    assert "Mill Lane" in answer.text
    assert answer.json()["store_credit"] == []
    assert shop.post(customer, "/v1/admin/guests/export", asked).status_code == 403
    other = {"email": f"x{email}"}
    assert shop.post(shop.admin, "/v1/admin/guests/export", other).json()["items"] == []
    assert shop.post(shop.admin, "/v1/admin/guests/erasure", asked).json() == {"orders": 1}
    assert shop.post(shop.admin, "/v1/admin/guests/export", asked).json()["items"] == []
    trail = shop.admin.get(f"{shop.users}/v1/admin/audit", params={"service": "orders"}, timeout=30).json()
    assert "export guest" in [each["action"] for each in trail["items"]]
    assert email not in str(trail).lower()
