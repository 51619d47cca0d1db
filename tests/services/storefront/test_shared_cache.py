"""A page for everybody is sent again without asking any service: for seconds, and as long as nothing that it shows has changed."""

import itertools
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
import requests

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.people import place
from tests.processes import free_port
from tests.services.storefront.conftest import GOODS, product, second_storefront
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

MUGS = "/category/Home/Kitchen/Mugs%20%26%20Cups"
PAGES = [
    "/",
    "/departments",
    "/category/Home",
    MUGS,
    f"{MUGS}?sort=price",
    "/search?q=mug",
    "/product/mug-blue",
]
BLUE = next({**each, "stock": None} for each in GOODS if each["productid"] == "mug-blue")
Put = Callable[..., None]


def services_asked(page: Page) -> int:
    """How many requests to services a page says that it made."""
    numbers = re.findall(r'(?:users|products|orders);desc="(\d+)"', page.headers["Server-Timing"])
    return sum(map(int, numbers))


def is_hit(page: Page) -> bool:
    return page.headers.get("Cache-Status") == "aisle; hit"


def kept(url: str, path: str) -> Page:
    """The page once it is sent without asking; what was changed a moment ago is asked for each time, and a busy server refuses it now and then."""

    def hit() -> Page | None:
        page = Visitor(url).get(path)
        assert page.status in (200, 503), page.text
        return page if is_hit(page) else None

    page = eventually(hit)
    assert page is not None
    return page


def shows(url: str, path: str, words: str, *, shown: bool = True) -> None:
    """Waits until the page does. The next view does where the machine is not so busy that an index is read before it has caught up;
    a page that nobody marked as changed would be sent again for much longer by the second storefront."""

    def is_there() -> bool:
        page = Visitor(url).get(path)
        return words in page.text or words.encode() in page.body

    eventually(lambda: is_there() is shown)


@pytest.fixture(scope="module")
def second(shop: Shop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Another storefront of the same shop, which asks for a page and the menu again when they have changed, not by the clock."""
    by_the_clock = {"STOREFRONT_MENU_SECONDS": "3600", "PAGE_REDRAW_SECONDS": "3600"}
    with second_storefront(shop, tmp_path_factory.mktemp("second"), **by_the_clock) as url:
        yield url


@pytest.fixture
def call(shop: Shop) -> Iterator[Callable[..., requests.Response]]:
    """The products service as an admin asks it; the mug is as it was afterwards."""
    account = {"email": ADMIN_EMAIL, "password": shop.admin_password}
    login = requests.post(f"{shop.urls['users']}/v1/sessions", json=account, timeout=30).json()

    def asked(method: str, path: str, body: dict | None = None) -> requests.Response:
        headers = {"Authorization": f"Bearer {login['access_token']}"}
        answer = requests.request(
            method, f"{shop.urls['products']}/v1/products{path}", json=body, headers=headers, timeout=30
        )
        answer.raise_for_status()
        return answer

    yield asked
    asked("PUT", "/mug-blue", content())


def content(**changed: object) -> dict:
    return {name: value for name, value in {**BLUE, **changed}.items() if name != "stock"}


@pytest.mark.parametrize("path", PAGES)
def test_a_second_view_asks_no_service(shop: Shop, path: str) -> None:
    page = kept(shop.urls["storefront"], path)
    assert services_asked(page) == 0
    assert page.headers["Cache-Control"] == "public, max-age=0, s-maxage=5"

    def same() -> bool:
        seen = [kept(shop.urls["storefront"], path) for _ in range(4)]
        return len({(each.headers["ETag"], each.body) for each in seen}) == 1

    eventually(same)  # what other tests changed may arrive in between


def test_a_kept_page_answers_head_conditional_and_every_encoding(shop: Shop) -> None:
    url = shop.urls["storefront"] + MUGS
    plain = kept(shop.urls["storefront"], MUGS)
    same = requests.get(url, headers={"If-None-Match": plain.headers["ETag"]}, timeout=30)
    assert (same.status_code, same.content) == (304, b"")
    head = requests.head(url, headers={"Accept-Encoding": "identity"}, timeout=30)
    assert (head.status_code, head.content, head.headers["ETag"]) == (200, b"", plain.headers["ETag"])
    for encoding in ("gzip", "br"):
        for _ in range(2):
            answer = requests.get(url, headers={"Accept-Encoding": encoding}, timeout=30, stream=True)
            assert answer.headers["Content-Encoding"] == encoding
            assert answer.headers["ETag"] == plain.headers["ETag"]
            answer.raw.read()
    assert kept(shop.urls["storefront"], MUGS).body == plain.body


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_sent_again_with_the_headers_that_it_had(shop: Shop, path: str) -> None:
    """But for the time it took and the request's id; a HEAD and a browser with cookies of others get the same."""
    url = shop.urls["storefront"] + path

    def answers() -> tuple[requests.Response, list[requests.Response]] | None:
        """The page as it was drawn, and as it was sent again; None where it was drawn anew in between: it was
        too old, or what other tests changed has just arrived."""
        kept(shop.urls["storefront"], path)
        requests.get(url, timeout=30)
        asked = requests.get(url, headers={"Cookie": "aisle_other=1"}, timeout=30)
        again = [
            requests.get(url, timeout=30),
            requests.get(url, headers={"Cookie": "consent=1; _ga=GA1.1.7"}, timeout=30),
            requests.head(url, timeout=30),
        ]
        are_hits = all(each.headers.get("Cache-Status") == "aisle; hit" for each in again)
        return (asked, again) if are_hits else None

    found = eventually(answers)
    assert found is not None
    asked, again = found
    for answer in again:
        own = {"X-Request-ID", "Server-Timing", "Date", "Cache-Status"}
        assert _without(own, answer) == _without(own, asked)
        assert answer.headers["X-Request-ID"] != asked.headers["X-Request-ID"]
        assert answer.content == (b"" if answer.request.method == "HEAD" else asked.content)


def _without(names: set[str], answer: requests.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name not in names}


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"price": {"amount": 4321, "currency": "GBP"}}, "/product/mug-blue", "£43.21"),
        ({"price": {"amount": 4322, "currency": "GBP"}}, MUGS, "£43.22"),
        ({"price": {"amount": 4323, "currency": "GBP"}}, "/category/Home", "£43.23"),
        ({"price": {"amount": 4324, "currency": "GBP"}}, "/search?q=blue+mug", "£43.24"),
        (
            {"price": {"amount": 4325, "currency": "EUR"}, "delivery": {"amount": 3, "currency": "EUR"}},
            "/search?q=blue+mug&currency=EUR",
            "43.25",
        ),
        ({"name": "Bluest Mug"}, f"{MUGS}?sort=price", "Bluest Mug"),
        ({"image": "/media/other.svg"}, "/product/mug-blue", "/media/other.svg"),
    ],
)
def test_an_edit_shows_at_once_on_every_storefront(
    shop: Shop, second: str, call: Callable, changes: dict, path: str, words: str
) -> None:
    storefronts = (shop.urls["storefront"], second)
    for url in storefronts:
        assert words.encode() not in kept(url, path).body
    call("PUT", "/mug-blue", content(**changes))
    for url in storefronts:
        shows(url, path, words)


