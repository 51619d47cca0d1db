"""Shipping methods and tax rates at the desk, without JavaScript: what is saved there holds at the checkout."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
import requests
from redis import Redis

from services.orders.actions.conflicts import settle_conflicts
from services.orders.dependencies import open_dependencies
from services.orders.documents import DESIGN
from services.orders.settings import Settings
from services.orders.shop_settings import HISTORY_PARTITION, PARTITION, SHIPPING_METHOD, TAX_RATE
from shared.cache_tags import TERMS, CacheTags
from shared.couch import Server
from shared.settings import load
from tests.bench.running import Shop
from tests.people import place
from tests.services.storefront.conftest import couch_url_of, database_of, redis_url_of, second_storefront
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

SHIPPING, TAXES = "/admin/shipping", "/admin/taxes"
METHODS = (
    {
        "id": "post",
        "name": "Post",
        "rate": "flat",
        "prices": "GBP 3.95; EUR 4.95",
        "min_days": "2",
        "max_days": "4",
    },
    {
        "id": "van",
        "name": "Van",
        "rate": "weight",
        "bands": "0: GBP 9.00\n2000: GBP 12.50",
        "zones": "GB except BT\nDE",
    },
    {
        "id": "collect",
        "name": "Collect",
        "rate": "value",
        "bands": "0.00: GBP 0.00",
        "collect_from": "2 Mill Lane",
    },
)


@pytest.fixture(scope="module", autouse=True)
def no_settings_afterwards(shop: Shop) -> Iterator[None]:
    """Other tests' shop has none. The API keeps every setting for good, so the documents themselves are removed."""
    yield
    database = database_of(shop).open(DESIGN)
    for partition, kind in product((PARTITION, HISTORY_PARTITION), (SHIPPING_METHOD, TAX_RATE)):
        for doc in database.partition(partition).all(f"{kind}."):
            database.delete(doc["_id"], doc["_rev"])
    eventually(lambda: _offered(shop) == ["standard"])
    CacheTags(Redis.from_url(redis_url_of(shop))).invalidate([TERMS])


def _offered(shop: Shop) -> list[str]:
    answer = requests.get(f"{shop.urls['orders']}/v1/shipping-methods", timeout=30)
    return [each["id"] for each in answer.json()["items"]]


def test_what_is_saved_at_the_desk_holds_at_the_checkout(keeper: Visitor, visitor: Visitor) -> None:
    for method in METHODS:
        keeper.get(SHIPPING)
        page = keeper.submit(SHIPPING, active="yes", **method)
        assert "Saved." in page.text, page.text
        form = page.form(SHIPPING)
        assert {name: form.values[name] for name in method} == method
    for rate in (
        {"country": "GB", "name": "VAT", "rate": "20"},
        {"country": "DE", "name": "MwSt.", "rate": "19"},
    ):
        keeper.get(TAXES)
        assert "Saved." in keeper.submit(TAXES, active="yes", included="yes", **rate).text
    put_in_basket(visitor, "cup-30")
    for path in ("/product/cup-30", "/basket"):
        eventually(lambda path=path: "Post from £3.95, 2 to 4 days" in visitor.get(path).text)
    page = visitor.get("/checkout")
    assert page.choices["shipping"] == ["collect", "post", "van"]
    assert "£3.95" in page.text
    assert "2 to 4 days" in page.text
    assert page.form("/checkout").values["shipping"] == "post", "the cheapest that delivers"
    guest = {"email": "gus@example.com", "name": "Gus", "card": "tok_ok", **place()}
    page = visitor.submit("/checkout", shipping="van", **guest)
    assert page.path.startswith("/checkout"), "the total shown was another"
    assert "A price has changed" in page.text
    form = page.form("/checkout")
    page = visitor.send_form(form, {**form.values, "card": "tok_ok"})
    assert page.path.startswith("/orders/"), page.text
    assert "Van" in page.text
    report = keeper.get(TAXES).text
    assert "VAT 20 %" in report
    keeper.submit(TAXES, country="JP", region="東京都", name="Shohizei", rate="10", included="yes")
    assert "JP Tokyo" in keeper.get(TAXES).text
    assert "country,region,name,rate,base,currency,amount" in keeper.get("/admin/tax.csv").body.decode()


