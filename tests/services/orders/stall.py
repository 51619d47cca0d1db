"""Sales at a stall, as a device sends them."""

import secrets
from datetime import timedelta
from typing import Any

import requests

from shared.clock import iso, now
from tests.services.orders.conftest import Shop

PATH = "/v1/admin/stall"
TAXONOMY = ["Home", "Kitchen", "Kettles"]


def sale(items: dict[str, tuple[int, int]], *, minutes_ago: float = 5, **more: Any) -> dict[str, Any]:
    """`items`: (quantity, minor units of one) by productid."""
    total = sum(quantity * price for quantity, price in items.values())
    body = {
        "items": [
            {
                "productid": key,
                "quantity": quantity,
                "price": {"amount": price, "currency": "GBP"},
                "name": f"Kettle {key}",
                "taxonomy": TAXONOMY,
            }
            for key, (quantity, price) in items.items()
        ],
        "total": {"amount": total, "currency": "GBP"},
        "payment": {"kind": "cash"},
        "stall": "Market Square",
        "sold_at": iso(now() - timedelta(minutes=minutes_ago)),
        "sold_by": "seller-1",
    }
    return body | more


def sent(
    shop: Shop, person: requests.Session, body: dict[str, Any], key: str = "", **options: Any
) -> requests.Response:
    headers = {"Idempotency-Key": key or secrets.token_hex(8)}
    return shop.post(person, f"{PATH}/sales", body, headers=headers, **options)


def recorded(shop: Shop, person: requests.Session, body: dict[str, Any], key: str = "") -> dict[str, Any]:
    answer = sent(shop, person, body, key)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def level(shop: Shop, productid: str) -> int:
    """Where the stock's chain is, also below zero, which no answer calls a stock."""
    answer = shop.admin.get(f"{shop.products}/v1/products/{productid}/stock", timeout=30).json()
    return sum(each["delta"] for each in answer["movements"])
