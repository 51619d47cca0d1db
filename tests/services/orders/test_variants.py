"""A variant is bought, cancelled, returned and reported by its SKU, and an order keeps what was chosen."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from tests.people import Person
from tests.services.orders.conftest import Shop, calls, checkout, clone, until
from tests.services.worker.processes import Worker


def shirt(shop: Shop, stock: int = 10) -> str:
    """A product with two sizes; the large one costs more. Its productid; the SKUs are that and the size."""
    productid = f"s{secrets.token_hex(5)}"
    price = {"amount": 1000, "currency": "GBP"}
    body = {
        "productid": productid,
        "taxonomy": ["Clothes"],
        "name": f"Shirt {productid}",
        "price": price,
        "options": [{"name": "Size", "values": ["M", "L"]}],
        "variants": [
            {"sku": f"{productid}-M", "options": {"Size": "M"}, "stock": stock},
            {"sku": f"{productid}-L", "options": {"Size": "L"}, "stock": stock, "prices": {"GBP": 1300}},
        ],
    }
    answer = shop.admin.post(f"{shop.products}/v1/products", json=body, timeout=30)
    assert answer.status_code == 201, answer.text
    return productid


def placed(shop: Shop, customer: Person, items: list[dict[str, Any]]) -> requests.Response:
    body = checkout({}) | {"items": items}
    headers = {"Idempotency-Key": secrets.token_hex(8)}
    return shop.post(customer, "/v1/orders", body, headers=headers)


def stock(shop: Shop, sku: str) -> int:
    return shop.stock(sku)


def test_an_order_keeps_the_sku_the_options_and_the_price_of_a_variant(shop: Shop, customer: Person) -> None:
    product, kettle = shirt(shop), shop.product()
    items = [
        {"sku": f"{product}-L", "quantity": 2},
        {"productid": f"{product}-M", "quantity": 1},
        {"sku": kettle, "quantity": 1},
    ]
    order = placed(shop, customer, items).json()
    large, medium, plain = order["items"]
    assert (large["productid"], large["sku"], large["options"]) == (product, f"{product}-L", {"Size": "L"})
    assert (large["unitPrice"]["amount"], large["total"]["amount"]) == (1300, 2600)
    assert (medium["sku"], medium["unitPrice"]["amount"]) == (f"{product}-M", 1000)
    assert (plain["productid"], {"sku", "options"} & plain.keys()) == (kettle, set())
    assert (stock(shop, f"{product}-L"), stock(shop, f"{product}-M")) == (8, 9)
    assert shop.get(customer, f"/v1/orders/{order['orderid']}/items").json()["items"] == order["items"]
    quoted = shop.post(customer, "/v1/orders/quote", {"items": items}).json()
    assert [line.get("sku") for line in quoted["items"]] == [f"{product}-L", f"{product}-M", None]


def test_a_variant_costs_a_checkout_nothing_more(shop: Shop, customer: Person) -> None:
    product = shirt(shop)
    items = {f"{product}-L": 1, f"{product}-M": 1}
    shop.order(customer, items)
    answer = shop.order(customer, items)
    assert answer.status_code == 201
    assert calls(answer) == {"partition": 0, "global": 0, "read": 0, "write": 3}


def test_what_is_not_sold_is_refused_by_line(shop: Shop, customer: Person) -> None:
    product, retired = shirt(shop), shirt(shop)
    path = f"{shop.products}/v1/products/{retired}"
    found = shop.admin.get(path, timeout=30).json()
    found["variants"][0]["active"] = False
    body = found | {"variants": found["variants"][:1]}
    assert shop.admin.put(path, json=body, timeout=30).status_code == 200
    unchosen = shop.order(customer, {product: 1})
    assert (unchosen.status_code, unchosen.json()["code"]) == (422, "variant_needed")
    for sku in (f"{retired}-M", f"{retired}-L"):
        refused = shop.order(customer, {f"{product}-M": 1, sku: 1})
        assert (refused.status_code, refused.json()["code"]) == (422, "unknown_product")
        assert list(refused.json()["errors"]) == ["items.1.productid"]
        assert "is not sold any more" in refused.json()["errors"]["items.1.productid"][0]
    nameless = placed(shop, customer, [{"quantity": 1}])
    assert nameless.status_code == 422


def test_buyers_at_once_get_what_is_left_of_one_sku_while_the_other_sells(
    shop: Shop, customer: Person
) -> None:
    product = shirt(shop, stock=5)

    def buy(number: int) -> int:
        sku = f"{product}-{'ML'[number % 2]}"
        return shop.order(clone(customer), {sku: 1 if number % 2 == 0 else 2}).status_code

    with ThreadPoolExecutor(8) as buyers:
        statuses = list(buyers.map(buy, range(16)))
    medium, large = statuses[::2], statuses[1::2]
    assert (medium.count(201), large.count(201)) == (5, 2)
    assert set(statuses) == {201, 409}
    assert (stock(shop, f"{product}-M"), stock(shop, f"{product}-L")) == (0, 1)
    short = shop.order(customer, {f"{product}-M": 1}).json()
    assert short["items"] == [{"productid": product, "sku": f"{product}-M", "available": 0}]


def test_two_hundred_buyers_for_the_last_ten_of_one_sku_while_the_other_sells_freely(
    shop: Shop, customer: Person
) -> None:
    product = shirt(shop, stock=10)
    more = {"delta": 990, "reason": "delivery", "sku": f"{product}-L"}
    path = f"{shop.products}/v1/products/{product}/stock"
    assert shop.admin.post(path, json=more, timeout=30).status_code == 201

    def buy(number: int) -> tuple[str, int]:
        """Every fifth buys the other size; who gets no answer asks again with the same key."""
        sku = f"{product}-{'L' if number % 5 == 4 else 'M'}"
        body = checkout({}) | {"items": [{"sku": sku, "quantity": 1}]}
        headers = {"Idempotency-Key": secrets.token_hex(8)}
        for _ in range(10):
            status = shop.post(clone(customer), "/v1/orders", body, headers=headers).status_code
            if status not in (500, 502, 503, 504):
                break
        return sku[-1], status

    with ThreadPoolExecutor(12) as buyers:
        bought = list(buyers.map(buy, range(250)))
    medium = [status for size, status in bought if size == "M"]
    large = [status for size, status in bought if size == "L"]
    assert (len(medium), medium.count(201), medium.count(409)) == (200, 10, 190)
    assert (len(large), large.count(201)) == (50, 50)
    assert (stock(shop, f"{product}-M"), stock(shop, f"{product}-L")) == (0, 950)


def test_an_order_keeps_the_names_that_its_customer_saw(shop: Shop, customer: Person) -> None:
    product = shirt(shop)
    path = f"{shop.products}/v1/products/{product}"
    labels = {"Size": "Größe", "M": "Mittel"}
    body = shop.admin.get(path, timeout=30).json() | {
        "translations": {"de": {"name": "Hemd aus Leinen", "labels": labels}}
    }
    assert shop.admin.put(path, json=body, timeout=30).status_code == 200
    items = [{"sku": f"{product}-M", "quantity": 1}]
    german = checkout({}) | {"items": items, "language": "de"}
    quoted = shop.post(customer, "/v1/orders/quote", {"items": items, "language": "de"}).json()
    order = shop.post(
        customer, "/v1/orders", german, headers={"Idempotency-Key": secrets.token_hex(8)}
    ).json()
    for found in (quoted, order):
        line = found["items"][0]
        assert (line["name"], line["options"]) == ("Hemd aus Leinen", {"Größe": "Mittel"})
    assert order["items"][0]["sku"] == f"{product}-M"
    english = placed(shop, customer, items).json()
    assert english["items"][0]["name"] == f"Shirt {product}"
    refused = shop.post(customer, "/v1/orders/quote", {"items": items, "language": "Deutsch!"})
    assert refused.status_code == 422
    kept = f"{shop.users}/v1/users/me/basket"
    assert customer.put(f"{kept}/{product}-M?language=de", json={"quantity": 1}, timeout=30).json()[
        "name"
    ] == ("Hemd aus Leinen")
    shown = customer.get(f"{kept}?language=de", timeout=30).json()["items"][0]
    assert (shown["name"], shown["options"]) == ("Hemd aus Leinen", {"Größe": "Mittel"})
    assert customer.delete(f"{kept}/{product}-M", timeout=30).status_code == 204


def test_cancelling_puts_the_variant_back(shop: Shop, customer: Person) -> None:
    product = shirt(shop)
    order = shop.placed(customer, {f"{product}-L": 3})
    assert stock(shop, f"{product}-L") == 7
    answer = shop.post(customer, f"/v1/orders/{order['orderid']}/cancellation", {"reason": "no"})
    assert answer.status_code == 201, answer.text
    assert (stock(shop, f"{product}-L"), stock(shop, f"{product}-M")) == (10, 10)


@pytest.mark.usefixtures("worker")
def test_a_variant_is_delivered_returned_restocked_and_reported(shop: Shop, worker: Worker) -> None:
    buyer = shop.customer()
    product = shirt(shop)
    path = f"{shop.users}/v1/users/me/basket"
    for sku in (f"{product}-L", f"{product}-M"):
        assert buyer.put(f"{path}/{sku}", json={"quantity": 2}, timeout=30).status_code == 200
    order = shop.placed(buyer, {f"{product}-L": 2, f"{product}-M": 2})
    orderid = order["orderid"]
    until(lambda: shop.get(buyer, f"/v1/orders/{orderid}").json()["status"] == "delivered")
    until(lambda: buyer.get(path, timeout=30).json()["items"] == [])
    mails = "".join(each.read_text() for each in (shop.mail / "new").iterdir() if orderid in each.read_text())
    assert "(L)" in mails
    back: dict[str, Any] = shop.sent_back(buyer, orderid, {f"{product}-L": 1})["returns"][0]["lines"][0]
    assert (back["sku"], back["amount"]) == (f"{product}-L", 1300)
    until(lambda: stock(shop, f"{product}-L") == 9)
    assert stock(shop, f"{product}-M") == 8
    many = {"items": [{"sku": f"{product}-L", "quantity": 2}]}
    assert shop.post(buyer, f"/v1/orders/{orderid}/returns", many).status_code == 422
    until(lambda: sold(shop, "product", product) == [(None, 3)])
    assert sold(shop, "sku", product) == [(f"{product}-L", 1), (f"{product}-M", 2)]


def sold(shop: Shop, by: str, productid: str) -> list[tuple[str | None, int]]:
    rows = shop.get(shop.admin, f"/v1/admin/reports/best-sellers?by={by}&limit=1000").json()["rows"]
    return sorted((row.get("sku"), row["units"]) for row in rows if row["productid"] == productid)
