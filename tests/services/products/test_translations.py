"""A shop in English and German: products, categories and filters in both, each language found by its own words."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest

from services.products.documents import design_in
from shared.couch import Server
from tests.services.products.conftest import ADMIN, Neighbours, Shop, eventually, product, token
from tests.services.products.translated_goods import GOODS, LABELS, TYPE, WEAR
from tests.services.products.variants import shirt


@pytest.fixture(scope="module")
def both(prepared: Callable, service: Callable, neighbours: Neighbours, server: Server) -> Shop:
    prepared(design_in("en", "de"))
    urls = {"USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url}
    shop = Shop(service("products", **urls, ACCESS_LOG="false", LANGUAGES="en,de"), neighbours)
    assert shop.admin("POST", "/v1/admin/product-types", TYPE).status == 201
    assert shop.load(GOODS) == {"created": len(GOODS), "updated": 0, "unchanged": 0, "failed": []}
    server.wait_for_indexes(design_in("en", "de"))
    return shop


def names(shop: Shop, **query: Any) -> list[str]:
    return [each["name"] for each in shop.ok("/v1/products", **query)["items"]]


def test_a_product_is_answered_in_the_language_asked_for(both: Shop):
    english, german = both.get("/v1/products/shears"), both.get("/v1/products/shears", language="de")
    assert english.json["name"] == "Hedge shears"
    assert english.headers["Content-Language"] == "en"
    assert german.json["name"] == "Heckenschere"
    assert german.headers["Content-Language"] == "de"
    assert german.json["description"] == "Schneidet jede Hecke."
    assert english.headers["ETag"] != german.headers["ETag"]
    assert english.json["translations"] == GOODS[0]["translations"]
    assert "translations" not in german.json
    assert english.calls == german.calls == {"global": 1}


def test_what_is_not_translated_is_in_the_shops_own_language(both: Shop):
    answer = both.get("/v1/products/kneeler", language="de")
    assert answer.json["name"] == "Kneeler"
    assert answer.headers["Content-Language"] == "en"
    hoe = both.ok("/v1/products/hoe", language="de")
    assert hoe["name"] == "Unkrauthacke"
    assert hoe["description"] == ""


@pytest.mark.parametrize(
    ("language", "name"),
    [("de-AT", "Unkrauthacke"), ("en", "Weeding hoe"), ("fr", "Binette"), ("pt", "Weeding hoe")],
)
def test_any_language_may_be_asked_for(both: Shop, language: str, name: str):
    assert both.ok("/v1/products/hoe", language=language)["name"] == name


@pytest.mark.parametrize(
    "path",
    ["/v1/products", "/v1/products/hoe", "/v1/products/suggest", "/v1/categories", "/v1/products/best-rated"],
)
def test_what_is_no_language_is_refused(both: Shop, path: str):
    answer = both.get(path, language="German!", q="hoe")
    assert answer.status == 422, answer.body
    assert "language" in answer.json["errors"]


def test_lists_and_lookups_are_in_it_too(both: Shop):
    assert set(names(both, category="Garden#Tools", language="de")) == {
        "Heckenschere",
        "Unkrauthacke",
        "Eimer aus Zink",
        "Kneeler",
    }
    assert "Heckenschere" in names(both, category="Garden", subcategories="true", language="de")
    found = both.request(
        "POST", "/v1/products/lookup", {"productids": ["shears", "hemd-S-red"], "language": "de"}
    )
    assert [each["name"] for each in found.json["found"]] == ["Heckenschere", "Leinenbluse"]
    assert found.json["found"][1]["selected_options"] == {"Größe": "S", "Farbe": "rot"}
    assert found.calls == {"global": 1}
    assert found.headers["Content-Language"] == "de"


def test_a_category_is_in_the_order_of_the_names_shown(both: Shop):
    asked = {"category": "Garden#Tools", "sort": "name"}
    eventually(lambda: len(names(both, language="de", **asked)) == 4)
    assert names(both, **asked) == ["Hedge shears", "Kneeler", "Weeding hoe", "Zinc bucket"]
    assert names(both, language="de", **asked) == [
        "Eimer aus Zink",
        "Heckenschere",
        "Kneeler",
        "Unkrauthacke",
    ]
    assert both.get("/v1/products", language="de", **asked).calls == {"partition": 1}
    pages = [each["name"] for each in both.walk(language="de", limit=2, **asked)]
    assert pages == ["Eimer aus Zink", "Heckenschere", "Kneeler", "Unkrauthacke"]


@pytest.mark.parametrize(
    ("language", "q", "found"),
    [
        ("de", "Heckenschere", {"shears"}),
        ("de", "Heckenscheren", {"shears"}),
        ("de", "heckensch", {"shears"}),
        ("de", "Sommermode", {"hemd"}),
        ("de", "bluse rot", {"hemd"}),
        ("de", "kneeler", {"kneeler"}),
        ("de", "Hekcenschere", {"shears"}),
        ("de", "hemd-S-red", {"hemd"}),
        ("en", "hedges shear", {"shears"}),
        ("en", "red blouse", {"hemd"}),
        ("en", "Heckenschere", set()),
        ("de", "blouse", set()),
    ],
)
def test_each_language_is_found_by_its_words(both: Shop, language: str, q: str, found: set[str]):
    eventually(lambda: bool(names(both, q="Leinenbluse", language="de")))
    answer = both.get("/v1/products", q=q, language=language)
    assert {each["productid"] for each in answer.json["items"]} == found, answer.body
    if found and q.replace(" ", "").isalpha() and q != "Hekcenschere":
        assert answer.calls == {"global": 1}


def test_no_product_is_found_whose_variant_of_that_colour_and_size_is_sold_out(both: Shop):
    sold = shirt(
        "jacke",
        taxonomy=WEAR,
        name="Rain jacket",
        translations={"de": {"name": "Regenjacke", "labels": LABELS}},
    )
    for variant in sold["variants"]:
        variant["stock"] = 0 if variant["sku"] == "jacke-M-red" else 3
    assert both.load([sold])["created"] == 1
    eventually(lambda: names(both, q="regenjacke", language="de") == ["Regenjacke"])
    assert names(both, q="regenjacke rot L", language="de") == ["Regenjacke"]
    assert names(both, q="regenjacke blau M", language="de") == ["Regenjacke"]
    assert "Regenjacke" not in names(both, q="regenjacke rot M", language="de")
    assert "Rain jacket" not in names(both, q="rain jacket red M")


def test_options_and_variants_are_named_in_it(both: Shop):
    found = both.ok("/v1/products/hemd", language="de")
    assert found["options"] == [
        {"name": "Größe", "values": ["S", "M", "L"]},
        {"name": "Farbe", "values": ["rot", "blau"]},
    ]
    assert found["variants"][0]["options"] == {"Größe": "S", "Farbe": "rot"}
    assert found["colours"] == ["rot", "blau"]


def test_attributes_are_named_by_their_type_and_by_the_product(both: Shop):
    rows = both.ok("/v1/products/hemd", language="de", reviews=1)["specifications"]
    assert [(each["name"], each["value"]) for each in rows] == [
        ("Stoff", "Leinen"),
        ("Pflege", "Kalt waschen"),
        ("Weight", 140),
    ]
    english = both.ok("/v1/products/hemd", reviews=1)["specifications"]
    assert [(each["name"], each["value"]) for each in english][:2] == [
        ("Fabric", "linen"),
        ("Care", "Wash cold"),
    ]


def test_filters_keep_their_names_and_have_labels(both: Shop):
    asked = {"category": "Clothing#Shirts", "facets": "options,attributes.fabric,colour", "language": "de"}

    def labelled() -> bool:
        found = both.ok("/v1/products", **asked)
        colours = {each["value"]: each.get("label") for each in found["facets"].get("options.Colour", [])}
        return (
            colours == {"red": "rot", "blue": "blau"}
            and found["facet_names"].get("options.Colour") == "Farbe"
        )

    eventually(labelled)
    found = both.ok("/v1/products", **asked)
    assert found["facet_names"]["attributes.fabric"] == "Stoff"
    assert found["facets"]["attributes.fabric"] == [{"value": "linen", "label": "Leinen", "count": 1}]
    assert all(each["label"] in ("rot", "blau") for each in found["facets"]["colour"])
    chosen = both.ok("/v1/products", **asked, **{"options.Colour": "red", "options.Size": "S"})
    assert {each["productid"] for each in chosen["items"]} >= {"hemd"}
    assert (
        both.ok("/v1/products", **asked, q="bluse", **{"options.Colour": "red"})["items"][0]["name"]
        == "Leinenbluse"
    )
    plain = both.ok("/v1/products", **(asked | {"language": "en"}))
    assert not any("label" in each for each in plain["facets"]["options.Colour"])


def test_suggestions_are_in_it(both: Shop):
    eventually(lambda: bool(names(both, q="Leinenbluse", language="de")))
    german = both.get("/v1/products/suggest", q="leinenb", language="de")
    assert [each["text"] for each in german.json["items"]] == ["Leinenbluse"]
    assert german.calls == {"global": 1}
    assert german.headers["Content-Language"] == "de"
    assert [each["text"] for each in both.ok("/v1/products/suggest", q="linen b")["items"]] == [
        "Linen blouse"
    ]


def test_categories_have_labels_in_it(both: Shop):
    content = {
        "path": "Garden",
        "label": "The garden",
        "text": "Dig.",
        "translations": {"de": {"label": "Der Garten", "text": "Graben."}},
    }
    assert both.admin("PUT", "/v1/admin/categories/Garden", content).status == 201

    def labels(**query: Any) -> tuple[str, str]:
        garden = next(
            each for each in both.ok("/v1/categories", **query)["children"] if each["name"] == "Garden"
        )
        return garden.get("label", ""), garden.get("text", "")

    eventually(lambda: labels(language="de") == ("Der Garten", "Graben."))
    assert labels() == labels(language="fr") == ("The garden", "Dig.")
    both.ok("/v1/categories", language="de")
    again = both.get("/v1/categories", language="de")
    assert again.calls == {}
    assert again.headers["Content-Language"] == "de"


def test_a_client_that_knows_no_translations_keeps_them(both: Shop):
    assert (
        both.load([product("pot", name="Clay pot", translations={"de": {"name": "Tontopf"}})])["created"] == 1
    )
    path, content = "/v1/products/pot", product("pot", name="Big clay pot")
    assert both.admin("PUT", path, content).status == 200
    assert both.ok(path, language="de")["name"] == "Tontopf"
    assert both.admin("PUT", path, content | {"translations": {}}).status == 200
    assert both.ok(path, language="de")["name"] == "Big clay pot"


def test_an_etag_of_a_translation_does_not_write_it_over_the_original(both: Shop):
    assert both.load([product("rake", name="Rake", translations={"de": {"name": "Rechen"}})])["created"] == 1
    read = both.get("/v1/products/rake", language="de")
    content = {name: value for name, value in read.json.items() if name not in ("rating", "stock")}
    assert both.admin("PUT", "/v1/products/rake", content, If_Match=read.headers["ETag"]).status == 412
    assert both.ok("/v1/products/rake")["name"] == "Rake"


@pytest.mark.parametrize(
    ("translations", "reason"),
    [
        ({"German": {"name": "x"}}, "A language's code, such as de or pt-BR."),
        ({"de": {"title": "x"}}, "de: title is unknown."),
        ({"de": {"name": 5}}, "de, name: Not a text."),
        ({"de": "Tontopf"}, "de: Not an object."),
        ("Tontopf", "Not an object of at most 20 names."),
        ({"de": {"labels": {"red": "rot", "blue": "rot"}}}, "de: red and blue are both rot."),
        ({"de": {"labels": {"Size": "Art", "Colour": "Art"}}}, "de: Size and Colour are both Art."),
    ],
)
def test_an_import_says_in_which_line_a_translation_is_wrong(both: Shop, translations: Any, reason: str):
    found = both.load([product("fine-1"), shirt("wrong-1", translations=translations)])
    assert [each["line"] for each in found["failed"]] == [2]
    assert reason in found["failed"][0]["detail"]


def test_files_have_columns_of_the_shops_languages(both: Shop):
    headers = token(*ADMIN) | {"Accept": "text/csv"}
    text = both.get("/v1/products/export", headers).body.decode()
    rows = {row["productid"]: row for row in csv.DictReader(io.StringIO(text)) if row["name"]}
    assert rows["shears"]["name_de"] == "Heckenschere"
    assert rows["shears"]["translations"] == ""
    assert '"fr"' in rows["hoe"]["translations"]
    edited = rows["shears"] | {"name_de": "Gartenschere", "description_de": "=Schneidet."}
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, edited)
    writer.writeheader()
    writer.writerows([edited, rows["hoe"]])
    sent = token(*ADMIN) | {"Content-Type": "text/csv"}
    answer = both.request("POST", "/v1/products/import", buffer.getvalue().encode(), sent).json
    assert (answer["updated"], answer["unchanged"], answer["failed"]) == (1, 1, []), answer
    assert both.ok("/v1/products/shears", language="de")["name"] == "Gartenschere"
    assert both.load([GOODS[0]])["updated"] == 1


def test_what_is_exported_is_imported_unchanged(both: Shop):
    lines = both.get("/v1/products/export", token(*ADMIN)).body.splitlines()
    answer = both.load(lines)
    assert answer["failed"] == []
    assert answer["updated"] == 0
    assert answer["unchanged"] == len(lines)


def test_a_shop_of_one_language_answers_in_another_that_a_product_has(shop: Shop):
    spade = product("spade-de", name="Digging spade", translations={"de": {"name": "Spaten"}})
    assert shop.load([spade])["created"] == 1
    assert shop.ok("/v1/products/spade-de", language="de")["name"] == "Spaten"
    assert shop.get("/v1/products/spade-de").headers["Content-Language"] == "en"
    eventually(lambda: names(shop, q="digging") == ["Digging spade"])
    assert names(shop, q="digging", language="de") == ["Spaten"]


def test_the_index_of_the_shops_own_language_is_what_it_was():
    one, two = design_in("en"), design_in("en", "de")
    assert {each.design_id for each in one.patterns} < {each.design_id for each in two.patterns}


def test_a_language_without_rules_of_its_own_is_searched_too(
    prepared: Callable, service: Callable, neighbours: Neighbours
):
    prepared(design_in("en", "pt-BR"))
    urls = {"USERS_URL": neighbours.url, "ORDERS_URL": neighbours.url}
    shop = Shop(service("products", **urls, ACCESS_LOG="false", LANGUAGES="en,pt-BR"), neighbours)
    pail = product("pail-pt", name="Milking pail", translations={"pt-BR": {"name": "Balde de ordenha"}})
    assert shop.load([pail])["created"] == 1
    eventually(lambda: names(shop, q="ordenha", language="pt-BR") == ["Balde de ordenha"])
    assert shop.get("/v1/products/pail-pt", language="pt").headers["Content-Language"] == "en"


SORTED = {
    "en": ["Apple corer", "Éclair tray", "icing bag", "Öre jar", "Oven glove", "Über scale", "whisk"],
    "de": ["Äpfelkorb", "apfelschäler", "Birnenpresse", "Ofentuch", "Öllampe", "Zange", "zuckerdose"],
}
DRAWER = ["Chest", "Drawer"]


@pytest.fixture(scope="module")
def drawer(both: Shop) -> Shop:
    """Products in the order of their names, in English forwards and in German backwards, loaded in another."""
    pairs = list(enumerate(zip(SORTED["en"], reversed(SORTED["de"]), strict=True)))
    lines = [
        product(
            f"drawer-{number}",
            taxonomy=DRAWER,
            name=english,
            keywords=["drawerful"],
            translations={"de": {"name": german}},
        )
        for number, (english, german) in [*pairs[::2], *pairs[1::2]]
    ]
    assert both.load(lines)["failed"] == []
    return both


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    "asked",
    [{"category": "Chest#Drawer"}, {"category": "Chest", "subcategories": "true"}, {"q": "drawerful"}],
    ids=["category", "department", "search"],
)
def test_names_are_sorted_as_people_look_for_them(drawer: Shop, language: str, asked: dict[str, str]):
    query = {"language": language, "facets": "brand", "sort": "name", **asked}
    eventually(lambda: names(drawer, **query) == SORTED[language])
    assert names(drawer, **query | {"sort": "-name"}) == SORTED[language][::-1]
    pages = drawer.walk(**query, limit=3)
    assert [each["name"] for each in pages] == SORTED[language]
