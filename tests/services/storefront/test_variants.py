"""Variants on the pages, without JavaScript: choosing, buying, and what a basket says when one is gone."""

import re
import secrets
from collections.abc import Callable
from typing import Any

import pytest
import requests

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.people import place
from tests.services.storefront.conftest import product
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

FACET = re.compile(r'<input type="checkbox" name="(colour|options[^"]*)"')


@pytest.fixture(scope="module")
def admin(shop: Shop) -> requests.Session:
    session = requests.Session()
    body = {"email": ADMIN_EMAIL, "password": shop.admin_password}
    login = session.post(f"{shop.urls['users']}/v1/sessions", json=body, timeout=30)
    session.headers["Authorization"] = f"Bearer {login.json()['access_token']}"
    return session


def sell(shop: Shop, admin: requests.Session, **more: Any) -> str:
    """Small and medium, red and blue: small red is sold out, medium blue costs more and has a picture of its own."""
    productid = f"shirt-{secrets.token_hex(4)}"
    variants = [
        {"sku": f"{productid}-S-red", "options": {"Size": "S", "Colour": "red"}, "stock": 0},
        {"sku": f"{productid}-S-blue", "options": {"Size": "S", "Colour": "blue"}, "stock": 5},
        {"sku": f"{productid}-M-red", "options": {"Size": "M", "Colour": "red"}, "stock": 3},
        {
            "sku": f"{productid}-M-blue",
            "options": {"Size": "M", "Colour": "blue"},
            "stock": 7,
            "prices": {"GBP": 2500},
            "picture": "/media/mug-red.svg",
        },
        {"sku": f"{productid}-L-red", "options": {"Size": "L", "Colour": "red"}, "stock": 0},
    ]
    options = [{"name": "Size", "values": ["S", "M", "L"]}, {"name": "Colour", "values": ["red", "blue"]}]
    body = product(productid, f"Shirt {productid}", ["Clothes"], 1999, options=options, variants=variants)
    answer = admin.post(f"{shop.urls['products']}/v1/products", json=body | more, timeout=30)
    assert answer.status_code == 201, answer.text
    return productid


def choice(page: Page, value: str) -> str:
    return next(href for href, text in page.links if text == value)


def buy_forms(visitor: Visitor) -> list[dict[str, str]]:
    return [form.values for form in visitor.page.forms if form.action == "/basket"]


def test_choosing_size_and_colour_shows_price_stock_and_picture(
    shop: Shop, admin: requests.Session, visitor: Visitor
) -> None:
    shirt = sell(shop, admin)
    page = visitor.get(f"/product/{shirt}")
    assert "from" in page.text
    assert "£19.99" in page.text
    assert not buy_forms(visitor), "nothing is chosen yet"
    assert "Choose size and colour" in page.text
    page = visitor.get(choice(page, "M"))
    assert page.path == f"/product/{shirt}-M-red"
    assert "Only 3 left" in page.text
    assert "£19.99" in page.text
    page = visitor.get(choice(page, "blue"))
    assert page.path == f"/product/{shirt}-M-blue"
    assert "£25.00" in page.text
    assert "In stock" in page.text
    html = requests.get(f"{shop.urls['storefront']}{page.path}", timeout=30).text
    assert "/media/mug-red.svg" in html
    assert f'/product/{shirt}"' in html.partition("</head>")[0], (
        "search engines are told one page for all variants"
    )
    assert buy_forms(visitor)[0]["productid"] == f"{shirt}-M-blue"


def test_what_is_sold_out_cannot_be_chosen(shop: Shop, admin: requests.Session, visitor: Visitor) -> None:
    shirt = sell(shop, admin)
    page = visitor.get(f"/product/{shirt}-S-blue")
    links = {text: href for href, text in page.links if href.startswith(f"/product/{shirt}-")}
    assert not any(href.endswith(("-S-red", "-L-red")) for href in links.values())
    assert links["red (M)"] == f"/product/{shirt}-M-red", "red is to be had in another size, and says so"
    assert "L (sold out)" in page.text
    page = visitor.get(f"/product/{shirt}-L-red")
    assert "This is sold out at the moment." in page.text
    assert not buy_forms(visitor)


def category_if_any(visitor: Visitor, name: str) -> Page | None:
    """Its page, once an index that is behind on a busy server has its first product."""
    page = visitor.get(f"/category/{name}")
    return page if page.status == 200 else None


