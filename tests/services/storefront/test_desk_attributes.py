"""Product types and attributes at the desk, on the product's page and among a department's filters, without JavaScript."""

import pytest

from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

TYPES, NEW = "/admin/product-types", "/admin/products/new"
PRODUCT = {"taxonomy": "Bags", "price": "5.00", "currency": "GBP", "stock": "3"}
ROWS = {
    "row-1-code": "material",
    "row-1-name": "Material",
    "row-1-kind": "one_of",
    "row-1-values": "Leather, Canvas",
    "row-2-code": "weight",
    "row-2-name": "Weight",
    "row-2-kind": "number",
    "row-2-unit": "g",
    "row-3-code": "zipped",
    "row-3-name": "Has a zip",
    "row-3-kind": "boolean",
}
FITS = {"row-4-code": "fits", "row-4-name": "Fits", "row-4-kind": "several_of", "row-4-values": "Laptop, A4"}


@pytest.fixture(scope="module")
def bag(keeper: Visitor) -> Page:
    """A type made at the desk, in two steps."""
    keeper.get(TYPES)
    page = keeper.submit(TYPES, code="bag", name="Bag", **ROWS)
    assert page.path == f"{TYPES}?code=bag", page.text
    page = keeper.submit(TYPES, **FITS)
    assert "Saved." in page.text
    return page


def show_attributes(keeper: Visitor, productid: str, **typed: str) -> Page:
    """The form of a new product after its type was chosen."""
    keeper.get(NEW)
    return keeper.submit(NEW, choose_type="yes", product_type="bag", productid=productid, **PRODUCT, **typed)


def test_a_type_is_made_and_changed(keeper: Visitor, bag: Page) -> None:
    form = keeper.get(f"{TYPES}?code=bag").form(TYPES)
    kept = {name: value for name, value in form.values.items() if name.startswith("row-") and value}
    assert {name: kept[name] for name in {**ROWS, **FITS}} == {**ROWS, **FITS}
    keeper.get(TYPES)
    again = keeper.submit(TYPES, code="bag", name="Bag again", **ROWS)
    assert "There is a product type bag already" in again.text
    assert again.form(TYPES).values["row-1-values"] == "Leather, Canvas"
    keeper.get(TYPES)
    wrong = keeper.submit(
        TYPES, code="wrong", name="Wrong", **{"row-1-code": "a", "row-1-name": "A", "row-1-kind": "one_of"}
    )
    assert "a: name the values to choose from." in wrong.text


def test_attributes_are_typed_in_shown_and_filtered_by(keeper: Visitor, visitor: Visitor, bag: Page) -> None:
    page = show_attributes(keeper, "bag-1", name="Canvas bag")
    assert "Canvas bag" in page.form(NEW).values.values()
    sent = {"attribute-material": "Canvas", "attribute-weight": "450.5", "attribute-zipped": "no"}
    page = keeper.upload(NEW, "pictures", b"", filename="", **sent, **{"attribute-fits-1": "yes"})
    assert page.path == "/admin/products/bag-1", page.text
    show_attributes(keeper, "bag-2", name="Leather bag")
    keeper.upload(NEW, "pictures", b"", filename="", **{"attribute-material": "Leather"})
    text = visitor.get("/product/bag-1").text
    for words in ("Material Canvas", "Weight 450.5 g", "Has a zip No", "Fits A4"):
        assert words in " ".join(text.split())
    assert "Specification" not in visitor.get("/product/mug-red").text
    eventually(lambda: "Has a zip" in visitor.get("/category/Bags").text)  # counts of filters may be late
    department = visitor.page
    for words in ("Material", "Weight (g)", "Fits"):
        assert words in department.text
    eventually(lambda: "Leather bag" in visitor.get("/category/Bags?attributes.material=Leather").text)
    assert "Canvas bag" not in visitor.page.text
    form = "/admin/products/bag-1"
    assert keeper.get(form).form(form).values["attribute-weight"] == "450.5"
    assert "Saved." in keeper.submit(form, **{"attribute-weight": "460"}).text
    assert "460 g" in visitor.get("/product/bag-1?view=2").text


def test_a_wrong_attribute_is_named_beside_its_field(keeper: Visitor, bag: Page) -> None:
    show_attributes(keeper, "bag-3", name="Heavy bag")
    page = keeper.upload(NEW, "pictures", b"", filename="", **{"attribute-weight": "heavy"})
    assert "Write a number such as 450 or 12.5." in page.text
    assert "#attribute-weight" in [href for href, _ in page.links]
    assert page.form(NEW).values["name"] == "Heavy bag"
