"""Drafts, archived products and bulk edits at the desk, and what visitors see of them."""

from datetime import timedelta

import pytest
import requests

from shared.clock import iso, now
from tests.bench.running import ADMIN_EMAIL, Shop
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

PRODUCTS, BULK = "/admin/products", "/admin/products/bulk-edit"
LAMP = {"taxonomy": "Lanterns", "price": "10.00", "currency": "GBP", "stock": "3"}


def make(keeper: Visitor, productid: str, **fields: str) -> Page:
    keeper.get("/admin/products/new")
    page = keeper.submit(
        "/admin/products/new", productid=productid, name=f"Lantern {productid}", **LAMP, **fields
    )
    assert "Created." in page.text, page.text
    return page


def choose(keeper: Visitor, list_at: str, *productids: str, change: str, value: str = "") -> Page:
    """Chooses products in a list of the desk and sends the form below it."""
    keeper.get(list_at)
    chosen = {f"product-{number}": productid for number, productid in enumerate(productids, 1)}
    return keeper.submit(BULK, change=change, value=value, **chosen)


def test_a_draft_is_seen_by_staff_alone(keeper: Visitor, visitor: Visitor) -> None:
    make(keeper, "draft-1", status="draft")
    assert visitor.get("/product/draft-1").status == 404
    preview = keeper.get("/product/draft-1")
    assert "Only staff see this page: draft." in preview.text
    assert "Lantern draft-1" in keeper.get(f"{PRODUCTS}?status=draft").text
    assert "Lantern draft-1" not in visitor.get("/search?q=lantern").text
    assert keeper.get(f"{PRODUCTS}/draft-1").form(f"{PRODUCTS}/draft-1").values["status"] == "draft"
    keeper.submit(f"{PRODUCTS}/draft-1", status="active")
    assert visitor.get("/product/draft-1").status == 200


def test_a_date_is_typed_in_and_listed(keeper: Visitor, visitor: Visitor) -> None:
    make(keeper, "later-1", status="draft", publish_from="2099-12-24T08:30")
    assert "from 24 Dec 2099, 08:30 UTC" in keeper.get(f"{PRODUCTS}?status=scheduled").text
    form = keeper.get(f"{PRODUCTS}/later-1").form(f"{PRODUCTS}/later-1")
    assert form.values["publish_from"] == "2099-12-24T08:30"
    wrong = keeper.submit(f"{PRODUCTS}/later-1", publish_from="soon")
    assert "Write a day and a time" in wrong.text


def test_the_worker_publishes_when_the_time_has_come(shop: Shop, keeper: Visitor, visitor: Visitor) -> None:
    """The whole shop runs here, its worker too. The desk's form knows minutes, the API seconds."""
    make(keeper, "soon-1", publish_from="2099-12-24T08:30")
    assert visitor.get("/product/soon-1").status == 404
    account = {"email": ADMIN_EMAIL, "password": shop.admin_password}
    login = requests.post(f"{shop.urls['users']}/v1/sessions", json=account, timeout=30)
    admin = {"Authorization": f"Bearer {login.json()['access_token']}"}
    url = f"{shop.urls['products']}/v1/products/soon-1"
    content = requests.get(url, headers=admin, timeout=30).json()
    soon = iso(now() + timedelta(seconds=3))
    saved = requests.put(url, json=content | {"publish_from": soon}, headers=admin, timeout=30)
    assert saved.status_code == 200, saved.text
    eventually(lambda: visitor.get("/product/soon-1").status == 200, 120)
    eventually(lambda: "Lantern soon-1" in visitor.get("/category/Lanterns").text)
    assert "Lantern soon-1" not in keeper.get(f"{PRODUCTS}?status=scheduled").text


def test_many_are_changed_at_once_and_what_failed_is_listed(keeper: Visitor, visitor: Visitor) -> None:
    for each in ("bulk-1", "bulk-2"):
        make(keeper, each)
    page = choose(keeper, PRODUCTS, "bulk-1", "bulk-2", change="price", value="-10")
    assert "2 changed, 0 were so already." in page.text, page.text
    assert "£9.00" in visitor.get("/product/bulk-1").text
    page = choose(keeper, PRODUCTS, "bulk-1", "bulk-2", change="stock", value="-3")
    assert "2 changed" in page.text
    report = choose(keeper, PRODUCTS, "bulk-1", "not-there", change="archive")
    assert "There is no product not-there." in report.text
    assert visitor.get("/product/bulk-1").status == 404
    assert "Lantern bulk-1" in keeper.get(f"{PRODUCTS}?status=archived").text
    choose(keeper, f"{PRODUCTS}?status=archived", "bulk-1", change="publish")
    assert visitor.get("/product/bulk-1").status == 200
    choose(keeper, PRODUCTS, "bulk-1", change="category", value="Lanterns#Old")
    assert "Old" in visitor.get("/product/bulk-1").text


@pytest.mark.parametrize(
    ("chosen", "change", "value", "words"),
    [
        ((), "archive", "", "Choose some products first."),
        (("spade",), "price", "cheap", "Write a percentage"),
        (("spade",), "price", "", "Say what to change it to."),
        (("spade",), "stock", "many", "Write how many"),
        (("spade",), "price", "-100", "Write a percentage"),
    ],
)
def test_what_cannot_be_done_is_said(
    keeper: Visitor, chosen: tuple[str, ...], change: str, value: str, words: str
) -> None:
    page = choose(keeper, f"{PRODUCTS}?q=spade", *chosen, change=change, value=value)
    assert words in page.text, page.text
    assert "£25.00" in keeper.get("/product/spade").text


def test_a_basket_says_what_is_no_longer_sold(keeper: Visitor, visitor: Visitor) -> None:
    make(keeper, "gone-1")
    visitor.get("/product/gone-1")
    visitor.submit("/basket", quantity="1")
    choose(keeper, PRODUCTS, "gone-1", change="archive")
    assert "no longer sold" in visitor.get("/basket").text.lower()


def test_another_shops_file_is_tried_and_then_taken(keeper: Visitor, visitor: Visitor) -> None:
    file = (
        b"Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Inventory Qty,Variant Price,Image Src,Status\n"
        b"stray-cap,Stray Cap,Size,S,stray/s,2,5.00,http://127.0.0.1:9/cap.jpg,active\n"
        b"stray-cap,,,M,stray-m,2,6.00,,\n"
        b",No Handle,,,,2,5.00,,active\n"
    )
    chosen = {"format": "shopify", "currency": "EUR", "pictures": "fetch", "untracked_stock": ""}
    keeper.get("/admin/import")
    page = keeper.upload("/admin/import", "file", file, **chosen, dry_run="yes")
    assert "What would happen" in page.text
    assert "The row has no handle" in page.text
    assert visitor.get("/product/stray-cap").status == 404
    keeper.get("/admin/import")
    page = keeper.upload("/admin/import", "file", file, **chosen)
    assert "The SKU 'stray/s' became stray-s." in page.text
    assert "127.0.0.1 is not an address of the public network." in page.text
    assert "€5.00" in visitor.get("/product/stray-cap").text
    keeper.get("/admin/import")
    page = keeper.upload("/admin/import", "file", b"a,b\n1,2\n", **chosen)
    assert "handle, title is missing" in page.text
