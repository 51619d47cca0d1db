"""Where nothing has all words, the one that names a kind of product is not left out: who asks for boots of some size wants boots."""

import uuid

import pytest
from redis import Redis

from services.products.store.kind_words import KindWords
from shared.couch import LANGUAGES
from tests.services.products.conftest import Shop, product

HATS, BALLS, TOPS = (
    ["Headwear", "Sombreros"],
    ["Sport", "Croquet Balls"],
    ["Clothing", "Y-Fronts & Tank-Tops"],
)
GOODS = [
    *(product(f"sombrero-{n}", taxonomy=HATS, name=f"Straw sombrero no. {n}") for n in range(12)),
    product("sombrero-felt", taxonomy=HATS, name="Felt sombrero"),
    *(product(f"ball-{n}", taxonomy=BALLS, name=f"Ball, girth: {n}") for n in range(3)),
    *(product(f"tank-{n}", taxonomy=TOPS, name=f"Plain tank-top {n}") for n in range(2)),
    product("collar", taxonomy=["Sport", "Mats"], name="Zed-neck mat with zed pattern"),
    product("brand", taxonomy=["Furniture", "Benches"], name="Garden bench", brand="OakHomeWorks"),
    *(product(f"home-{n}", taxonomy=["Lighting"], name=f"Home works light {n}") for n in range(3)),
]


@pytest.fixture(scope="module")
def goods(shop: Shop) -> Shop:
    assert shop.load(GOODS)["created"] == len(GOODS)
    return shop


@pytest.mark.parametrize("q", ["sombreros girth", "girth 88 sombreros", "sombrero girth 88 "])
def test_the_kind_is_not_left_out(goods: Shop, q: str) -> None:
    found = [each["productid"] for each in goods.walk(q=q, limit=5)]
    assert found
    assert all(each.startswith("sombrero") for each in found), found


def test_what_is_left_out_is_said_and_remembered(goods: Shop) -> None:
    answers = [goods.get("/v1/products", q="sombreros zed", limit=5) for _ in range(2)]
    for answer in answers:
        assert (answer.json["dropped_words"], answer.json["total"]) == (["zed"], 13)
    assert answers[1].calls == {"global": 1}


def test_a_kind_that_is_written_apart_is_one(goods: Shop) -> None:
    for q in ("tanktop zed", "tank tops zed", "zed neck tanktop"):
        found = [each["productid"] for each in goods.ok("/v1/products", q=q)["items"]]
        assert set(found) == {"tank-0", "tank-1"}, q


def test_three_words_may_be_a_brand(goods: Shop) -> None:
    answer = goods.ok("/v1/products", q="oak home works ")
    assert [each["productid"] for each in answer["items"]] == ["brand"]
    assert "dropped_words" not in answer


def test_every_process_knows_the_kinds(redis_url: str) -> None:
    name, english = uuid.uuid4().hex, LANGUAGES["en"]
    redis = Redis.from_url(redis_url)
    KindWords(redis, name, english).add(GOODS)
    asked = ["sombrero", "tops", "tanktop", "girth", "of"]
    assert KindWords(redis, name, english).among(asked) == ["sombrero", "tops", "tanktop"]
    assert KindWords(Redis.from_url("redis://127.0.0.1:1"), name, english).among(asked) == []
