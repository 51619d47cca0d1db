"""Shipping methods and tax rates, set at the desk: what a quote and an order then cost, in every replica."""

import secrets
from typing import Any

import pytest
import requests

from shared.couch import Database
from tests.people import Person
from tests.services.orders.conftest import Shop, calls, until

GBP = "GBP"
UK = {"name": "Ada", "line1": "1 High Street", "city": "Bath", "postcode": "BA1 1AA", "country": "GB"}
BELFAST = UK | {"city": "Belfast", "postcode": "BT1 5GS"}
GERMANY = {"name": "Ada", "line1": "Am Markt 1", "city": "Bremen", "postcode": "28195", "country": "DE"}
CALIFORNIA = {
    "name": "Ada",
    "line1": "1 Main Street",
    "city": "San Diego",
    "region": "CA",
    "postcode": "92101",
    "country": "US",
}
METHODS: tuple[dict[str, Any], ...] = (
    {
        "id": "post",
        "name": "Post",
        "rate": "weight",
        "position": 1,
        "zones": [{"country": "GB", "excluded_postcodes": ["BT"]}],
        "bands": [
            {"from": 0, "price": {"amount": 300, "currency": GBP}},
            {"from": 2000, "price": {"amount": 700, "currency": GBP}},
        ],
        "free_from": {GBP: 50_00},
        "min_days": 2,
        "max_days": 4,
    },
    {
        "id": "islands",
        "name": "Over the sea",
        "rate": "flat",
        "prices": {GBP: 999},
        "position": 2,
        "zones": [{"country": "GB", "postcodes": ["BT"]}, {"country": "DE"}, {"country": "US"}],
    },
    {"id": "euros", "name": "In euros", "rate": "flat", "prices": {"EUR": 100}, "position": 3},
    {
        "id": "collect",
        "name": "Click and collect",
        "rate": "flat",
        "prices": {GBP: 0},
        "position": 4,
        "collect_from": "The shop\n2 Mill Lane\nBath",
    },
)
RATES: tuple[dict[str, Any], ...] = (
    {"country": "GB", "name": "VAT", "rate": 20},
    {"country": "GB", "name": "VAT", "rate": 17.5, "valid_from": "2008-01-01", "tax_class": "luxury"},
    {"country": "GB", "name": "VAT", "rate": 25, "valid_from": "2010-01-01", "tax_class": "luxury"},
    {"country": "GB", "name": "VAT", "rate": 90, "valid_from": "9000-01-01"},
    {"country": "DE", "name": "MwSt.", "rate": 19},
    {"country": "US", "name": "Sales tax", "rate": 0, "included": False},
    {"country": "US", "region": "CA", "name": "Sales tax", "rate": 7.75, "included": False},
)


@pytest.fixture(scope="module")
def stocked(shop: Shop, replica: str) -> str:
    """A product, in a shop with all these methods and rates."""
    for path, contents in (("shipping-methods", METHODS), ("tax-rates", RATES)):
        for content in contents:
            answer = shop.post(shop.admin, f"/v1/admin/{path}", content)
            assert answer.status_code == 201, answer.text
    return shop.product(price=1000, delivery=111)


def quote(url: str, productid: str, quantity: int = 1, **more: Any) -> requests.Response:
    """A guest's."""
    body = {"items": [{"productid": productid, "quantity": quantity}], **more}
    return requests.post(f"{url}/v1/orders/quote", json=body, timeout=30)


def amounts(found: dict[str, Any]) -> tuple[str, int, int, int]:
    """Shipping method, its price, tax, total."""
    tax = sum(row["amount"]["amount"] for row in found["tax"])
    return found["shipping"]["id"], found["shipping"]["price"]["amount"], tax, found["total"]["amount"]


