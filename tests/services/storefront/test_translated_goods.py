"""A shop in English and German: whoever reads it in German finds, chooses and orders goods by their German names."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.people import place
from tests.services.storefront.conftest import import_goods, log_in, product, second_storefront
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

Desk = Callable[[str], Visitor]
GUEST = {"email": "zither@example.com", "name": "Zita", **place("1 Zither Street"), "card": "tok_ok"}
LABELS = {"Size": "Größe", "Small": "Klein", "Large": "Groß"}
SMALL = {"sku": "zitherbag-small", "options": {"Size": "Small"}, "stock": 9}
LARGE = {"sku": "zitherbag-large", "options": {"Size": "Large"}, "stock": 9}
TRANSLATION = {"name": "Zithertasche", "description": "Hält trocken.", "labels": LABELS}


@pytest.fixture(scope="module")
def two_languages(shop: Shop, keeper: Visitor, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    options = [{"name": "Size", "values": ["Small", "Large"]}]
    bag = product(
        "zitherbag", "Zither bag", ["Zithers", "Bags"], 4100, options=options, variants=[SMALL, LARGE]
    )
    import_goods(
        keeper,
        [
            {**bag, "translations": {"de": TRANSLATION}},
            product(
                "zitherpick",
                "Zither pick",
                ["Zithers", "Picks"],
                310,
                translations={"de": {"name": "Zitherring"}},
            ),
        ],
    )
    folder: Path = tmp_path_factory.mktemp("two-languages")
    with second_storefront(shop, folder, LANGUAGES="en,de") as url:
        yield url


@pytest.fixture(scope="module")
def desk_of(shop: Shop) -> Desk:
    """The desk of a storefront."""

    def enter(url: str) -> Visitor:
        desk = Visitor(url)
        log_in(desk, ADMIN_EMAIL, shop.admin_password)
        return desk

    return enter


@pytest.fixture
def german(two_languages: str) -> Visitor:
    found = Visitor(two_languages)
    form = found.get("/product/zitherpick").form("/language")
    found.page = found.send_form(form, {**form.values, "language": "de"})
    return found


@pytest.mark.parametrize(
    ("path", "english", "german_name"),
    [
        ("/product/zitherbag-small", "Zither bag", "Zithertasche"),
        ("/category/Zithers", "Zither bag", "Zithertasche"),
        ("/category/Zithers/Picks", "Zither pick", "Zitherring"),
        ("/search?q=zither", "Zither pick", "Zitherring"),
    ],
)
def test_pages_show_goods_in_the_language_that_was_chosen(
    two_languages: str, german: Visitor, path: str, english: str, german_name: str
) -> None:
    eventually(lambda: english in Visitor(two_languages).get(path).text)
    for _ in range(2):
        assert german_name in german.get(path).text
        assert english not in german.page.text
        mark = "&" if "?" in path else "?"
        assert german_name in Visitor(two_languages).get(f"{path}{mark}language=de").text
        assert german_name not in Visitor(two_languages).get(path).text


def test_a_page_named_by_its_language_is_kept_for_everybody(two_languages: str) -> None:
    path = "/product/zitherpick?language=de"
    eventually(lambda: "hit" in Visitor(two_languages).get(path).headers.get("Cache-Status", ""))
    assert "Zitherring" in Visitor(two_languages).get(path).text


def test_options_are_chosen_and_bought_by_their_german_names(german: Visitor) -> None:
    text = german.get("/product/zitherbag").text
    assert "Größe" in text
    assert "Klein" in text
    german.get("/product/zitherbag-large")
    german.submit("/basket", quantity="1")
    assert "Zithertasche" in german.get("/basket").text
    assert "Groß" in german.page.text
    german.get("/checkout")
    assert "Zithertasche" in german.page.text
    german.submit("/checkout", **GUEST)
    assert "Zithertasche" in german.page.text, german.page.text
    assert "Groß" in german.page.text


def test_departments_are_labelled(desk_of: Desk, two_languages: str, german: Visitor) -> None:
    desk = desk_of(two_languages)
    form = desk.get("/admin/categories?path=Zithers").form("/admin/categories")
    desk.page = desk.send_form(form, {**form.values, "label_de": "Saitenspiel", "text_de": "Zum Zupfen."})
    eventually(lambda: "Zum Zupfen." in german.get("/category/Zithers").text)
    assert "Saitenspiel" in german.page.text
    assert "Saitenspiel" not in Visitor(two_languages).get("/category/Zithers").text
    form = desk.get("/admin/categories?path=Zithers").form("/admin/categories")
    assert form.values["label_de"] == "Saitenspiel"


def test_translations_are_edited_at_the_desk(desk_of: Desk, two_languages: str, german: Visitor) -> None:
    desk, path = desk_of(two_languages), "/admin/products/zitherbag"
    form = desk.get(path).form(path)
    assert form.values["name_de"] == "Zithertasche"
    assert form.values["labels_de"].split("\n")[0].strip() == "Size = Größe"
    desk.page = desk.send_form(form, {**form.values, "labels_de": "Size: Größe"})
    assert "Write each in a line of its own" in desk.page.text
    form = desk.page.form(path)
    changed = {"name_de": "Zitherbeutel", "labels_de": "Size = Größe\nSmall = Winzig\nLarge = Riesig"}
    desk.page = desk.send_form(form, {**form.values, **changed})
    assert "Saved." in desk.page.text
    eventually(lambda: "Zitherbeutel" in german.get("/product/zitherbag-small").text)
    assert "Winzig" in german.page.text
    assert "Hält trocken." in german.page.text
    desk.page = desk.send_form(
        desk.get(path).form(path), {**desk.get(path).form(path).values, "name_de": "Zithertasche"}
    )


def test_a_product_types_names_are_edited_at_the_desk(desk_of: Desk, two_languages: str) -> None:
    desk = desk_of(two_languages)
    form = desk.get("/admin/product-types").form("/admin/product-types")
    row = {"row-1-code": "strings", "row-1-name": "Strings", "row-1-kind": "number"}
    typed = {"code": "zither", "name": "Zither", **row, "names_de": "strings = Saiten"}
    desk.page = desk.send_form(form, {**form.values, **typed})
    assert "Saved." in desk.page.text
    form = desk.get("/admin/product-types?code=zither").form("/admin/product-types")
    assert form.values["names_de"].strip() == "strings = Saiten"
