"""Staff's writes in all three services need the role at that moment; what a token said when it was made does not count."""

import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.people import Person
from tests.processes import Process, start_service
from tests.services.orders.conftest import SETTINGS, Shop

UNSAFE = {"post", "put", "patch", "delete"}
JSON = "application/json"


def staff_of(shop: Shop, role: str) -> Person:
    """A customer who was given a role, logged in with it."""
    email = shop.customer().email
    body = {"email": email, "roles": [role]}
    assert shop.admin.post(f"{shop.users}/v1/admin/staff", json=body, timeout=30).status_code == 200
    return Person(shop.users, email)


def dismiss(shop: Shop, who: Person) -> None:
    path = f"{shop.users}/v1/admin/staff/{who.userid}"
    assert shop.admin.put(path, json={"roles": []}, timeout=30).status_code == 200


def staff_writes(base: str, customer: Person) -> list[tuple[str, str, str]]:
    """(method, path, media type) of everything that changes something and that a customer may not do."""
    found = []
    for path, methods in requests.get(f"{base}/openapi.json", timeout=30).json()["paths"].items():
        for method in sorted(methods.keys() & UNSAFE):
            operation = methods[method]
            if operation.get("security") != [{"user": []}] or re.match(r"/v1/(users/me|sessions)", path):
                continue
            media = next(iter(operation.get("requestBody", {}).get("content", {JSON: {}})))
            place = re.sub(r"\{\w+\}", "nothing", path)
            if send(customer, method, base + place, media).status_code == 403:
                found.append((method, place, media))
    return found


def send(person: Person, method: str, url: str, media: str = JSON) -> requests.Response:
    headers = {"Content-Type": media, "Idempotency-Key": secrets.token_hex(8)}
    return person.request(method, url, data=b"{}", headers=headers, timeout=60)


def test_whoever_was_dismissed_changes_nothing_in_any_service(shop: Shop, customer: Person) -> None:
    rogue = staff_of(shop, "admin")
    tried = {base: staff_writes(base, customer) for base in (shop.users, shop.products, shop.orders)}
    assert [len(each) for each in tried.values()] >= [6, 6, 6]
    for base, writes in tried.items():
        assert any(send(rogue, *at(base, write)).status_code not in (401, 403) for write in writes)
    dismiss(shop, rogue)
    answers = {
        write: send(rogue, *at(base, write)).status_code for base, writes in tried.items() for write in writes
    }
    assert set(answers.values()) == {403}, answers


def test_a_dismissed_member_of_staff_cancels_nobodys_order(shop: Shop, customer: Person) -> None:
    """That is a customer's endpoint, which staff may use for any order."""
    orderid = shop.placed(customer, {shop.product(): 1})["orderid"]
    former = staff_of(shop, "staff")
    assert shop.get(former, f"/v1/orders/{orderid}").status_code == 200
    dismiss(shop, former)
    for verb, body in (("cancellation", {}), ("returns", {"items": [], "reason": "mine"})):
        assert shop.post(former, f"/v1/orders/{orderid}/{verb}", body).status_code in (404, 422)
    assert shop.get(customer, f"/v1/orders/{orderid}").json()["status"] in (
        "placed",
        "paid",
        "dispatched",
        "delivered",
    )


@pytest.fixture
def lonely(
    shop: Shop, environment: dict[str, str], service: Callable[..., str], tmp_path: Path
) -> Iterator[tuple[str, str, Process]]:
    """Orders and products services whose users service is one of their own, and that service."""
    users, url = start_service("users", tmp_path / "users.log", {**environment, **SETTINGS})
    names = ("orders", "products")
    kept = {f"{name.upper()}_URL": environment[f"{name.upper()}_URL"] for name in names}
    yield (*(service(name, USERS_URL=url) for name in names), users)
    environment.update(kept)
    users.stop()


def test_when_nobody_can_tell_staff_changes_nothing(
    shop: Shop, customer: Person, lonely: tuple[str, str, Process]
) -> None:
    orders, products, users = lonely
    productid = shop.product()
    orderid = shop.placed(customer, {productid: 1})["orderid"]
    stock: dict[str, Any] = {"delta": 1, "reason": "found"}
    path = f"{products}/v1/products/{productid}/stock"
    assert shop.admin.post(path, json=stock, timeout=30).status_code == 201
    assert customer.get(f"{orders}/v1/orders/{orderid}", timeout=30).status_code == 200
    users.kill()
    refused = [
        shop.admin.post(path, json=stock, timeout=30),
        shop.admin.post(f"{orders}/v1/admin/orders/{orderid}/delivery", timeout=30),
        shop.admin.put(f"{products}/v1/products/{productid}/picture", data=b"x", timeout=30),
    ]
    assert {answer.status_code for answer in refused} == {503}
    assert all("Retry-After" in answer.headers for answer in refused)
    seen = customer.get(f"{orders}/v1/orders/{orderid}", timeout=30)
    assert seen.status_code == 200, "customers read on: what ended up to a moment ago is known"


def at(base: str, write: tuple[str, str, str]) -> tuple[str, str, str]:
    method, place, media = write
    return method, base + place, media
