"""Pictures uploaded at the product form, through HTTP and without JavaScript, and shown in the shop."""

import re
from collections.abc import Callable

import orjson
import pytest
import requests

from services.storefront.rules.pictures import first_source, sources
from tests.bench.running import ADMIN_EMAIL, Shop
from tests.people import place
from tests.pictures import bomb_png, encoded, opened, photo, png, shade_of
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

PRODUCT = {"name": "Framed", "taxonomy": "Pictures", "price": "5.00", "currency": "GBP", "stock": "3"}
NEW = "/admin/products/new"


def kept_picture(page: Page) -> str:
    """The address of the first uploaded picture on the page."""
    found = [source for source in page.sources if source.startswith("/pictures/")]
    assert found, page.sources
    return found[0]


@pytest.fixture
def framed(keeper: Visitor, request: pytest.FixtureRequest) -> str:
    """A product with an uploaded picture; its id."""
    productid = f"framed-{abs(hash(request.node.name))}"
    keeper.get(NEW)
    page = keeper.upload(NEW, "pictures", png(10), productid=productid, **PRODUCT)
    assert page.path == f"/admin/products/{productid}", page.text
    return productid


def test_an_uploaded_picture_is_shown_in_the_shop_for_a_year(visitor: Visitor, framed: str) -> None:
    address = kept_picture(visitor.get(f"/product/{framed}"))
    assert address in visitor.get("/category/Pictures").sources
    visitor.get(f"/product/{framed}")
    visitor.submit("/basket")
    assert address in visitor.get("/basket").sources
    picture = visitor.get(address)
    assert (picture.status, shade_of(picture.body)) == (200, 10)
    assert picture.headers["Content-Type"] == "image/png"
    assert picture.headers["X-Content-Type-Options"] == "nosniff"
    assert picture.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert visitor.get(address, **{"If-None-Match": picture.headers["ETag"]}).status == 304
    for unknown in ("0" * 64, "x", "..%2f..%2fproducts"):
        assert visitor.get(f"/pictures/{unknown}").status == 404


def test_a_picture_given_through_the_api_is_shown_too(shop: Shop, visitor: Visitor) -> None:
    """Its address led to /pictures/pictures/..., where nothing is."""
    account = {"email": ADMIN_EMAIL, "password": shop.admin_password}
    login = requests.post(f"{shop.urls['users']}/v1/sessions", json=account, timeout=30)
    headers = {"Authorization": f"Bearer {login.json()['access_token']}", "Content-Type": "image/png"}
    address = f"{shop.urls['products']}/v1/products/cup-37/picture"
    assert requests.put(address, png(90), headers=headers, timeout=30).status_code == 200
    page = visitor.get("/product/cup-37")
    images = [source for source in page.sources if "pictures" in source]
    assert [visitor.get(image).status for image in images] == [200]


def test_pictures_are_added_put_in_order_described_and_taken_away(
    keeper: Visitor, visitor: Visitor, framed: str
) -> None:
    form = f"/admin/products/{framed}"
    keeper.get(form)
    page = keeper.upload(form, "pictures", png(20), png(21), png(20), **{"picture-1-alt": "From the front"})
    assert "Saved." in page.text
    values = page.form(form).values
    assert [values[f"picture-{number}-alt"] for number in (1, 2, 3)] == ["From the front", "", ""]
    keeper.get(form)
    order = {"picture-1-place": "3", "picture-2-place": "2", "picture-3-place": "1"}
    keeper.submit(form, **order, **{"picture-3-alt": "The <box>"})
    assert shades(visitor, framed) == [21, 20, 10]
    body = visitor.get(f"/product/{framed}").body.decode()
    alts = re.findall(r'<li class="shot" id="picture-\d">.*?alt="([^"]*)"', body)
    assert alts == ["The &lt;box&gt;", "Framed, picture 2", "From the front"]
    assert 'href="#picture-2"' in body
    keeper.get(form)
    keeper.submit(form, **{"picture-2-remove": "yes"})
    assert shades(visitor, framed) == [21, 10]
    keeper.get(form)
    keeper.submit(form, **{"picture-1-remove": "yes", "picture-2-remove": "yes"})
    assert shades(visitor, framed) == []


