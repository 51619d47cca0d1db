"""A page for everybody is drawn once for the same answers: never shown to one person, never older than what it shows."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import requests
from flask import Flask, Response, g, session

from services.storefront.app import create_app
from services.storefront.caches.page_cache import ENTRY_BYTES, PublicAddress, PublicPage, PublicPages
from services.storefront.pages.csrf import csrf_token
from services.storefront.pages.layout import new_key
from services.storefront.pages.public_pages import public_page
from services.storefront.settings import Settings
from shared.settings import load
from tests.bench.running import ADMIN_EMAIL, Shop
from tests.services.storefront.conftest import GOODS
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

CUPS = "/category/Home/Kitchen/Cups"
PATHS = [
    "/",
    "/departments",
    "/category/Home",
    CUPS,
    f"{CUPS}?sort=price",
    "/search?q=cup",
    "/product/mug-red",
]
ADDRESS = PublicAddress("http://shop.example/", "/", "", None)


def page(text: str) -> PublicPage:
    return PublicPage(text.encode(), '"1"', None)


@pytest.fixture
def admin(shop: Shop) -> Iterator[requests.Session]:
    """Changes products; everything is as it was afterwards."""
    account = {"email": ADMIN_EMAIL, "password": shop.admin_password}
    login = requests.post(f"{shop.urls['users']}/v1/sessions", json=account, timeout=30).json()
    with requests.Session() as http:
        http.headers["Authorization"] = f"Bearer {login['access_token']}"
        yield http
        for each in GOODS:
            if each["productid"] == "mug-red":
                put(http, shop, each)


def put(http: requests.Session, shop: Shop, body: dict) -> None:
    url = f"{shop.urls['products']}/v1/products/{body['productid']}"
    http.put(
        url, json={name: value for name, value in body.items() if name != "stock"}, timeout=30
    ).raise_for_status()


def test_a_page_is_kept_for_its_own_answers_alone() -> None:
    pages, menu, other = PublicPages(100_000), object(), object()
    pages.put(menu, ADDRESS, (other, b"one"), page("first"))
    assert pages.get(menu, ADDRESS, (other, b"".join([b"o", b"ne"]))) == page("first")
    for answers in ((other, b"two"), (object(), b"one"), (other,), (other, b"one", b"one"), (other, "one")):
        assert pages.get(menu, ADDRESS, answers) is None
    for changed in ({"site": "http://x/"}, {"path": "/a"}, {"query": "a=1"}, {"encoding": "br"}):
        assert pages.get(menu, ADDRESS._replace(**changed), (other, b"one")) is None
    assert pages.get(object(), ADDRESS, (other, b"one")) is None
    pages.put(menu, ADDRESS, (other, b"two"), page("second"))
    assert pages.get(menu, ADDRESS, (other, b"one")) is None
    assert pages.get(menu, ADDRESS, (other, b"two")) == page("second")


def test_nothing_is_left_of_another_menu() -> None:
    pages, menu, later = PublicPages(100_000), object(), object()
    elsewhere = ADDRESS._replace(path="/elsewhere")
    pages.put(menu, ADDRESS, (b"",), page("first"))
    pages.put(later, elsewhere, (b"",), page("second"))
    assert pages.get(menu, ADDRESS, (b"",)) is pages.get(later, ADDRESS, (b"",)) is None
    assert pages.get(later, elsewhere, (b"",)) == page("second")


def test_the_least_recently_used_pages_go_when_the_memory_is_full() -> None:
    size, menu = 5000, object()
    pages = PublicPages(4 * (size + ENTRY_BYTES))
    addresses = [ADDRESS._replace(path=f"/{number}", encoding="br") for number in range(5)]

    def put(address: PublicAddress, length: int = size) -> None:
        pages.put(menu, address, (b"",), PublicPage(b"x" * length, '"1"', "br"))

    for address in addresses[:4]:
        put(address)
    put(addresses[1])
    assert pages.get(menu, addresses[0], (b"",)) is not None
    put(addresses[4])
    assert [pages.get(menu, each, (b"",)) is not None for each in addresses] == [
        True,
        True,
        False,
        True,
        True,
    ]
    put(addresses[4], 100 * size)
    assert pages.get(menu, addresses[4], (b"",)) is None


def test_a_page_that_is_not_encoded_takes_little_memory() -> None:
    pages, menu, text = PublicPages(2 * ENTRY_BYTES), object(), "the same again " * 5000
    pages.put(menu, ADDRESS, (b"",), page(text))
    assert pages.get(menu, ADDRESS, (b"",)) == page(text)


def test_an_endless_address_is_not_kept() -> None:
    pages, address = PublicPages(100_000), ADDRESS._replace(query=b"q" * 3000)
    menu = object()
    pages.put(menu, address, (b"",), page("x"))
    assert pages.get(menu, address, (b"",)) is None


@pytest.fixture(scope="module")
def app(shop: Shop) -> Flask:
    urls = {f"{name.upper()}_URL": url for name, url in shop.urls.items()}
    return create_app(load(Settings, {"AISLE_ENV": "local", **urls}))


@contextmanager
def asked(app: Flask, path: str = "/", **more: str) -> Iterator[None]:
    with app.test_request_context(path, headers=more):
        g.owner = ""
        yield


def shown(answer: Response | str) -> str:
    return answer if isinstance(answer, str) else answer.get_data(as_text=True)


def test_only_a_page_that_is_good_for_others_is_shown_again(app: Flask) -> None:
    drawn = iter(range(100))
    draws: dict[str, Callable[[], str]] = {
        "plain": lambda: f"{next(drawn)}",
        "key": lambda: f"{new_key()}{next(drawn)}",
        "token": lambda: f"{csrf_token()}{next(drawn)}",
    }
    again = {}
    for name, draw in draws.items():
        texts = set()
        for _ in range(3):
            with asked(app, f"/{name}"):
                texts.add(shown(public_page((b"answer",), draw)))
        again[name] = len(texts) == 1
    assert again == {"plain": True, "key": False, "token": False}


def test_a_browser_with_a_session_neither_gets_nor_leaves_a_kept_page(app: Flask) -> None:
    with asked(app, "/theirs"):
        session["count"] = 1
        assert shown(public_page((b"answer",), lambda: "of one")) == "of one"
    with asked(app, "/theirs"):
        assert shown(public_page((b"answer",), lambda: "of all")) == "of all"
    with asked(app, "/theirs"):
        session["count"] = 1
        assert shown(public_page((b"answer",), lambda: "of one")) == "of one"
    with asked(app, "/theirs"):
        assert shown(public_page((b"answer",), lambda: "drawn again")) == "of all"


@pytest.mark.parametrize("path", PATHS)
def test_nobody_sees_the_page_of_another(shop: Shop, join: Callable[..., Visitor], path: str) -> None:
    stranger = Visitor(shop.urls["storefront"])
    name = f"Public Petra {PATHS.index(path)}"
    petra = join(name)
    assert name in petra.get(path).text, "before it is kept"
    public = stranger.get(path)
    for _ in range(2):
        assert name in petra.get(path).text
        again = Visitor(shop.urls["storefront"]).get(path)
        if again.body != public.body:  # what another test changed has arrived
            public, again = again, Visitor(shop.urls["storefront"]).get(path)
        assert again.body == public.body
        assert name not in again.text
        assert b"_csrf" not in again.body
        assert again.headers["Cache-Control"] == "public, max-age=0, s-maxage=5"


def test_a_note_is_shown_once_and_to_nobody_else(shop: Shop, visitor: Visitor) -> None:
    visitor.get(CUPS)
    noted = visitor.submit("/basket")
    note = re.search(rb'<div class="note \w+"><p>([^<]+)', noted.body)
    assert noted.path == CUPS, noted.text
    assert note, noted.text
    assert note[1] not in Visitor(shop.urls["storefront"]).get(CUPS).body
    assert note[1] not in visitor.get(CUPS).body


def test_a_page_names_the_site_that_was_asked(shop: Shop) -> None:
    url = f"{shop.urls['storefront']}/product/mug-red"
    for host in ("one.example", "two.example", "one.example"):
        text = requests.get(url, headers={"Host": host}, timeout=30).text
        assert f'<link rel="canonical" href="http://{host}/product/mug-red">' in text


def test_a_search_shows_its_own_words(visitor: Visitor) -> None:
    for words in ("cup", "nothingatall", "cup", "nothingatalleither"):
        assert f"Results for “{words}”" in visitor.get(f"/search?q={words}").text


def test_the_next_view_shows_what_was_changed(shop: Shop, visitor: Visitor, admin: requests.Session) -> None:
    red = next(each for each in GOODS if each["productid"] == "mug-red")
    place = "/category/Home/Kitchen/Mugs%20%26%20Cups"
    for amount, price in ((777, "£7.77"), (778, "£7.78")):
        put(admin, shop, {**red, "price": {"amount": amount, "currency": "GBP"}})
        for path in ("/product/mug-red", place, f"{place}?sort=price"):
            eventually(lambda path=path, price=price: price in visitor.get(path).text, 25)


def test_the_next_view_shows_what_was_sold(shop: Shop, visitor: Visitor, admin: requests.Session) -> None:
    assert "In stock" in visitor.get("/product/mug-red").text
    product = f"{shop.urls['products']}/v1/products/mug-red"
    taken = requests.get(product, timeout=30).json()["stock"] - 5  # other files buy of it, too
    for delta, words in ((-taken, "Only 5 left"), (taken, "In stock")):
        body = {"delta": delta, "reason": "count"}
        admin.post(f"{product}/stock", json=body, timeout=30).raise_for_status()
        eventually(lambda words=words: words in visitor.get("/product/mug-red").text, 25)
