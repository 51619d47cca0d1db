"""What is kept of a category: made as seldom as it can be, looked up in Redis as seldom, and new soon after every change."""

import itertools
import time
from collections.abc import Callable

import pytest
import redis

from services.products.store import answer_cache
from services.products.store.answer_cache import AnswerCache, Computed
from shared.background import Background
from tests.services.products.conftest import Neighbours, Shop, eventually, product

CATEGORIES = [["Shelf", f"Row {number}"] for number in range(12)]


@pytest.fixture
def redis_server(environment: dict[str, str]) -> redis.Redis:
    return redis.Redis.from_url(environment["REDIS_URL"])


def answers_of(server: redis.Redis, database: str, max_age: float = 3600) -> tuple[AnswerCache, Callable]:
    """One process's, and a function that asks them: what is kept is the number of its making."""
    answers, number = AnswerCache(server, Background(), database, max_age), itertools.count(1)

    def ask(category: list[str] = CATEGORIES[0], **options: bool) -> int:
        def make() -> Computed:
            return Computed(str(next(number)).encode(), up_to_date=True, empty=False)

        return int(answers.get(category, "filters", make, **options).body)

    return answers, ask


def commands(server: redis.Redis) -> int:
    return int(server.info("stats")["total_commands_processed"])


def test_many_categories_asked_in_turn_cost_one_partition_query_each(
    shop: Shop, service: Callable, neighbours: Neighbours
) -> None:
    replica = Shop(service("products", USERS_URL=neighbours.url, ORDERS_URL=neighbours.url), neighbours)
    shop.load([product(f"row{n}", taxonomy=taxonomy) for n, taxonomy in enumerate(CATEGORIES)])
    asked = {"facets": "brand,colour,price", "stale_facets": "true"}

    def costs() -> list[dict[str, int]]:
        pages = [replica.get("/v1/products", category="#".join(path), **asked) for path in CATEGORIES]
        return [page.calls for page in pages]

    costs()
    for _ in range(3):
        assert costs() == [{"partition": 1}] * len(CATEGORIES)
        time.sleep(0.7)


def test_while_nothing_changes_redis_is_asked_once_a_second(redis_server: redis.Redis) -> None:
    _, ask = answers_of(redis_server, "once")
    for category in CATEGORIES:
        ask(category)
        ask(category)
    time.sleep(answer_cache.CHECK_SECONDS)
    for category in CATEGORIES:
        ask(category)
    time.sleep(answer_cache.CHECK_SECONDS)
    before = commands(redis_server)
    for category in CATEGORIES * 10:
        ask(category)
    asked_meanwhile = commands(redis_server) - before
    assert asked_meanwhile < len(CATEGORIES) / 2, asked_meanwhile


def test_what_changed_long_before_is_made_once(
    redis_server: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_cache, "CONFIRM_SECONDS", 0.3)
    answers, ask = answers_of(redis_server, "settled")
    answers.changed([CATEGORIES[0]])
    time.sleep(0.5)
    assert ask() == 1
    time.sleep(answer_cache.CHECK_SECONDS + 0.5)
    ask()
    time.sleep(0.3)
    assert ask() == 1


def test_what_changed_just_before_is_made_twice(
    redis_server: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index may not have taken the change in when it is asked at once."""
    monkeypatch.setattr(answer_cache, "CONFIRM_SECONDS", 0.3)
    answers, ask = answers_of(redis_server, "unsettled")
    answers.changed([CATEGORIES[0]])
    assert ask() == 1
    eventually(lambda: ask() == 2)


def test_a_change_by_another_process_is_seen_though_nothing_else_was_asked_of_redis(
    redis_server: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_cache, "CONFIRM_SECONDS", 60)
    (here, ask), (there, _) = answers_of(redis_server, "changed"), answers_of(redis_server, "changed")
    assert [ask(), ask()] == [1, 1]
    time.sleep(answer_cache.CHECK_SECONDS)
    assert ask() == 1
    there.changed([CATEGORIES[1]])
    time.sleep(answer_cache.CHECK_SECONDS)
    assert ask() == 1, "another category"
    there.changed([[*CATEGORIES[0], "Below"]])
    eventually(lambda: ask() == 2)
    here.changed([CATEGORIES[0]])
    assert ask(allow_stale=False) == 3


def test_a_change_is_seen_after_redis_has_lost_everything(redis_server: redis.Redis) -> None:
    (_, ask), (there, _) = answers_of(redis_server, "lost"), answers_of(redis_server, "lost")
    assert ask() == 1
    time.sleep(answer_cache.CHECK_SECONDS)
    ask()
    redis_server.flushdb()
    there.changed([CATEGORIES[0]])
    eventually(lambda: ask() > 1)


def test_each_query_is_answered_for_itself(shop: Shop) -> None:
    """What a query string asks for is read once, and never taken for another's."""
    shop.load([product(f"own{n}", taxonomy=["Own", f"Row {n % 2}"], brand=f"Brand {n}") for n in range(4)])
    asked = {"category": "Own#Row 0", "limit": 100}

    def found(**more: object) -> list[str]:
        return sorted(each["productid"] for each in shop.ok("/v1/products", **asked, **more)["items"])

    for _ in range(2):
        assert found() == ["own0", "own2"]
        assert found(brand="Brand 0") == ["own0"]
        assert found(brand=["Brand 0", "Brand 2"]) == ["own0", "own2"]
        assert found(brand="Brand 1") == []
        assert shop.get("/v1/products", **asked, sort="rubbish").status == 422
    asked["limit"] = 1
    for _ in range(2):
        assert [each["productid"] for each in shop.walk(**asked)] == ["own0", "own2"]
