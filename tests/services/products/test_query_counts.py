"""What customers search for: counted without a write of its own, added up by the job, listed for the shop's people, suggested to others."""

from datetime import timedelta

import pytest
from redis import Redis

from services.products.actions import query_counts
from services.products.dependencies import Dependencies
from services.products.rules.query_counts import DAYS_KEPT, MAX_QUERIES_A_DAY, added, countable, of_person
from services.products.store import query_counts as store
from services.products.store.query_counts import MAX_PENDING
from shared.clock import now
from tests.services.products.conftest import SERVICE, Shop, eventually, open_as_worker, product, token

GOODS = [
    product("mat", taxonomy=["Home", "Bath"], name="Bath mat"),
    *(product(f"towel-{n}", taxonomy=["Home", "Bath"], name=f"Bath towel {n}") for n in range(5)),
]
QUERIES = "/v1/admin/search/queries"
STAFF = token("admin", "admin")


@pytest.fixture(scope="module")
def goods(shop: Shop) -> Shop:
    assert shop.load(GOODS)["created"] == len(GOODS)
    return shop


@pytest.fixture(scope="module")
def deps(environment: dict[str, str]) -> Dependencies:
    return open_as_worker(environment)


def search(shop: Shop, q: str, times: int = 3, people: int | None = None, **query) -> None:
    """So many searches of as many people, or of so many."""
    for n in range(times):
        shop.ok("/v1/products", from_address(n % (people or times)), q=q, **query)


def from_address(n: int) -> dict[str, str]:
    return {
        "X-Client-Address": f"192.0.2.{n}",
        "X-Service-Secret": SERVICE["Authorization"].removeprefix("Service "),
    }


def listed(shop: Shop, found: str = "any") -> dict[str, tuple[int, int]]:
    items = shop.ok(QUERIES, STAFF, found=found, limit=100)["items"]
    return {each["query"]: (each["searches"], each["found"]) for each in items}


def test_a_search_that_found_nothing_or_little_is_listed_with_how_often(goods: Shop):
    answer = goods.get("/v1/products", from_address(3), q="Bidet")
    assert answer.calls == {"global": 1}
    search(goods, "bidet", 2)
    search(goods, "bath mat", 3)
    search(goods, "towel", 4)
    eventually(lambda: listed(goods) == {"towel": (4, 5), "bidet": (3, 0), "bath mat": (3, 1)})
    assert listed(goods, "nothing") == {"bidet": (3, 0)}
    assert listed(goods, "little") == {"bidet": (3, 0), "bath mat": (3, 1)}
    answer = goods.get(QUERIES, STAFF, found="nothing")
    assert answer.calls == {"partition": 1}
    assert answer.json["items"][0]["rules"] == []
    goods.admin("PUT", "/v1/admin/search/synonyms/bidet", {"synonyms": ["bath"]})
    eventually(lambda: goods.ok(QUERIES, STAFF, found="nothing")["items"][0]["rules"] == ["synonym"])
    assert goods.admin("DELETE", "/v1/admin/search/synonyms/bidet").status == 204


def test_what_one_or_two_people_typed_is_shown_to_nobody(goods: Shop, deps: Dependencies):
    search(goods, "secret of mine", 9, people=2)
    search(goods, "bidet lid", 3)
    eventually(lambda: "bidet lid" in listed(goods))
    assert "secret of mine" not in listed(goods)
    query_counts.flush(deps, now())
    assert "secret of mine" not in listed(goods)
    assert all(text != "secret of mine" for text, _ in deps.popular_queries.get())


def people(shop: Shop, query: str) -> int:
    items = shop.ok(QUERIES, STAFF, found="any", limit=100)["items"]
    return next(each["people"] for each in items if each["query"] == query)


def test_somebody_who_searches_again_is_one_person_and_redis_does_not_know_who(
    goods: Shop, redis_url: str, environment: dict[str, str]
):
    search(goods, "bath pillow", 12, people=4)
    eventually(lambda: listed(goods).get("bath pillow") == (12, 0))
    assert people(goods, "bath pillow") == 4
    redis = Redis.from_url(redis_url)
    visitors = f"searches:{environment['DATABASE_PREFIX']}products:visitors"
    assert {len(each) for each in redis.smembers(visitors)} == {8}
    assert 0 < redis.ttl(visitors) <= 24 * 3600
    assert 0 < redis.ttl(f"{visitors}:key") <= 24 * 3600


def test_searches_that_were_answered_from_kept_pages_are_counted(goods: Shop):
    search(goods, "bath cap", 1)
    more = [{"q": "Bath cap", "address": f"192.0.2.{n}"} for n in range(4)]
    assert goods.service("/v1/internal/searches", {"searches": more}).status == 204
    assert goods.request("POST", "/v1/internal/searches", {"searches": more}).status == 401
    eventually(lambda: listed(goods).get("bath cap") == (5, 0))
    assert people(goods, "bath cap") == 4


def test_what_is_no_typed_query_is_not_counted(goods: Shop):
    search(goods, "shampoo", 3, analytics="false")
    search(goods, "shampoo", 3, sort="price")
    search(goods, "shampoo", 3, category="Home#Bath")
    search(goods, "somebody@example.com", 3)
    search(goods, "call 020 7946 0958 now", 3)
    search(goods, "comb", 3)
    eventually(lambda: "comb" in listed(goods))
    assert not {"shampoo", "somebody example com", "call 020 7946 0958 now"} & listed(goods).keys()
    assert goods.get(QUERIES, STAFF, found="all").status == 422
    assert goods.get(QUERIES, token("u1")).status == 403


