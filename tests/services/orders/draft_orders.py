"""Draft orders over HTTP: made, placed, and the orders that came of one."""

import secrets
from typing import Any

import requests

from shared.couch import Database
from tests.services.orders.conftest import Shop

PATH = "/v1/admin/drafts"
PLACE = {
    "name": "Grace Hopper",
    "line1": "1 Mill Lane",
    "city": "York",
    "postcode": "YO1 7PR",
    "country": "GB",
}


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
