"""Two clerks place each draft order at once, while any process is killed the moment a step of it is seen: it is one order, or a draft still."""

import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from services.orders.documents import DESIGN
from services.products.documents import DESIGN as PRODUCTS
from tests.faults.aimed_kills import STEPS, Step
from tests.faults.shop import ADMIN, BreakableShop
from tests.faults.test_killed_acts import PRODUCT
from tests.faults.walks import UNDER_WAY, walk_while_killed
from tests.people import PASSWORD, Person
from tests.waiting import eventually

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1800)]

GOODS = {**PRODUCT, "productid": "phoned"}
PLACE = {"name": "Grace", "line1": "1 Mill Lane", "city": "York", "postcode": "YO1 7PR", "country": "GB"}
AIMS: dict[str, Step] = {
    "draft being placed": (DESIGN, lambda doc: doc.get("type") == "draftorder" and "placing" in doc),
    "draft placed": (DESIGN, lambda doc: doc.get("type") == "draftorder" and "order" in doc),
    "page opened": (DESIGN, lambda doc: doc.get("type") == "paymentsession"),
    **{name: STEPS[name] for name in ("order placed", "stock reserved", "stock sold", "payment written")},
}
CLERKS = 3
MAX_DRAFTS = 3000


@pytest.fixture(scope="module")
def admin(shop: BreakableShop) -> Person:
    person = Person(shop.url("users"), ADMIN, PASSWORD)
    made = person.post(f"{shop.url('products')}/v1/products", json=GOODS, timeout=30)
    assert made.status_code == 201, made.text
    return person


def insist(shop: BreakableShop, admin: Person, path: str, body: Any, key: str = "") -> requests.Response:
    """Pressed again until there is an answer that says how it ended."""
    headers = {"Authorization": admin.headers["Authorization"], **({"Idempotency-Key": key} if key else {})}
    ends = time.monotonic() + 240
    while True:
        try:
            url = f"{shop.url('orders')}{path}"
            answer = requests.post(url, json=body, headers=headers, timeout=30)
            code = answer.json().get("code") if answer.status_code == 409 else ""
            if answer.status_code < 500 and code not in ("attempt_closed", *UNDER_WAY):
                return answer
        except requests.RequestException:
            pass
        assert time.monotonic() < ends, path
        time.sleep(0.1)


def phone(
    shop: BreakableShop, admin: Person, clerk: int, number: int, drafts: dict[str, list[requests.Response]]
) -> None:
    """A draft, and two who place it at once."""
    body = {
        "email": f"phone{clerk}-{number}@example.com",
        "items": [{"productid": "phoned", "quantity": 1}],
        "address": PLACE,
    }
    made = insist(shop, admin, "/v1/admin/drafts", body, secrets.token_hex(8))
    assert made.status_code == 201, made.text
    id, payment = made.json()["id"], {"payment": {"kind": "cash" if number % 2 else "link"}}
    with ThreadPoolExecutor(2) as pool:
        path = f"/v1/admin/drafts/{id}/order"
        drafts[id] = list(pool.map(lambda _: insist(shop, admin, path, payment), range(2)))


def test_a_draft_is_one_order_whatever_is_killed(shop: BreakableShop, admin: Person) -> None:
    drafts: dict[str, list[requests.Response]] = {}
    kills, _ = walk_while_killed(
        shop, AIMS, CLERKS, MAX_DRAFTS, lambda clerk, number: phone(shop, admin, clerk, number, drafts)
    )
    aimed = kills.aimed
    assert sum(aimed[name] for name in AIMS) > sum(aimed.values()) / 2, aimed
    assert len(drafts) > 20
    answered = {id: {answer.json().get("orderid") for answer in answers} for id, answers in drafts.items()}
    assert all(answer.status_code == 201 for answers in drafts.values() for answer in answers), [
        answer.text for answers in drafts.values() for answer in answers if answer.status_code != 201
    ]
    assert eventually(lambda: not _wrong(shop, answered), seconds=120), _wrong(shop, answered)
    living = sum(len(orders) for orders in _orders(shop).values())
    left = eventually(lambda: _stock(shop) == GOODS["stock"] - living, seconds=60)
    assert left, (_stock(shop), living)


def _orders(shop: BreakableShop) -> dict[str, set[str]]:
    """By draft, the orders that were not cancelled."""
    docs = shop.documents(shop.orders())
    cancelled = {doc["orderid"] for doc in docs if doc.get("type") == "cancellation"}
    found: dict[str, set[str]] = {}
    for doc in docs:
        if doc.get("type") == "order" and doc["orderid"] not in cancelled:
            found.setdefault(doc["draft"], set()).add(doc["orderid"])
    return found


def _wrong(shop: BreakableShop, answered: dict[str, set[str]]) -> dict[str, Any]:
    """Drafts that have not exactly the order that both clerks were told of."""
    orders = _orders(shop)
    stored = {
        doc["id"]: doc.get("order", {}).get("orderid")
        for doc in shop.documents(shop.orders())
        if doc.get("type") == "draftorder"
    }
    return {
        id: (told, orders.get(id), stored.get(id))
        for id, told in answered.items()
        if not told == orders.get(id) == {stored.get(id)}
    }


def _stock(shop: BreakableShop) -> int:
    """What the ledger leaves of the goods."""
    docs = shop.documents(shop.server().open(PRODUCTS))
    return sum(doc["delta"] for doc in docs if doc.get("type") == "movement")
