"""Labels of parcels as the desk buys and reads them."""

from typing import Any

import requests

from tests.services.orders.conftest import Shop
from tests.services.orders.easypost_standin import EasyPostStandIn

Order = dict[str, Any]


def label_settings(easypost: EasyPostStandIn) -> dict[str, str]:
    """Of a shop in Leeds that buys its labels of the stand-in."""
    return {
        "COURIER": "manual",
        **easypost.label_settings,
        "SHOP_NAME": "Lamp & Book",
        "SHOP_ADDRESS": "9 Mill Lane; Leeds LS1 4DY",
    }


def labels_path(order: Order, rest: str = "") -> str:
    return f"/v1/admin/orders/{order['orderid']}/labels{rest}"


def buy(shop: Shop, order: Order, body: Any = None, key: str = "") -> requests.Response:
    headers = {"Idempotency-Key": key} if key else {}
    return shop.post(shop.admin, labels_path(order), body or {}, headers=headers)


def bought(shop: Shop, order: Order, items: dict[str, int] | None = None, **more: Any) -> Order:
    chosen = [{"productid": key, "quantity": count} for key, count in (items or {}).items()]
    answer = buy(shop, order, {**({"items": chosen} if items else {}), **more})
    assert answer.status_code == 201, answer.text
    found: Order = answer.json()
    return found


def read(shop: Shop, order: Order) -> Order:
    found: Order = shop.get(shop.admin, f"/v1/orders/{order['orderid']}").json()
    return found
