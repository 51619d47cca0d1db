"""Pages for everybody carry no cookie and may be kept by a CDN; pages of one person are theirs alone."""

import gzip

import brotli
import pytest
import requests

from tests.bench.running import Shop
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PAGES = [
    "/",
    "/departments",
    "/category/Home",
    "/category/Home/Kitchen/Cups",
    "/category/Home/Kitchen/Cups?brand=Oak+%26+Co",
    "/search?q=cup",
    "/product/mug-red",
    "/suggest?q=mu",
]


def vary(headers: dict[str, str]) -> set[str]:
    return set(headers["Vary"].split(", "))


@pytest.mark.parametrize("path", PAGES)
def test_a_page_for_everybody_carries_no_cookie_and_may_be_kept(shop: Shop, path: str) -> None:
    def same() -> Page | None:
        one, other = (Visitor(shop.urls["storefront"]).get(path) for _ in range(2))
        return one if one.body == other.body else None

    one = eventually(same)
    assert one is not None
    assert "Set-Cookie" not in one.headers
    assert one.headers["Cache-Control"] == "public, max-age=0, s-maxage=5"
    assert {"Cookie", "Accept-Encoding"} <= vary(one.headers)
    assert b"_csrf" not in one.body
    again = Visitor(shop.urls["storefront"]).get(path, **{"If-None-Match": one.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")
    assert again.headers["Cache-Control"] == one.headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/login", "/register", "/basket", "/nothing", "/search?sort=rubbish"])
def test_other_pages_are_kept_by_nobody(visitor: Visitor, path: str) -> None:
    assert visitor.get(path).headers["Cache-Control"] == "no-store"


def test_a_page_shows_what_is_in_the_basket_to_its_owner_alone(shop: Shop, visitor: Visitor) -> None:
    visitor.get("/product/mug-red")
    visitor.submit("/basket", quantity="2")
    for path in PAGES[:-1]:
        page = visitor.get(path)
        assert page.headers["Cache-Control"] == "private, no-cache", path
        assert "2 in it" in page.text
    assert "0 in it" in Visitor(shop.urls["storefront"]).get("/product/mug-red").text


def test_a_page_for_everybody_comes_back_when_there_is_nothing_to_say(visitor: Visitor, join) -> None:
    join("Cacheable Carl", visitor=visitor)
    assert visitor.get("/product/mug-red").headers["Cache-Control"] == "private, no-cache"
    visitor.get("/account")
    visitor.submit("/logout")
    visitor.get("/product/mug-red")
    assert "Carl" not in visitor.page.text


def test_the_token_looks_different_in_every_answer_and_the_page_is_not_sent_again(visitor: Visitor) -> None:
    visitor.get("/product/mug-red")
    visitor.submit("/basket")
    one, other = visitor.get("/product/mug-blue"), visitor.get("/product/mug-blue")
    tokens = [page.form("/basket").values["_csrf"] for page in (one, other)]
    assert tokens[0] != tokens[1]
    assert one.headers["ETag"] == other.headers["ETag"]
    assert visitor.get("/product/mug-blue", **{"If-None-Match": one.headers["ETag"]}).status == 304
    for page, token in zip((one, other), tokens, strict=True):
        values = {**page.form("/basket").values, "_csrf": token}
        assert visitor.send_form(page.form("/basket"), values).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
    ids=str,
)
def test_another_site_puts_nothing_into_a_basket(shop: Shop, headers: dict[str, str]) -> None:
    stranger = Visitor(shop.urls["storefront"])
    assert stranger.send("POST", "/basket", b"productid=mug-red", FORM | headers).status == 403
    assert stranger.cookie("aisle_visit") is None


def test_a_page_that_was_kept_can_still_fill_the_basket_of_a_session(shop: Shop, visitor: Visitor) -> None:
    """A browser shows it again from its history, without a token; only our own page may send it."""
    visitor.get("/product/mug-red")
    visitor.submit("/basket")
    body = b"productid=mug-blue&quantity=1"
    unsaid = {
        "Content-Type": FORM["Content-Type"],
        "Cookie": "; ".join(f"{each.name}={each.value}" for each in visitor.jar),
    }
    assert requests.post(f"{visitor.base}/basket", body, headers=unsaid, timeout=30).status_code == 403
    own = {"Origin": shop.urls["storefront"]}
    assert visitor.send("POST", "/basket", body, FORM | own).status == 200
    assert visitor.send("POST", "/basket", body, FORM | own | {"Sec-Fetch-Site": "same-origin"}).status == 200
    assert visitor.send("POST", "/basket", body, FORM | own | {"Sec-Fetch-Site": "cross-site"}).status == 403
    assert visitor.get("/basket").form("/basket/mug-blue").values["quantity"] == "2"
    other_form = b"quantity=0"
    assert visitor.send("POST", "/basket/mug-blue", other_form, FORM | own).status == 403


@pytest.mark.parametrize("path", [*PAGES[:-1], "/login"])
def test_pages_are_compressed(shop: Shop, path: str) -> None:
    visitor = Visitor(shop.urls["storefront"])
    plain = visitor.get(path)
    for accepted, encoding, decode in (
        ("br", "br", brotli.decompress),
        ("gzip, deflate", "gzip", gzip.decompress),
        ("gzip;q=0.5, br;q=1.0", "br", brotli.decompress),
        ("gzip;q=1.0, br;q=0", "gzip", gzip.decompress),
    ):
        page = visitor.get(path, **{"Accept-Encoding": accepted})
        assert page.headers["Content-Encoding"] == encoding
        assert len(page.body) < len(plain.body) / 2
        assert int(page.headers["Content-Length"]) == len(page.body)
        assert page.headers.get("ETag") == plain.headers.get("ETag")
        if "ETag" in plain.headers:
            assert decode(page.body) == plain.body
    assert "Content-Encoding" not in visitor.get(path, **{"Accept-Encoding": "zstd"}).headers


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        ("/category/Home/Kitchen/Cups?sort=price&brand=x", "/category/Home/Kitchen/Cups"),
        ("/product/mug-red?reviews=", "/product/mug-red"),
    ],
)
def test_a_page_names_its_own_address(visitor: Visitor, path: str, canonical: str) -> None:
    expected = f'<link rel="canonical" href="{visitor.base}{canonical}">'
    assert expected in visitor.get(path).body.decode()


def test_search_pages_are_not_for_search_engines(visitor: Visitor) -> None:
    assert b'<meta name="robots" content="noindex, follow">' in visitor.get("/search?q=cup").body


def test_small_answers_are_not_compressed(visitor: Visitor) -> None:
    assert "Content-Encoding" not in visitor.get("/robots.txt", **{"Accept-Encoding": "br"}).headers


def test_static_files_are_compressed_and_kept_for_a_year(visitor: Visitor) -> None:
    for source in (each for each in visitor.get("/").sources if each.startswith("/assets/")):
        plain = visitor.get(source)
        assert plain.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        if not source.endswith((".js", ".css")):
            continue
        for encoding, decode in (("br", brotli.decompress), ("gzip", gzip.decompress)):
            packed = visitor.get(source, **{"Accept-Encoding": encoding})
            assert packed.headers["Content-Encoding"] == encoding
            assert packed.headers["Content-Type"] == plain.headers["Content-Type"]
            assert decode(packed.body) == plain.body
            same = visitor.get(
                source, **{"Accept-Encoding": encoding, "If-None-Match": packed.headers["ETag"]}
            )
            assert same.status == 304
