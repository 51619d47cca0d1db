"""Typos: in words that no product has, and in words that one bad title has though far more were meant; never another word in silence."""

from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis

from services.products.actions import word_learning
from services.products.store.vocabulary import FAR_MORE
from tests.services.products.conftest import Shop, has_search_engine, open_as_worker, product

WATCHES, SHIRTS, SKIRTS = ["Watches", "Wrist Watches"], ["Clothing", "Shirts"], ["Clothing", "Skirts"]
GOODS = [
    *(
        product(f"watch{n:02d}", name=f"Analog watch {n}", taxonomy=WATCHES, brand="Tick")
        for n in range(2 * FAR_MORE)
    ),
    *(
        product(f"shirt{n:02d}", name=f"Linen shirt {n}", taxonomy=SHIRTS, brand="Tack")
        for n in range(2 * FAR_MORE)
    ),
    product("bad-title", name="Golden wathc", taxonomy=["Gifts"], brand="Tock"),
    product("bad-letter", name="Silver watvh", taxonomy=WATCHES, brand="Tock"),
    product("shift", name="Shift dress", taxonomy=["Clothing", "Dresses"], brand="Tock"),
    product("skirt", name="Linen skirt", taxonomy=SKIRTS, brand="Tack"),
    product("sneaker", name="Canvas sneakers", taxonomy=["Footwear"], brand="Tack"),
    product("shade", name="Polarised sunglasses", taxonomy=["Eyewear"], brand="Tack"),
]
WATCH_IDS = {each["productid"] for each in GOODS if each["productid"].startswith("watch")}


@pytest.fixture(scope="module", autouse=True)
def goods(shop: Shop, catch_up: Callable[[], None]) -> None:
    assert shop.load(GOODS)["created"] == len(GOODS)
    catch_up()


def found(shop: Shop, q: str) -> tuple[list[str], dict[str, Any]]:
    answer = shop.get("/v1/products", q=q, limit=100)
    assert answer.calls == {"global": 1}, q
    return [each["productid"] for each in answer.json["items"]], answer.json


@pytest.mark.parametrize(
    ("typed", "bad"), [("wathc", "bad-title"), ("watvh", "bad-letter"), ("wathcs", "bad-title")]
)
@pytest.mark.parametrize("end", ["", " "])
def test_a_word_of_one_bad_title_finds_what_was_meant_behind_it(
    shop: Shop, typed: str, bad: str, end: str
) -> None:
    ids, answer = found(shop, typed + end)
    assert ids[0] == bad
    assert set(ids) >= WATCH_IDS
    assert answer["showing_results_for"] == "watch"
    ids, answer = found(shop, f"analog {typed}{end}")
    assert set(ids) == WATCH_IDS
    assert answer["showing_results_for"] == "analog watch"


@pytest.mark.parametrize("typed", ["shift", "shift dress", "skirt", "linen skirt", "skirts"])
def test_a_rare_word_of_its_own_is_no_typo(shop: Shop, typed: str) -> None:
    ids, answer = found(shop, typed + " ")
    assert ids in (["shift"], ["skirt"])
    assert "showing_results_for" not in answer


def test_what_is_in_quotes_is_taken_as_it_is(shop: Shop) -> None:
    ids, answer = found(shop, '"wathc"')
    assert ids == ["bad-title"]
    assert "showing_results_for" not in answer


@pytest.mark.parametrize("typed", ["match", "hatch", "speakers", "speaker"])
@pytest.mark.parametrize("end", ["", " "])
def test_a_word_that_the_shop_does_not_have_is_not_taken_for_another(
    shop: Shop, typed: str, end: str
) -> None:
    ids, answer = found(shop, typed + end)
    assert (ids, answer.get("showing_results_for")) == ([], None)
    ids, answer = found(shop, f"analog {typed}{end}")
    assert (set(ids), answer["dropped_words"]) == (WATCH_IDS, [typed])


@pytest.mark.parametrize(
    ("typed", "meant"), [("wstch", "watch"), ("wotch", "watch"), ("awtch", "watch"), ("wztch", "watch")]
)
def test_a_letter_beside_the_right_one_is_a_typo(shop: Shop, typed: str, meant: str) -> None:
    ids, answer = found(shop, typed + " ")
    assert set(ids) >= WATCH_IDS
    assert answer["showing_results_for"] == meant


@pytest.mark.parametrize("typed", ["sunglsaes", "sunlgases", "sunglaces", "polarized sunglasses"])
def test_two_edits_are_forgiven_in_a_long_word(shop: Shop, typed: str) -> None:
    ids, answer = found(shop, typed + " ")
    assert ids == ["shade"]
    assert answer["showing_results_for"] in ("sunglasses", "polarised sunglasses")


def test_two_edits_in_the_first_letters_are_forgiven_by_a_search_engine_alone(shop: Shop) -> None:
    """With a keyword view the shop corrects from the words it has learnt, two edits apart only those that begin alike, and says so."""
    ids, answer = found(shop, "snuglases ")
    if has_search_engine():
        assert (ids, answer["showing_results_for"]) == (["shade"], "sunglasses")
    else:
        assert (ids, answer["cannot"]) == ([], ["forgive typos"])


def test_a_title_that_is_put_right_is_right_everywhere(shop: Shop, catch_up: Callable[[], None]) -> None:
    fixed = product("bad-title", name="Golden watch", taxonomy=["Gifts"], brand="Tock")
    assert shop.admin("PUT", "/v1/products/bad-title", fixed).status == 200
    catch_up()
    ids, _ = found(shop, "golden wathc ")
    assert ids == ["bad-title"]


def test_words_that_redis_lost_or_an_older_version_did_not_count_are_learnt_again(
    environment: dict[str, str], redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meant() -> dict[str, list[str]]:
        return open_as_worker(environment).vocabulary.misspelt(["wathc", "watvh"])

    redis, database = Redis.from_url(redis_url), f"{environment['DATABASE_PREFIX']}products"
    kinds = ["watches", "sneakers", "footwear"]
    assert open_as_worker(environment).vocabulary.kinds.among(kinds) == ["watches", "footwear"]
    assert meant() == {"wathc": ["watch"], "watvh": ["watch"]}
    watches = redis.hget(f"word-counts:{database}", "watch")
    for name in (
        "words",
        "typos",
        "suspects",
        "kind-words",
        "word-counts",
        "word-categories",
        "words-learnt",
    ):
        redis.delete(f"{name}:{database}")
    assert meant() == {}
    monkeypatch.setattr(word_learning, "PRODUCTS_PER_PAGE", 7)
    monkeypatch.setattr(word_learning, "PART_SECONDS", 0.0)
    parts = [word_learning.learn_words(open_as_worker(environment)) for _ in range(10)]
    assert parts[0] == 7
    assert sum(parts) == len(GOODS)
    assert parts[-1] == 0
    assert meant() == {"wathc": ["watch"], "watvh": ["watch"]}
    assert redis.hget(f"word-counts:{database}", "watch") == watches