def test_a_list_says_from_and_leads_to_the_choice(
    shop: Shop, admin: requests.Session, visitor: Visitor
) -> None:
    department = f"Rail-{secrets.token_hex(3)}"
    shirt = sell(shop, admin, taxonomy=[department])
    page = eventually(lambda: category_if_any(visitor, department))
    assert "from £19.99" in page.text
    assert not buy_forms(visitor)
    assert page.link(f"Choose Shirt {shirt}") == f"/product/{shirt}"


def test_two_facets_of_one_title_are_shown_as_one(
    shop: Shop, admin: requests.Session, visitor: Visitor
) -> None:
    department = f"Dye-{secrets.token_hex(3)}"
    sell(shop, admin, taxonomy=[department], colours=["red", "blue"])
    towel = product(f"towel-{secrets.token_hex(4)}", "Dyed towel", [department], 500, colours=["red"])
    answer = admin.post(f"{shop.urls['products']}/v1/products", json=towel, timeout=30)
    assert answer.status_code == 201, answer.text

    def shown(query: str = "") -> set[str]:
        return set(FACET.findall(visitor.get(f"/category/{department}{query}").body.decode()))

    eventually(lambda: shown() == {"colour", "options.Size"})  # the one that covers more
    assert eventually(lambda: "options.Colour" in shown("?options.Colour=red")), (
        "what is chosen can be taken back"
    )


def test_a_guest_buys_a_variant(shop: Shop, admin: requests.Session, visitor: Visitor) -> None:
    shirt = sell(shop, admin)
    visitor.get(f"/product/{shirt}-M-blue")
    page = visitor.submit("/basket", quantity="2")
    assert "Size: M, Colour: blue" in page.text
    assert "£50.00" in page.text
    page = visitor.get("/checkout")
    assert "Size: M, Colour: blue" in page.text
    page = visitor.submit(
        "/checkout",
        email="guest@example.com",
        name="Gwen Guest",
        **place("1 High Street"),
        card="tok_ok",
    )
    assert page.path.startswith("/orders/"), page.text
    assert "Size: M, Colour: blue" in page.text
    left = requests.get(f"{shop.urls['products']}/v1/products/{shirt}", timeout=30).json()["variants"]
    stock = admin.get(f"{shop.urls['products']}/v1/products/{shirt}-M-blue/stock", timeout=30).json()["stock"]
    assert (stock, len(left)) == (5, 5)


def test_two_variants_lie_side_by_side_and_a_short_one_is_named(
    shop: Shop, admin: requests.Session, join: Callable[..., Visitor]
) -> None:
    shirt = sell(shop, admin)
    visitor = join(f"Vera {secrets.token_hex(3)}")
    for size in ("S-blue", "M-red"):
        visitor.get(f"/product/{shirt}-{size}")
        visitor.submit("/basket", quantity="2")
    page = visitor.get("/basket")
    assert "Size: S, Colour: blue" in page.text
    assert "Size: M, Colour: red" in page.text
    page = visitor.submit(f"/basket/{shirt}-M-red", quantity="4")
    assert "Only 3 left: please take fewer." in page.text
    page = visitor.submit(f"/basket/{shirt}-M-red", remove="1")
    assert "Size: M, Colour: red" not in page.text


@pytest.mark.parametrize("logged_in", [False, True])
def test_a_variant_that_goes_while_it_is_in_a_basket_says_so(
    shop: Shop, admin: requests.Session, visitor: Visitor, join: Callable[..., Visitor], logged_in: bool
) -> None:
    shirt = sell(shop, admin)
    if logged_in:
        visitor = join(f"Wanda {secrets.token_hex(3)}")
    for size in ("S-blue", "M-red"):
        visitor.get(f"/product/{shirt}-{size}")
        visitor.submit("/basket", quantity="1")
    path = f"{shop.urls['products']}/v1/products/{shirt}"
    found = admin.get(path, timeout=30).json()
    kept = [{**each, "active": not each["sku"].endswith("S-blue")} for each in found["variants"]]
    body = found | {"variants": [each for each in kept if not each["sku"].endswith("M-red")]}
    assert admin.put(path, json=body, timeout=30).status_code == 200
    page = visitor.get("/basket")
    assert "Size: S, Colour: blue is no longer sold" in page.text
    assert "This variant is no longer sold" in page.text
    assert "Go to checkout" not in page.text
    for size in ("S-blue", "M-red"):
        page = visitor.submit(f"/basket/{shirt}-{size}", remove="1")
    assert "Your basket is empty" in page.text
    page = visitor.get(f"/product/{shirt}-S-blue")
    assert "This one is no longer sold" in page.text


