"""The words of the catalogue, kept in Redis for every process and learnt again when Redis loses them."""

import uuid

import pytest
from redis import Redis

from services.products.store.vocabulary import Vocabulary
from shared.couch import LANGUAGES
from tests.services.products.conftest import product

GOODS = [
    product("a", name="Coffee table", brand="Öko", keywords=["oak"], description="Women's favourite."),
    product("b", name="Power cable"),
]


ENGLISH = LANGUAGES["en"]


@pytest.fixture
def name() -> str:
    return uuid.uuid4().hex


def test_every_process_knows_what_one_has_learnt(redis_url: str, name: str):
    Vocabulary(Redis.from_url(redis_url), name, ENGLISH).add(GOODS)
    other = Vocabulary(Redis.from_url(redis_url), name, ENGLISH)
    for _ in range(2):
        assert other.unknown(["coffee", "tabel", "oko", "oak", "women"], "favou") == {"tabel"}
        assert other.unknown(["coff", "table"], "powder") == {"coff", "powder"}
        assert other.unknown([], "cable") == set()
    assert other.unknown([], None) == set()


def test_a_word_that_is_a_beginning_of_others_is_no_word(redis_url: str, name: str):
    vocabulary = Vocabulary(Redis.from_url(redis_url), name, ENGLISH)
    vocabulary.add(GOODS)
    assert vocabulary.unknown([], "tab") == set()
    assert vocabulary.unknown(["tab"], None) == {"tab"}


def test_without_redis_no_word_is_known_and_nothing_breaks(name: str):
    vocabulary = Vocabulary(Redis.from_url("redis://127.0.0.1:1/0"), name, ENGLISH)
    vocabulary.add(GOODS)
    assert vocabulary.unknown(["coffee"], "tab") == {"coffee", "tab"}
    assert vocabulary.corrections(["cofee"]) == {}


def test_every_form_of_a_word_is_known_and_neighbours_written_as_one(redis_url: str, name: str):
    vocabulary = Vocabulary(Redis.from_url(redis_url), name, ENGLISH)
    vocabulary.add(GOODS)
    assert vocabulary.unknown(["coffees", "tables", "coffeetable", "favourites"], "cables") == set()


def test_a_mistyped_word_has_its_likely_corrections(redis_url: str, name: str):
    Vocabulary(Redis.from_url(redis_url), name, ENGLISH).add(GOODS)
    vocabulary = Vocabulary(Redis.from_url(redis_url), name, ENGLISH)
    found = vocabulary.corrections(
        ["cofee", "tabel", "tble", "powerr", "xable", "pable", "favuorite", "028", "oka", "coffee", "blate"]
    )
    assert found == {
        "cofee": ["coffee"],
        "tabel": ["table"],
        "tble": ["table"],
        "powerr": ["power"],
        "xable": ["cable"],
        "pable": [],
    }


def test_many_products_cost_as_many_commands_as_few(redis_url: str, name: str):
    """An import asked Redis once for each of its products, which took half of its time."""
    redis, sent = Redis.from_url(redis_url), []
    real = redis.execute_command

    def counted(*args, **options):
        sent.append(args[0])
        return real(*args, **options)

    redis.execute_command = counted
    vocabulary = Vocabulary(redis, name, ENGLISH)
    vocabulary.replace([product(f"p{n}", name=f"Word{n} thing") for n in range(300)])
    assert len(sent) <= 2, sent[:9]
