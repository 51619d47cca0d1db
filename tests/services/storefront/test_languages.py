"""A shop that names its languages: pages are in the one that the visitor or the browser prefers."""

import re
from collections.abc import Callable, Iterator

import pytest
import requests

from tests.bench.running import Shop
from tests.people import PASSWORD, place
from tests.services.storefront.conftest import GOODS, import_goods, log_in, product, second_storefront
from tests.services.storefront.pseudo import LANGUAGE, WORD, in_languages, unmarked_words
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

Join = Callable[..., Visitor]
Check = Callable[[Page], None]
FREE = {"amount": 0, "currency": "GBP"}
GUEST = {"email": "greta@example.com", "name": "Greta Gast", **place("1 Wortweg"), "card": "tok_ok"}
VASE = product(
    "wortvase",
    "Wortvase",
    ["Wortwelt"],
    123450,
    delivery=FREE,
    prices={"GBP": 123450, "EUR": 144990},
    stock=4,
)
SOLD = product("wortkrug", "Wortkrug", ["Wortwelt"], 2000, delivery=FREE, stock=0)
SHIRT = product(
    "worthemd",
    "Worthemd",
    ["Wortwelt"],
    3000,
    delivery=FREE,
    options=[{"name": "Weite", "values": ["eng", "weit"]}],
    variants=[
        {"sku": "worthemd-eng", "options": {"Weite": "eng"}, "stock": 3},
        {"sku": "worthemd-weit", "options": {"Weite": "weit"}, "stock": 0},
    ],
)


