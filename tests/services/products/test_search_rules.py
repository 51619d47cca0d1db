"""What admins say about search, over HTTP: synonyms, redirects and pinned products, in force at once and without a database call."""

import time
from collections.abc import Callable

import pytest
from redis import Redis

from shared.document_cache import MAX_AGE_SECONDS
from tests.services.products.conftest import Shop, eventually, product, token

SOFAS, MUGS = ["Home", "Sofas"], ["Home", "Mugs"]
GOODS = [
    product("sofa-1", taxonomy=SOFAS, name="Leather sofa"),
    product("sofa-2", taxonomy=SOFAS, name="Corner sofas"),
    product("phone-1", taxonomy=["Phones"], name="Mobile phone cover"),
    product("cell-1", taxonomy=["Holders"], name="Cell holder"),
    product("shoe-1", taxonomy=["Shoes"], name="Running shoes"),
    product("shoe-2", taxonomy=["Shoes"], name="Trainers"),
    *(product(f"mug-{n}", taxonomy=MUGS, name=f"Mug number {n}") for n in range(1, 8)),
]
RULES = "/v1/admin/search"


@pytest.fixture(scope="module")
def goods(shop: Shop, catch_up: Callable[[], None]) -> Shop:
    assert shop.load(GOODS)["created"] == len(GOODS)
    catch_up()
    return shop


@pytest.fixture(autouse=True)
def no_rules(goods: Shop):
    yield
    for kind in ("synonyms", "redirects", "pins", "hidden"):
        for each in goods.ok(f"{RULES}/{kind}", token("admin", "admin"), limit=100)["items"]:
            assert goods.admin("DELETE", f"{RULES}/{kind}/{each['query']}").status == 204


def found(shop: Shop, q: str, **query) -> list[str]:
    return [each["productid"] for each in shop.ok("/v1/products", q=q, **query)["items"]]


def costs(shop: Shop, path: str, expected: dict[str, int], **query) -> bool:
    """Whether it does so, as soon as the index holds what was written: one that is behind is asked twice."""
    eventually(lambda: shop.get(path, **query).calls == expected)
    return True


def put(shop: Shop, path: str, body: dict, **headers: str):
    answer = shop.admin("PUT", f"{RULES}/{path}", body, **headers)
    assert answer.status in (200, 201), answer.body
    return answer


def test_a_synonym_finds_what_its_word_finds_at_the_same_cost(goods: Shop):
    assert found(goods, "settee") == []
    answer = put(goods, "synonyms/Sofa", {"synonyms": ["settee", "Couch"]})
    assert answer.status == 201
    assert answer.json["query"] == "sofa"
    assert answer.json["synonyms"] == ["settee", "couch"]
    assert answer.json["edited_by"] == "admin"
    for word in ("settee", "settees", "couch", "sofa"):
        assert set(found(goods, word)) == {"sofa-1", "sofa-2"}, word
    assert found(goods, "leather couch") == ["sofa-1"]
    answer = goods.get("/v1/products", q="leather settee")
    assert costs(goods, "/v1/products", {"global": 1}, q="leather settee")
    assert answer.json.keys() & {"dropped_words", "did_you_mean"} == set()
    assert set(found(goods, "settee", category="Home#Sofas")) == {"sofa-1", "sofa-2"}
    assert costs(goods, "/v1/products", {"partition": 1}, q="settee", category="Home#Sofas")
    assert goods.admin("DELETE", f"{RULES}/synonyms/sofa").status == 204
    assert found(goods, "settee") == []


def test_synonyms_of_several_words(goods: Shop):
    put(goods, "synonyms/cell phone", {"synonyms": ["mobile phone", "handy"]})
    assert found(goods, "cell phone cover") == found(goods, "handy cover") == ["phone-1"]
    assert found(goods, "cell phones") == ["phone-1"]
    assert found(goods, "cell") == ["cell-1"]


def test_a_one_way_synonym(goods: Shop):
    put(goods, "synonyms/trainers", {"synonyms": ["running shoes"], "one_way": True})
    assert set(found(goods, "trainers")) == {"shoe-1", "shoe-2"}
    assert found(goods, "running shoes") == ["shoe-1"]


def test_pinned_products_come_first_on_one_page_only(goods: Shop):
    assert found(goods, "mug")[:1] != ["mug-6"]
    put(goods, "pins/mug", {"productids": ["mug-6", "sofa-1"]})
    first = goods.get("/v1/products", q="Mugs", limit=5)
    assert costs(goods, "/v1/products", {"global": 1, "read": 1}, q="Mugs", limit=5)
    assert [each["productid"] for each in first.json["items"]][:2] == ["mug-6", "sofa-1"]
    assert first.json["total"] == 8
    everything = [each["productid"] for each in goods.walk(q="Mugs", limit=5)]
    assert sorted(everything) == sorted(["sofa-1", *(f"mug-{n}" for n in range(1, 8))])
    assert goods.walk(q="Mugs", limit=2)[0]["productid"] == "mug-6"
    assert found(goods, "mug number")[0] != "sofa-1"
    assert "sofa-1" not in found(goods, "mug", category="Home#Mugs")
    assert "sofa-1" not in found(goods, "mug", sort="name")


