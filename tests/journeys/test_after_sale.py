"""After the sale over HTTP, through all services as `make run` starts them: three parcels, a part cancelled, a part sent back damaged."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.bench.running import ADMIN_EMAIL, Shop, running_shop
from tests.people import ADDRESS, Person, register
from tests.services.storefront.conftest import load_goods
from tests.waiting import eventually

Order = dict[str, Any]
MUG, LAMP = "mug-red", "lamp-1"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop whose people dispatch."""
    with running_shop(tmp_path_factory.mktemp("after-sale"), COURIER="manual") as running:
        load_goods(running)
        yield running


@pytest.fixture(scope="module")
def admin(shop: Shop) -> Person:
    return Person(shop.urls["users"], ADMIN_EMAIL, shop.admin_password)


@pytest.fixture(scope="module")
def customer(shop: Shop) -> Person:
    return register(shop.urls["users"], shop.state / "mail")


def asked(shop: Shop, person: requests.Session, path: str, body: Any = None) -> Order:
    headers = {"Idempotency-Key": secrets.token_hex(8)}
    answer = person.post(f"{shop.urls['orders']}{path}", json=body, headers=headers, timeout=60)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def seen(shop: Shop, person: requests.Session, order: Order) -> Order:
    return dict(person.get(f"{shop.urls['orders']}/v1/orders/{order['orderid']}", timeout=60).json())


def stock(shop: Shop, admin: Person, productid: str) -> int:
    return int(
        admin.get(f"{shop.urls['products']}/v1/products/{productid}/stock", timeout=60).json()["stock"]
    )


def items(**quantities: int) -> list[Order]:
    return [{"productid": name.replace("_", "-"), "quantity": count} for name, count in quantities.items()]


def test_three_parcels_a_cancelled_line_and_a_damaged_return(
    shop: Shop, admin: Person, customer: Person
) -> None:
    before = {name: stock(shop, admin, name) for name in (MUG, LAMP)}
    payment = {"provider": "sandbox", "token": "tok_ok"}
    order = asked(
        shop,
        customer,
        "/v1/orders",
        {"items": items(mug_red=5, lamp_1=2), "address": ADDRESS, "payment": payment},
    )
    own, desk = f"/v1/orders/{order['orderid']}", f"/v1/admin/orders/{order['orderid']}"
    asked(shop, customer, f"{own}/cancellation", {"items": items(mug_red=1), "reason": "one less"})
    for number, content in enumerate((items(mug_red=2), items(lamp_1=2), None), 1):
        parcel = {
            "courier": "post",
            "courierid": f"p{number}",
            "tracking_url": f"https://post.example/{number}",
        }
        found = asked(shop, admin, f"{desk}/dispatch", parcel | ({"items": content} if content else {}))
    assert (found["status"], len(found["parcels"])) == ("dispatched", 3)
    for number in (3, 1, 2):
        found = asked(shop, admin, f"{desk}/parcels/{number}/delivery")
    assert found["status"] == "delivered"
    asked(shop, customer, f"{own}/returns", {"items": items(mug_red=3), "reason": "chipped"})
    asked(shop, admin, f"{desk}/returns/1/approval")
    received = [
        {"productid": MUG, "quantity": 1, "condition": "resaleable"},
        {"productid": MUG, "quantity": 2, "condition": "damaged"},
    ]
    asked(shop, admin, f"{desk}/returns/1/receipt", {"items": received})
    found = eventually(
        lambda: (
            (now := seen(shop, customer, order))["returns"][0]["restocked"]
            and all(refund["settled"] for refund in now["refunds"])
            and now
        )
    )
    (mug,) = (line for line in found["items"] if line["productid"] == MUG)
    assert [refund["total"]["amount"] for refund in found["refunds"]] == [
        mug["payable"]["amount"] // 5,
        mug["payable"]["amount"] * 4 // 5 - mug["payable"]["amount"] // 5,
    ]
    assert (found["returned"], mug["status"]) == ("part", "partly_returned")
    assert stock(shop, admin, MUG) == before[MUG] - 5 + 1 + 1
    assert stock(shop, admin, LAMP) == before[LAMP] - 2
