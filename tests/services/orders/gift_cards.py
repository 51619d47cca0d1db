"""Gift cards and store credit as the tests ask for them: issued, granted, what is left, what the provider took."""

from typing import Any

import requests

from shared.couch import Database
from shared.money import money
from tests.people import Person
from tests.services.orders.conftest import Shop


def issued(shop: Shop, amount: int, currency: str = "GBP", **more: Any) -> dict[str, Any]:
    """A new gift card, with its code."""
    return shop.made("/v1/admin/gift-cards", {"value": {"amount": amount, "currency": currency}, **more})


def card_of(shop: Shop, card: dict[str, Any]) -> dict[str, Any]:
    return shop.get(shop.admin, f"/v1/admin/gift-cards/{card['id']}").json()


def left_on(shop: Shop, card: dict[str, Any]) -> int:
    """The balance, which every entry and the sum of all agree about."""
    found = card_of(shop, card)
    total = 0
    for entry in found["entries"]:
        total += entry["amount"]["amount"]
        assert entry["balance"]["amount"] == total >= 0
    told = requests.post(f"{shop.orders}/v1/gift-cards/balance", json={"code": card["code"]}, timeout=30)
    assert told.json()["balance"] == found["balance"] == money(total, found["balance"]["currency"])
    return total


def granted(shop: Shop, person: Person, amount: int) -> None:
    path = f"/v1/admin/store-credit/{person.userid}"
    body = {"amount": money(amount, "GBP"), "reason": "Sorry for the dented kettle."}
    assert shop.post(shop.admin, path, body).status_code == 201


def store_credit_of(shop: Shop, person: Person) -> int:
    items = shop.get(person, "/v1/store-credit").json()["items"]
    return sum(item["balance"]["amount"] for item in items)


def charged_at(ledger: Database, orderid: str) -> int:
    """What the sandbox took of an order and has not paid back."""
    docs = ledger.partition(f"order{orderid}").all()
    taken = sum(doc["total"]["amount"] for doc in docs if doc["type"] == "charge" and doc["status"] == "paid")
    return taken - sum(doc["total"]["amount"] for doc in docs if doc["type"] == "ledgerrefund")
