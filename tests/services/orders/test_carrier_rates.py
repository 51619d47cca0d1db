"""Shipping at a carrier's own rate: asked once for a quote, charged as it was shown, and what happens while the carrier is away."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.people import Person
from tests.services.orders.conftest import Shop, calls
from tests.services.orders.easypost_standin import API_KEY, EasyPostStandIn, refusal
from tests.waiting import eventually

GBP = "GBP"
UK = {"name": "Ada", "line1": "1 High Street", "city": "Bath", "postcode": "BA1 1AA", "country": "GB"}
METHODS: tuple[dict[str, Any], ...] = (
    {"id": "cheapest", "name": "Cheapest", "service": ""},
    {"id": "next-day", "name": "Next day", "service": "RoyalMail/Tracked24", "fallback_prices": {GBP: 777}},
    {"id": "royal", "name": "Royal Mail", "service": "royalmail", "min_days": 1, "max_days": 9},
    {"id": "light", "name": "Letters", "service": "Evri", "max_grams": 100, "free_from": {GBP: 50_00}},
    {
        "id": "split",
        "name": "Parcels",
        "service": "royalmail",
        "zones": [{"country": "IE"}],
        "parcel_grams": 1000,
        "fallback_prices": {GBP: 600},
    },
    {
        "id": "bands",
        "name": "By weight",
        "rate": "weight",
        "zones": [{"country": "IE"}],
        "parcel_grams": 1000,
        "bands": [
            {"from": 0, "price": {"amount": 300, "currency": GBP}},
            {"from": 700, "price": {"amount": 450, "currency": GBP}},
        ],
    },
)
DUBLIN = UK | {"city": "Dublin", "postcode": "D02 AF30", "country": "IE"}


@pytest.fixture(autouse=True)
def without_surcharge(healed: None, easypost: EasyPostStandIn) -> Iterator[None]:
    yield
    easypost.surcharge = 0


@pytest.fixture(scope="module")
def orders_settings(easypost: EasyPostStandIn) -> dict[str, str]:
    return {
        "RATE_PROVIDERS": "easypost",
        "EASYPOST_URL": easypost.url,
        "EASYPOST_API_KEY": API_KEY,
    }


@pytest.fixture(scope="module", autouse=True)
def methods(shop: Shop) -> None:
    saved = shop.admin.put(
        f"{shop.orders}/v1/admin/settings", json={"country": "GB", "postcode": "LS1 4DY"}, timeout=30
    )
    assert saved.status_code == 200, saved.text
    for position, method in enumerate(METHODS):
        content = {"rate": "carrier", "provider": "easypost", "position": position, **method}
        answer = shop.post(shop.admin, "/v1/admin/shipping-methods", content)
        assert answer.status_code == 201, answer.text


_grams = iter(range(1, 10_000))


@pytest.fixture
def goods(shop: Shop) -> str:
    """A product of a weight that no other has, about a pound: nobody has asked for its rates before."""
    return weighing(shop, 500 + next(_grams) * 3)


def weighing(shop: Shop, grams: int | None, price: int = 1000) -> str:
    productid = f"w{secrets.token_hex(5)}"
    body = {
        "productid": productid,
        "taxonomy": ["Home", "Weights"],
        "keywords": [],
        "brand": "Acme",
        "name": f"Weight {productid}",
        "description": "",
        "colours": [],
        "image": "",
        "price": {"amount": price, "currency": GBP},
        "stock": 100,
        **({"weight_grams": grams} if grams else {}),
    }
    answer = shop.admin.post(f"{shop.products}/v1/products", json=body, timeout=30)
    assert answer.status_code == 201, answer.text
    return productid


def quote(url: str, productid: str, quantity: int = 1, **more: Any) -> requests.Response:
    body = {"items": [{"productid": productid, "quantity": quantity}], "address": UK, **more}
    return requests.post(f"{url}/v1/orders/quote", json=body, timeout=30)


def rated(url: str, productid: str, quantity: int = 1, **more: Any) -> requests.Response:
    """A quote for which the carrier was asked in time: a busy machine, or a breaker that has just opened, may need a second one."""

    def answered() -> requests.Response | None:
        answer = quote(url, productid, quantity, **more)
        return answer if answer.ok and "unpriced_shipping" not in answer.json() else None

    return eventually(answered)


def options(answer: requests.Response) -> dict[str, int]:
    """Prices by method."""
    assert answer.status_code == 200, answer.text
    return {each["id"]: each["price"]["amount"] for each in answer.json()["shipping_options"]}


def is_of(shipment: dict[str, Any], grams: int) -> bool:
    """Whether EasyPost was asked for so much: in ounces, to the tenth above."""
    return bool(grams <= shipment["parcel"]["weight"] * 28.349523125 < grams + 2.84)


def test_a_quote_has_the_carriers_rates(shop: Shop, easypost: EasyPostStandIn, goods: str) -> None:
    """Without a database call; the buyer's name and street stay here."""
    answer = rated(shop.orders, goods)
    grams = shop.admin.get(f"{shop.products}/v1/products/{goods}", timeout=30).json()["weight_grams"]
    found = answer.json()
    assert options(answer) == {"cheapest": 350, "next-day": 500, "royal": 350}, found
    assert set(calls(answer).values()) == {0}
    cheapest, next_day, royal = found["shipping_options"]
    assert cheapest["carrier"] == {"name": "RoyalMail", "service": "Tracked48"}
    assert next_day["days"] == {"min": 1, "max": 1}
    assert royal["days"] == {"min": 1, "max": 9}, "the method's own"
    assert "unpriced_shipping" not in found
    before = len(easypost.requests)
    assert rated(shop.orders, goods).json() == found
    assert len(easypost.requests) == before, "the answer was kept"
    other = weighing(shop, grams + 1)
    rated(shop.orders, other)
    assert len(easypost.requests) == before + 1, "once for all three methods"
    asked = next(each for each in easypost.asked if is_of(each, grams))
    assert asked["to_address"] == {"country": "GB", "zip": "BA1 1AA"}
    assert asked["from_address"] == {"country": "GB", "zip": "LS1 4DY"}


