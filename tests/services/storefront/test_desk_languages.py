"""The desk in the shop's languages: every text is looked up, and a shopkeeper works in German."""

from collections.abc import Callable, Iterator

import pytest
import requests

from tests.bench.running import ADMIN_EMAIL, Shop
from tests.people import register
from tests.services.storefront.conftest import import_goods, log_in, product, second_storefront
from tests.services.storefront.pseudo import LANGUAGE, WORD, in_languages, unmarked_words
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.test_languages import GUEST, choose, goods_of_all_files, language_of
from tests.services.storefront.visitor import Page, Visitor

Join = Callable[..., Visitor]
Check = Callable[..., None]
FREE = {"amount": 0, "currency": "GBP"}
VASE = product(
    "pultvase",
    "Pultvase",
    ["Pultwelt"],
    123450,
    delivery=FREE,
    prices={"GBP": 123450, "EUR": 144990},
    stock=4,
)
SHIRT = product(
    "pulthemd",
    "Pulthemd",
    ["Pultwelt"],
    3000,
    delivery=FREE,
    options=[{"name": "Weite", "values": ["eng", "weit"]}],
    variants=[
        {"sku": "pulthemd-eng", "options": {"Weite": "eng"}, "stock": 3},
        {"sku": "pulthemd-weit", "options": {"Weite": "weit"}, "stock": 0, "active": False},
    ],
)
NOTATION = {
    *("CSV", "SKU", "GBP", "EUR", "UTC", "Aisle", "English", "Deutsch"),
    *("de", LANGUAGE),  # of fields in the shop's other languages
    "UK",  # of £ in Arabic
    *("VAT", "GB"),  # the name of the shop's tax, which is data, and where it holds
    "Delivery",  # the name of the shop's one way of shipping, which is data
    *WORD.findall(" ".join([*GUEST.values(), "Petra Pult petra pult United Kingdom"])),
    "nowhereword",
}


