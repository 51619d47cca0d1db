"""What staff note on an order: for them alone, and gone with the customer who is erased."""

import json
import secrets
from typing import Any

import pytest
import requests

from shared.couch import Database
from tests.patience import patient
from tests.people import Person
from tests.services.orders.conftest import Shop, calls
from tests.services.orders.test_after_sale import delivered


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    return {"COURIER": "manual"}


def path_of(order: dict[str, Any]) -> str:
    return f"/v1/admin/orders/{order['orderid']}/notes"


def test_staff_note_things_and_read_them_latest_first(
    shop: Shop, customer: Person, database: Database
) -> None:
    order = shop.placed(customer, {shop.product(): 1})
    path, key = path_of(order), {"Idempotency-Key": secrets.token_hex(8)}
    first = shop.post(shop.admin, path, {"text": "Rang twice.\nNobody there."}, headers=key)
    assert first.status_code == 201, first.text
    assert first.json()["by"] == f"user {shop.admin.userid}"
    again = shop.post(shop.admin, path, {"text": "Rang twice.\nNobody there."}, headers=key)
    assert again.json() == first.json()
    shop.post(shop.admin, path, {"text": "She rang back."})
    answer = shop.get(shop.admin, path)
    assert [each["text"] for each in answer.json()["items"]] == [
        "She rang back.",
        "Rang twice.\nNobody there.",
    ]
    by_id = 0 if database.has_one_copy else 1
    assert calls(answer) == {"partition": 1, "global": 0, "read": by_id, "write": 0}
    page = shop.get(shop.admin, path, params={"limit": 1}).json()
    rest = shop.get(shop.admin, path, params={"limit": 1, "cursor": page["next"]}).json()
    assert [each["text"] for each in rest["items"]] == ["Rang twice.\nNobody there."]
    for text in ("", "x" * 2001):
        assert shop.post(shop.admin, path, {"text": text}).status_code == 422
    assert shop.post(shop.admin, "/v1/admin/orders/none/notes", {"text": "x"}).status_code == 404


def test_customers_do_not_see_notes(shop: Shop, customer: Person) -> None:
    order = shop.placed(customer, {shop.product(): 1})
    text = f"secret {secrets.token_hex(6)}"
    assert shop.post(shop.admin, path_of(order), {"text": text}).status_code == 201
    assert text not in shop.get(customer, f"/v1/orders/{order['orderid']}").text
    assert shop.get(customer, path_of(order)).status_code == 403
    assert shop.post(customer, path_of(order), {"text": "mine"}).status_code == 403


def test_notes_and_what_was_written_beside_a_return_are_exported_and_erased(
    shop: Shop, database: Database, environment: dict[str, str]
) -> None:
    person, kettle, planted = shop.customer(), shop.product(), f"Mrs {secrets.token_hex(6)}"
    order = delivered(shop, shop.placed(person, {kettle: 1}))
    body = {"items": [{"productid": kettle, "quantity": 1}], "note": f"Ask for {planted}"}
    assert shop.post(person, f"/v1/orders/{order['orderid']}/returns", body).status_code == 201
    assert shop.post(shop.admin, path_of(order), {"text": f"{planted} is kind"}).status_code == 201
    service = {"Authorization": f"Service {environment['SERVICE_SECRET']}"}
    url = f"{shop.orders}/v1/internal/users/{person.userid}"
    exported = requests.get(f"{url}/orders", headers=service, timeout=60).text
    assert exported.count(planted) == 2
    counts = [
        patient(lambda: requests.post(f"{url}/anonymise", json={}, headers=service, timeout=30)).json()[
            "orders"
        ]
        for _ in range(2)
    ]
    assert counts == [1, 0] or (counts == [0, 0] and not database.has_one_copy), "asked again after a 503"
    assert planted not in json.dumps(database.partition(f"order{order['orderid']}").all())
    notes = shop.get(shop.admin, path_of(order)).json()["items"]
    assert [each["text"] for each in notes] == [""]
    assert (
        shop.get(shop.admin, f"/v1/orders/{order['orderid']}").json()["returns"][0]["status"] == "requested"
    )