def test_counts_survive_redis_and_are_added_once(goods: Shop, deps: Dependencies, redis_url: str):
    search(goods, "loofah", 3)
    eventually(lambda: listed(goods).get("loofah") == (3, 0))
    taken = deps.query_counter.take()
    assert taken
    deps.search_days.add(f"{now():%Y-%m-%d}", *taken)  # and then the worker is killed
    query_counts.flush(deps, now())
    query_counts.flush(deps, now())
    before = listed(goods)
    assert before["loofah"] == (3, 0)
    redis = Redis.from_url(redis_url)
    for key in redis.scan_iter("searches:*"):
        redis.delete(key)
    assert listed(goods) == before
    search(goods, "loofah", 2)
    eventually(lambda: listed(goods)["loofah"] == (5, 0))
    assert people(goods, "loofah") == 5, "Redis forgot whom it had seen"
    query_counts.flush(deps, now())
    assert listed(goods)["loofah"] == (5, 0)


def test_days_that_are_over_for_long_are_removed(goods: Shop, deps: Dependencies):
    old = now() - timedelta(days=DAYS_KEPT + 1)
    deps.search_days.add(f"{old:%Y-%m-%d}", "flush", {"bygone": [9, 0, 9]})
    assert "bygone" in listed(goods)
    search(goods, "sponge", 3)
    eventually(lambda: "sponge" in listed(goods))
    query_counts.flush(deps, now())
    assert "bygone" not in listed(goods)


def test_popular_queries_are_suggested_when_they_found_something(
    goods: Shop, deps: Dependencies, service, neighbours
):
    search(goods, "bath towel blue", 3)
    search(goods, "bath towel", 9)
    search(goods, "bath mat", 3)
    search(goods, "bath tap", 3)
    counted = {"bath towel": 9, "bath towel blue": 3, "bath tap": 3}
    eventually(
        lambda: counted.items() <= {query: times for query, (times, _) in listed(goods).items()}.items()
    )
    query_counts.flush(deps, now())
    fresh = Shop(
        service("products", USERS_URL=neighbours.url, ORDERS_URL=neighbours.url, ACCESS_LOG="false"),
        neighbours,
    )

    def suggested(q: str) -> list[str]:
        items = fresh.ok("/v1/products/suggest", q=q)["items"]
        return [each["text"] for each in items if each["kind"] == "query"]

    assert suggested("bath t") == ["bath towel"]
    assert suggested("bat") == ["bath towel", "bath mat"]
    assert suggested("baht tow") == ["bath towel"]
    assert suggested("bath towel") == []
    assert suggested("secret") == []
    assert goods.admin("PUT", "/v1/admin/search/hidden/Bath towels", {"reason": "rude"}).status == 201
    eventually(lambda: suggested("bath t") == [])
    assert suggested("bat") == ["bath mat"]

    def rules() -> list[str]:
        items = goods.ok(QUERIES, STAFF, found="any", limit=100)["items"]
        return next(each["rules"] for each in items if each["query"] == "bath towel")

    eventually(lambda: rules() == ["hidden"])
    assert goods.admin("DELETE", "/v1/admin/search/hidden/bath%20towels").status == 204
    eventually(lambda: suggested("bath t") == ["bath towel"])


def test_what_is_counted_is_bounded(
    deps: Dependencies, redis_url: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    assert countable("x" * 61) is None
    assert countable("one two three four five six seven eight nine") is None
    assert countable("  Café  CRÈME! ") == "cafe creme"
    assert countable("iphone 13 128gb") == "iphone 13 128gb"
    assert countable("") is None
    many = added({"often": [5, 1]}, {f"q{n}": [1, 0, 1] for n in range(MAX_QUERIES_A_DAY + 10)})
    assert len(many) == MAX_QUERIES_A_DAY
    assert many["often"] == [5, 1, 5], "a count of the last release knew no people"
    assert added(many, {"often": [2, None, 1]})["often"] == [7, 1, 6], "it found what it had found before"
    monkeypatch.setattr(store, "FLUSH_SECONDS", 0.01)
    kept = f"searches:{environment['DATABASE_PREFIX']}products:pending"
    redis = Redis.from_url(redis_url)
    for start in range(0, MAX_PENDING + 2000, 1000):
        for n in range(start, start + 1000):
            deps.query_counter.count(f"flood {n}", 0, "192.0.2.1")
        eventually(lambda: not deps.query_counter._buffer)
    eventually(lambda: redis.hlen(kept) >= 3 * MAX_PENDING)
    deps.query_counter.count("one more", 0, "192.0.2.1")
    eventually(lambda: not deps.query_counter._buffer)
    assert redis.hlen(kept) == 3 * MAX_PENDING


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ada Lovelace", {"ada lovelace", "lovelace ada mug"}),
        ("ADA", {"ada lovelace", "lovelace ada mug", "ada"}),
        ("Rose", set()),
        ("", set()),
    ],
)
def test_queries_with_all_words_of_a_name_are_a_person_s_unless_many_people_typed_them(
    name: str, expected: set[str]
):
    few, many = [4, 0, 2], [9, 5, 3]
    counts = {"ada lovelace": few, "lovelace ada mug": few, "ada": few, "adapter": few, "rose": many}
    assert of_person(counts, name, 3) == expected
