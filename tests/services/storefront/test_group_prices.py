"""Members of a customer group see their own prices on every page; nobody else does, and pages cost what they did."""

import re
from collections.abc import Callable, Iterator

import orjson
import pytest
import requests

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.patience import patient
from tests.people import PASSWORD
from tests.services.storefront.conftest import log_in, product
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

Join = Callable[..., Visitor]
EMAIL = "ferrand.farrier@example.com"
OURS, EVERYBODYS = "£6.41", "£10.07"
PATHS = [
    "/product/farrier-anvil",
    "/category/Farriery/Anvils",
    "/category/Farriery/Anvils?sort=price",
    "/category/Farriery",
    "/search?q=farrieranvil",
]


@pytest.fixture(scope="module")
def admin(shop: Shop) -> Iterator[requests.Session]:
    account = {"email": ADMIN_EMAIL, "password": shop.admin_password}
    with requests.Session() as http:
        login = http.post(f"{shop.urls['users']}/v1/sessions", json=account, timeout=30).json()
        http.headers["Authorization"] = f"Bearer {login['access_token']}"
        yield http


def load(admin: requests.Session, shop: Shop, *lines: dict) -> None:
    body = b"".join(orjson.dumps(each) + b"\n" for each in lines)
    headers = {"Content-Type": "application/x-ndjson"}
    path = f"{shop.urls['products']}/v1/products/import"
    answer = patient(lambda: admin.post(path, body, headers=headers, timeout=60))
    assert answer.json()["failed"] == [], answer.text


@pytest.fixture(scope="module")
def farrier(shop: Shop, admin: requests.Session, join: Join) -> Visitor:
    """A member of a group, logged in since they are one."""
    prices = {"farriers": {"GBP": 641}}
    load(
        admin,
        shop,
        product("farrier-anvil", "Farrieranvil", ["Farriery", "Anvils"], 1007, group_prices=prices),
        product("farrier-hammer", "Farrierhammer", ["Farriery", "Hammers"], 2000),
        product(
            "farrier-rasp",
            "Farrierrasp",
            ["Farriery", "Rasps"],
            2417,
            group_prices={"farriers": {"GBP": 903}},
        ),
        product("farrier-file", "Farrierrasp, small", ["Farriery", "Rasps"], 1703),
    )
    visitor = join("Ferrand Farrier", email=EMAIL)
    users = f"{shop.urls['users']}/v1/admin/users"
    userid = admin.post(f"{users}/lookup", json={"email": EMAIL}, timeout=30).json()["userid"]
    answer = admin.put(f"{users}/{userid}/group", json={"group": "farriers"}, timeout=30)
    assert answer.status_code == 200, answer.text
    for path in PATHS:
        eventually(lambda path=path: EVERYBODYS in Visitor(visitor.base).get(path).text)
    visitor.get("/account")
    visitor.submit("/logout")
    log_in(visitor, EMAIL, PASSWORD)
    return visitor


def cost(visitor: Visitor) -> str:
    return re.search(r'database;desc="([^"]*)"', visitor.page.headers["Server-Timing"])[1]


@pytest.mark.parametrize("path", PATHS)
def test_members_see_their_own_prices_and_nobody_else_does(
    farrier: Visitor, visitor: Visitor, path: str
) -> None:
    for _ in range(2):
        page = farrier.get(path)
        assert OURS in page.text
        assert "private" in page.headers["Cache-Control"]
        text = visitor.get(path).text
        assert EVERYBODYS in text
        assert OURS not in text
    eventually(lambda: visitor.get(path).headers.get("Cache-Status") == "aisle; hit")
    assert OURS not in visitor.page.text


def test_a_customer_without_a_group_sees_what_everybody_pays(farrier: Visitor, join: Join) -> None:
    other = join("Gerald Groupless")
    for path in PATHS:
        farrier.get(path)
        text = other.get(path).text
        assert EVERYBODYS in text
        assert OURS not in text


@pytest.mark.parametrize("path", PATHS)
def test_a_members_page_costs_what_a_guests_does(farrier: Visitor, join: Join, path: str) -> None:
    other = join("Costa Counting", email=f"costa{PATHS.index(path)}@example.com")

    def costs_the_same() -> bool:
        farrier.get(path)
        other.get(path)
        return cost(farrier) == cost(other)

    eventually(costs_the_same)


def test_the_home_page_has_a_members_prices(
    shop: Shop, admin: requests.Session, farrier: Visitor, visitor: Visitor
) -> None:
    """Of products that the member's page shows now: some of them may go while others' goods come in, and a guest's page may be half a minute
    old."""
    url = f"{shop.urls['products']}/v1/products"
    shown = re.findall(r'<h3><a href="/product/([^"]+)"', farrier.get("/").body.decode())
    listed = [admin.get(f"{url}/{productid}", timeout=30).json() for productid in shown]
    lines = [
        {name: each[name] for name in each if name not in ("rating", "stock")}
        for each in listed
        if each["price"]["currency"] == "GBP" and not each.get("variants")
        if not each["productid"].startswith("farrier-")  # they have prices of their own
    ]
    try:
        load(admin, shop, *(line | {"group_prices": {"farriers": {"GBP": 53}}} for line in lines))
        eventually(lambda: "£0.53" in farrier.get("/").text)
        assert "global 0" in cost(farrier)
        assert "£0.53" not in visitor.get("/").text
    finally:
        load(admin, shop, *(line | {"group_prices": {}} for line in lines))


def test_basket_and_checkout_agree_with_the_pages(farrier: Visitor) -> None:
    farrier.get("/product/farrier-anvil")
    farrier.submit("/basket", quantity="2")
    assert "£12.82" in farrier.get("/basket").text
    farrier.get("/product/farrier-anvil")
    farrier.submit("/wishes")
    assert OURS in farrier.get("/wishes").text


@pytest.mark.parametrize("path", ["/category/Farriery/Rasps", "/search?q=farrierrasp"])
def test_a_members_page_is_sorted_and_filtered_by_the_members_prices(
    farrier: Visitor, visitor: Visitor, path: str
) -> None:
    def names(of: Visitor, query: str) -> list[str]:
        text = of.get(f"{path}{'&' if '?' in path else '?'}{query}").body.decode()
        return re.findall(r'<h2><a href="/product/(farrier-rasp|farrier-file)"', text)

    eventually(lambda: names(visitor, "sort=price") == ["farrier-file", "farrier-rasp"])
    eventually(lambda: names(farrier, "sort=price") == ["farrier-rasp", "farrier-file"])
    assert names(farrier, "sort=price&max_price=10") == ["farrier-rasp"]
    assert names(visitor, "sort=price&max_price=10") == []
    everybodys = "£20.00 – £49.99"
    assert everybodys in visitor.get(path).text
    assert everybodys not in farrier.get(path).text