def test_checkout_charges_what_the_quote_showed_in_every_replica(
    shop: Shop, easypost: EasyPostStandIn, goods: str, replica: str, customer: Person
) -> None:
    shown = rated(shop.orders, goods, shipping="next-day").json()
    asked, easypost.surcharge = len(easypost.requests), 1000
    assert quote(replica, goods, shipping="next-day").json()["total"] == shown["total"]
    order = shop.placed(customer, {goods: 1}, address=UK, shipping="next-day", expected_total=shown["total"])
    assert len(easypost.requests) == asked, "the answer was kept"
    assert order["shipping"] == shown["shipping"]
    assert order["shipping"]["carrier"] == {"name": "RoyalMail", "service": "Tracked24"}
    assert order["payment"]["total"] == shown["total"]
    kept = shop.get(customer, f"/v1/orders/{order['orderid']}").json()["shipping"]
    assert kept == shown["shipping"]


def test_a_rate_that_rose_meanwhile_charges_nothing(
    shop: Shop, easypost: EasyPostStandIn, goods: str, customer: Person
) -> None:
    """Two of them are another parcel: its rate is asked for anew."""
    shown = rated(shop.orders, goods).json()
    dearer = {"amount": shown["total"]["amount"] + 1000, "currency": GBP}
    rated(shop.orders, goods, 2)
    refused = shop.order(customer, {goods: 2}, address=UK, shipping="royal", expected_total=dearer)
    assert (refused.status_code, refused.json()["code"]) == (409, "price_changed")