def test_a_pinned_product_that_moves_stays_and_one_that_goes_is_left_out(goods: Shop):
    goods.load(
        [product("poster", taxonomy=["Art"], name="Poster"), product("frame", taxonomy=["Art"], name="Frame")]
    )
    put(goods, "pins/mug", {"productids": ["poster", "frame"]})
    moved = goods.ok("/v1/products/poster") | {"taxonomy": ["Prints"]}
    assert goods.admin("PUT", "/v1/products/poster", moved).status == 200
    assert goods.admin("DELETE", "/v1/products/frame").status == 204
    assert found(goods, "mug")[0] == "poster"
    assert "frame" not in found(goods, "mug")
    assert goods.admin("DELETE", "/v1/products/poster").status == 204


def test_a_redirect_goes_along_with_what_was_found(goods: Shop):
    put(goods, "redirects/settees", {"category": "Home#Sofas"})
    put(goods, "redirects/opening hours", {"address": "/pages/hours?day=today"})
    assert goods.ok("/v1/products", q="settees")["redirect"] == {"category": "Home#Sofas"}
    assert goods.ok("/v1/products", q="Settee!")["redirect"] == {"category": "Home#Sofas"}
    assert goods.ok("/v1/products", q="opening hours")["redirect"] == {"address": "/pages/hours?day=today"}
    assert costs(goods, "/v1/products", {"global": 1}, q="settees")
    for query in ({"q": "settee sofa"}, {"q": "settees", "sort": "price"}, {"q": "settees", "brand": "Acme"}):
        assert "redirect" not in goods.ok("/v1/products", **query)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("synonyms/sofa", {}, "synonyms"),
        ("synonyms/sofa", {"synonyms": []}, "synonyms"),
        ("synonyms/sofa", {"synonyms": ["Sofa"]}, "synonyms"),
        ("synonyms/sofa", {"synonyms": ["!?"]}, "synonyms"),
        ("synonyms/sofa", {"synonyms": ["x"], "one_way": "no"}, "one_way"),
        ("synonyms/%3F", {"synonyms": ["x"]}, "query"),
        ("synonyms/" + "x" * 101, {"synonyms": ["x"]}, "query"),
        ("redirects/sofa", {}, "category"),
        ("redirects/sofa", {"category": "Home", "address": "/"}, "category"),
        ("redirects/sofa", {"category": "Nowhere"}, "category"),
        ("redirects/sofa", {"category": "Home##Sofas"}, "category"),
        ("redirects/sofa", {"address": "https://elsewhere.example/"}, "address"),
        ("redirects/sofa", {"address": "//elsewhere.example/"}, "address"),
        ("redirects/sofa", {"address": "/\\elsewhere.example"}, "address"),
        ("redirects/sofa", {"address": "/search?q=couch"}, "address"),
        ("pins/sofa", {"productids": []}, "productids"),
        ("pins/sofa", {"productids": ["none-such"]}, "productids"),
        ("pins/sofa", {"productids": ["a b"]}, "productids"),
        ("pins/sofa", {"productids": ["sofa-1"], "more": 1}, "more"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said_by_field(goods: Shop, path: str, body: dict, field: str):
    answer = goods.admin("PUT", f"{RULES}/{path}", body)
    assert answer.status == 422, answer.body
    assert field in answer.json["errors"]


def test_versions_of_a_rule(goods: Shop):
    first = put(goods, "pins/sofa", {"productids": ["sofa-1"]}, If_None_Match="*")
    assert (
        goods.admin("PUT", f"{RULES}/pins/SOFA", {"productids": ["sofa-2"]}, If_None_Match="*").status == 412
    )
    for other in ("", '"1-abc"'):
        answer = goods.admin("PUT", f"{RULES}/pins/sofa", {"productids": ["sofa-1"]}, If_None_Match=other)
        assert (answer.status, answer.json["code"]) == (422, "invalid")
    read = goods.get(f"{RULES}/pins/sofa", token("admin", "admin"))
    assert read.headers["ETag"] == first.headers["ETag"]
    second = put(goods, "pins/sofa", {"productids": ["sofa-2"]}, If_Match=first.headers["ETag"])
    assert second.status == 200
    stale = {"If_Match": first.headers["ETag"]}
    assert goods.admin("PUT", f"{RULES}/pins/sofa", {"productids": ["sofa-1"]}, **stale).status == 412
    assert goods.admin("DELETE", f"{RULES}/pins/sofa", **stale).status == 412
    assert put(goods, "pins/sofa", {"productids": ["sofa-1"]}).status == 200
    assert goods.admin("DELETE", f"{RULES}/pins/sofa").status == 204
    assert goods.admin("DELETE", f"{RULES}/pins/sofa").status == 404
    assert goods.admin("PUT", f"{RULES}/pins/sofa", {"productids": ["sofa-1"]}, **stale).status == 412


def test_only_admins_write_rules_and_only_the_shops_people_read_them(goods: Shop):
    goods.neighbours.roles["clerk"] = ("staff",)
    path, body = f"{RULES}/synonyms/sofa", {"synonyms": ["couch"]}
    assert goods.request("PUT", path, body).status == 401
    assert goods.request("PUT", path, body, token("u1")).status == 403
    assert goods.request("PUT", path, body, token("clerk", "staff")).status == 403
    assert goods.get(f"{RULES}/synonyms", token("u1")).status == 403
    assert goods.get(f"{RULES}/synonyms", token("clerk", "staff")).status == 200
    assert goods.request("DELETE", path, None, token("clerk", "staff")).status == 403


def test_rules_are_listed_by_query_in_pages(goods: Shop):
    for query in ("c", "a", "b"):
        put(goods, f"synonyms/{query}", {"synonyms": ["x"]})
    admin = token("admin", "admin")
    page = goods.ok(f"{RULES}/synonyms", admin, limit=2)
    assert [each["query"] for each in page["items"]] == ["a", "b"]
    rest = goods.ok(f"{RULES}/synonyms", admin, limit=2, cursor=page["next"])
    assert [each["query"] for each in rest["items"]] == ["c"]
    assert rest["next"] is None


def test_a_rule_is_in_force_in_every_replica_within_a_second(goods: Shop, service, neighbours):
    other = Shop(
        service("products", USERS_URL=neighbours.url, ORDERS_URL=neighbours.url, ACCESS_LOG="false"),
        neighbours,
    )
    assert found(other, "davenport") == []
    put(goods, "synonyms/davenport", {"synonyms": ["sofa"]})
    ends = time.monotonic() + MAX_AGE_SECONDS / 2  # by its own clock it reads them again later than that
    while not (hits := found(other, "davenport")) and time.monotonic() < ends:
        time.sleep(0.05)
    assert set(hits) == {"sofa-1", "sofa-2"}
    assert costs(other, "/v1/products", {"global": 1}, q="davenport")


def test_rules_come_back_when_redis_lost_them(goods: Shop, service, neighbours, redis_url: str):
    put(goods, "synonyms/chesterfield", {"synonyms": ["sofa"]})
    redis = Redis.from_url(redis_url)
    for key in redis.scan_iter("search-rules:*"):
        redis.delete(key)
    assert set(found(goods, "chesterfield")) == {"sofa-1", "sofa-2"}
    fresh = Shop(
        service("products", USERS_URL=neighbours.url, ORDERS_URL=neighbours.url, ACCESS_LOG="false"),
        neighbours,
    )
    eventually(lambda: bool(found(fresh, "chesterfield")))
    assert costs(fresh, "/v1/products", {"global": 1}, q="chesterfield")
    assert set(found(fresh, "chesterfield")) == {"sofa-1", "sofa-2"}
    without = Shop(
        service(
            "products",
            USERS_URL=neighbours.url,
            ORDERS_URL=neighbours.url,
            ACCESS_LOG="false",
            REDIS_URL="redis://127.0.0.1:1/0",
        ),
        neighbours,
    )
    eventually(lambda: bool(found(without, "chesterfield")))
    assert costs(without, "/v1/products", {"global": 1}, q="chesterfield")
    assert without.get("/v1/products/suggest", q="leather").status == 200


def test_every_change_of_a_rule_is_told_with_who_made_it(goods: Shop):
    def history(**query) -> list[dict]:
        return goods.ok(f"{RULES}/history", token("admin", "admin"), **query)["items"]

    before = len(history(limit=100))
    etag = put(goods, "pins/mug", {"productids": ["mug-1"]}).headers["ETag"]
    assert goods.admin("PUT", f"{RULES}/pins/mug", {"productids": ["mug-2"]}, If_Match=etag).status == 200
    refused = goods.admin("PUT", f"{RULES}/pins/mug", {"productids": ["mug-3"]}, If_Match=etag)
    assert refused.status == 412
    assert goods.admin("DELETE", f"{RULES}/pins/mug").status == 204
    changes = history(limit=3)
    assert [(each["kind"], each["query"], each["action"], each["actor"]) for each in changes] == [
        ("pin", "mug", "removed", "admin"),
        ("pin", "mug", "written", "admin"),
        ("pin", "mug", "written", "admin"),
    ]
    assert [each["content"]["productids"] for each in changes] == [["mug-2"], ["mug-2"], ["mug-1"]]
    assert changes[0]["date"] >= changes[2]["date"]
    assert len(history(limit=100)) == min(100, before + 3)
    first = goods.ok(f"{RULES}/history", token("admin", "admin"), limit=1)
    second = goods.ok(f"{RULES}/history", token("admin", "admin"), limit=1, cursor=first["next"])
    assert [*first["items"], *second["items"]] == changes[:2]
    assert goods.get(f"{RULES}/history", token("admin", "admin"), limit=1).calls == {"partition": 1}
    assert goods.get(f"{RULES}/history", token("u1")).status == 403