def test_kept_pages_follow_the_terms_of_sale(shop: Shop, keeper: Visitor, tmp_path: Path) -> None:
    """A page that nothing else changes would be sent again for an hour here."""
    method = {"id": "pigeon", "name": "Pigeon", "rate": "flat", "active": "yes"}
    with second_storefront(shop, tmp_path, PAGE_REDRAW_SECONDS="3600") as url:

        def shown() -> Page:
            return Visitor(url).get("/product/cup-24")

        keeper.get(SHIPPING)
        for price in ("1.25", "1.75"):
            assert "Saved." in keeper.submit(SHIPPING, **method, prices=f"GBP {price}").text
            eventually(lambda words=f"Pigeon from £{price}": words in shown().text)
            eventually(lambda: shown().headers.get("Cache-Status") == "aisle; hit")


def test_a_change_is_a_version_and_an_old_form_does_not_overwrite_it(keeper: Visitor) -> None:
    keeper.get(SHIPPING)
    content = {"id": "slow", "name": "Slow", "rate": "flat", "prices": "GBP 1.00"}
    page = keeper.submit(SHIPPING, **content)
    first = page.form(SHIPPING)
    page = keeper.send_form(first, {**first.values, "name": "Slower"})
    assert "Saved." in page.text
    page = keeper.send_form(first, {**first.values, "name": "Slowest"})
    assert "This was changed since you opened it." in page.text
    page = keeper.get(f"{SHIPPING}?id=slow")
    assert page.form(SHIPPING).values["name"] == "Slower"
    assert "Its versions" in page.text


def test_a_version_that_gave_way_is_shown_with_the_one_that_holds(shop: Shop, keeper: Visitor) -> None:
    """As a replica that died leaves it: another second version of the same method, saved a moment before."""
    keeper.get(SHIPPING)
    first = keeper.submit(SHIPPING, id="apart", name="Apart", rate="flat", prices="GBP 1.00").form(SHIPPING)
    keeper.send_form(first, {**first.values, "name": "Held"})
    server, docid = database_of(shop), f"{PARTITION}:{SHIPPING_METHOD}.apart"
    stored = server.client.call("get_document", db=f"{server.prefix}orders", doc_id=docid, revs=True)
    ids = ["f" * 32, *stored.pop("_revisions")["ids"][1:]]
    dead = stored | {"name": "Dead", "edited": "2020-01-01T00:00:00.000Z", "_rev": f"2-{ids[0]}"}
    docs = [dead | {"_revisions": {"start": 2, "ids": ids}}]
    server.client.call(
        "post_bulk_docs", db=f"{server.prefix}orders", bulk_docs={"docs": docs, "new_edits": False}
    )
    settle_conflicts(open_dependencies(load(Settings, _environment(shop, server))))
    page = keeper.get(f"{SHIPPING}?id=apart")
    assert page.form(SHIPPING).values["name"] == "Held"
    assert "gave way to the one saved at" in page.text
    trail = keeper.get(f"/admin/audit?subject={SHIPPING_METHOD}.apart").text
    assert "Kept one of two versions that were saved apart" in trail
    assert "The shop by itself" in trail


def _environment(shop: Shop, server: Server) -> dict[str, str]:
    """What the shop's orders service is started with, as far as its rules need it."""
    return {
        "AISLE_ENV": "local",
        "COUCH_URL": couch_url_of(shop),
        "DATABASE_PREFIX": server.prefix,
        "REDIS_URL": redis_url_of(shop),
        "MAIL_DIR": str(shop.state),
        "SECRET_KEY": "not asked for here",
        "SERVICE_SECRET": "not asked for here",
    }


def test_what_cannot_be_read_is_said_beside_its_field(keeper: Visitor) -> None:
    method = {"id": "wrong", "name": "Wrong", "rate": "flat"}
    for values, words in (
        ({"prices": "3.95"}, "Write the currency and the amount"),
        ({}, "A flat rate needs a price"),
        ({"prices": "GBP 1", "zones": "GB around BT"}, "write GB, US regions"),
        ({"rate": "weight", "bands": "heavy"}, "Write a line for each"),
    ):
        keeper.get(SHIPPING)
        assert words in keeper.submit(SHIPPING, **{**method, **values}).text
    keeper.get(TAXES)
    assert "Write a number of percent" in keeper.submit(TAXES, country="FR", name="TVA", rate="much").text