def test_what_is_offered_and_due_follows_the_place(shop: Shop, stocked: str, replica: str) -> None:
    for url in (shop.orders, replica):
        home = quote(url, stocked, address=UK).json()
        assert [(each["id"], each["price"]["amount"]) for each in home["shipping_options"]] == [
            ("post", 300),
            ("collect", 0),
        ]
        assert home["shipping_options"][0]["days"] == {"min": 2, "max": 4}
        assert amounts(home) == ("post", 300, 217, 1300)
        assert amounts(quote(url, stocked, address=BELFAST).json()) == ("islands", 999, 333, 1999)
        assert amounts(quote(url, stocked, address=GERMANY).json()) == ("islands", 999, 319, 1999)
        assert amounts(quote(url, stocked, address=CALIFORNIA).json()) == ("islands", 999, 155, 2154)
        nevada = quote(url, stocked, address=CALIFORNIA | {"region": "NV"}).json()
        assert amounts(nevada) == ("islands", 999, 0, 1999)
        assert amounts(quote(url, stocked, 5, address=UK).json()) == ("post", 0, 833, 5000)
        chosen = quote(url, stocked, address=GERMANY, shipping="collect").json()
        assert amounts(chosen) == ("collect", 0, 167, 1000), "collected in the shop's own country"


def test_products_have_a_weight_and_a_tax_class(shop: Shop, stocked: str) -> None:
    """By SKU, too: a variant has a weight of its own."""
    content = shop.admin.get(f"{shop.products}/v1/products/{stocked}", timeout=30).json()
    productid, sku = f"p{secrets.token_hex(4)}", f"s{secrets.token_hex(4)}"
    names = ("taxonomy", "keywords", "brand", "name", "description", "colours", "image", "price", "delivery")
    body = {name: content[name] for name in names} | {
        "productid": productid,
        "weight_grams": 1200,
        "tax_class": "luxury",
        "options": [{"name": "Size", "values": ["S", "L"]}],
        "variants": [
            {"sku": sku, "options": {"Size": "S"}, "stock": 9},
            {"sku": f"{sku}l", "options": {"Size": "L"}, "stock": 9, "weight_grams": 2500},
        ],
    }
    made = shop.admin.post(f"{shop.products}/v1/products", json=body, timeout=30)
    assert made.status_code == 201, made.text
    assert amounts(quote(shop.orders, sku, 1, address=UK).json()) == ("post", 300, 250, 1300)
    assert amounts(quote(shop.orders, sku, 2, address=UK).json())[:2] == ("post", 700)
    assert amounts(quote(shop.orders, f"{sku}l", 1, address=UK).json())[:2] == ("post", 700)


def test_a_quote_asks_the_database_nothing_but_the_products(shop: Shop, stocked: str) -> None:
    quote(shop.orders, stocked, address=UK)
    assert calls(quote(shop.orders, stocked, address=UK)) == dict.fromkeys(
        ("partition", "global", "read", "write"), 0
    )


def test_checkout_charges_the_quote(shop: Shop, stocked: str, customer: Person) -> None:
    for address, shipping in ((UK, "post"), (GERMANY, "islands"), (CALIFORNIA, "islands"), (UK, "collect")):
        found = quote(shop.orders, stocked, 2, address=address, shipping=shipping).json()
        answer = shop.order(
            customer, {stocked: 2}, address=address, shipping=shipping, expected_total=found["total"]
        )
        assert answer.status_code == 201, answer.text
        order = answer.json()
        assert order["payment"]["total"] == found["total"] == order["total"]
        assert order["taxes"] == found["tax"]
        assert order["shipping"] == found["shipping"]
        other = quote(shop.orders, stocked, 1, address=address, shipping=shipping).json()["total"]
        changed = shop.order(customer, {stocked: 2}, address=address, shipping=shipping, expected_total=other)
        assert (changed.status_code, changed.json()["code"]) == (409, "price_changed")


def test_where_nothing_delivers_nothing_is_sold(shop: Shop, stocked: str, customer: Person) -> None:
    """Nothing is written or charged: an order that is paid and cannot be placed is what others had here."""
    path = "/v1/admin/shipping-methods/collect"
    before = shop.get(shop.admin, path).json()
    assert shop.admin.put(f"{shop.orders}{path}", json=before | {"active": False}).status_code == 200
    france = GERMANY | {"country": "FR", "postcode": "75001"}
    refused = quote(shop.orders, stocked, address=france)
    assert (refused.status_code, refused.json()["code"]) == (422, "not_delivered")
    answer = shop.order(customer, {stocked: 1}, address=france)
    assert (answer.status_code, answer.json()["code"]) == (422, "not_delivered")
    assert shop.admin.put(f"{shop.orders}{path}", json=before | {"active": True}).status_code == 200


