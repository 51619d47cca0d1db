"""Tags have versions that change with what they mark, and never come back."""

import time
from datetime import timedelta

import pytest
from redis import Redis

from shared import cache_tags
from shared.cache_tags import (
    CATALOGUE,
    KEY,
    READ_SECONDS,
    SHOP,
    CacheTags,
    category_tags,
    is_settled,
    product_tag,
)
from shared.redis import open_redis
from tests.processes import free_port

TAGS = (SHOP, CATALOGUE, product_tag("mug"), product_tag("cup"))


@pytest.fixture
def server(redis_url: str) -> Redis:
    server = Redis.from_url(redis_url)
    server.delete(KEY)
    return server


def test_a_change_gives_its_own_tags_another_version(server: Redis) -> None:
    ours, theirs = CacheTags(server), CacheTags(server)
    before = ours.versions(TAGS)
    assert before is not None
    assert ours.versions(TAGS) == theirs.versions(TAGS) == before
    ours.invalidate([product_tag("mug"), CATALOGUE])
    after = ours.versions(TAGS)
    time.sleep(READ_SECONDS)
    assert theirs.versions(TAGS) == after
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, False, True]
    ours.invalidate([])
    assert ours.versions(TAGS) == after


def test_a_redis_that_was_emptied_gives_no_earlier_version(server: Redis) -> None:
    tags = CacheTags(server)
    before = tags.versions(TAGS)
    server.delete(KEY)
    time.sleep(READ_SECONDS)
    after = tags.versions(TAGS)
    assert not set(before) & set(after)
    assert is_settled(after), "what was there before is nothing new"


def test_what_changed_a_moment_ago_is_not_settled(server: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_tags, "SETTLE", timedelta(hours=1))
    tags = CacheTags(server)
    assert is_settled(tags.versions(TAGS))
    tags.invalidate([product_tag("cup")])
    assert is_settled(tags.versions(TAGS[:3]))
    assert not is_settled(tags.versions(TAGS))
    monkeypatch.setattr(cache_tags, "SETTLE", timedelta(seconds=-1))
    assert is_settled(tags.versions(TAGS))


def test_a_category_changes_with_what_is_below_it() -> None:
    assert category_tags(["Home", "Caf\u00e9"]) == category_tags(["Home", "Cafe\u0301"])
    assert set(category_tags(["Home"])) < set(category_tags(["Home", "Kitchen"]))
    assert category_tags(["Home", "Kitchen"])[-1] not in category_tags(["Home", "Garden"])


def test_nobody_fills_redis_by_asking(server: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_tags, "SLOTS", 50)
    tags = CacheTags(server)
    for number in range(300):
        tags.versions([product_tag(f"p{number}")])
    assert server.hlen(KEY) <= 50 + 1


def test_without_redis_no_version_is_known() -> None:
    tags = CacheTags(open_redis(f"redis://127.0.0.1:{free_port()}/0"))
    tags.invalidate(TAGS)
    assert tags.versions(TAGS) is None


def test_many_views_ask_redis_once(server: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_tags, "READ_SECONDS", 60.0)
    tags = CacheTags(server)
    first = tags.versions(TAGS)
    server.delete(KEY)
    assert [tags.versions(TAGS) for _ in range(5)] == [first] * 5
    assert tags.versions([product_tag("plate")]) is not None, "what was not read yet is asked for"
    assert tags.versions(TAGS) != first, "and shows that there was a change"
