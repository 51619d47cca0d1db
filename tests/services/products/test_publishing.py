"""Drafts, products that are published from a date, and archived ones: shown to nobody but staff."""

from datetime import timedelta
from typing import Any

import pytest

from services.products.actions import publishing
from shared.clock import iso, now
from tests.services.products.conftest import ADMIN, Shop, eventually, open_as_worker, product, token

PLACE = ["Home", "Lamps"]
PATH = "Home#Lamps"
STAFF = token(*ADMIN)


def lamp(productid: str, **fields: Any) -> dict[str, Any]:
    return product(productid, **{"taxonomy": PLACE, "name": f"Zephyr lamp {productid}", **fields})


@pytest.fixture(scope="module", autouse=True)
def lamps(shop: Shop) -> None:
    lines = [
        lamp("lit"),
        lamp("draft", status="draft", brand="Draftery"),
        lamp("old", status="archived"),
        lamp("soon", publish_from=iso(now() + timedelta(days=1))),
        lamp("draft-soon", status="draft", publish_from=iso(now() + timedelta(days=1))),
    ]
    answer = shop.load(lines)
    assert answer["created"] == 5, answer


HIDDEN = ("draft", "old", "soon", "draft-soon")


def ids(answer: Any) -> set[str]:
    return {each["productid"] for each in answer["items"]}


def test_lists_and_searches_show_only_what_is_published(shop: Shop) -> None:
    eventually(lambda: ids(shop.ok("/v1/products", q="zephyr lamp")) == {"lit"})
    assert ids(shop.ok("/v1/products", category=PATH)) == {"lit"}
    for sort in ("name", "price", "-price", "rating"):
        assert ids(shop.ok("/v1/products", category=PATH, sort=sort)) == {"lit"}
    assert ids(shop.ok("/v1/products", category="Home", subcategories="true")) == {"lit"}
    assert ids(shop.ok("/v1/products", category=PATH, q="lamp")) == {"lit"}


def test_no_count_knows_of_the_others(shop: Shop) -> None:
    assert shop.ok("/v1/categories", under=PATH)["count"] == 1
    for more in ({"category": PATH}, {"q": "zephyr lamp"}):
        facets = shop.ok("/v1/products", facets="brand,category", **more)["facets"]
        assert facets["brand"] == [{"value": "Acme", "count": 1}], more
    suggested = shop.ok("/v1/products/suggest", q="zephyr")["items"]
    assert {each.get("productid") for each in suggested if each["kind"] == "product"} <= {"lit"}
    assert not shop.ok("/v1/products/suggest", q="draftery")["items"]


@pytest.mark.parametrize("productid", HIDDEN)
def test_only_staff_read_one_by_its_id(shop: Shop, productid: str) -> None:
    path = f"/v1/products/{productid}"
    assert shop.get(path).status == 404
    assert shop.get(path, token("u1", "customer")).status == 404
    assert shop.get(path, reviews=3).status == 404
    assert shop.ok(path, STAFF)["productid"] == productid
    looked_up = shop.request("POST", "/v1/products/lookup", {"productids": [productid, "lit"]}).json
    assert looked_up["missing"] == [productid]
    assert [each["productid"] for each in looked_up["found"]] == ["lit"]


def test_staff_list_and_find_them(shop: Shop) -> None:
    def listed(**query: Any) -> set[str]:
        return ids(shop.ok("/v1/admin/products", STAFF, **query))

    assert listed(status="draft") == {"draft"}
    assert listed(status="archived") == {"old"}
    assert listed(status="scheduled") == {"soon", "draft-soon"}
    assert listed(status="scheduled", q="zeph SOON") == {"soon"}
    assert listed(status="draft", q="draftery") == {"draft"}
    assert listed(status="draft", q="old") == set()
    assert shop.get("/v1/admin/products").status == 401
    assert shop.get("/v1/admin/products", token("u1", "customer")).status == 403


def test_their_list_comes_in_pages_by_name(shop: Shop) -> None:
    shop.load([lamp(f"pile{n}", status="draft", name=f"Pile of lamps {n}") for n in range(5)])
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = shop.ok("/v1/admin/products", STAFF, status="draft", q="pile", limit=2, **cursor)
        found += [each["productid"] for each in page["items"]]
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert found == [f"pile{n}" for n in range(5)]


def test_an_export_has_them_and_can_be_imported_again(shop: Shop) -> None:
    for accept in ("application/x-ndjson", "text/csv"):
        file = shop.get("/v1/products/export", STAFF | {"Accept": accept}).body
        assert all(f"Zephyr lamp {each}".encode() in file for each in HIDDEN)
        answer = shop.request("POST", "/v1/products/import", file, STAFF | {"Content-Type": accept}).json
        assert (answer["updated"], answer["created"], answer["failed"]) == (0, 0, []), accept
    assert shop.get("/v1/products/old").status == 404