def test_a_change_is_seen_by_every_replica_and_every_version_is_kept(
    shop: Shop, stocked: str, replica: str
) -> None:
    path = "/v1/admin/shipping-methods/islands"
    read = shop.get(shop.admin, path)
    content = read.json()
    for number, price in enumerate((1010, 1020), content["version"] + 1):
        answer = shop.admin.put(f"{shop.orders}{path}", json=content | {"prices": {GBP: price}}, timeout=30)
        assert (answer.status_code, answer.json()["version"]) == (200, number), answer.text
        for url in (shop.orders, replica):
            until(
                lambda url=url, price=price: amounts(quote(url, stocked, address=BELFAST).json())[1] == price
            )
    stale = shop.admin.put(
        f"{shop.orders}{path}", json=content, headers={"If-Match": read.headers["ETag"]}, timeout=30
    )
    assert stale.status_code == 412
    history = shop.get(shop.admin, f"{path}/history").json()["items"]
    assert [(each["version"], each["prices"][GBP]) for each in history] == [(3, 1020), (2, 1010), (1, 999)]
    assert {each["edited_by"] for each in history} == {f"user {shop.admin.userid}"}
    assert shop.admin.put(f"{shop.orders}{path}", json=content | {"prices": {GBP: 999}}).status_code == 200


def test_what_does_not_fit_together_is_refused(shop: Shop, stocked: str) -> None:
    path = "/v1/admin/shipping-methods"
    for wrong, field in (
        ({"rate": "flat"}, "prices"),
        ({"rate": "weight"}, "bands"),
        ({"rate": "product", "min_days": 3, "max_days": 2}, "min_days"),
        ({"rate": "product", "zones": [{"country": "gb"}]}, "zones"),
    ):
        content = {"id": f"m{secrets.token_hex(3)}", "name": "Wrong", **wrong}
        answer = shop.post(shop.admin, path, content)
        assert answer.status_code == 422
        assert field in answer.json()["errors"]
    assert shop.post(shop.admin, path, METHODS[0]).status_code == 409
    rates = "/v1/admin/tax-rates"
    assert shop.post(shop.admin, rates, RATES[0]).status_code == 409
    for rate in (-1, 101, 1.00001, "20"):
        assert shop.post(shop.admin, rates, {"country": "FR", "name": "TVA", "rate": rate}).status_code == 422
    moved = shop.admin.put(f"{shop.orders}{rates}/gb-standard", json=RATES[0] | {"country": "IE"}, timeout=30)
    assert (moved.status_code, "id" in moved.json()["errors"]) == (422, True)


def test_only_admins_change_settings(shop: Shop, stocked: str, customer: Person) -> None:
    for path in ("/v1/admin/shipping-methods", "/v1/admin/tax-rates", "/v1/admin/settings"):
        assert requests.get(f"{shop.orders}{path}", timeout=30).status_code == 401
        assert shop.get(customer, path).status_code == 403
    assert shop.post(customer, "/v1/admin/tax-rates", RATES[0]).status_code == 403


def test_the_shops_own_country_is_where_an_address_without_one_lies(shop: Shop, stocked: str) -> None:
    path = "/v1/admin/settings"
    assert shop.get(shop.admin, path).status_code == 404
    for country, tax in (("DE", 319), ("GB", 217)):
        saved = shop.admin.put(f"{shop.orders}{path}", json={"country": country}, timeout=30)
        assert saved.status_code == 200, saved.text
        found = quote(shop.orders, stocked).json()
        assert (found["tax"][0]["country"], amounts(found)[2]) == (country, tax)
    history = shop.get(shop.admin, f"{path}/history").json()["items"]
    assert [each["country"] for each in history] == ["GB", "DE"]


def test_an_order_keeps_what_was_true_when_it_was_placed(
    shop: Shop, stocked: str, customer: Person, database: Database
) -> None:
    order = shop.placed(customer, {stocked: 1}, address=GERMANY)
    path = "/v1/admin/tax-rates/de-standard"
    content = shop.get(shop.admin, path).json()
    assert shop.admin.put(f"{shop.orders}{path}", json=content | {"rate": 7}).status_code == 200
    assert shop.get(customer, f"/v1/orders/{order['orderid']}").json()["taxes"] == order["taxes"]
    stored = database.get(f"order{order['orderid']}:order")
    assert stored["basket"][0]["tax"]["rate"] == 19
    assert stored["shipping"]["tax"]["rate"] == 19
    assert shop.admin.put(f"{shop.orders}{path}", json=content).status_code == 200
