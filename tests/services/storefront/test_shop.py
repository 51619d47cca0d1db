"""The shop floor through HTTP, without JavaScript, against the real services."""

import itertools
from urllib.parse import urlencode

import pytest

from tests.services.products.conftest import has_search_engine
from tests.services.storefront.visitor import Page, Visitor

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def test_the_home_page_shows_departments_and_goods(visitor: Visitor) -> None:
    page = visitor.get("/")
    assert page.status == 200
    assert {"Home", "Garden"} <= {text.lstrip("0123456789 ") for _, text in page.links}
    assert any(form.action == "/basket" for form in page.forms)


def test_a_department_leads_down_to_its_products(visitor: Visitor) -> None:
    visitor.get("/category/Home")
    visitor.get(visitor.page.link("Kitchen"))
    page = visitor.get(visitor.page.link("Mugs & Cups"))
    assert page.path == "/category/Home/Kitchen/Mugs%20%26%20Cups"
    assert [text for href, text in page.links if href.startswith("/product/")] == [
        "Blue Mug",
        "Last Mug",
        "Red Mug",
        "Sold Mug",
    ]
    assert [
        text for href, text in page.links if href.startswith("/category/Home") and text in ("Home", "Kitchen")
    ]


def test_a_category_with_a_slash_and_a_comma_has_a_page(visitor: Visitor) -> None:
    visitor.get("/category/Home")
    page = visitor.get(visitor.page.link("Lights/Lamps, indoor"))
    assert page.status == 200
    assert "Desk <b>Lamp</b>" in page.text


@pytest.mark.parametrize(
    "path",
    ["/category/Nowhere", "/category/Home/Nowhere", "/product/nothing", "/orders/nothing/else", "/category/"],
)
def test_what_is_not_there_is_not_found(visitor: Visitor, path: str) -> None:
    page = visitor.get(path)
    assert page.status == 404
    assert "Not found" in page.text


def test_pages_of_a_long_shelf_follow_each_other_without_a_gap(visitor: Visitor) -> None:
    seen: list[str] = []
    page = visitor.get("/category/Home/Kitchen/Cups?sort=name")
    while True:
        seen += [href for href, _ in page.links if href.startswith("/product/")]
        following = [href for href, text in page.links if text == "Next page"]
        if not following:
            break
        page = visitor.get(following[0])
    assert seen == [f"/product/cup-{number:02d}" for number in range(40)]


def test_sorting_and_filters_work_by_form(visitor: Visitor) -> None:
    visitor.get("/category/Home/Kitchen/Mugs%20%26%20Cups")
    form = next(form for form in visitor.page.forms if "sort" in form.names and "brand" not in form.names)
    page = visitor.send_form(form, {**form.values, "sort": "-price"})
    assert [text for href, text in page.links if href.startswith("/product/")] == [
        "Last Mug",
        "Sold Mug",
        "Blue Mug",
        "Red Mug",
    ]
    form = next(form for form in page.forms if "brand" in form.names and "min_price" in form.names)
    page = visitor.send_form(form, {**form.values, "brand": "Pine's"})
    assert [text for href, text in page.links if href.startswith("/product/")] == ["Blue Mug"]
    page = visitor.get("/category/Home/Kitchen/Mugs%20%26%20Cups?min_price=10&max_price=11.99")
    assert {text for href, text in page.links if href.startswith("/product/")} == {"Blue Mug", "Sold Mug"}


def test_a_price_that_is_no_number_is_said_on_the_page(visitor: Visitor) -> None:
    page = visitor.get("/category/Home?min_price=cheap")
    assert page.status == 200
    assert "Write a number" in page.text


def test_search_finds_and_says_when_it_does_not(visitor: Visitor) -> None:
    visitor.get("/")
    page = visitor.submit("/search", q="blue mug")
    assert "Blue Mug" in [text for href, text in page.links if href.startswith("/product/")]
    page = visitor.get("/search?q=xylophone")
    assert page.status == 200
    assert "found nothing" in page.text
    page = visitor.get("/search?q=xylophone%20blue%20mug")
    assert "Nothing has all of “xylophone blue mug”. These are without “xylophone”." in page.text
    assert "Blue Mug" in [text for href, text in page.links if href.startswith("/product/")]