def test_a_client_that_knows_no_status_does_not_publish(shop: Shop) -> None:
    shop.load([lamp("feed", status="archived")])
    assert shop.load([lamp("feed", name="Zephyr lamp renamed")])["updated"] == 1
    assert shop.get("/v1/products/feed").status == 404
    sent = shop.admin("PUT", "/v1/products/feed", lamp("feed", name="Again"))
    assert sent.json["status"] == "archived"
    assert shop.get("/v1/products/feed").status == 404


def test_a_change_shows_at_once_everywhere(shop: Shop) -> None:
    assert shop.admin("POST", "/v1/products", lamp("switch", name="Quixotic lamp")).json["status"] == "active"
    eventually(lambda: ids(shop.ok("/v1/products", q="quixotic")) == {"switch"})
    eventually(lambda: bool(shop.ok("/v1/products/suggest", q="quixoti")["items"]))
    before = shop.ok("/v1/categories", under=PATH)["count"]
    archived = shop.admin(
        "PUT", "/v1/products/switch", lamp("switch", name="Quixotic lamp", status="archived")
    )
    assert archived.status == 200
    assert shop.get("/v1/products/switch").status == 404
    assert shop.ok("/v1/categories", under=PATH)["count"] == before - 1
    assert ids(shop.ok("/v1/products", q="quixotic")) == set()
    assert not shop.ok("/v1/products/suggest", q="quixoti")["items"]
    shop.admin("PUT", "/v1/products/switch", lamp("switch", name="Quixotic lamp", status="active"))
    assert shop.ok("/v1/categories", under=PATH)["count"] == before
    assert shop.ok("/v1/products/switch")["status"] == "active"


def test_a_date_publishes_by_itself(shop: Shop, environment: dict[str, str]) -> None:
    worker = open_as_worker(environment)
    moment = now() + timedelta(hours=1)
    shop.load(
        [
            lamp("dawn", publish_from=iso(moment)),
            lamp("dawn-draft", status="draft", publish_from=iso(moment)),
            lamp("never", status="archived", publish_from=iso(moment)),
        ]
    )
    publishing.publish_due(worker, moment - timedelta(seconds=1))
    assert shop.get("/v1/products/dawn").status == 404
    count = shop.ok("/v1/categories", under=PATH)["count"]
    assert publishing.publish_due(worker, moment + timedelta(seconds=1)) == 2
    eventually(lambda: shop.get("/v1/products/dawn").status == 200)
    assert shop.ok("/v1/products/dawn")["publish_from"] == iso(moment)
    assert shop.ok("/v1/products/dawn-draft")["status"] == "active"
    assert shop.get("/v1/products/never").status == 404
    assert shop.ok("/v1/categories", under=PATH)["count"] == count + 2
    eventually(lambda: {"dawn", "dawn-draft"} <= ids(shop.ok("/v1/products", q="zephyr", limit=100)))
    assert publishing.publish_due(worker, moment + timedelta(seconds=1)) == 0


def test_a_draft_whose_time_is_over_stays_one(shop: Shop, environment: dict[str, str]) -> None:
    past = iso(now() - timedelta(days=1))
    shop.load([lamp("withdrawn", status="draft", publish_from=past)])
    publishing.publish_due(open_as_worker(environment), now())
    assert shop.get("/v1/products/withdrawn").status == 404
    assert ids(shop.ok("/v1/admin/products", STAFF, status="draft", q="withdrawn")) == {"withdrawn"}


@pytest.mark.parametrize(
    "wrong",
    [{"status": "hidden"}, {"publish_from": "tomorrow"}, {"publish_from": "2026-13-01T00:00:00.000Z"}],
)
def test_wrong_values_are_refused_by_field(shop: Shop, wrong: dict[str, str]) -> None:
    answer = shop.admin("POST", "/v1/products", lamp("wrong", **wrong))
    assert answer.status == 422
    assert list(answer.json["errors"]) == list(wrong)


def test_reviews_of_an_archived_product_are_still_read(shop: Shop) -> None:
    shop.load([lamp("classic")])
    shop.neighbours.purchases.add(("u7", "classic"))
    review = {"stars": 5, "title": "Bright", "text": ""}
    assert shop.request("POST", "/v1/products/classic/reviews", review, token("u7")).status == 201
    shop.admin("PUT", "/v1/products/classic", lamp("classic", status="archived"))
    assert shop.ok("/v1/products/classic/reviews")["items"][0]["title"] == "Bright"
    assert shop.get("/v1/products/draft/reviews").status == 404
    assert shop.ok("/v1/products/classic/prices", STAFF)["items"] == []
