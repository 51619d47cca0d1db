"""The words of the catalogue, kept in Redis for every process and learnt again when Redis loses them."""

import uuid

import pytest
from redis import Redis

from services.products.store import Vocabulary
from tests.services.products.conftest import product

GOODS = [
    product("a", name="Coffee table", brand="Öko", keywords=["oak"], description="Women's favourite."),
    product("b", name="Power cable"),
]


@pytest.fixture
def name() -> str:
    return uuid.uuid4().hex


def test_every_process_knows_what_one_has_learnt(redis_url: str, name: str):
    Vocabulary(Redis.from_url(redis_url), name).learn(GOODS)
    other = Vocabulary(Redis.from_url(redis_url), name)
    for _ in range(2):
        assert other.unknown(["coffee", "tabel", "oko", "oak", "women"], "favou") == {"tabel"}
        assert other.unknown(["coff", "table"], "powder") == {"coff", "powder"}
        assert other.unknown([], "cable") == set()
    assert other.unknown([], None) == set()


def test_a_word_that_is_a_beginning_of_others_is_no_word(redis_url: str, name: str):
    vocabulary = Vocabulary(Redis.from_url(redis_url), name)
    vocabulary.learn(GOODS)
    assert vocabulary.unknown([], "tab") == set()
    assert vocabulary.unknown(["tab"], None) == {"tab"}


def test_without_redis_no_word_is_known_and_nothing_breaks(name: str):
    vocabulary = Vocabulary(Redis.from_url("redis://127.0.0.1:1/0"), name)
    vocabulary.learn(GOODS)
    assert vocabulary.unknown(["coffee"], "tab") == {"coffee", "tab"}
