"""What the shop hands out of a person's orders, and what is left when the person is erased, over the services' own pages."""

import json
import secrets
from typing import Any

import requests

from services.orders.documents import promotion_partition
from shared.couch import Database
from tests.people import Person
from tests.services.orders.conftest import Shop
from tests.services.orders.gift_cards import granted
from tests.services.orders.test_gift_card_products import gift_card_product
from tests.services.orders.test_promotions import code, promotion


def recipient() -> dict[str, str]:
    mark = secrets.token_hex(5)
    return {"email": f"grace{mark}@example.com", "name": f"Grace {mark}", "message": f"Happy {mark}!"}


def exported(shop: Shop, person: Person) -> dict[str, Any]:
    answer = person.get(f"{shop.users}/v1/users/me/export", timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_export_has_whom_a_gift_card_was_for_and_the_store_credit(shop: Shop) -> None:
    person, card, grace = shop.customer(), gift_card_product(shop), recipient()
    order = shop.placed(person, {card: 1}, gift_recipient=grace)
    plain = shop.placed(person, {shop.product(): 1})
    granted(shop, person, 700)
    data = exported(shop, person)
    orders = {each["orderid"]: each for each in data["orders"]}
    assert orders[order["orderid"]]["gift_recipient"] == grace
    assert "gift_recipient" not in orders[plain["orderid"]]
    (credit,) = data["store_credit"]
    assert credit["balance"] == {"amount": 700, "currency": "GBP"}
    assert [entry["reason"] for entry in credit["entries"]] == ["granted"]


def test_an_erasure_reaches_recipients_messages_and_the_uses_of_codes(shop: Shop, database: Database) -> None:
    """A code's uses stay counted in all, and nothing says any more which of them were one customer's."""
    person, card, ten, grace = shop.customer(), gift_card_product(shop), code(), recipient()
    made = promotion(shop, codes=[ten], limit=5, per_customer=3)
    shop.placed(person, {card: 1}, gift_recipient=grace)
    order = shop.placed(person, {shop.product(): 1}, codes=[ten])
    uses = database.partition(promotion_partition(made["id"])).all("customer")
    assert [use["orderid"] for use in uses] == [order["orderid"]]
    gone = person.delete(f"{shop.users}/v1/users/me", timeout=60)
    assert gone.status_code == 204, gone.text
    left = json.dumps([row.doc for row in database.changes(limit=100_000).rows if row.doc])
    for trace in (*grace.values(), person.email):
        assert trace not in left
    assert database.partition(promotion_partition(made["id"])).all("customer") == []
    path = f"{shop.orders}/v1/admin/promotions/{made['id']}/uses"
    assert shop.admin.get(path, timeout=30).json() == {"used": 1, "limit": 5}
    assert requests.get(f"{shop.users}/v1/users/me/export", timeout=30).status_code == 401
