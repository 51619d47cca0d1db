"""Whatever is typed, chosen or named as a category is data: it neither breaks nor widens a query."""

from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.couch import pairs_of, words_of
from tests.services.products.conftest import Shop
from tests.services.products.goods import ENGLISH, GOODS, SOFAS


@pytest.fixture(scope="module")
def search(shop: Shop):
    assert shop.load(GOODS)["created"] == len(GOODS)

    def find(q: str = "", **query) -> list[str]:
        return [each["productid"] for each in shop.ok("/v1/products", q=q, **query)["items"]]

    return find


ATTACKS = [
    "*",
    "*:*",
    "?",
    "name:*",
    "sofa OR *:*",
    "sofa) OR (name:a*",
    'sofa" OR "x',
    "sofa\\",
    "[* TO *]",
    "sofa AND NOT red",
    "sofa~2",
    "a^9999",
    "/.*/",
    "-sofa",
    "+",
    "&&",
    "||",
    "!",
    "{!func}",
    "category:Home",
    "sofa\x00",
    "💥",
    "'; DROP",
    "AND",
    "OR",
    "NOT",
    "TO",
    '"',
    '""',
    '"""',
    "(" * 50,
    "__proto__",
    "constructor",
    "1e5",
    "NaN",
    "Infinity",
    "\u202esofa",
]


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


def _joined(text: str) -> list[str]:
    words = words_of(text)
    return [*words, *pairs_of(words)]


PIECES = st.one_of(
    st.sampled_from(
        [
            *"+-&|!(){}[]^\"~*?:\\/ #'<>=@,;%",
            " AND ",
            " OR ",
            " NOT ",
            " TO ",
            "*:*",
            "name:",
            "sofa",
            "red",
            "leather",
            "028",
            "é",
        ]
    ),
    st.text(max_size=3),
)


@settings(max_examples=80, deadline=None, database=None)
@given(text=st.lists(PIECES, max_size=12).map("".join))
def test_whatever_is_typed_finds_only_what_has_its_words(shop: Shop, search, text: str):
    answer = shop.get("/v1/products", q=text[:200], limit=100)
    assert answer.status == 200, answer.body
    words = [word for word in words_of(text[:200]) if word not in answer.json.get("dropped_words", ())]
    content = [word for word in words if word not in ENGLISH.stop_words] or words
    for found in answer.json["items"]:
        texts = [
            found["name"],
            found["brand"],
            *found["keywords"],
            *found["colours"],
            *found["taxonomy"],
            found["description"],
            found["productid"],
        ]
        terms = {term for text in texts for word in _joined(text) for term in ENGLISH.terms(word)}
        assert "did_you_mean" in answer.json or all(
            ENGLISH.stem(word) in terms
            or any(each.startswith(word) for each in terms)
            or set(_joined(text[:200])) & terms
            for word in content
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
    "path",
    [
        "\x00",
        ":",
        "::",
        "_",
        "_all_docs",
        "_design/x",
        "/",
        "..",
        ".",
        "%2F",
        "%00",
        "a%3Ab",
        "💥",
        "x" * 2400,
        "é" * 400,
        "{}",
        "\ud7ff",
        " ",
        "+",
        "?&=",
        "a\nb",
    ],
)
def test_no_category_breaks_or_widens_a_list(shop: Shop, search, path: str):
    for query in ({}, {"q": "sofa"}, {"subcategories": "true"}, {"facets": "brand"}):
        assert shop.ok("/v1/products", category=path, **query)["items"] == [], query
    assert shop.get("/v1/categories", under=path).status == 404
    assert shop.get("/v1/pictures/" + quote(path, safe="")).status == 404
    assert shop.get("/v1/products/" + quote(path, safe="")).status == 404