def test_a_product_that_comes_and_goes_shows_at_once(shop: Shop, second: str, call: Callable) -> None:
    storefronts = (shop.urls["storefront"], second)
    pages = (MUGS, "/search?q=mug")

    def all_show(shown: bool) -> None:
        for url in storefronts:
            for path in pages:
                shows(url, path, "Brand New Mug", shown=shown)
            eventually(lambda url=url: Visitor(url).get("/product/mug-new").status == (200 if shown else 404))

    for url in storefronts:
        for path in pages:
            assert "Brand New Mug" not in kept(url, path).text
    call("POST", "", product("mug-new", "Brand New Mug", BLUE["taxonomy"], 777))
    try:
        all_show(True)
        for url in storefronts:
            for path in pages:
                assert "Brand New Mug" in kept(url, path).text
        assert "Brand New Mug" in kept(shop.urls["storefront"], "/product/mug-new").text
    finally:
        call("DELETE", "/mug-new")
    all_show(False)


def test_a_department_that_comes_and_goes_shows_soon(shop: Shop, second: str, call: Callable) -> None:
    """By the clock alone the second storefront would show it within the hour."""
    assert "Attic" not in Visitor(second).get("/departments").text
    for shown in (True, False):
        if shown:
            call("POST", "", product("trunk", "Old Trunk", ["Attic"], 4000))
        else:
            call("DELETE", "/trunk")
        eventually(lambda shown=shown: ("Attic" in Visitor(second).get("/departments").text) is shown)


def test_stock_set_by_hand_shows_at_once(shop: Shop, second: str, call: Callable) -> None:
    storefronts = (shop.urls["storefront"], second)
    for delta, words in ((-16, "Only 4 left"), (16, "In stock")):
        for url in storefronts:
            assert words not in kept(url, "/product/mug-blue").text
        call("POST", "/mug-blue/stock", {"delta": delta, "reason": "count"})
        for url in storefronts:
            shows(url, "/product/mug-blue", words)