@pytest.mark.parametrize(
    "words",
    ["<script>alert(1)</script>", '" onload="x', "name:* OR *", "%27%22%3E", "#", "  ", "ü" * 100],
    ids=range(7),
)
def test_no_search_words_break_the_page(visitor: Visitor, words: str) -> None:
    visitor.get("/")
    page = visitor.submit("/search", q=words)
    assert page.status == 200
    assert page.inline == []


def test_suggestions_are_links(visitor: Visitor) -> None:
    page = visitor.get("/suggest?q=red%20mu")
    assert "/product/mug-red" in [href for href, _ in page.links]
    page = visitor.get("/suggest?q=rde%20mugs")
    assert "/product/mug-red" in [href for href, _ in page.links]


def test_a_product_page_holds_what_a_buyer_asks(visitor: Visitor) -> None:
    page = visitor.get("/product/mug-red")
    for words in (
        "Red Mug",
        "Oak & Co",
        "£9.50",
        "In stock",
        "Delivery £3.00",
        "Red Mug, described.",
        "No reviews yet",
    ):
        assert words in page.text
    assert "/media/mug-red.svg" in page.sources
    assert "Only 1 left" in visitor.get("/product/mug-last").text
    gone = visitor.get("/product/mug-gone")
    assert "Sold out" in gone.text
    assert not [form for form in gone.forms if form.action == "/basket"]


def test_names_are_text_never_markup(visitor: Visitor) -> None:
    assert b"<b>Lamp" not in visitor.get("/product/lamp-1").body


def test_a_picture_is_kept_by_browsers_and_can_do_nothing_alone(visitor: Visitor) -> None:
    page = visitor.get("/media/mug-red.svg")
    assert page.headers["Content-Type"].startswith("image/svg+xml")
    assert "max-age" in page.headers["Cache-Control"]
    assert "sandbox" in page.headers["Content-Security-Policy"]
    assert visitor.get("/media/../admin-password").status == 404


def test_shop_pages_are_checked_and_not_sent_again(visitor: Visitor) -> None:
    visitor.get("/product/mug-red")
    page = visitor.get("/product/mug-red")
    again = visitor.get("/product/mug-red", **{"If-None-Match": page.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/departments",
        "/category/Home",
        "/category/Home/Kitchen/Cups",
        "/search?q=cup",
        "/product/mug-red",
        "/basket",
        "/login",
    ],
)
def test_pages_are_small(visitor: Visitor, path: str) -> None:
    page = visitor.get(path)
    assert page.status == 200
    assert len(page.body) < 50_000
    assert page.inline == []


def test_a_guest_fills_a_basket_and_empties_it(visitor: Visitor) -> None:
    visitor.get("/product/mug-red")
    page = visitor.submit("/basket", quantity="2")
    assert page.path == "/basket"
    assert "£19.00" in page.text
    visitor.get("/product/mug-blue")
    page = visitor.submit("/basket")
    assert "£29.50" in page.text
    page = visitor.submit("/basket/mug-red", quantity="1")
    assert "£20.00" in page.text
    form = page.form("/basket/mug-blue")
    page = visitor.send_form(form, {**form.values, "remove": "1"})
    assert "Blue Mug" not in page.text
    assert page.form("/basket/mug-red").values["quantity"] == "1"


def test_the_basket_counts_what_went_in_and_no_more(visitor: Visitor) -> None:
    form = visitor.get("/product/mug-red").form("/basket")
    steps = [
        ("98", "98 in it"),
        ("5", "98 of it are in your basket already"),
        ("1", "99 in it"),
        ("-4", "1 or more"),
        ("0", "1 or more"),
        ("1.5", "a whole number"),
        ("lots", "a whole number"),
        ("1", "99 of it"),
    ]
    for quantity, words in steps:
        body = urlencode({**form.values, "quantity": quantity}).encode()
        added = visitor.send("POST", "/basket", body, {**FORM, "HX-Request": "true"})
        assert words in added.text, quantity
        assert added.status == (200 if "in it" in words else 422)
    assert visitor.get("/basket").form("/basket/mug-red").values["quantity"] == "99"


def test_a_quantity_in_the_basket_is_refused_in_words_and_stays(visitor: Visitor) -> None:
    visitor.get("/product/mug-red")
    visitor.submit("/basket", quantity="2")
    for quantity, words in (
        ("-1", "0 or more"),
        ("1.5", "a whole number"),
        ("many", "a whole number"),
        ("100", "at most 99"),
    ):
        page = visitor.submit("/basket/mug-red", quantity=quantity)
        assert (page.status, page.path) == (200, "/basket")
        assert words in page.text
        assert page.form("/basket/mug-red").values["quantity"] == "2"
    assert "Your basket is empty" in visitor.submit("/basket/mug-red", quantity="0").text


