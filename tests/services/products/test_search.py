"""Search: every word, weights, prefixes, one typo, facets, and a query text that is data."""

from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis import Redis

from shared.couch import words_of
from tests.services.products.conftest import Shop, product

SOFAS = ["Home", "Living Room", "Sofas & Beds"]
TABLES = ["Home", "Living Room", "Tables"]
SHIRTS = ["Clothing", "Men's", "Shirts, Tops"]

GOODS = [
    product("sofa-red", taxonomy=SOFAS, name="Red leather sofa", brand="Acme", colours=["red"], description="For two people.", price={"amount": 45000, "currency": "GBP"}),
    product("sofa-blue", taxonomy=SOFAS, name="Blue sofa bed", brand="Nordic", colours=["blue"], description="Sleeps two, red cushions.", price={"amount": 38000, "currency": "GBP"}),
    product("stool", taxonomy=SOFAS, name="Footstool", brand="Acme", keywords=["sofa"], colours=["red", "blue"], price={"amount": 4900, "currency": "GBP"}),
    product("table", taxonomy=TABLES, name="Coffee table", brand="Nordic", description="Goes well with a leather sofa.", colours=["oak"], price={"amount": 9900, "currency": "GBP"}),
    product("cable", taxonomy=TABLES, name="Power cable 028", brand="Volt", price={"amount": 900, "currency": "GBP"}),
    product("shirt", taxonomy=SHIRTS, name="Women's café shirt", brand="O'Neill & Sons", colours=["white"], price={"amount": 2500, "currency": "GBP"}),
    product("odd", taxonomy=SHIRTS, name="constructor __proto__ toString AND OR NOT", brand="Öko", price={"amount": 2000, "currency": "GBP"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def search(shop: Shop):
    assert shop.load(GOODS)["created"] == len(GOODS)

    def find(q: str = "", **query) -> list[str]:
        return [each["productid"] for each in shop.ok("/v1/products", q=q, **query)["items"]]

    return find


@pytest.fixture(scope="module")
def text_search(shop: Shop, search) -> bool:
    return "cannot" not in shop.ok("/v1/products", q="sofa")


def test_every_word_must_match(search):
    assert set(search("leather sofa")) == {"sofa-red", "table"}
    assert search("leather sofa blue") == []
    assert set(search("SOFA")) == {"sofa-red", "sofa-blue", "stool", "table"}


def test_a_name_counts_more_than_keywords_and_they_more_than_the_description(search):
    assert search("sofa")[-2:] == ["stool", "table"]
    assert search("red ")[0] == "sofa-red"


def test_the_last_word_may_be_unfinished(search):
    assert set(search("leath")) == {"sofa-red", "table"}
    assert search("leath sof") == []
    assert search("leath ") == []


def test_phrases_are_words_in_a_row(search):
    assert set(search('"leather sofa"')) == {"sofa-red", "table"}
    assert search('"sofa leather"') == []
    assert search('"sofa bed" blue') == ["sofa-blue"]


def test_accents_and_signs_are_folded(search):
    assert search("cafe shirt") == search("CAFÉ shirt") == search("women's café") == ["shirt"]
    assert search("oko") == ["odd"]
    assert search("028") == ["cable"]


def test_one_typo_is_forgiven_in_a_word_that_no_product_has(shop: Shop, search, text_search: bool):
    if not text_search:
        assert shop.ok("/v1/products", q="leathr sofa ")["cannot"] == ["forgive typos"]
        return
    for typo in ("leathr sofa", "laether sofa", "leatherr sofa", "lebther sofa"):
        answer = shop.get("/v1/products", q=typo)
        found = answer.json
        assert answer.calls == {"global": 1}
        assert {each["productid"] for each in found["items"]} == {"sofa-red", "table"}, typo
        assert found["did_you_mean"] == "leather sofa"
    assert search("table") == ["table"]
    assert "did_you_mean" not in shop.ok("/v1/products", q="leather")


def test_nothing_found_is_one_query_too(shop: Shop, search, text_search: bool):
    for words in ("leather sofa blue", "leather xyzzy", "xyzzy "):
        answer = shop.get("/v1/products", q=words)
        assert (answer.json["items"], answer.json["total"], answer.json["next"]) == ([], 0, None)
        assert answer.calls.get("global") == 1, words


def test_words_that_redis_lost_are_found_nevertheless(shop: Shop, search, text_search: bool, redis_url: str):
    """What is one typo away comes along then, behind what fits; that the words are there is learnt from the hits."""
    redis = Redis.from_url(redis_url)
    redis.delete(*redis.keys("words:*products"))
    for words in ("cable ", "table "):
        assert search(words)[0] == words.strip()
        assert shop.get("/v1/products", q=words).calls.get("global") == 1
    assert search("cable ") == ["cable"]


def test_facets_count_what_the_filters_leave(shop: Shop, search):
    found = shop.ok("/v1/products", q="sofa", facets="brand,colour,category,price")
    facets = {
        name: {each["value"]: each["count"] for each in values} for name, values in found["facets"].items()
    }
    assert facets["brand"] == {"Acme": 2, "Nordic": 2}
    assert facets["colour"] == {"red": 2, "blue": 2, "oak": 1}
    assert facets["category"] == {"Home": 4, "Home#Living Room": 4, "#".join(SOFAS): 3, "#".join(TABLES): 1}
    assert facets["price"] == {"2000-4999": 1, "5000-9999": 1, "20000-49999": 2}
    narrowed = shop.ok("/v1/products", q="sofa", brand="Acme", facets="brand,price")["facets"]
    assert narrowed["brand"] == [{"value": "Acme", "count": 2}]
    assert [(each["from"], each["to"], each["count"]) for each in narrowed["price"]] == [
        (2000, 4999, 1),
        (20000, 49999, 1),
    ]


def test_filters_hold_alone_and_together(search):
    assert set(search("sofa", brand="Nordic")) == {"sofa-blue", "table"}
    assert set(search("sofa", brand=["Nordic", "Acme"], colour="red")) == {"sofa-red", "stool"}
    assert search("sofa", min_price=9900, max_price=38000, sort="price") == ["table", "sofa-blue"]
    assert search("", brand="O'Neill & Sons", category="Clothing", subcategories="true") == ["shirt"]
    assert search("", category="#".join(SOFAS), colour="blue", sort="-price") == ["sofa-blue", "stool"]
    assert search("", category="#".join(SOFAS), min_price=5000, max_price=40000) == ["sofa-blue"]


def test_within_a_category_or_everything_below_it(search):
    assert set(search("sofa", category="#".join(SOFAS))) == {"sofa-red", "sofa-blue", "stool"}
    assert search("sofa", category="Home") == []
    assert set(search("sofa", category="Home", subcategories="true")) == {
        "sofa-red",
        "sofa-blue",
        "stool",
        "table",
    }
    assert set(search("sofa", category="#".join(SOFAS), facets="brand")) == {"sofa-red", "sofa-blue", "stool"}
    assert search("sofa", category="Home", facets="brand") == []


def test_sorted_by_what_was_asked(search):
    assert search("sofa", sort="price") == ["stool", "table", "sofa-blue", "sofa-red"]
    assert search("sofa", sort="-price") == ["sofa-red", "sofa-blue", "table", "stool"]
    assert search("sofa", sort="name") == ["sofa-blue", "table", "stool", "sofa-red"]


def test_pages_follow_on_without_gap_or_repeat(shop: Shop, search):
    for query in ({"q": "sofa"}, {"q": "sofa", "sort": "price"}, {"q": "sofa", "category": "#".join(SOFAS)}):
        walked = [each["productid"] for each in shop.walk(limit=1, **query)]
        assert walked == search(**query)


def test_suggestions_come_in_one_call(shop: Shop, search):
    answer = shop.get("/v1/products/suggest", q="so")
    found = answer.json["items"]
    assert answer.calls.get("global") == 1
    assert {"kind": "category", "text": "Sofas & Beds", "path": "#".join(SOFAS), "count": 3} in found
    assert {each["productid"] for each in found if each["kind"] == "product"} >= {"sofa-red", "sofa-blue"}
    assert {"kind": "brand", "text": "Nordic", "count": 2} in shop.ok("/v1/products/suggest", q="nord")[
        "items"
    ]


ATTACKS = [
    "*", "*:*", "?", "name:*", "sofa OR *:*", "sofa) OR (name:a*", 'sofa" OR "x', "sofa\\", "[* TO *]", "sofa AND NOT red", "sofa~2", "a^9999",
    "/.*/", "-sofa", "+", "&&", "||", "!", "{!func}", "category:Home", "sofa\x00", "💥", "'; DROP", "AND", "OR", "NOT", "TO", '"', '""', '"""',
    "(" * 50, "__proto__", "constructor", "1e5", "NaN", "Infinity", "\u202esofa",
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_breaks_or_widens_a_query(shop: Shop, search, attack: str):
    """The same words without their signs find the same: signs mean nothing."""
    answer = shop.get("/v1/products", q=attack, limit=100)
    assert answer.status == 200, answer.body
    words = "".join(sign if sign.isalnum() or sign == "_" else " " for sign in attack).split()
    if not words:
        assert answer.json["items"] == []
    if words and '"' not in attack:
        plain = [
            each["productid"]
            for each in shop.ok(
                "/v1/products", q=" ".join(words) + (" " if not attack[-1].isalnum() else ""), limit=100
            )["items"]
        ]
        assert [each["productid"] for each in answer.json["items"]] == plain
    inside = shop.ok("/v1/products", q=attack, category="#".join(SOFAS), limit=100)["items"]
    assert {each["productid"] for each in inside} <= {"sofa-red", "sofa-blue", "stool"}


PIECES = st.one_of(
    st.sampled_from([*'+-&|!(){}[]^"~*?:\\/ #\'<>=@,;%', " AND ", " OR ", " NOT ", " TO ", "*:*", "name:", "sofa", "red", "leather", "028", "é"]),
    st.text(max_size=3),
)  # fmt: skip


@settings(max_examples=80, deadline=None, database=None)
@given(text=st.lists(PIECES, max_size=12).map("".join))
def test_whatever_is_typed_finds_only_what_has_its_words(shop: Shop, search, text: str):
    answer = shop.get("/v1/products", q=text[:200], limit=100)
    assert answer.status == 200, answer.body
    words = words_of(text[:200])
    for found in answer.json["items"]:
        texts = words_of(" ".join([found["name"], found["brand"], *found["keywords"], found["description"]]))
        assert "did_you_mean" in answer.json or all(
            any(each.startswith(word) for each in texts) for word in words
        )
    if not words and text.strip():
        assert answer.json["items"] == []


@pytest.mark.parametrize(
    "value", ['Acme" OR brand_is:"Nordic', "Acme\\", "*", 'x") OR (*:*', "{}", '{"$gt": null}']
)
def test_no_filter_value_breaks_or_widens_a_query(shop: Shop, search, value: str):
    for query in ({"q": "sofa"}, {"category": "#".join(SOFAS)}, {"q": "", "facets": "brand"}):
        for name in ("brand", "colour"):
            assert shop.ok("/v1/products", **query, **{name: value})["items"] == []


@pytest.mark.parametrize(
    "path", ["\x00", ":", "::", "_", "_all_docs", "_design/x", "/", "..", ".", "%2F", "%00", "a%3Ab", "💥", "x" * 2400, "é" * 400, "{}", "\ud7ff", " ", "+", "?&=", "a\nb"]
)  # fmt: skip
def test_no_category_breaks_or_widens_a_list(shop: Shop, search, path: str):
    for query in ({}, {"q": "sofa"}, {"subcategories": "true"}, {"facets": "brand"}):
        assert shop.ok("/v1/products", category=path, **query)["items"] == [], query
    assert shop.get("/v1/categories", under=path).status == 404
    assert shop.get("/v1/pictures/" + quote(path, safe="")).status == 404
    assert shop.get("/v1/products/" + quote(path, safe="")).status == 404


def test_wrong_parameters_are_named(shop: Shop):
    answer = shop.get(
        "/v1/products",
        limit="0",
        sort="best",
        facets="size",
        min_price="-1",
        subcategories="maybe",
        category="A##B",
        q="x" * 201,
    )
    assert answer.status == 422
    assert set(answer.json["errors"]) == {
        "limit",
        "sort",
        "facets",
        "min_price",
        "subcategories",
        "category",
        "q",
    }


def test_a_cursor_belongs_to_its_query(shop: Shop, search):
    cursor = shop.ok("/v1/products", q="sofa", limit=1)["next"]
    assert shop.get("/v1/products", q="table", limit=1, cursor=cursor).json["code"] == "bad_cursor"
    assert shop.get("/v1/products", q="sofa", limit=1, cursor=cursor[:-3] + "AAA").status == 400
    assert shop.get("/v1/products", q="sofa", limit=1, cursor="nonsense").status == 400