def test_what_is_sold_out_by_hand_is_so_in_every_list(shop: Shop, second: str, call: Callable) -> None:
    storefronts = (shop.urls["storefront"], second)
    pages = (MUGS, "/search?q=blue+mug")

    def sold_out(page: Page) -> int:
        return page.text.count("Sold out")

    before = {path: sold_out(kept(url, path)) for path in pages for url in storefronts}
    try:
        call("POST", "/mug-blue/stock", {"delta": -20, "reason": "count"})
        for url in storefronts:
            for path in pages:
                eventually(lambda url=url, path=path: sold_out(Visitor(url).get(path)) == before[path] + 1)
    finally:
        call("POST", "/mug-blue/stock", {"delta": 20, "reason": "count"})


def test_a_review_shows_at_once(shop: Shop, second: str, join: Callable[..., Visitor]) -> None:
    rita = join("Rita Reviewer")
    form = rita.get("/account").form("/account/addresses")
    rita.send_form(form, {**form.values, "name": "Home", **place()})
    put_in_basket(rita, "rake")
    rita.get("/checkout")
    assert rita.submit("/checkout", card="tok_ok").path.startswith("/orders/")
    eventually(lambda: "reviews" in str([form.action for form in rita.get("/product/rake/review").forms]))
    storefronts = (shop.urls["storefront"], second)
    for url in storefronts:
        kept(url, "/category/Garden")
        assert "Rakes well." not in kept(url, "/product/rake").text
    rita.get("/product/rake/review")
    rita.submit("/product/rake/reviews", stars="4", text="Rakes well.")
    for url in storefronts:
        shows(url, "/product/rake", "Rakes well.")
        shows(url, "/category/Garden", "4.0")


def test_other_pages_stay_when_something_changes(shop: Shop, call: Callable) -> None:
    url, names = shop.urls["storefront"], (f"Mug {number}" for number in itertools.count())

    def stays(path: str) -> bool:
        kept(url, path)
        call("PUT", "/mug-blue", content(name=next(names)))
        return is_hit(Visitor(url).get(path))

    for path in ("/category/Garden", "/product/spade"):
        eventually(partial(stays, path))  # a page that has just become too old goes for that reason


def test_a_page_is_asked_for_again_when_it_is_old(shop: Shop, tmp_path: Path) -> None:
    with second_storefront(shop, tmp_path, PAGE_REDRAW_SECONDS="1") as url:
        kept(url, "/product/spade")
        time.sleep(1.1)
        assert not is_hit(Visitor(url).get("/product/spade"))
    with second_storefront(shop, tmp_path, PAGE_CACHE_SECONDS="0") as url:
        for _ in range(3):
            page = Visitor(url).get("/product/spade")
            assert not is_hit(page)
            assert services_asked(page) >= 1


def test_without_redis_every_page_asks_its_services(shop: Shop, tmp_path: Path) -> None:
    with second_storefront(shop, tmp_path, REDIS_URL=f"redis://127.0.0.1:{free_port()}/0") as url:
        for _ in range(3):
            page = Visitor(url).get("/product/spade")
            assert (page.status, is_hit(page)) == (200, False)
            assert services_asked(page) >= 1


def test_a_browser_with_a_session_gets_and_leaves_no_kept_page(
    shop: Shop, join: Callable[..., Visitor]
) -> None:
    kit = join("Kit Kept")
    kept(shop.urls["storefront"], "/product/spade")
    page = kit.get("/product/spade")
    assert (is_hit(page), "Kit Kept" in page.text, services_asked(page)) == (False, True, 1)
    kit.get("/product/rake?reviews=")
    stranger = Visitor(shop.urls["storefront"]).get("/product/rake?reviews=")
    assert (is_hit(stranger), "Kit Kept" in stranger.text) == (False, False)
    put_in_basket(guest := Visitor(shop.urls["storefront"]), "rake")
    assert not is_hit(guest.get("/product/spade"))


def test_many_who_come_at_once_have_one_page_drawn(shop: Shop, second: str) -> None:
    highest = itertools.count(10_000)

    def drawn() -> int:
        """How many of six who come at the same time are answered with a page of their own."""
        for url in (shop.urls["storefront"], second):
            kept(url, "/search?q=spade")
        path = f"/search?q=spade&max_price={next(highest)}"
        with ThreadPoolExecutor(6) as together:
            pages = list(together.map(lambda _: Visitor(second).get(path), range(6)))
        assert {page.status for page in pages} == {200}
        assert len({page.body for page in pages}) == 1
        return sum(services_asked(page) > 0 for page in pages)

    eventually(lambda: drawn() == 1)  # nobody waits for long: on a slow machine some may draw it themselves
