"""The audit trail of the whole shop, as the desk shows, filters and hands it out; tests/journeys/test_audit.py finds who writes none."""

import csv
import io
import re
import secrets
from collections.abc import Callable
from typing import Any

import pytest

from services.storefront.rules import audit, audit_reasons
from services.storefront.translation import FOLDER, read_languages
from shared.translation import language_active
from tests.bench.running import ADMIN_EMAIL, Shop
from tests.people import PASSWORD, Person
from tests.processes import ROOT
from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.visitor import Visitor

GERMAN = read_languages(["de"], FOLDER)["de"]
ABSENT = f"absent-{secrets.token_hex(4)}"


@pytest.fixture(scope="module")
def admin(shop: Shop) -> Person:
    return Person(shop.urls["users"], ADMIN_EMAIL, shop.admin_password)


def entries(shop: Shop, admin: Person, **asked: str) -> list[dict[str, Any]]:
    answer = admin.get(f"{shop.urls['users']}/v1/admin/audit", params={"limit": "100", **asked}, timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


def test_customers_leave_none(shop: Shop, admin: Person, join: Callable[..., Visitor]) -> None:
    join("Uncounted Customer", email="uncounted.customer@example.com")
    customer = Person(shop.urls["users"], "uncounted.customer@example.com", PASSWORD)
    users = shop.urls["users"]
    assert customer.patch(f"{users}/v1/users/me", json={"name": "Uncounted"}, timeout=30).ok
    assert customer.get(f"{users}/v1/users/me/export", timeout=30).ok
    refused = customer.post(f"{shop.urls['orders']}/v1/orders/{ABSENT}/cancellation", timeout=30)
    assert refused.status_code == 404
    assert entries(shop, admin, actor=customer.userid) == []
    assert customer.get(f"{users}/v1/admin/audit", timeout=30).status_code == 403


def test_the_desk_shows_who_did_what_to_what(shop: Shop, admin: Person, keeper: Visitor) -> None:
    import_goods(keeper, [product("audited-vase", "Audited Vase", ["Audited"], 1900)])
    keeper.get("/admin/products/audited-vase")
    url = f"{shop.urls['products']}/v1/products/audited-vase"
    changed = {**product("audited-vase", "Audited Vase", ["Audited"], 2100), "stock": 20}
    assert admin.put(url, json=changed, timeout=30).ok
    assert admin.post(f"{url}/stock", json={"delta": -3, "reason": "broken"}, timeout=30).ok
    assert admin.post(f"{url}/stock", json={"delta": -300, "reason": "broken"}, timeout=30).status_code == 409
    page = keeper.get("/admin/audit?subject=audited-vase")
    assert (page.status, page.inline) == (200, [])
    newest, sold, before = (
        page.text.index(words)
        for words in ("Changed the stock: it did not work", "Change: -3", "Price: 21.00 GBP")
    )
    assert newest < sold < before
    assert "/admin/products/audited-vase" in [href for href, _ in page.links]
    assert "Admin" in page.text.split("About", 1)[1]
    nobody = keeper.get("/admin/audit?actor=nobody-at-all")
    assert "Nothing was done." in nobody.text
    assert "At most 13 months" in keeper.get("/admin/audit?from=2020-01-01").text
    assert keeper.get("/admin/audit?from=never").status == 200


def test_the_trail_is_a_file(shop: Shop, admin: Person, keeper: Visitor) -> None:
    url = f"{shop.urls['products']}/v1/products/spade/stock"
    for _ in range(2):
        assert admin.post(url, json={"delta": 1, "reason": "=1+1"}, timeout=30).ok
    link = keeper.get("/admin/audit?subject=spade").link("All of it as CSV")
    page = keeper.get(link)
    assert page.headers["Content-Type"].startswith("text/csv")
    rows = list(
        csv.DictReader(io.StringIO(page.body.decode() if isinstance(page.body, bytes) else page.body))
    )
    assert {row["subject"] for row in rows} == {"spade"}
    newest = rows[0]
    assert (newest["service"], newest["actor"], newest["action"]) == (
        "products",
        admin.userid,
        "change stock",
    )
    assert newest["details"] == '{"delta":1}', "what staff write freely is not kept"
    assert [row["date"] for row in rows] == sorted((row["date"] for row in rows), reverse=True)


def test_the_file_is_of_the_actor_that_the_page_is_filtered_by(
    shop: Shop, admin: Person, keeper: Visitor
) -> None:
    for actor, found in ((admin.userid, {admin.userid}), ("nobody-at-all", set())):
        link = keeper.get(f"/admin/audit?actor={actor}").link("All of it as CSV")
        rows = list(csv.DictReader(io.StringIO(keeper.get(link).body.decode())))
        assert {row["actor"] for row in rows} == found


def test_pages_hold_all_services_in_the_order_of_time(shop: Shop, admin: Person) -> None:
    orders, products = shop.urls["orders"], shop.urls["products"]
    for number in range(3):
        body = {"amount": {"amount": 100 + number, "currency": "GBP"}, "reason": "an example"}
        assert admin.post(f"{orders}/v1/admin/store-credit/{admin.userid}", json=body, timeout=30).ok
        stock = {"delta": 1, "reason": "counted"}
        assert admin.post(f"{products}/v1/products/rake/stock", json=stock, timeout=30).ok
        group = {"group": f"group-{number}"}
        users = f"{shop.urls['users']}/v1/admin/users/{admin.userid}/group"
        assert admin.put(users, json=group, timeout=30).ok
    assert admin.put(users, json={"group": ""}, timeout=30).ok
    seen: list[dict[str, Any]] = []
    cursor = ""
    while len(seen) < 10:
        more = {"cursor": cursor} if cursor else {}
        url = f"{shop.urls['users']}/v1/admin/audit"
        answer = admin.get(url, params={"limit": 3, "actor": admin.userid, **more}, timeout=30).json()
        seen, cursor = seen + answer["items"], answer["next"]
    cycle = [("users", "set group"), ("products", "change stock"), ("orders", "grant store credit")]
    assert [(each["service"], each["action"]) for each in seen[1:10]] == cycle * 3
    assert len({each["id"] for each in seen}) == len(seen)


def test_details_and_acts_of_the_operator_are_in_the_desk_s_language() -> None:
    entry = {"details": {"items": [{"productid": "p1", "quantity": 2, "condition": "damaged"}]}}
    with language_active(GERMAN):
        assert audit.details(entry) == [("Artikel", "Produkt p1, Menge 2, Zustand beschädigt")]
        assert audit.action_label("archive orders") == "Bestellungen eines Jahres ins Archiv verschoben"


ACTS_OF_STAFF = (
    *(
        "refunds",
        "line_refunds",
        "returns",
        "return_requests",
        "line_cancellations",
        "parcels",
        "parcel_labels",
    ),
    *("archive_years", "draft_placing", "order_emails", "gift_cards", "invoices"),
)
"""Modules of the orders service whose errors staff meet."""


def test_why_an_act_did_not_work_and_values_that_are_codes_have_words() -> None:
    items = [{"productid": "mug", "condition": "damaged"}]
    entry = {"details": {"code": "no_such_return", "items": items, "to": "store_credit"}}
    assert [text for _, text in audit.details(entry)] == [
        "there is no such return",
        "Product mug, Condition damaged",
        "store credit",
    ]
    with language_active(GERMAN):
        assert audit.details(entry)[:2] == [
            ("Grund", "diese Rücksendung gibt es nicht"),
            ("Artikel", "Produkt mug, Zustand beschädigt"),
        ]
    sources = [ROOT / "services" / "orders" / "actions" / f"{name}.py" for name in ACTS_OF_STAFF]
    codes = {code for path in sources for code in re.findall(r'code, title = "(\w+)"', path.read_text())}
    assert len(codes) > 20
    assert [code for code in sorted(codes) if not audit_reasons.is_known(code)] == []
