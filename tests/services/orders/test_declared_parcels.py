"""Labels across a customs border, of EasyPost's stand-in: what is declared, what is asked for before, and what comes back."""

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.easypost_standin import EasyPostStandIn
from tests.services.orders.parcel_labels import Order, bought, buy, label_settings, labels_path, read
from tests.services.orders.test_after_sale import delivered
from tests.services.orders.test_invoices import pdf as printed
from tests.services.orders.test_returns import asked, staff

pytestmark = pytest.mark.usefixtures("healed")

PARIS = {"name": "Ada", "line1": "2 Rue Haute", "city": "Paris", "postcode": "75001", "country": "FR"}


@pytest.fixture(scope="module")
def orders_settings(easypost: EasyPostStandIn) -> dict[str, str]:
    return label_settings(easypost)


@pytest.fixture(scope="module")
def kettle(shop: Shop) -> str:
    return shop.product(price=1601, delivery=300, weight_grams=700)


@pytest.fixture
def declared(shop: Shop, customer: Person) -> Iterator[Callable[..., Order]]:
    """Orders of things that customs know, sent to Paris by a shop in which somebody signs; the settings are put back."""

    def settings(**more: str) -> None:
        sent = {"country": "GB", "postcode": "LS1 4DY", **more}
        assert shop.admin.put(f"{shop.orders}/v1/admin/settings", json=sent, timeout=30).status_code == 200

    def placed(items: dict[str, int], **more: Any) -> Order:
        return shop.placed(customer, items, address=PARIS, **more)

    settings(customs_signer="Anna Signer", customs_origin="GB")
    yield placed
    settings()


def test_a_parcel_across_a_customs_border_is_declared(
    shop: Shop, customer: Person, declared: Callable[..., Order], easypost: EasyPostStandIn
) -> None:
    lamp = shop.product(
        price=1999, name="Lamp", weight_grams=700, customs={"hs_code": "94052190", "origin": "PT"}
    )
    mug = shop.product(price=500, name="Mug", weight_grams=333, customs={"hs_code": "691200"})
    code = f"CUSTOMS{secrets.token_hex(2).upper()}"
    promotion = {"name": "Customs", "codes": [code], "actions": [{"kind": "percent", "basis_points": 1000}]}
    ended = shop.made("/v1/admin/promotions", promotion)
    order = declared({lamp: 3, mug: 1}, codes=[code])
    label = bought(shop, order, {lamp: 2, mug: 1})
    shipment = easypost.shipments[easypost.purchases[-1]]
    info = shipment["customs_info"]
    items = info.pop("customs_items")
    assert info == {
        "contents_type": "merchandise",
        "restriction_type": "none",
        "non_delivery_option": "return",
        "eel_pfc": "NOEEI 30.37(a)",
        "customs_certify": True,
        "customs_signer": "Anna Signer",
    }
    lines = {line["productid"]: line for line in read(shop, order)["items"]}
    base = {key: line["tax"]["base"]["amount"] for key, line in lines.items()}
    assert base[lamp] < 3 * 1999 * 0.9, "without tax, after the discount"
    assert [(each["description"], each["quantity"], each["value"], each["currency"]) for each in items] == [
        ("Lamp", 2, round(base[lamp] * 2 / 3) / 100, "GBP"),
        ("Mug", 1, base[mug] / 100, "GBP"),
    ]
    assert [(each["hs_tariff_number"], each["origin_country"], each["code"]) for each in items] == [
        ("94052190", "PT", lamp),
        ("691200", "GB", mug),
    ]
    assert [each["weight"] for each in items] == [49.383, 11.746], "in ounces, of the line"
    assert label["forms"] == [{"kind": "commercial_invoice", "sent": False}]
    form = shop.get(shop.admin, labels_path(order, "/1/forms/1.pdf"))
    assert form.content.endswith(f"{shipment['id']}-invoice.pdf".encode())
    assert shop.get(shop.admin, labels_path(order, "/1/forms/2.pdf")).status_code == 404
    assert shop.get(customer, labels_path(order, "/1/forms/1.pdf")).status_code == 403
    assert says_form(shop, order, 0), "waiting for its parcel"
    assert shop.post(shop.admin, labels_path(order, "/1/dispatch"), {}).status_code == 201
    assert says_form(shop, order, 1)
    assert not says_form(shop, order, 0), "what is left has no label yet"
    light = buy(shop, order, {"weight_grams": 699})
    assert (light.status_code, list(light.json()["errors"])) == (422, ["weight_grams"])
    end = {**promotion, "active": False}
    url, headers = f"{shop.orders}/v1/admin/promotions/{ended['id']}", {"If-Match": "*"}
    shop.admin.put(url, json=end, headers=headers, timeout=30)


def says_form(shop: Shop, order: Order, parcel: int) -> bool:
    """On the packing slip."""
    path = f"/v1/admin/orders/{order['orderid']}/packing-slip.pdf?parcel={parcel}"
    return "A customs form comes with this parcel." in printed(shop, shop.admin, path)


def test_what_customs_want_to_know_is_asked_before_anything_is_bought(
    shop: Shop, declared: Callable[..., Order], kettle: str, easypost: EasyPostStandIn
) -> None:
    known = shop.product(name="Known", weight_grams=1, customs={"hs_code": "691200", "origin": "PT"})
    bare = shop.product(name="Bare", customs={"origin": "FR"})
    order, before = declared({kettle: 1, known: 1, bare: 1}), len(easypost.shipments)
    refused = buy(shop, order, {"weight_grams": 9000})
    assert (refused.status_code, refused.json()["code"]) == (409, "customs_incomplete")
    assert refused.json()["products"] == [
        {"productid": kettle, "name": f"Kettle {kettle}", "missing": ["hs_code"]},
        {"productid": bare, "name": "Bare", "missing": ["hs_code", "weight_grams"]},
    ]
    assert "Bare (HS code, weight)" in refused.json()["detail"]
    unsigned = {"country": "GB", "postcode": "LS1 4DY"}
    shop.admin.put(f"{shop.orders}/v1/admin/settings", json=unsigned, timeout=30)
    other = buy(shop, order, {"items": [{"productid": known, "quantity": 1}]})
    assert (other.status_code, other.json()["code"]) == (409, "label_refused")
    assert "who signs" in other.json()["detail"]
    assert len(easypost.shipments) == before
    assert read(shop, order)["labels"] == []


def test_what_comes_back_across_a_border_is_declared_as_returned_goods(
    shop: Shop, customer: Person, declared: Callable[..., Order], easypost: EasyPostStandIn
) -> None:
    lamp = shop.product(price=1200, weight_grams=700, customs={"hs_code": "940521"})
    order = delivered(shop, declared({lamp: 2}))
    assert asked(shop, customer, order, {lamp: 1}).status_code == 201
    assert staff(shop, order, 1, "approval").status_code == 201
    answer = staff(shop, order, 1, "label", {})
    assert answer.status_code == 201, answer.text
    info = easypost.shipments[easypost.purchases[-1]]["customs_info"]
    assert info["contents_type"] == "returned_goods"
    assert [(each["quantity"], each["value"]) for each in info["customs_items"]] == [(1, 10.0)]
    back = shop.get(customer, f"/v1/orders/{order['orderid']}").json()["returns"][0]
    assert back["label"]["forms"] == [{"kind": "commercial_invoice", "sent": False}]
    path = f"/v1/orders/{order['orderid']}/returns/1/forms/1.pdf"
    assert shop.get(customer, path).content.startswith(b"%PDF")
    assert shop.get(shop.customer(), path).status_code == 404