@pytest.fixture(scope="module")
def storefront(shop: Shop, keeper: Visitor, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    import_goods(keeper, [VASE, SOLD, {name: value for name, value in SHIRT.items() if name != "stock"}])
    folder = tmp_path_factory.mktemp("languages")
    with second_storefront(shop, folder, **in_languages(folder), MAIL_DIR=str(shop.state / "mail")) as url:
        yield url


@pytest.fixture
def guest(storefront: str) -> Visitor:
    return Visitor(storefront)


@pytest.fixture(scope="module")
def customer(storefront: str, join: Join) -> Visitor:
    join("Konrad Kunde", email="konrad.kunde@example.com")
    visitor = Visitor(storefront)
    log_in(visitor, "konrad.kunde@example.com", PASSWORD)
    return visitor


def choose(visitor: Visitor, language: str) -> Page:
    form = visitor.get("/login").form("/language")
    return visitor.send_form(form, {**form.values, "language": language})


def language_of(page: Page) -> str:
    found = re.search(r'<html lang="([^"]+)" dir="(ltr|rtl)">', page.body.decode())
    assert found is not None, page.body[:200]
    return found[1]


def test_a_shop_of_one_language_is_as_it_was(shop: Shop) -> None:
    page = Visitor(shop.urls["storefront"]).get("/product/mug-red", **{"Accept-Language": "de"})
    assert language_of(page) == "en"
    assert "/language" not in [form.action for form in page.forms]
    assert "Accept-Language" not in page.headers["Vary"]


def test_the_browsers_language_is_taken_where_the_shop_has_it(guest: Visitor) -> None:
    for asked, shown in (
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("fr,de;q=0.5,en;q=0.4", "de"),
        ("fr", "en"),
        ("", "en"),
        ("en-GB", "en"),
        ("x" * 5000, "en"),
    ):
        page = guest.get("/product/wortvase", **{"Accept-Language": asked})
        assert (language_of(page), "Accept-Language" in page.headers["Vary"]) == (shown, True), asked


def test_a_visitor_chooses_a_language_and_keeps_it(guest: Visitor) -> None:
    assert "Add to basket" in guest.get("/product/wortvase").text
    form = guest.page.form("/language")
    page = guest.send_form(form, {**form.values, "language": "de"})
    assert (page.path, language_of(page)) == ("/product/wortvase", "de")
    assert "In den Warenkorb" in page.text
    for path in ("/", "/category/Wortwelt", "/search?q=wortvase", "/basket", "/login", "/nowhere"):
        assert language_of(guest.get(path, **{"Accept-Language": "en"})) == "de", path
    assert language_of(guest.get("/product/wortvase?language=en")) == "en"
    assert language_of(guest.get("/product/wortvase?language=xx")) == "de"
    page = guest.send_form(form, {**form.values, "language": "xx"})
    assert (page.status, language_of(page)) == (422, "de")
    assert "Der Shop hat keine Seiten in dieser Sprache." in page.text


def test_money_numbers_and_days_are_written_as_in_german(guest: Visitor, customer: Visitor) -> None:
    choose(guest, "de")
    assert "1.234,50\N{NO-BREAK SPACE}£" in guest.get("/product/wortvase").text.replace(
        " £", "\N{NO-BREAK SPACE}£"
    )
    assert "1.449,90" in guest.get("/product/wortvase?currency=EUR").text
    assert "1.234,50" in guest.get("/category/Wortwelt").text
    assert "£1,234.50" in guest.get("/category/Wortwelt?language=en").text


@pytest.mark.parametrize(
    "path", ["/", "/product/wortvase", "/category/Wortwelt", "/search?q=wortvase", "/departments"]
)
def test_a_page_that_is_kept_for_everybody_is_kept_by_language(storefront: str, path: str) -> None:
    def get(language: str) -> Page:
        page = Visitor(storefront).get(path, **{"Accept-Language": language})
        assert (page.status, language_of(page)) == (200, language)
        assert page.headers["Cache-Control"].startswith("public")
        return page

    for language in ("de", "en", "de", "en"):
        eventually(lambda language=language: get(language).headers.get("Cache-Status") == "aisle; hit")
    chosen = Visitor(storefront)
    choose(chosen, "de")
    chosen.jar.clear_session_cookies()
    keep_only(chosen, "aisle_language")
    eventually(lambda: chosen.get(path).headers.get("Cache-Status") == "aisle; hit")
    assert language_of(chosen.page) == "de"
    address = f"{path}{'&' if '?' in path else '?'}language=de"
    eventually(lambda: Visitor(storefront).get(address).headers.get("Cache-Status") == "aisle; hit")
    assert language_of(Visitor(storefront).get(address)) == "de"


def keep_only(visitor: Visitor, name: str) -> None:
    for each in list(visitor.jar):
        if each.name != name:
            visitor.jar.clear(each.domain, each.path, each.name)
    assert [each.name for each in visitor.jar] == [name]


def test_search_engines_are_told_of_each_language(guest: Visitor) -> None:
    base = guest.base
    body = guest.get("/product/wortvase").body.decode()
    assert f'<link rel="canonical" href="{base}/product/wortvase">' in body
    for code in ("en", "de", LANGUAGE):
        assert f'hreflang="{code}" href="{base}/product/wortvase?language={code}"' in body
    assert f'hreflang="x-default" href="{base}/product/wortvase"' in body
    german = guest.get("/category/Wortwelt?language=de").body.decode()
    assert f'<link rel="canonical" href="{base}/category/Wortwelt?language=de">' in german


def test_the_desk_is_in_the_language_that_its_people_chose(shop: Shop, storefront: str) -> None:
    keeper = Visitor(storefront)
    log_in(keeper, "admin@example.com", shop.admin_password)
    assert language_of(keeper.get("/admin/orders")) == "en"
    form = keeper.page.form("/language")
    page = keeper.send_form(form, {**form.values, "language": "de"})
    assert (page.path, language_of(page)) == ("/admin/orders", "de")
    assert "Bestellungen" in page.text
    assert language_of(keeper.get("/")) == "de"


def test_forms_are_refused_in_german(guest: Visitor) -> None:
    choose(guest, "de")
    guest.get("/register")
    page = guest.submit("/register", name="", email="nobody", password="short")
    assert "Ihr Name fehlt." in page.text
    assert "Eine E-Mail-Adresse sieht so aus: name@example.com." in page.text
    assert "Bitte mindestens 8 Zeichen." in page.text
    page = guest.submit("/register", name="Wer", email="wer@example.com", password="password1234")
    assert "Es gehört zu den Passwörtern, die am meisten benutzt und ausprobiert werden." in page.text
    guest.get("/login")
    page = guest.submit("/login", email="niemand.hier@example.com", password="falsch-falsch")
    assert "E-Mail oder Passwort ist falsch" in page.text
    put_in_basket(guest, "wortvase")
    guest.get("/checkout")
    page = guest.submit("/checkout", **{**GUEST, "postcode": "nope", "line1": ""})
    assert "Straße und Hausnummer fehlt." in page.text
    page = guest.submit("/checkout", **{**GUEST, "postcode": "nope"})
    assert "Das ist keine Postleitzahl des Landes" in page.text
    guest.get("/gift-cards")
    page = guest.submit("/gift-cards", code="ABCD-EFGH-JKLM-NPQR")
    assert "Eine Geschenkkarte mit diesem Code gibt es nicht." in page.text
    guest.get("/basket")
    page = guest.submit("/checkout/codes", codes="KEINCODE")
    assert "Den Code KEINCODE gibt es nicht" in page.text


def test_prices_in_filters_are_typed_with_the_languages_own_comma(guest: Visitor) -> None:
    choose(guest, "de")
    found = guest.get("/category/Wortwelt?min_price=1.234,50&max_price=1234,50")
    assert "Wortvase" in found.text
    assert "Wortkrug" not in found.text
    assert "Wortvase" not in guest.get("/category/Wortwelt?min_price=1.234,51").text
    assert "Schreiben Sie 1,25 oder 1250,00." in guest.get("/category/Wortwelt?min_price=1.250").text
    assert (
        "Write 1234.50, without a comma."
        in guest.get("/category/Wortwelt?min_price=1234,50&language=en").text
    )


def test_a_guest_buys_in_german_and_euros(guest: Visitor) -> None:
    choose(guest, "de")
    form = guest.get("/product/wortvase").form("/currency")
    guest.send_form(form, {**form.values, "currency": "EUR"})
    page = put_in_basket(guest, "wortvase")
    assert "Ihr Warenkorb" in page.text
    assert "1.449,90" in page.text
    page = guest.get("/checkout")
    assert "Versandart" in page.text
    assert "Deutschland" in page.text
    page = guest.submit("/checkout", **GUEST)
    assert page.path.startswith("/orders/"), page.text
    assert "Vielen Dank! Ihre Bestellung ist aufgegeben." in page.text
    assert re.search(r"Bestellung vom \d+\. \w+ 20\d\d", page.text)
    assert "1.449,90" in page.text
    assert "€1" not in page.text


DATA = {
    *(word for each in (*GOODS, VASE, SOLD, SHIRT) for word in WORD.findall(str(each))),
    *WORD.findall(" ".join([*GUEST.values(), "Konrad Kunde konrad kunde example com"])),
    *("Aisle", "English", "Deutsch", "UTC", "GBP", "EUR"),
    "UK",  # of £ in Arabic
    *("United", "Kingdom"),  # of an address as it is on the envelope
    "Delivery",  # the name of the shop's one way of shipping, which is data
    "VAT",  # the name of its tax, which is data, too
    "nowhereword",
}

GUEST_PAGES = [
    "/",
    "/departments",
    "/category/Home/Kitchen",
    "/category/Home/Kitchen/Cups?sort=price&min_price=5.00",
    "/category/Wortwelt?brand=nowhereword",
    "/category/Wortwelt?min_price=abc",
    "/search?q=cup",
    "/search?q=nowhereword",
    "/product/wortvase",
    "/product/wortkrug",
    "/product/worthemd",
    "/product/worthemd-eng",
    "/product/poundless",
    "/basket",
    "/login",
    "/register",
    "/registered",
    "/reset",
    "/reset/confirm?token=nowhereword",
    "/verify",
    "/verify?token=nowhereword",
    "/gift-cards",
    "/stock-alerts/confirm?token=nowhereword",
    "/stock-alerts/cancel?token=nowhereword",
    "/stock-alerts/cancel",
    "/mailbox?to=nobody.at.all@example.com",
    "/nowhereword",
    "/checkout/paid/nowhereword",
]


@pytest.fixture(scope="module")
def looked_up(shop: Shop, storefront: str) -> Callable[[Page], None]:
    """Asserts that everything on a page was looked up in the catalogue, but what is the shop's or the customer's own."""
    data = DATA | set(WORD.findall(goods_of_all_files(shop)))

    def check(page: Page) -> None:
        assert language_of(page) == LANGUAGE
        left = unmarked_words(page.body.decode()) - data - set(WORD.findall(page.path))
        assert left == set(), (page.path, left)

    return check


def goods_of_all_files(shop: Shop) -> str:
    """What the tests before these have put into the shop that both walk through."""
    found = [requests.get(f"{shop.urls['products']}/v1/categories?depth=6", timeout=30).text]
    found.append(requests.get(f"{shop.urls['orders']}/v1/shipping-methods", timeout=30).text)
    cursor: str | None = ""
    while cursor is not None:
        params = {"limit": "100", **({"cursor": cursor} if cursor else {})}
        answer = requests.get(f"{shop.urls['products']}/v1/products", params, timeout=30)
        assert answer.status_code == 200, answer.text
        found.append(answer.text)
        cursor = answer.json()["next"]
    return " ".join(found)


@pytest.mark.parametrize("path", GUEST_PAGES)
def test_every_text_of_a_guests_page_is_looked_up(guest: Visitor, looked_up: Check, path: str) -> None:
    choose(guest, LANGUAGE)
    looked_up(guest.get(path))


def test_every_text_of_a_guests_purchase_is_looked_up(guest: Visitor, looked_up: Check) -> None:
    choose(guest, LANGUAGE)
    for key in ("wortvase", "worthemd-eng"):
        looked_up(put_in_basket(guest, key))
    looked_up(guest.get("/checkout"))
    looked_up(guest.submit("/checkout", **{**GUEST, "postcode": "", "email": "x"}))
    looked_up(guest.submit("/checkout", **{**GUEST, "card": "tok_declined"}))
    page = guest.submit("/checkout", **GUEST)
    assert page.path.startswith("/orders/"), page.text
    looked_up(page)
    looked_up(guest.get(f"{page.path}/invoice"))
    looked_up(guest.get(page.path))
    looked_up(guest.submit(f"{page.path}/cancellation"))


@pytest.mark.parametrize(
    "path", ["/account", "/orders", "/wishes", "/product/wortvase/review", "/gift-cards", "/basket"]
)
def test_every_text_of_a_customers_page_is_looked_up(customer: Visitor, looked_up: Check, path: str) -> None:
    choose(customer, LANGUAGE)
    looked_up(customer.get(path))


def test_every_answer_to_a_customers_form_is_looked_up(customer: Visitor, looked_up: Check) -> None:
    choose(customer, LANGUAGE)
    customer.get("/account")
    looked_up(customer.submit("/account", name=""))
    looked_up(customer.submit("/account", name="Konrad Kunde"))
    looked_up(customer.submit("/account/addresses", name="Konrad Kunde", line1="", postcode="x"))
    looked_up(customer.submit("/account/addresses", name="Konrad Kunde", **place("1 Wortweg")))
    looked_up(customer.submit("/account/erase", password="falsch"))
    customer.get("/product/wortvase")
    looked_up(customer.submit("/wishes"))
    looked_up(customer.get("/wishes"))
    looked_up(put_in_basket(customer, "wortvase", "4"))
    customer.get("/product/wortvase")
    looked_up(customer.submit("/basket", quantity="99"))
    looked_up(customer.get("/checkout"))
    customer.get("/basket")
    looked_up(customer.submit("/checkout/codes", codes="nowhereword"))