@pytest.mark.parametrize(
    "fault",
    [
        "lose",
        "garbage",
        (500, {}),
        refusal(429, "RATE_LIMITED"),
        refusal(401, "APIKEY.INACTIVE"),
        (200, {"rates": [{"carrier": "RoyalMail", "service": "Tracked24", "rate": "-1", "currency": "GBP"}]}),
        (200, {"rates": [{"carrier": "RoyalMail"}]}),
        (200, {}),
    ],
    ids=str,
)
def test_without_an_answer_only_what_the_method_says_is_offered(
    shop: Shop, easypost: EasyPostStandIn, goods: str, customer: Person, fault: Any
) -> None:
    easypost.break_(fault)
    answer = quote(shop.orders, goods)
    assert options(answer) == {"next-day": 777}
    found = answer.json()
    assert found["shipping"]["fallback"] is True
    assert found["unpriced_shipping"] == [
        {"id": "cheapest", "name": "Cheapest", "reason": "carrier_unavailable"},
        {"id": "royal", "name": "Royal Mail", "reason": "carrier_unavailable"},
    ]
    refused = quote(shop.orders, goods, shipping="royal")
    assert (refused.status_code, refused.json()["code"]) == (503, "carrier_unavailable")
    before = shop.get(customer, "/v1/orders").json()["items"]
    refused = shop.order(customer, {goods: 1}, address=UK, shipping="royal")
    assert (refused.status_code, refused.json()["code"]) == (503, "carrier_unavailable")
    assert shop.get(customer, "/v1/orders").json()["items"] == before, "nothing was written"
    order = shop.placed(customer, {goods: 1}, address=UK, shipping="next-day", expected_total=found["total"])
    assert (order["shipping"]["price"]["amount"], order["shipping"]["fallback"]) == (777, True)
    easypost.heal()
    assert options(rated(shop.orders, goods)) == {"cheapest": 350, "next-day": 500, "royal": 350}


def test_nothing_but_a_carrier_that_is_away_says_so(
    shop: Shop, easypost: EasyPostStandIn, goods: str
) -> None:
    path = "/v1/admin/shipping-methods/next-day"
    content = shop.get(shop.admin, path).json()

    def put(prices: dict[str, int]) -> requests.Response:
        changed = content | {"fallback_prices": prices}
        return shop.admin.put(f"{shop.orders}{path}", json=changed, timeout=30)

    assert put({}).status_code == 200
    try:
        easypost.break_((503, {}))
        answer = quote(shop.orders, goods)
        assert (answer.status_code, answer.json()["code"]) == (503, "carrier_unavailable")
        assert answer.headers["Retry-After"]
    finally:
        assert put({GBP: 777}).status_code == 200


def test_a_carrier_that_hangs_is_not_waited_for_again_and_again(
    shop: Shop, easypost: EasyPostStandIn
) -> None:
    """A few quotes wait for their deadline; then the breaker knows, and the carrier is not asked any more until it answers."""
    easypost.break_("hang")
    assert options(quote(shop.orders, weighing(shop, 20_000))) == {"next-day": 777}

    def is_not_asked() -> bool:
        goods, before = weighing(shop, 21_000 + next(_grams)), easypost.accepted
        assert options(quote(shop.orders, goods)) == {"next-day": 777}
        return easypost.accepted == before

    eventually(is_not_asked)
    easypost.heal()
    eventually(lambda: len(options(quote(shop.orders, weighing(shop, 23_000 + next(_grams))))) == 3)


def in_time(answer: requests.Response) -> list[requests.Response]:
    """The answer, unless the carrier was not asked in time."""
    return [] if "unpriced_shipping" in answer.json() else [answer]


def test_a_place_that_the_carrier_does_not_serve_is_not_offered(shop: Shop, goods: str) -> None:
    """No fallback: the carrier has answered."""
    for postcode in ("BT1 5GS", "ZZ1 1ZZ"):
        place = UK | {"postcode": postcode}
        (answer,) = eventually(lambda place=place: in_time(quote(shop.orders, goods, address=place)))
        assert (answer.status_code, answer.json()["code"]) == (422, "not_delivered"), answer.text


def test_goods_without_a_weight_have_no_carriers_rate(shop: Shop, easypost: EasyPostStandIn) -> None:
    asked, unknown = len(easypost.requests), weighing(shop, None)
    answer = quote(shop.orders, unknown)
    assert options(answer) == {"next-day": 777}
    assert {each["reason"] for each in answer.json()["unpriced_shipping"]} == {"weight_unknown"}
    assert len(easypost.requests) == asked


