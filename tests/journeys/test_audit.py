"""Every write of staff leaves an entry in the audit trail: all that the services' OpenAPI names, and while a service is killed."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from tests.bench.running import ADMIN_EMAIL, Shop, running_shop
from tests.people import Person

ABSENT = f"absent-{secrets.token_hex(4)}"
NO_WRITES = {("post", "/v1/admin/users/lookup"), ("post", "/v1/admin/stall/goods")}
"""Reads that are POSTs: so that no e-mail gets into a log, or as they name many products."""
SERVICES = ("users", "products", "orders")
WRITES = ("post", "put", "patch", "delete")
LINES = {"Content-Type": "application/x-ndjson"}


@dataclass(frozen=True)
class Example:
    """A request that its schema takes; most name what is not there, for an attempt has its entry, too."""

    json: Any = None
    data: bytes | None = None
    headers: dict[str, str] | None = None


AMOUNT = {"amount": 100, "currency": "GBP"}
ITEMS = [{"productid": ABSENT, "quantity": 1}]
PRODUCT = {
    "productid": ABSENT,
    "name": "Example",
    "taxonomy": ["Drafts"],
    "keywords": [],
    "brand": "Oak & Co",
    "colours": [],
    "description": "",
    "price": AMOUNT,
    "delivery": AMOUNT,
    "image": "",
    "status": "draft",
}
METHOD = {"id": ABSENT, "name": "Example", "rate": "flat", "prices": {"GBP": 100}}
EXAMPLES = {
    "POST /v1/admin/staff": Example({"email": ADMIN_EMAIL, "roles": ["customer", "admin"]}),
    "PUT /v1/admin/staff/{userid}": Example({"roles": ["customer", "admin"]}),
    "PUT /v1/admin/users/{userid}/group": Example({"group": ""}),
    "PUT /v1/admin/users/{userid}/closure": Example({"reason": "an example", "password": "not the password"}),
    "DELETE /v1/admin/users/{userid}": Example({"password": "not the password"}),
    "POST /v1/admin/customers/{userid}/notes": Example({"text": "an example"}),
    "POST /v1/admin/customers/{userid}/emails": Example({"kind": "verification"}),
    "POST /v1/admin/customers/import": Example(data=b"\n", headers=LINES),
    "POST /v1/admin/products/{productid}/notes": Example({"text": "an example"}),
    "PATCH /v1/users/me": Example({}),
    "DELETE /v1/users/me": Example({"current_password": "not the password"}),
    "POST /v1/products": Example(PRODUCT),
    "PUT /v1/products/{productid}": Example(PRODUCT),
    "POST /v1/products/{productid}/stock": Example({"delta": 1, "reason": "counted"}),
    "POST /v1/admin/products/bulk-edit": Example({"productids": [ABSENT], "status": "draft"}),
    "POST /v1/admin/products/stock": Example({"changes": [{"sku": ABSENT, "delta": 1}], "reason": "counted"}),
    "POST /v1/admin/stall/counts": Example(
        {
            "id": ABSENT,
            "stall": "Example",
            "items": [{"sku": ABSENT, "level": 1, "counted_at": "2026-11-23T10:00:00.000Z"}],
        }
    ),
    "POST /v1/admin/stall/sales": Example(
        {
            "items": [
                {
                    "productid": ABSENT,
                    "quantity": 1,
                    "price": AMOUNT,
                    "name": "Example",
                    "taxonomy": ["Drafts"],
                }
            ],
            "total": {"amount": 99, "currency": "GBP"},
            "payment": {"kind": "cash"},
            "stall": "Example",
            "sold_at": "2026-11-23T10:00:00.000Z",
            "sold_by": "nobody",
        }
    ),
    "POST /v1/admin/stall/cash-ups": Example(
        {"day": "2026-11-23", "stall": "Example", "sold_by": "nobody", "counted": AMOUNT}
    ),
    "POST /v1/admin/stall/oversold/{orderid}/settlement": Example({"outcome": "restocked"}),
    "POST /v1/admin/supplier-deliveries": Example(
        {"supplier": "Example", "items": [{"sku": ABSENT, "quantity": 1}]}
    ),
    "POST /v1/admin/supplier-deliveries/{deliveryid}/receipts": Example({"number": 1, "items": []}),
    "POST /v1/products/import": Example(data=b"\n", headers=LINES),
    "POST /v1/admin/categories": Example(data=b"\n", headers=LINES),
    "PUT /v1/admin/categories/{path}": Example({"path": ABSENT}),
    "POST /v1/admin/product-types": Example({"code": "audited", "name": "Audited", "attributes": []}),
    "PUT /v1/admin/product-types/{code}": Example({"code": ABSENT, "name": "Audited", "attributes": []}),
    "PUT /v1/admin/search/synonyms/{query}": Example({"query": ABSENT, "synonyms": ["something"]}),
    "PUT /v1/admin/search/redirects/{query}": Example({"query": ABSENT, "category": "Home"}),
    "PUT /v1/admin/search/pins/{query}": Example({"query": ABSENT, "productids": ["spade"]}),
    "PUT /v1/admin/search/hidden/{query}": Example({"query": ABSENT}),
    "POST /v1/admin/orders/{orderid}/dispatch": Example({"courier": "Bike", "courierid": "1"}),
    "POST /v1/admin/orders/{orderid}/refunds": Example({"amount": AMOUNT, "reason": "an example"}),
    "POST /v1/admin/orders/{orderid}/emails": Example({"kind": "payment"}),
    "PUT /v1/admin/orders/{orderid}/gift-recipient": Example({"email": f"{ABSENT}@example.com"}),
    "POST /v1/admin/orders/{orderid}/notes": Example({"text": "an example"}),
    "POST /v1/admin/orders/{orderid}/returns/{number}/refusal": Example({"reason": "an example"}),
    "POST /v1/admin/orders/{orderid}/returns/{number}/receipt": Example(
        {"items": [{**ITEMS[0], "condition": "damaged"}]}
    ),
    "POST /v1/admin/drafts": Example({}),
    "PUT /v1/admin/drafts/{id}": Example({}),
    "POST /v1/admin/drafts/{id}/order": Example({"payment": {"kind": "cash"}}),
    "POST /v1/admin/orders/{orderid}/refunds/{number}/settlement": Example({"reference": "an example"}),
    "POST /v1/admin/guests/export": Example({"email": f"{ABSENT}@example.com"}),
    "POST /v1/admin/guests/erasure": Example({"email": f"{ABSENT}@example.com"}),
    "POST /v1/admin/orders/import": Example(data=b"\n", headers=LINES),
    "POST /v1/orders/{orderid}/returns": Example({"items": ITEMS}),
    "POST /v1/admin/gift-cards": Example({"value": AMOUNT}),
    "PUT /v1/admin/gift-cards/{id}": Example({"balance": 0, "note": "an example"}),
    "POST /v1/admin/store-credit/{userid}": Example({"amount": AMOUNT, "reason": "an example"}),
    "POST /v1/admin/archives/{year}": Example({"act": "remove"}),
    "POST /v1/admin/reports": Example(
        {"kind": "sales", "by": "day", "from": "2001-01-01", "to": "2001-01-02"}
    ),
    "POST /v1/admin/reports/closings": Example({"kind": "day", "period": "2001-01-01"}),
    "POST /v1/admin/shipping-methods": Example(METHOD),
    "PUT /v1/admin/shipping-methods/{id}": Example(METHOD),
    "POST /v1/admin/tax-rates": Example({"country": "AQ", "name": "Example", "rate": 1, "active": False}),
    "PUT /v1/admin/tax-rates/{id}": Example({"country": "AQ", "name": "Example", "rate": 1, "active": False}),
    "POST /v1/admin/promotions": Example(
        {
            "name": "Example",
            "active": False,
            "codes": [ABSENT.upper()],
            "actions": [{"kind": "percent", "basis_points": 1}],
        }
    ),
    "PUT /v1/admin/promotions/{id}": Example(
        {"name": "Example", "active": False, "actions": [{"kind": "percent", "basis_points": 1}]}
    ),
    "PUT /v1/admin/settings": Example({"country": "GB"}),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with running_shop(tmp_path_factory.mktemp("audit"), WEB_WORKERS="1") as running:
        yield running


@pytest.fixture(scope="module")
def admin(shop: Shop) -> Person:
    return Person(shop.urls["users"], ADMIN_EMAIL, shop.admin_password)


@pytest.fixture(scope="module")
def operations(shop: Shop) -> list[tuple[str, str, str, dict[str, Any]]]:
    """(service, method, path, what OpenAPI says) of all that staff do."""
    found = []
    for service in SERVICES:
        paths = requests.get(f"{shop.urls[service]}/openapi.json", timeout=30).json()["paths"]
        for path, methods in paths.items():
            for method, operation in methods.items():
                of_staff = method in WRITES and ("x-roles" in operation or path.startswith("/v1/admin"))
                if (of_staff and (method, path) not in NO_WRITES) or "x-audited" in operation:
                    found.append((service, method, path, operation))
    return found


def entries(shop: Shop, admin: Person, **asked: str) -> list[dict[str, Any]]:
    answer = admin.get(f"{shop.urls['users']}/v1/admin/audit", params={"limit": "100", **asked}, timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


def test_every_write_of_staff_leaves_an_entry(shop: Shop, admin: Person, operations: list) -> None:
    assert len(operations) > 45
    unmarked = [f"{method} {path}" for _, method, path, each in operations if "x-audited" not in each]
    assert not unmarked, "these need @audited (shared/web/audit.py)"
    sent = {}
    for service, method, path, operation in operations:
        name = f"{method.upper()} {path}"
        example = EXAMPLES.get(name, Example())
        filled = path.replace("{userid}", admin.userid).replace("{number}", "1")
        for each in operation.get("parameters", []):
            filled = filled.replace("{" + str(each.get("name")) + "}", ABSENT)
        request = f"walk-{secrets.token_hex(8)}"
        answer = admin.request(
            method,
            shop.urls[service] + filled,
            json=example.json,
            data=example.data,
            headers={"X-Request-ID": request, "If-Match": '"of-no-version"', **(example.headers or {})},
            timeout=60,
        )
        assert answer.status_code not in (401, 405, 500, 503), (name, answer.text)
        sent[request] = (name, operation["x-audited"], answer)
    found = {}
    for service in SERVICES:
        for each in entries(shop, admin, actor=admin.userid, service=service):
            found.setdefault(each.get("request"), []).append(each["action"])
    missing = {
        name: (answer.status_code, answer.text, found.get(request))
        for request, (name, action, answer) in sent.items()
        if found.get(request) != ([action] if answer.ok else [f"{action}: failed", action])
    }
    assert missing == {}
