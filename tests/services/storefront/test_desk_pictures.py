"""Pictures uploaded at the product form, through HTTP and without JavaScript, and shown in the shop."""

import struct
import zlib
from collections.abc import Callable

import orjson
import pytest
import requests

from services.storefront.rules.pictures import picture_src
from tests.bench.running import ADMIN_EMAIL, Shop
from tests.services.storefront.visitor import Page, Visitor

PRODUCT = {"name": "Framed", "taxonomy": "Pictures", "price": "5.00", "currency": "GBP", "stock": "3"}
NEW = "/admin/products/new"


def png(shade: int) -> bytes:
    """A real picture of one grey pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes([0, shade]))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


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
    page = keeper.upload(NEW, "picture", png(10), productid=productid, **PRODUCT)
    assert page.path == f"/admin/products/{productid}", page.text
    return productid


def test_an_uploaded_picture_is_shown_in_the_shop_for_a_year(visitor: Visitor, framed: str) -> None:
    address = kept_picture(visitor.get(f"/product/{framed}"))
    assert address in visitor.get("/category/Pictures").sources
    visitor.get(f"/product/{framed}")
    visitor.submit("/basket")
    assert address in visitor.get("/basket").sources
    picture = visitor.get(address)
    assert (picture.status, picture.body) == (200, png(10))
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


def test_another_picture_takes_its_place_and_it_can_be_taken_away(
    keeper: Visitor, visitor: Visitor, framed: str
) -> None:
    form = f"/admin/products/{framed}"
    before = kept_picture(visitor.get(f"/product/{framed}"))
    keeper.get(form)
    page = keeper.upload(form, "picture", png(20))
    assert "Saved." in page.text
    after = kept_picture(visitor.get(f"/product/{framed}"))
    assert after != before
    assert visitor.get(after).body == png(20)
    keeper.get(form)
    keeper.submit(form, remove_picture="yes")
    assert [each for each in visitor.get(f"/product/{framed}").sources if "/pictures/" in each] == []


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "Choose a JPEG, PNG"),
        (b"just words", "Choose a JPEG, PNG"),
        (b"", "Choose a JPEG, PNG"),
        (png(1) + b"x" * 5_000_000, "at most 5 MB"),
    ],
    ids=["svg", "text", "empty", "large"],
)
def test_what_is_no_picture_is_refused_and_nothing_typed_is_lost(
    keeper: Visitor, data: bytes, complaint: str
) -> None:
    keeper.get(NEW)
    page = keeper.upload(
        NEW, "picture", data, filename="photo.png", productid="refused", description="Kept.", **PRODUCT
    )
    assert complaint in page.text
    assert b"<title>Error: New product" in page.body
    assert "#picture" in [href for href, _ in page.links]
    assert page.form(NEW).values["description"] == "Kept."
    assert page.form(NEW).values["stock"] == "3"
    assert keeper.get("/product/refused").status == 404


def test_a_mistake_in_another_field_keeps_the_picture(keeper: Visitor, visitor: Visitor) -> None:
    keeper.get(NEW)
    wrong = {**PRODUCT, "price": "5,00", "productid": "kept-picture"}
    page = keeper.upload(NEW, "picture", png(30), **wrong)
    assert "Write 5.00" in page.text
    assert keeper.get(kept_picture(page)).body == png(30), "the picture is shown beside the mistake"
    keeper.page = page
    page = keeper.submit(NEW, price="5.00")
    assert page.path == "/admin/products/kept-picture"
    assert kept_picture(visitor.get("/product/kept-picture"))


def test_only_the_shops_people_upload(join: Callable[..., Visitor], keeper: Visitor) -> None:
    keeper.get(NEW)
    customer = join("Uwe Upload")
    customer.page = keeper.page
    assert customer.upload(NEW, "picture", png(40), productid="theirs", **PRODUCT).status == 404


@pytest.mark.parametrize(
    ("image", "src"),
    [
        ("/v1/pictures/" + "0a" * 32, "/pictures/" + "0a" * 32),
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
    assert picture_src(image, ["https://pictures.example"]) == src


def test_a_picture_is_taken_alone_by_the_shops_people_only(
    keeper: Visitor, join: Callable[..., Visitor]
) -> None:
    keeper.get(NEW)
    headers = {
        "X-CSRF-Token": keeper.page.form(NEW).values["_csrf"],
        "Content-Type": "application/octet-stream",
    }
    answer = keeper.send("POST", "/admin/pictures", png(95), headers)
    assert orjson.loads(answer.body)["image"].startswith("/v1/pictures/")
    assert keeper.send("POST", "/admin/pictures", b"words", headers).status == 422
    assert keeper.send("POST", "/admin/pictures", png(1) + bytes(5_000_000), headers).status == 413
    assert keeper.send("POST", "/admin/pictures", png(95), {**headers, "X-CSRF-Token": "x"}).status == 403
    assert join("Paula Picture").send("POST", "/admin/pictures", png(95), headers).status == 404