def shades(visitor: Visitor, productid: str) -> list[int]:
    """The greys of the pictures on a product's page, in their order."""
    body = visitor.get(f"/product/{productid}").body.decode()
    large = re.findall(r'<img src="([^"]*)"[^>]* width="720"', body)
    return [shade_of(visitor.get(each).body) for each in large]


@pytest.fixture(scope="module")
def photographed(keeper: Visitor, join: Callable[..., Visitor]) -> str:
    """A product with a photo, rated best of all, so that the home page has it whatever else is sold; its page."""
    keeper.get(NEW)
    content = encoded(photo(2400, 1600), "JPEG")
    values = PRODUCT | {"name": "Photographed", "taxonomy": "Photos", "productid": "photographed"}
    created = keeper.upload(NEW, "pictures", content, **values)
    assert created.path == "/admin/products/photographed", created.text
    page, buyer = "/product/photographed", join("Phoebe Photo")
    form = buyer.get("/account").form("/account/addresses")
    buyer.send_form(form, {**form.values, "name": "Home", **place()})
    put_in_basket(buyer, "photographed")
    buyer.get("/checkout")
    assert buyer.submit("/checkout", card="tok_ok").path.startswith("/orders/")
    eventually(lambda: "reviews" in str([form.action for form in buyer.get(f"{page}/review").forms]))
    buyer.submit(f"{page}/reviews", stars="5", text="Sharp.")
    return page


@pytest.mark.parametrize("path", ["/", "/category/Photos", "/search?q=photographed", "/product/photographed"])
def test_every_page_loads_a_picture_in_the_width_that_it_needs(
    visitor: Visitor, photographed: str, path: str
) -> None:
    address = re.search(r"/pictures/[0-9a-f]{64}/", eventually_with(visitor, photographed, "<picture>"))
    assert address, "the product's own page shows its picture first"
    found = re.search(
        rf'<picture><source type="image/webp" srcset="(?P<webp>{address[0]}[^"]*)" sizes="[^"]+">'
        r'<img src="[^"]*" srcset="(?P<own>[^"]*)" sizes="[^"]+" width="\d+" height="\d+" alt="[^"]*"',
        eventually_with(visitor, path, address[0]),
    )
    assert found, path
    for format_, kind in (("webp", "image/webp"), ("own", "image/jpeg")):
        widths = {}
        for each in found[format_].split(", "):
            source, width = each.split(" ")
            file = visitor.get(source)
            assert (file.status, file.headers["Content-Type"]) == (200, kind)
            assert file.headers["Cache-Control"] == "public, max-age=31536000, immutable"
            widths[width] = opened(file.body).width
        assert widths == {"320w": 320, "640w": 640, "1280w": 1280}


def eventually_with(visitor: Visitor, path: str, text: str) -> str:
    """The page, once its list knows the new product: the home page is some tenths of a second old."""
    eventually(lambda: text.encode() in visitor.get(path).body)
    return visitor.page.body.decode()


@pytest.mark.parametrize(
    ("data", "error_text"),
    [
        (
            b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
            "photo.png: This is not a JPEG, PNG",
        ),
        (b"just words", "photo.png: This is not a JPEG, PNG"),
        (b"", "photo.png: This is not a JPEG, PNG"),
        (png(1) + b"x" * 5_000_000, "photo.png: This picture is too large: at most 5 MB"),
        (bomb_png(), "photo.png: This picture has too many pixels"),
        (encoded(photo(600, 600), "JPEG")[:9000], "photo.png: This picture is damaged or cut off"),
    ],
    ids=["svg", "text", "empty", "large", "bomb", "cut off"],
)
def test_what_is_no_picture_is_refused_and_nothing_typed_is_lost(
    keeper: Visitor, data: bytes, error_text: str
) -> None:
    keeper.get(NEW)
    page = keeper.upload(
        NEW,
        "pictures",
        png(17),
        data,
        filename="photo.png",
        productid="refused",
        description="Kept.",
        **PRODUCT,
    )
    assert error_text in page.text
    assert b"<title>Error: New product" in page.body
    assert "#pictures" in [href for href, _ in page.links]
    assert page.form(NEW).values["description"] == "Kept."
    assert shade_of(keeper.get(kept_picture(page)).body) == 17, "the other file is there"
    assert page.form(NEW).values["stock"] == "3"
    assert keeper.get("/product/refused").status == 404