def test_a_method_keeps_its_own_limits(shop: Shop) -> None:
    light = weighing(shop, 40)
    assert options(rated(shop.orders, light))["light"] == 295
    assert "light" not in options(rated(shop.orders, light, 3)), "over 100 g"
    dear = weighing(shop, 41, price=50_00)
    found = options(rated(shop.orders, dear))
    assert (found["light"], found["royal"]) == (0, 250), "free from 50.00"


def test_what_is_not_connected_cannot_be_saved(shop: Shop) -> None:
    for content, words in (
        ({"provider": "pigeon"}, "RATE_PROVIDERS names easypost."),
        ({}, "Name the provider"),
    ):
        body = {"id": f"m{secrets.token_hex(3)}", "name": "Pigeon", "rate": "carrier", **content}
        answer = shop.post(shop.admin, "/v1/admin/shipping-methods", body)
        assert answer.status_code == 422
        assert words in answer.json()["errors"]["provider"][0]


def test_an_order_too_heavy_for_one_parcel_is_priced_as_several(
    shop: Shop, easypost: EasyPostStandIn, customer: Person
) -> None:
    """Of 610, 305, 305 and 305 g no more than 1,000 go into one: 915 and 610. The carrier prices each, and 1,525 for the other methods."""
    heavy, light = weighing(shop, 610), weighing(shop, 305)
    items = [{"productid": light, "quantity": 3}, {"productid": heavy, "quantity": 1}]
    asked = len(easypost.asked)
    answer = rated(shop.orders, heavy, items=items, address=DUBLIN, shipping="split")
    found = answer.json()
    asked_for = easypost.asked[asked:]
    assert len(asked_for) == 3
    for grams in (915, 610, 1525):
        assert [is_of(each, grams) for each in asked_for].count(True) == 1, grams
    assert options(answer) | {"split": 250 + 100 + 250 + 200, "bands": 450 + 300} == options(answer)
    assert found["shipping"]["parcels"] == 2
    assert {each["id"]: each.get("parcels") for each in found["shipping_options"]} == {
        "cheapest": None,
        "next-day": None,
        "royal": None,
        "split": 2,
        "bands": 2,
    }
    assert found["shipping"]["days"] == {"min": 2, "max": 2}
    order = shop.placed(
        customer,
        {light: 3, heavy: 1},
        address=DUBLIN,
        shipping="split",
        expected_total=found["total"],
    )
    assert (order["shipping"], order["payment"]["total"]) == (found["shipping"], found["total"])
    assert shop.get(customer, f"/v1/orders/{order['orderid']}").json()["shipping"]["parcels"] == 2


def test_parcels_without_a_carrier_cost_the_fixed_price_each(shop: Shop, easypost: EasyPostStandIn) -> None:
    easypost.break_((503, {}))
    answer = quote(shop.orders, weighing(shop, 620), 4, address=DUBLIN)
    assert (options(answer)["split"], options(answer)["bands"]) == (2400, 1200)


@pytest.mark.parametrize(("grams", "quantity"), [(1001, 1), (1000, 21)])
def test_what_no_parcels_hold_does_not_go_that_way(shop: Shop, grams: int, quantity: int) -> None:
    """A piece that is heavier than a parcel may be, and more than twenty parcels."""
    found = options(rated(shop.orders, weighing(shop, grams), quantity, address=DUBLIN))
    assert found.keys() & {"split", "bands"} == set()
    assert "royal" in found
    if quantity > 1:
        assert "bands" in options(quote(shop.orders, weighing(shop, grams), quantity - 1, address=DUBLIN))


def test_parcels_have_no_price_by_value(shop: Shop) -> None:
    body = {"id": f"m{secrets.token_hex(3)}", "name": "By value", "rate": "value", "parcel_grams": 1000}
    answer = shop.post(
        shop.admin,
        "/v1/admin/shipping-methods",
        body | {"bands": [{"from": 0, "price": {"amount": 300, "currency": GBP}}]},
    )
    assert (answer.status_code, "parcel_grams" in answer.json()["errors"]) == (422, True), answer.text