def test_the_page_of_a_variant_is_new_after_its_price_changed(
    shop: Shop, admin: requests.Session, visitor: Visitor
) -> None:
    """Pages are kept by the storefront until what they show changes."""
    shirt = sell(shop, admin)
    assert "£25.00" in visitor.get(f"/product/{shirt}-M-blue").text
    path = f"{shop.urls['products']}/v1/products/{shirt}"
    found = admin.get(path, timeout=30).json()
    found["variants"][3]["prices"] = {"GBP": 2600}
    assert admin.put(path, json=found, timeout=30).status_code == 200
    for _ in range(3):
        assert "£26.00" in visitor.get(f"/product/{shirt}-M-blue").text


def test_the_shopkeeper_makes_variants_and_edits_them(
    shop: Shop, admin: requests.Session, keeper: Visitor
) -> None:
    plain = f"cap-{secrets.token_hex(4)}"
    body = product(plain, f"Cap {plain}", ["Clothes"], 1500)
    assert admin.post(f"{shop.urls['products']}/v1/products", json=body, timeout=30).status_code == 201
    path = f"/admin/products/{plain}/variants"
    keeper.get(f"/admin/products/{plain}")
    keeper.get(keeper.page.link("Sell it in several sizes"))
    assert keeper.page.path == path
    keeper.submit(
        path,
        combinations="1",
        **{
            "option-0-name": "Size",
            "option-0-values": "S, M",
            "option-1-name": "Colour",
            "option-1-values": "navy blue, red",
        },
    )
    values = keeper.page.form(path).values
    assert [values[f"variant-{n}-sku"] for n in range(4)] == [
        f"{plain}-S-navy-blue",
        f"{plain}-S-red",
        f"{plain}-M-navy-blue",
        f"{plain}-M-red",
    ]
    page = keeper.submit(
        path,
        **{
            "variant-0-stock": "4",
            "variant-1-stock": "5",
            "variant-2-stock": "6",
            "variant-2-price": "17.50",
            "variant-3-remove": "yes",
        },
    )
    assert page.path == path, page.text
    assert "Saved." in page.text
    found = admin.get(f"{shop.urls['products']}/v1/products/{plain}", timeout=30).json()
    assert [(each["sku"], each["stock"], each["price"]["amount"]) for each in found["variants"]] == [
        (f"{plain}-S-navy-blue", 4, 1500),
        (f"{plain}-S-red", 5, 1500),
        (f"{plain}-M-navy-blue", 6, 1750),
    ]
    keeper.get(path)
    page = keeper.submit(path, **{"variant-0-price": "twelve"})
    assert f"{plain}-S-navy-blue: Write a number such as 12.50." in page.text
    assert keeper.page.form(path).values["variant-0-price"] == "twelve", "what was typed is still there"
    keeper.get(path)
    page = keeper.submit(path, **{"variant-1-option-1": "navy blue"})
    assert "Entries 1 and 2 are alike: S, navy blue." in page.text
    keeper.get(f"/admin/products/{plain}")
    page = keeper.submit(f"/admin/products/{plain}/stock", sku=f"{plain}-S-red", delta="-2", reason="broken")
    assert "Stock changed." in page.text
    stock = admin.get(f"{shop.urls['products']}/v1/products/{plain}-S-red/stock", timeout=30).json()["stock"]
    assert stock == 3
    keeper.get(f"/admin/products/{plain}")
    page = keeper.submit(f"/admin/products/{plain}", name="A better cap")
    assert "Saved." in page.text
    found = admin.get(f"{shop.urls['products']}/v1/products/{plain}", timeout=30).json()
    assert (found["name"], len(found["variants"])) == ("A better cap", 3), (
        "the form that shows no variants keeps them"
    )


def test_the_desk_shows_which_variant_was_ordered(
    shop: Shop, admin: requests.Session, visitor: Visitor, keeper: Visitor
) -> None:
    shirt = sell(shop, admin)
    visitor.get(f"/product/{shirt}-S-blue")
    visitor.submit("/basket", quantity="1")
    visitor.get("/checkout")
    page = visitor.submit(
        "/checkout", email="g@example.com", name="Gus", **place("1 High Street"), card="tok_ok"
    )
    page = keeper.get(f"/admin{page.path}")
    assert page.text.count("Size: S, Colour: blue") == 2, "on the page, and on the packing slip"
    assert f"{shirt}-S-blue" in page.text
