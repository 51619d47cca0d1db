"""How text becomes words, and which forms of a word are one: the same in Python and in the JavaScript of index functions."""

import csv
import unicodedata

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deploy.local.minicouch import javascript as v8
from shared.couch.search import (
    LANGUAGES,
    Language,
    SearchField,
    SearchIndex,
    compounds_of,
    letters_of,
    pairs_of,
    words_of,
)
from tests.services.products import flipkart

ENGLISH, GERMAN = LANGUAGES["en"], LANGUAGES["de"]


@pytest.mark.parametrize(
    "forms",
    [
        "watch watches",
        "dress dresses",
        "shoe shoes",
        "ring rings",
        "tie ties",
        "necktie neckties",
        "accessory accessories",
        "box boxes",
        "vase vases",
        "lens lenses",
        "hoody hoodie hoodies",
        "man men mens",
        "woman women womens",
        "child children childrens",
        "mouse mice",
        "knife knives",
        "bra bras",
        "sofa sofas",
        "jewellery jewelry",
        "colour color colors",
        "glass glasses",
        "bench benches",
        "toy toys",
        "potato potatoes",
        "lady ladies woman womens",
        "gents gentlemen men",
        "kid kids children",
        "phone phones smartphone mobiles",
        "sari saris saree sarees",
        "wooden wood",
        "golden gold",
        "tyre tyres tire tires",
        "television tv",
    ],
)
def test_english_forms_of_a_word_have_one_stem(forms: str):
    assert len({ENGLISH.stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    "others",
    [
        "bra brass",
        "short shorts",
        "bus but",
        "lens len",
        "ring string",
        "cap cape",
        "case cash",
        "hose horse",
        "new news",
        "6s 6",
        "plus plum",
        "iphone5s iphone5",
    ],
)
def test_other_english_words_have_other_stems(others: str):
    assert len({ENGLISH.stem(word) for word in others.split()}) == 2


@pytest.mark.parametrize(
    "forms",
    [
        "Lampe Lampen",
        "Schuh Schuhe Schuhen",
        "Kleid Kleider Kleidern",
        "Uhr Uhren",
        "Buch Bücher Büchern",
        "Mann Männer",
        "Glas Gläser",
        "Tisch Tische",
        "Tasche Taschen",
        "Auto Autos",
        "Schürze Schürzen Schuerze",
        "Haus Häuser",
        "Herr Herren",
    ],
)
def test_german_forms_of_a_word_have_one_stem(forms: str):
    assert len({GERMAN.stem(words_of(form)[0]) for form in forms.split()}) == 1


def test_words_are_folded_without_the_engines_help():
    assert words_of("Crème BRÛLÉE, Łódź & Straße l’été 💥") == [
        "creme",
        "brulee",
        "lodz",
        "strasse",
        "l",
        "ete",
    ]
    assert words_of("Men's, women’s and boys' O'Neill's") == ["men", "women", "and", "boys", "o", "neill"]
    assert pairs_of(["bed", "sheet", "set"]) == ["bedsheet", "sheetset"]
    assert compounds_of("Watch CAS-W-13, T-shirt and/or a_b.c d-e") == ["casw13", "abc"]


def indexed(language: Language, texts: list[str]) -> list[list[str]]:
    """What V8, without `normalize`, makes of the texts: the terms of each, and those of the same as a short text."""
    index = SearchIndex(
        "find", "?", (SearchField("text"), SearchField("name", short=True)), language=language
    )
    source = index.index_function().replace(
        "function (doc) {", "function (doc) {\n  String.prototype.normalize = undefined;", 1
    )
    docs = [orjson.dumps({"text": text, "name": text}) for text in texts]
    return [[value for name, value, _ in made if name != "name"] for made in v8.run_index(source, docs)]


def expected(language: Language, text: str) -> list[str]:
    words = words_of(text)

    def terms(of: list[str]) -> str:
        return " ".join(term for word in of for term in language.terms(word))

    return [terms(words), terms([*words, *pairs_of(words), *compounds_of(text), *letters_of(words)])]


@pytest.mark.skipif(not flipkart.FILE.exists(), reason="the real data is not here (AISLE_DATA)")
@pytest.mark.parametrize("language", LANGUAGES.values(), ids=lambda language: language.code)
def test_index_functions_make_the_same_terms_of_the_whole_sample(language: Language):
    with flipkart.FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = [
        text
        for row in rows
        for text in (row["product_name"], row["brand"], row["product_category_tree"], row["description"])
    ]
    assert indexed(language, texts) == [expected(language, text) for text in texts]


LETTERS = st.characters(max_codepoint=0x1FFF, categories=("Lu", "Ll", "Nd")) | st.sampled_from(" -'’&.,/s💥")


@settings(max_examples=60, deadline=None, database=None)
@given(texts=st.lists(st.text(LETTERS, max_size=30), min_size=20, max_size=40))
def test_index_functions_make_the_same_terms_of_any_letters(texts: list[str]):
    texts = [unicodedata.normalize("NFC", text) for text in texts]
    assert indexed(ENGLISH, texts) == [expected(ENGLISH, text) for text in texts]
