"""Menu, category pages, and what admins do to products, seen by readers at the same time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Thread

import pytest
from redis import Redis

from services.products.actions import browse
from services.products.actions.catalogue import remove
from services.products.dependencies import Dependencies, open_dependencies
from services.products.settings import Settings
from services.products.store.catalogue import Catalogue
from shared.clock import timestamp
from shared.couch import DatabaseUnavailable
from shared.settings import load
from tests.processes import free_port
from tests.services.products.conftest import ADMIN, Shop, eventually, open_as_worker, product, token
from tests.services.products.variants import edit, shirt

LAMPS = ["Home", "Lighting", "Lamps"]


def path(*levels: str) -> str:
    return "#".join(levels)


def test_the_menu_has_any_depth_and_costs_nothing_while_unchanged(shop: Shop):
    shop.load(
        [
            product("m1", taxonomy=["Menu", "A"]),
            product("m2", taxonomy=["Menu", "A", "B"]),
            product("m3", taxonomy=["Menu"]),
        ]
    )
    tree = shop.ok("/v1/categories", under="Menu")
    assert tree == {
        "name": "Menu",
        "path": "Menu",
        "count": 3,
        "children": [
            {
                "name": "A",
                "path": "Menu#A",
                "count": 2,
                "children": [{"name": "B", "path": "Menu#A#B", "count": 1, "children": []}],
            }
        ],
    }
    shallow = shop.ok("/v1/categories", under="Menu", depth=1)
    assert [(child["path"], child["count"], child["children"]) for child in shallow["children"]] == [
        ("Menu#A", 2, [])
    ]
    first = shop.get("/v1/categories")
    again = shop.get("/v1/categories", {"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.calls, again.body) == (304, {}, b"")
    assert shop.get("/v1/categories").calls == {}
    shop.admin("POST", "/v1/products", product("m4", taxonomy=["Menu", "C"]))
    changed = shop.get("/v1/categories", {"If-None-Match": first.headers["ETag"]})
    assert (changed.status, changed.calls) == (200, {"global": 1})
    assert shop.get("/v1/categories", under="Nowhere").status == 404


def test_the_last_menu_serves_while_the_database_cannot_count(shop: Shop, environment: dict[str, str]):
    shop.load([product("kept", taxonomy=["Kept"])])
    shop.ok("/v1/categories", under="Kept")
    settings = load(Settings, {**environment, "COUCH_URL": f"http://127.0.0.1:{free_port()}"})
    deps = open_dependencies(settings, timeout=0.2)
    known = browse.menu(deps, ["Kept"], None)
    deps.menu.changed()
    assert browse.menu(deps, ["Kept"], None) == known
    with pytest.raises(DatabaseUnavailable):
        browse.menu(deps, ["Menu"], None)


def test_a_category_page_is_sorted_both_ways_and_says_where_it_is(shop: Shop):
    shop.load(
        [
            product(
                f"lamp{n}",
                taxonomy=LAMPS,
                name=f"Lamp {chr(70 - n)}",
                price={"amount": 100 * n, "currency": "GBP"},
            )
            for n in range(5)
        ]
    )
    listed = {
        sort: [each["productid"] for each in shop.walk(category=path(*LAMPS), sort=sort, limit=2)]
        for sort in ("name", "-name", "price", "-price")
    }
    rising = [f"lamp{n}" for n in range(5)]
    assert listed == {"name": rising[::-1], "-name": rising, "price": rising, "-price": rising[::-1]}
    for sort in ("name", "-name", "rating"):
        whole, narrowed = (
            [each["productid"] for each in shop.walk(category=path(*LAMPS), sort=sort, limit=2, **more)]
            for more in ({}, {"brand": "Acme"})
        )
        assert whole == narrowed, "another index, the same order"
    page = shop.get("/v1/products", category=path(*LAMPS))
    assert page.json["breadcrumbs"][1] == {"name": "Lighting", "path": "Home#Lighting"}
    assert page.calls == {"partition": 1}
    assert shop.ok("/v1/products", category="No#Such")["items"] == []


def test_everything_below_a_category_in_one_query(shop: Shop):
    shop.load(
        [
            product("t1", taxonomy=["Tree", "X"]),
            product("t2", taxonomy=["Tree", "X", "Y"]),
            product("t3", taxonomy=["Tree", "Xx"]),
            product("t4", taxonomy=["Treehouse"]),
        ]
    )
    found = shop.walk(category="Tree", subcategories="true", limit=1)
    assert [each["productid"] for each in found] == ["t1", "t2", "t3"]
    assert shop.get("/v1/products", category=path("Tree", "X"), subcategories="true").calls == {"global": 1}


@pytest.mark.parametrize("sort", ["name", "-price"])
def test_walking_pages_while_others_write_misses_and_repeats_nothing(shop: Shop, sort: str):
    category = ["Walk", sort]
    there = [
        product(
            f"w{sort}{n:03}".replace("-", ""),
            taxonomy=category,
            name=f"N {n:03}",
            price={"amount": n * 10, "currency": "GBP"},
        )
        for n in range(120)
    ]
    shop.load(there)
    done = Event()

    def write() -> None:
        number = 0
        while not done.is_set():
            number += 1
            shop.load(
                [
                    product(
                        f"new{sort}{number}".replace("-", ""),
                        taxonomy=category,
                        name=f"N {number * 7 % 120:03}x",
                        price={"amount": number * 70 % 1200 + 5, "currency": "GBP"},
                    )
                ]
            )
            shop.load([product(f"other{number}", taxonomy=["Walk", "elsewhere"])])

    writer = Thread(target=write)
    writer.start()
    try:
        for _ in range(3):
            walked = [each["productid"] for each in shop.walk(category=path(*category), sort=sort, limit=7)]
            assert len(walked) == len(set(walked))
            assert {each["productid"] for each in there} <= set(walked)
    finally:
        done.set()
        writer.join()


def test_an_accented_letter_has_one_spelling(shop: Shop):
    one, two = "Caf\u00e9", "Cafe\u0301"
    for productid, name in (("accent1", one), ("accent2", two)):
        made = shop.admin(
            "POST", "/v1/products", product(productid, taxonomy=[name], brand=name, colours=[name])
        )
        assert (made.json["taxonomy"], made.json["brand"]) == ([one], one)
    for name in (one, two):
        assert shop.ok("/v1/categories", under=name)["count"] == 2
        asked = {"category": name, "brand": name, "colour": name}
        assert [each["productid"] for each in shop.walk(**asked)] == ["accent1", "accent2"]
    image = "https://example.com/" + two
    kept = shop.admin("POST", "/v1/products", product("accent3", image=image)).json
    assert kept["image"] == image


def test_create_refuses_what_exists_anywhere(shop: Shop):
    answer = shop.admin("POST", "/v1/products", product("c1", stock=4))
    assert (answer.status, answer.json["stock"], answer.headers["Location"]) == (201, 4, "/v1/products/c1")
    assert shop.admin("POST", "/v1/products", product("c1")).json["code"] == "product_exists"
    assert shop.admin("POST", "/v1/products", product("c1", taxonomy=["Other"])).status == 409
    with ThreadPoolExecutor(6) as admins:
        statuses = list(
            admins.map(
                lambda n: shop.admin("POST", "/v1/products", product("c2", taxonomy=[f"Place {n}"])).status,
                range(6),
            )
        )
    assert sorted(statuses) == [201, 409, 409, 409, 409, 409]
    assert shop.ok("/v1/products/c2")["taxonomy"][0].startswith("Place")


def test_replace_keeps_stock_and_notes_old_prices(shop: Shop):
    shop.load([product("r1", stock=7)])
    read = shop.get("/v1/products/r1")
    cheaper = read.json | {"price": {"amount": 800, "currency": "GBP"}, "stock": 99}
    assert shop.admin("PUT", "/v1/products/r1", cheaper, If_Match='"stale.etag"').status == 412
    answer = shop.admin("PUT", "/v1/products/r1", cheaper, If_Match=read.headers["ETag"])
    assert (answer.status, answer.json["price"]["amount"], answer.json["stock"]) == (200, 800, 7)
    again = shop.admin("PUT", "/v1/products/r1", cheaper, If_Match=read.headers["ETag"])
    assert (again.status, again.json) == (200, answer.json), "sent again, for its answer may have been lost"
    other = cheaper | {"name": "Another"}
    assert shop.admin("PUT", "/v1/products/r1", other, If_Match=read.headers["ETag"]).status == 412
    assert shop.get("/v1/products/r1", {"If-None-Match": read.headers["ETag"]}).status == 200
    eventually(lambda: shop.get("/v1/products/r1", {"If-None-Match": answer.headers["ETag"]}).status == 304)
    history = shop.admin("GET", "/v1/products/r1/prices").json["items"]
    assert [(each["before"]["amount"], each["after"]["amount"]) for each in history] == [(1000, 800)]
    assert shop.admin("PUT", "/v1/products/nobody", product("nobody")).status == 404
    assert shop.admin("PUT", "/v1/products/r1", product("r2")).status == 422


def test_a_stock_movement_does_not_spoil_an_edit(shop: Shop):
    shop.load([product("e1", stock=1)])
    read = shop.get("/v1/products/e1")
    shop.admin("POST", "/v1/products/e1/stock", {"delta": 3, "reason": "found"})
    eventually(lambda: shop.get("/v1/products/e1").headers["ETag"] != read.headers["ETag"])
    assert (
        shop.admin(
            "PUT", "/v1/products/e1", read.json | {"name": "Renamed"}, If_Match=read.headers["ETag"]
        ).status
        == 200
    )
    eventually(lambda: shop.ok("/v1/products/e1")["stock"] == 4)


def test_delete(shop: Shop):
    shop.load([product("d1", taxonomy=["Del"], stock=5)])
    assert shop.admin("DELETE", "/v1/products/d1", If_Match='"x.y"').status == 412
    assert shop.admin("DELETE", "/v1/products/d1").status == 204
    eventually(lambda: shop.get("/v1/products/d1").status == 404)
    assert shop.admin("DELETE", "/v1/products/d1").status == 404
    assert shop.get("/v1/categories", under="Del").status == 404
    assert shop.admin("POST", "/v1/products", product("d1", taxonomy=["Del"], stock=2)).status == 201
    assert shop.admin("GET", "/v1/products/d1/stock").json["stock"] == 2


def test_a_sale_does_not_spoil_a_deletion(shop: Shop, environment: dict[str, str]):
    shop.load([product("sold", stock=5)])

    class Selling(Catalogue):
        def delete(self, docid, rev):
            if self.get(docid)["stock"] == 5:
                assert (
                    shop.admin("POST", "/v1/products/sold/stock", {"delta": -1, "reason": "x"}).status == 201
                )
            super().delete(docid, rev)

    deps = open_as_worker(environment)
    selling = replace(deps, catalogue=Selling(deps.catalogue._database))
    remove(selling, "sold", shop.get("/v1/products/sold").headers["ETag"], timestamp())
    eventually(lambda: shop.get("/v1/products/sold").status == 404)


def test_lookup_tells_found_from_missing(shop: Shop):
    shop.load([product("l1"), product("l2")])
    answer = shop.request("POST", "/v1/products/lookup", {"productids": ["l2", "nope", "l1", "l2"]})
    assert [each["productid"] for each in answer.json["found"]] == ["l2", "l1"]
    assert answer.json["missing"] == ["nope"]
    assert answer.calls == {"global": 1}


def test_what_was_looked_up_before_is_asked_of_the_index_as_it_is(
    shop: Shop, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    """Each order writes movements, which the index would have to take in for the next one."""
    shop.load([product("often"), product("seldom")])
    deps, asked = open_as_worker(environment), []
    _ = deps.catalogue.has_one_copy  # asked once a process
    client = deps.catalogue._database._client
    call = client.call

    def record(operation, **arguments):
        asked.append((operation, arguments.get("update", "true")))
        return call(operation, **arguments)

    monkeypatch.setattr(client, "call", record)
    for productids in ([], ["often"], ["often"], ["often", "seldom"], ["often", "seldom"], ["often", "nope"]):
        found = deps.catalogue.all_to_sell(productids)
        assert list(found) == [each for each in productids if each != "nope"]
    assert asked == [
        ("post_view", "true"),
        ("post_view", "false"),
        ("post_view", "true"),
        ("post_view", "false"),
        ("post_view", "true"),
    ]


def test_a_look_up_again_finds_what_has_changed_since(shop: Shop):
    """Its price, its place, and who has its SKU; or that it is gone."""
    shop.load([product("cup"), product("pot"), product("pan"), shirt("tee"), product("gone")])
    asked = {"productids": ["cup", "pot", "pan", "tee-L-red", "gone"]}

    def look_up() -> dict[str, dict]:
        answer = shop.request("POST", "/v1/products/lookup", asked)
        return {each["sku"]: each for each in answer.json["found"]}

    for _ in range(2):
        assert len(look_up()) == 5
    variants = shop.ok("/v1/products/tee")["variants"]
    for productid, changes in (
        ("cup", {"price": {"amount": 700, "currency": "GBP"}}),
        ("pot", {"taxonomy": ["Home", "Moved"]}),
        ("pan", {"taxonomy": ["Home", "Moved"]}),
        ("pan", {"taxonomy": ["Home", "Moved", "Again"]}),
        ("tee", {"variants": [each for each in variants if each["sku"] != "tee-L-red"]}),
    ):
        assert edit(shop, productid, **changes).status == 200
    other = shirt("other")
    other["variants"][0]["sku"] = "tee-L-red"
    assert shop.admin("POST", "/v1/products", other).status == 201
    etag = shop.get("/v1/products/gone").headers["ETag"]
    assert shop.admin("DELETE", "/v1/products/gone", If_Match=etag).status == 204
    found = look_up()
    assert found.keys() == {"cup", "pot", "pan", "tee-L-red"}
    assert found["cup"]["price"]["amount"] == 700
    assert found["pot"]["taxonomy"] == ["Home", "Moved"]
    assert found["pan"]["taxonomy"] == ["Home", "Moved", "Again"]
    assert found["tee-L-red"]["productid"] == "other"


def test_only_admins_write(shop: Shop):
    for method, where in (
        ("POST", "/v1/products"),
        ("PUT", "/v1/products/x"),
        ("DELETE", "/v1/products/x"),
        ("POST", "/v1/products/import"),
        ("POST", "/v1/products/x/stock"),
        ("GET", "/v1/products/export"),
        ("GET", "/v1/products/low-stock"),
        ("PUT", "/v1/products/x/picture"),
    ):
        assert shop.request(method, where, {}).status == 401, where
        assert shop.request(method, where, {}, token("u1", "customer")).status == 403, where
    assert shop.request("POST", "/v1/internal/reservations", {}, token(*ADMIN)).status == 401


def test_a_create_repeated_with_its_key_is_one_product(shop: Shop):
    first = shop.admin("POST", "/v1/products", product("i1"), Idempotency_Key="k1")
    again = shop.admin("POST", "/v1/products", product("i1"), Idempotency_Key="k1")
    assert (first.status, again.status, again.json) == (201, 201, first.json)
    assert shop.admin("POST", "/v1/products", product("i2"), Idempotency_Key="k1").status == 422


def test_a_create_whose_answer_died_with_its_process_is_found_by_the_retry(shop: Shop, redis_url: str):
    wanted = product("i3", stock=7)
    first = shop.admin("POST", "/v1/products", wanted, Idempotency_Key="k3")
    Redis.from_url(redis_url).flushdb()
    again = shop.admin("POST", "/v1/products", wanted, Idempotency_Key="k3")
    assert (first.status, again.status, again.json) == (201, 201, first.json)
    assert len(shop.ok("/v1/products/i3/stock", token(*ADMIN))["movements"]) == 1
    assert shop.admin("POST", "/v1/products", wanted, Idempotency_Key="k4").json["code"] == "product_exists"


def test_what_a_process_that_died_was_creating_is_not_said_to_be_there(shop: Shop, deps: Dependencies):
    """Its lock is there for some seconds longer: staff were told that there is such a product, and found none."""
    wanted = product("i4")
    with deps.locks.hold("create:i4") as acquired:
        assert acquired
        busy = shop.admin("POST", "/v1/products", wanted, Idempotency_Key="k5")
    assert (busy.status, busy.headers["Retry-After"]) == (503, "2")
    with deps.locks.hold("create:i4", lease=0.5):
        assert shop.admin("POST", "/v1/products", wanted, Idempotency_Key="k5").status == 201


def test_the_documented_cost_of_each_read(shop: Shop, catch_up: Callable[[], None]):
    shop.load([product("cost", taxonomy=["Cost"], name="Costly thing")])
    catch_up()
    costs = {
        "/v1/products/cost": {"global": 1},
        "/v1/products?category=Cost": {"partition": 1},
        "/v1/products?category=Cost&sort=-price&brand=Acme": {"partition": 1},
        "/v1/products?category=Cost&subcategories=true": {"global": 1},
        "/v1/products": {"global": 1},
        "/v1/products/best-rated": {"global": 1},
        "/v1/products/cost/reviews": {"global": 1, "partition": 1},
    }
    for where, calls in costs.items():
        assert shop.get(where).calls == calls, where


def test_a_search_is_one_query(shop: Shop, catch_up: Callable[[], None]):
    shop.load([product("cost2", taxonomy=["Cost"], name="Costly thing")])
    catch_up()
    plain = "cannot" in shop.ok("/v1/products", q="costly thing")
    extra = {"read": 1} if plain else {}
    assert shop.get("/v1/products", q="costly thing", facets="brand,price").calls == {"global": 1, **extra}
    assert shop.get("/v1/products", q="costly", category="Cost").calls == {"partition": 1, **extra}