def test_a_mistake_in_another_field_keeps_the_picture(keeper: Visitor, visitor: Visitor) -> None:
    keeper.get(NEW)
    wrong = {**PRODUCT, "price": "5,00", "productid": "kept-picture"}
    page = keeper.upload(NEW, "pictures", png(30), **wrong)
    assert "Write 5.00" in page.text
    assert shade_of(keeper.get(kept_picture(page)).body) == 30, "the picture is shown beside the mistake"
    keeper.page = page
    page = keeper.submit(NEW, price="5.00")
    assert page.path == "/admin/products/kept-picture"
    assert kept_picture(visitor.get("/product/kept-picture"))


def test_only_the_shops_people_upload(join: Callable[..., Visitor], keeper: Visitor) -> None:
    keeper.get(NEW)
    customer = join("Uwe Upload")
    customer.page = keeper.page
    assert customer.upload(NEW, "pictures", png(40), productid="theirs", **PRODUCT).status == 404


@pytest.mark.parametrize(
    ("image", "src"),
    [
        ("/v1/pictures/" + "0a" * 32, "/pictures/" + "0a" * 32 + "/640"),
        ("/media/mug.svg", "/media/mug.svg"),
        ("https://pictures.example/mug.jpg", "https://pictures.example/mug.jpg"),
        ("https://elsewhere.example/mug.jpg", ""),
        ("https://pictures.example.evil.example/mug.jpg", ""),
        ("//evil.example/mug.jpg", ""),
        ("/\\evil.example/mug.jpg", ""),
        ("/\t/evil.example/mug.jpg", ""),
        ("javascript:alert(1)", ""),
        ("/v1/pictures/../users", ""),
        ("", ""),
    ],
)
def test_only_own_pictures_and_named_origins_are_loaded(image: str, src: str) -> None:
    found = first_source({"image": image}, ["https://pictures.example"])
    assert (found.src if found else "") == src


def test_ids_of_pictures_are_nothing_but_ids() -> None:
    evil = [{"id": '0"><script>', "alt": ""}, {"id": "../users", "alt": ""}, {"id": "0a" * 32, "alt": "Good"}]
    assert [each.alt for each in sources({"pictures": evil}, [])] == ["Good"]


def test_a_variants_own_picture_comes_before_those_of_its_product() -> None:
    pictures = [{"id": "0a" * 32, "alt": "Product"}]
    variant = {"image": "/v1/pictures/" + "0b" * 32, "pictures": pictures}
    assert [each.src[10:12] for each in sources(variant, [])] == ["0b", "0a"]
    assert [each.alt for each in sources(variant | {"image": "/v1/pictures/" + "0a" * 32}, [])] == ["Product"]


def test_a_picture_is_taken_alone_by_the_shops_people_only(
    keeper: Visitor, join: Callable[..., Visitor]
) -> None:
    keeper.get(NEW)
    headers = {
        "X-CSRF-Token": keeper.page.form(NEW).values["_csrf"],
        "Content-Type": "application/octet-stream",
    }
    answer = keeper.send("POST", "/admin/pictures", png(95), headers)
    assert keeper.get(orjson.loads(answer.body)["src"]).status == 200
    refused = keeper.send("POST", "/admin/pictures", b"words", headers)
    assert (refused.status, "not a JPEG" in orjson.loads(refused.body)["problem"]) == (422, True)
    assert keeper.send("POST", "/admin/pictures", png(1) + bytes(5_000_000), headers).status == 413
    assert keeper.send("POST", "/admin/pictures", png(95), {**headers, "X-CSRF-Token": "x"}).status == 403
    assert join("Paula Picture").send("POST", "/admin/pictures", png(95), headers).status == 404