def test_more_than_there_is_cannot_be_checked_out(visitor: Visitor) -> None:
    visitor.get("/product/mug-last")
    visitor.submit("/basket", quantity="1")
    page = visitor.submit("/basket/mug-last", quantity="5")
    assert "Only 1 left" in page.text
    assert "Go to checkout" not in [text for _, text in page.links]


def test_a_card_adds_one_and_comes_back(visitor: Visitor) -> None:
    visitor.get("/category/Garden")
    page = visitor.submit("/basket")
    assert page.path == "/category/Garden"
    assert "Added to your basket" in page.text


def test_filters_and_baskets_work_in_a_category_with_a_slash(visitor: Visitor) -> None:
    address = "/category/Home/Lights%252FLamps%2C%20indoor"
    page = visitor.get(address)
    form = next(form for form in page.forms if "min_price" in form.names and "brand" in form.names)
    page = visitor.send_form(form, {**form.values, "max_price": "60"})
    assert (page.status, page.path.split("?")[0]) == (200, address)
    assert visitor.submit("/basket").path.split("?")[0] == address


def asked(page: Page) -> dict[str, int]:
    """How often this page asked each service, and the database calls that they made for it, without the read that a search costs
    besides on a server that has no search engine."""
    services, _, database = page.headers["Server-Timing"].partition(', database;desc="')
    parts = (part.partition(";desc=") for part in services.split(", "))
    calls = (part.split() for part in database.rstrip('"').split(", "))
    found = {name: int(number.strip('"')) for name, _, number in parts} | {
        kind: int(number) for kind, number in calls
    }
    if not has_search_engine() and (found["global"] or found["partition"]):
        found["read"] = max(0, found["read"] - found["global"] - found["partition"])
    return found


NOTHING = dict.fromkeys(("users", "products", "orders", "partition", "global", "read", "write"), 0)
ONE_SEARCH = {"products": 1, "global": 1}
ONE_PARTITION = {"products": 1, "partition": 1}


@pytest.mark.parametrize(
    ("path", "cost"),
    [
        ("/", {}),
        ("/departments", {}),
        ("/login", {}),
        ("/basket", {}),
        ("/category/Home", {"products": 1, "read": 1}),
        ("/category/Home/Kitchen/Cups", ONE_PARTITION),
        ("/category/Home/Kitchen/Cups?brand=Oak+%26+Co&sort=price", ONE_PARTITION),
        ("/category/Home/Kitchen/Cups?min_price=5&colour=red", ONE_PARTITION),
        ("/search?q=cup", ONE_SEARCH),
        ("/suggest?q=cup", {"products": 1}),
        ("/product/mug-red", ONE_SEARCH),
    ],
)
def test_a_page_costs_one_call_at_most(visitor: Visitor, path: str, cost: dict[str, int]) -> None:
    """At an address that nobody asked for before: else it is sent again for nothing."""
    views = (f"{path}{'&' if '?' in path else '?'}view={number}" for number in itertools.count())
    visitor.get(next(views))
    assert [asked(visitor.get(next(views))) for _ in range(3)] == [NOTHING | cost] * 3


def test_a_guests_basket_has_an_end_and_fits_its_cookie(visitor: Visitor) -> None:
    form = visitor.get("/product/cup-00").form("/basket")
    pages = [
        visitor.send_form(form, {**form.values, "productid": f"cup-{number:02d}"}) for number in range(31)
    ]
    assert {page.status for page in pages} == {200}
    assert "until you log in" not in pages[-2].text
    assert "until you log in" in pages[-1].text
    assert len(visitor.cookie("aisle_visit").value) < 3000
    assert visitor.get("/basket").text.count("Remove") == 30


def test_categories_below_the_menu_show_what_they_hold(visitor: Visitor) -> None:
    for names in (
        "Deep",
        "Deep/b/c",
        "Deep/b/c/d/e",
        "Deep/b/c/d/e/f",
        "Deep/b/c/d/e/f/g",
        "Deep/b/c/d/e/f/g/h",
    ):
        page = visitor.get(f"/category/{names}")
        assert "/product/deep" in [href for href, _ in page.links], names
    assert visitor.get("/category/Deep/b/c/d/e/f/x").status == 404