@pytest.fixture(scope="module")
def storefront(shop: Shop, keeper: Visitor, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    import_goods(keeper, [VASE, {name: value for name, value in SHIRT.items() if name != "stock"}])
    folder = tmp_path_factory.mktemp("desk-languages")
    with second_storefront(shop, folder, **in_languages(folder), MAIL_DIR=str(shop.state / "mail")) as url:
        yield url


@pytest.fixture(scope="module")
def desk(shop: Shop, storefront: str) -> Visitor:
    visitor = Visitor(storefront)
    log_in(visitor, ADMIN_EMAIL, shop.admin_password)
    return visitor


@pytest.fixture(scope="module")
def order(storefront: str) -> str:
    guest = Visitor(storefront)
    put_in_basket(guest, "pultvase")
    guest.get("/checkout")
    page = guest.submit("/checkout", **{**GUEST, "email": "petra.pult@example.com", "name": "Petra Pult"})
    assert page.path.startswith("/orders/"), page.text
    return page.path.removeprefix("/orders/")


@pytest.fixture(scope="module")
def customer(shop: Shop) -> str:
    """The e-mail of a customer without an address: others' addresses are their own words."""
    return register(shop.urls["users"], shop.state / "mail", "Petra Pult").email


@pytest.fixture(scope="module")
def looked_up(shop: Shop, desk: Visitor, order: str, customer: str) -> Check:
    """Asserts that ids come once, and that everything on a page was looked up in the catalogue, but what is the shop's or people's own."""
    data = NOTATION | set(WORD.findall(goods_of_all_files(shop) + _people_and_settings(shop)))

    def check(page: Page, *, status: int = 200) -> None:
        assert (page.status, language_of(page)) == (status, LANGUAGE), (page.path, page.text)
        twice = {each for each in page.ids if page.ids.count(each) > 1}
        assert twice == set(), (page.path, "ids that come twice: links and scripts find the wrong one")
        left = unmarked_words(page.body.decode()) - data - set(WORD.findall(page.path))
        assert left == set(), (page.path, left)

    return check


def _people_and_settings(shop: Shop) -> str:
    """What other tests before these have put into the shop that both work at."""
    login = requests.post(
        f"{shop.urls['users']}/v1/sessions",
        json={"email": ADMIN_EMAIL, "password": shop.admin_password},
        timeout=30,
    )
    headers = {"Authorization": f"Bearer {login.json()['access_token']}"}
    lists = {
        "users": ("staff", "customers"),
        "orders": (
            "shipping-methods",
            "tax-rates",
            "promotions",
            "gift-cards",
            "orders",
            "stall/oversold",
        ),
        "products": (
            "product-types",
            "categories",
            "supplier-deliveries",
            *(f"products?status={status}" for status in ("draft", "scheduled", "archived")),
        ),
    }
    found = []
    for service, paths in lists.items():
        for path in paths:
            answer = requests.get(f"{shop.urls[service]}/v1/admin/{path}", headers=headers, timeout=30)
            assert answer.status_code == 200, answer.text
            found.append(answer.text)
    return " ".join(found)


PAGES = [
    "/admin",
    "/admin?by=hour",
    "/admin?by=month&from=2026-01-01",
    "/admin?by=nowhereword",
    "/admin?from=2026-12-01&to=2026-01-01",
    "/admin/orders",
    "/admin/orders?status=placed&from=2020-01-01",
    "/admin/orders?from=x",
    "/admin/orders/nowhereword",
    "/admin/products",
    "/admin/products?low=1",
    "/admin/products?status=draft",
    "/admin/products?status=scheduled",
    "/admin/products?q=nowhereword",
    "/admin/products/new",
    "/admin/products/pultvase",
    "/admin/products/pulthemd",
    "/admin/products/pulthemd/variants",
    "/admin/products/pultvase/variants",
    "/admin/products/pultvase/prices",
    "/admin/products/nowhereword",
    "/admin/stock",
    "/admin/stock?product=pulthemd",
    "/admin/categories",
    "/admin/categories?path=Pultwelt",
    "/admin/product-types",
    "/admin/search",
    "/admin/search?found=any",
    "/admin/search/synonyms",
    "/admin/search/redirects",
    "/admin/search/pins",
    "/admin/search/hidden",
    "/admin/search/history",
    "/admin/search/nowhereword",
    "/admin/shipping",
    "/admin/taxes",
    "/admin/promotions",
    "/admin/gift-cards",
    "/admin/settings",
    "/admin/import",
    "/admin/failures",
    "/admin/customers",
    "/admin/customers?q=nowhereword@example.com",
    "/admin/customers/nowhereword",
    "/admin/guests?email=nowhereword@example.com",
    "/admin/guests/erasure?email=nowhereword@example.com",
    "/admin/staff",
    "/admin/audit",
    "/admin/supplier-deliveries",
    "/admin/stall/days/2021-01-01",
    "/stall",
    "/admin/nowhereword",
]


@pytest.mark.parametrize("path", PAGES)
def test_every_text_of_a_page_of_the_desk_is_looked_up(desk: Visitor, looked_up: Check, path: str) -> None:
    desk.get("/admin")
    choose(desk, LANGUAGE)
    page = desk.get_patiently(path)
    looked_up(page, status=404 if "/nowhereword" in path else 200)


def test_every_text_of_an_order_at_the_desk_is_looked_up(desk: Visitor, looked_up: Check, order: str) -> None:
    desk.get("/admin")
    choose(desk, LANGUAGE)
    address = f"/admin/orders/{order}"
    looked_up(desk.get(address))
    looked_up(desk.submit(f"{address}/dispatch", courier="", courierid=""))
    looked_up(desk.submit(f"{address}/refunds", amount="nowhereword", reason=""))
    looked_up(desk.submit(f"{address}/refunds", amount="99999", reason="nowhereword"))
    desk.get(address)
    looked_up(desk.submit(f"{address}/notes", text=""))
    desk.get(address)
    looked_up(desk.submit(f"{address}/notes", text="nowhereword"))
    looked_up(desk.submit(f"{address}/refunds", amount="1.50", reason="nowhereword"))
    looked_up(desk.submit(f"{address}/refunds", confirmed="yes"))
    desk.get(address)
    looked_up(desk.submit(f"{address}/dispatch", courier="nowhereword", courierid="nowhereword"))
    looked_up(desk.submit(f"{address}/delivery"))
    looked_up(desk.get(f"{address}/emails"))


def test_every_text_of_a_customer_at_the_desk_is_looked_up(
    desk: Visitor, looked_up: Check, customer: str
) -> None:
    desk.get("/admin")
    choose(desk, LANGUAGE)
    links = [href for href, _ in desk.get(f"/admin/customers?q={customer}").links]
    address = next(href for href in links if href.startswith("/admin/customers/"))
    looked_up(desk.get(address))
    looked_up(desk.submit(f"{address}/notes", text=""))
    looked_up(desk.submit(f"{address}/group", group="No Group"))
    looked_up(desk.get(f"{address}/emails"))
    looked_up(desk.submit(f"{address}/emails"))
    looked_up(desk.get(f"{address}/erasure"))
    looked_up(desk.submit(f"{address}/erasure", password="nowhereword"))


def test_every_answer_to_a_form_of_the_desk_is_looked_up(desk: Visitor, looked_up: Check) -> None:
    desk.get("/admin")
    choose(desk, LANGUAGE)
    for path, action, fields in FORMS:
        desk.get(path)
        looked_up(desk.submit(action, **fields))


FORMS: list[tuple[str, str, dict[str, str]]] = [
    ("/admin/products/new", "/admin/products/new", {"productid": "!", "name": "", "price": "x"}),
    (
        "/admin/products/new",
        "/admin/products/new",
        {"productid": "pultneu", "name": "nowhereword", "taxonomy": "Pultwelt", "price": "1.2345"},
    ),
    ("/admin/products/pultvase", "/admin/products/pultvase", {"prices": "nowhereword"}),
    ("/admin/products/pultvase", "/admin/products/pultvase", {"group_prices": "nowhereword"}),
    ("/admin/products/pultvase", "/admin/products/pultvase", {"publish_from": "2026"}),
    ("/admin/products/pultvase", "/admin/products/pultvase/stock", {"delta": "x", "reason": ""}),
    ("/admin/products/pultvase", "/admin/products/pultvase/stock", {"delta": "1", "reason": "nowhereword"}),
    ("/admin/products/pulthemd/variants", "/admin/products/pulthemd/variants", {"variant-0-price": "x"}),
    ("/admin/products/pulthemd/variants", "/admin/products/pulthemd/variants", {}),
    ("/admin/stock", "/admin/stock", {"lines": "nowhereword", "reason": "nowhereword"}),
    ("/admin/stock", "/admin/stock", {"lines": "", "reason": "nowhereword"}),
    ("/admin/products", "/admin/products/bulk-edit", {"change": "price", "value": "x"}),
    ("/admin/categories", "/admin/categories", {"path": "Pultwelt", "label": "nowhereword"}),
    ("/admin/categories?path=Pultwelt", "/admin/categories/forget", {}),
    ("/admin/categories", "/admin/categories", {"path": "Pultwelt", "position": "x"}),
    ("/admin/product-types", "/admin/product-types", {"code": "!", "name": ""}),
    ("/admin/search/synonyms", "/admin/search/synonyms", {"query": "nowhereword", "synonyms": "nowhereword"}),
    ("/admin/search/synonyms", "/admin/search/synonyms/lines", {"lines": "nowhereword"}),
    ("/admin/search/redirects", "/admin/search/redirects", {"query": "nowhereword", "category": ""}),
    ("/admin/shipping", "/admin/shipping", {"id": "", "name": "", "zones": "GB nowhereword"}),
    ("/admin/shipping", "/admin/shipping", {"id": "pult", "name": "pult", "zones": "GB nowhereword x"}),
    ("/admin/shipping", "/admin/shipping", {"id": "pult", "name": "pult", "prices": "nowhereword"}),
    ("/admin/taxes", "/admin/taxes", {"country": "GB", "name": "nowhereword", "rate": "x"}),
    ("/admin/promotions", "/admin/promotions", {"name": "nowhereword", "percent": "x"}),
    ("/admin/promotions", "/admin/promotions", {"name": "nowhereword"}),
    ("/admin/gift-cards", "/admin/gift-cards", {"amount": "x", "currency": "GBP"}),
    ("/admin/gift-cards", "/admin/gift-cards", {"amount": "5", "currency": "XXX"}),
    ("/admin/gift-cards", "/admin/gift-cards", {"amount": "5", "currency": "GBP", "note": "nowhereword"}),
    ("/admin/settings", "/admin/settings", {"country": "", "gift_card_days": "x"}),
    ("/admin/import", "/admin/import", {}),
    ("/admin/staff", "/admin/staff", {"email": "nowhereword", "role": "staff"}),
    ("/admin/staff", "/admin/staff", {"email": "nobody.at.all@example.com", "role": "staff"}),
    ("/admin/staff", "/admin/staff/closure", {"email": "nobody.at.all@example.com", "reason": ""}),
    ("/admin/staff", "/admin/staff/closure", {"email": "nobody.at.all@example.com", "reason": "nowhereword"}),
    ("/admin/staff", "/admin/staff/group", {"email": "nobody.at.all@example.com", "group": "trade"}),
]


def test_a_shopkeeper_types_money_in_german(shop: Shop, desk: Visitor) -> None:
    desk.get("/admin")
    choose(desk, "de")
    page = desk.get("/admin/products/pultvase")
    form = page.form("/admin/products/pultvase")
    assert (form.values["price"], form.values["prices"]) == ("1234,50", "EUR 1449,90")
    refused = desk.submit("/admin/products/pultvase", price="1.250")
    assert "Schreiben Sie 1,25 oder 1250,00." in refused.text
    saved = desk.submit("/admin/products/pultvase", price="1.250,40", prices="EUR 1.460,50")
    assert "Gespeichert." in saved.text
    stored = requests.get(f"{shop.urls['products']}/v1/products/pultvase", timeout=30).json()
    assert stored["prices"] == {"GBP": 125040, "EUR": 146050}
