"""What a customer pays for delivery and in tax, at the pages: the shop's own methods, a carrier's rates, a tax service, and what is
said while these are away. In a shop of its own, since it is all set at the desk."""

import secrets
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
import requests

from tests.bench.running import ADMIN_EMAIL, Shop, running_shop
from tests.services.orders.easypost_standin import API_KEY as EASYPOST_KEY
from tests.services.orders.easypost_standin import EasyPostStandIn
from tests.services.orders.stripe_standin import API_KEY as STRIPE_KEY
from tests.services.orders.stripe_tax_standin import StripeTaxStandIn
from tests.services.storefront.conftest import load_goods, log_in
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

SETTINGS, SHIPPING = "/admin/settings", "/admin/shipping"
LEEDS = {"line1": "7 Parcel Place", "city": "Leeds", "postcode": "LS1 4DY"}
BELFAST = {"line1": "7 Parcel Place", "city": "Belfast", "postcode": "BT1 5GS"}
METHODS = (
    {
        "id": "van",
        "name": "Van",
        "rate": "flat",
        "prices": "GBP 6.00",
        "free_from": "GBP 40.00",
        "zones": "GB except BT",
        "min_days": "1",
        "max_days": "3",
    },
    {
        "id": "collect",
        "name": "Click and collect",
        "rate": "flat",
        "prices": "GBP 0.00",
        "collect_from": "The shop\n2 Mill Lane\nBath",
    },
    {"id": "royal", "name": "Royal", "rate": "carrier", "provider": "easypost", "service": "RoyalMail"},
    {
        "id": "swift",
        "name": "Swift",
        "rate": "carrier",
        "provider": "easypost",
        "service": "RoyalMail/Tracked24",
        "fallback_prices": "GBP 9.90",
    },
)


@pytest.fixture(scope="module")
def easypost() -> Iterator[EasyPostStandIn]:
    standin = EasyPostStandIn()
    yield standin
    standin.close()


@pytest.fixture(scope="module")
def stripe_tax() -> Iterator[StripeTaxStandIn]:
    standin = StripeTaxStandIn()
    yield standin
    standin.close()


@pytest.fixture(autouse=True)
def healed(easypost: EasyPostStandIn, stripe_tax: StripeTaxStandIn) -> Iterator[None]:
    yield
    easypost.heal()
    stripe_tax.heal()


@pytest.fixture(scope="module")
def delivering(
    tmp_path_factory: pytest.TempPathFactory, easypost: EasyPostStandIn, stripe_tax: StripeTaxStandIn
) -> Iterator[Shop]:
    settings = {
        "COURIER_DISPATCH_SECONDS": "3600",
        "WEB_WORKERS": "1",
        "RATE_PROVIDERS": "easypost",
        "EASYPOST_URL": easypost.url,
        "EASYPOST_API_KEY": EASYPOST_KEY,
        "TAX_PROVIDER": "stripe",
        "STRIPE_URL": stripe_tax.url,
        "STRIPE_API_KEY": STRIPE_KEY,
    }
    with running_shop(tmp_path_factory.mktemp("delivering"), **settings) as running:
        load_goods(running)
        yield running


@pytest.fixture(scope="module")
def desk(delivering: Shop) -> Visitor:
    """The shopkeeper, who has set how the shop delivers, and what things weigh."""
    keeper = Visitor(delivering.urls["storefront"])
    log_in(keeper, ADMIN_EMAIL, delivering.admin_password)
    keeper.get(SETTINGS)
    page = keeper.submit(SETTINGS, country="GB", postcode="LS1 4DY", gift_card_days="0")
    assert "Saved." in page.text, page.text
    for position, method in enumerate(METHODS):
        keeper.get(SHIPPING)
        page = keeper.submit(SHIPPING, active="yes", position=str(position), **method)
        assert "Saved." in page.text, page.text
        form = page.form(SHIPPING)
        assert {name: form.values[name] for name in method} == method
    for number, productid in enumerate(("mug-red", "mug-blue", "lamp-1", "spade", "rake")):
        weigh(keeper, productid, 300 + 10 * number)
    return keeper


def weigh(keeper: Visitor, productid: str, grams: int) -> None:
    path = f"/admin/products/{productid}"
    keeper.get(path)
    page = keeper.submit(path, weight_grams=str(grams))
    assert "Saved." in page.text, page.text
    eventually(lambda: keeper.get(path).form(path).values["weight_grams"] == str(grams))


_quantities = iter(range(1, 1000))


@pytest.fixture
def guest(desk: Visitor, delivering: Shop) -> Visitor:
    """Who comes when the carrier and the tax service are known to answer again."""

    def is_priced() -> bool:
        body = {"items": [{"productid": "mug-red", "quantity": next(_quantities)}]}
        answer = requests.post(f"{delivering.urls['orders']}/v1/orders/quote", json=body, timeout=30)
        return answer.ok and "unpriced_shipping" not in answer.json()

    eventually(is_priced)
    return Visitor(desk.base)


def checkout(visitor: Visitor, productid: str, quantity: str = "1") -> Page:
    put_in_basket(visitor, productid, quantity)
    return visitor.get("/checkout")


def priced(visitor: Visitor, productid: str, quantity: str = "1") -> Page:
    """The checkout with every method: again where a busy machine asked the carrier or the tax service too late."""
    put_in_basket(visitor, productid, quantity)
    shown = ["van", "collect", "royal", "swift"]
    eventually(lambda: visitor.get("/checkout").choices.get("shipping") == shown)
    return visitor.page


def chosen(visitor: Visitor, **values: str) -> Page:
    """The checkout again, for what is typed into it."""
    form = visitor.page.form("/checkout")
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Referer": visitor.page.url}
    body = urlencode({**form.values, **values}).encode()

    def sent() -> Page | None:
        page = visitor.send("POST", "/checkout/update", body, headers)
        return page if page.path.startswith("/checkout") else None

    return eventually(sent)


def order(visitor: Visitor, **values: str) -> Page:
    form = visitor.page.form("/checkout")
    guest = {"name": "Della", "email": f"{secrets.token_hex(4)}@example.com", "card": "tok_ok", **LEEDS}
    return visitor.send_form(form, {**form.values, **guest, **values})


def test_a_carriers_rate_is_shown_and_charged(guest: Visitor) -> None:
    page = priced(guest, "mug-red")
    assert page.choices["shipping"] == ["van", "collect", "royal", "swift"]
    assert "Royal (RoyalMail Tracked48): £2.50" in page.text
    assert "Swift (RoyalMail Tracked24): £4.00" in page.text
    page = chosen(guest, shipping="swift", **LEEDS)
    assert "Includes VAT 20 %" in page.text
    page = order(guest, shipping="swift")
    assert page.path.startswith("/orders/"), page.text
    assert "Swift" in page.text
    assert "£13.50" in page.text


def test_delivery_days_are_shown_before_and_at_checkout(guest: Visitor, desk: Visitor) -> None:
    for path in ("/product/mug-blue", "/basket"):
        put_in_basket(guest, "mug-blue")
        eventually(lambda path=path: "Van from £6.00, free from £40.00, 1 to 3 days" in guest.get(path).text)
    page = guest.get("/checkout")
    assert "1 to 3 days" in page.text
    page = order(chosen_by(guest, "van"), shipping="van")
    assert "Van, 1 to 3 days" in page.text, page.text


def chosen_by(visitor: Visitor, method: str) -> Visitor:
    chosen(visitor, shipping=method, **LEEDS)
    return visitor


def test_an_order_too_heavy_for_one_parcel_says_how_many_it_is(
    guest: Visitor, desk: Visitor, delivering: Shop
) -> None:
    """Five mugs of 300 g, three of which go into a parcel of 1 kg: at the basket, the checkout, the order, the desk and in the e-mail."""
    method = {
        "id": "ferry",
        "name": "Ferry",
        "rate": "weight",
        "bands": "0: GBP 3.00\n700: GBP 4.50",
        "zones": "GB postcodes HS",
        "parcel_grams": "1000",
    }
    desk.get(SHIPPING)
    page = desk.submit(SHIPPING, active="yes", position="9", **method)
    assert {name: page.form(SHIPPING).values[name] for name in method} == method, page.text
    eventually(lambda: "Ferry from £3.00, each parcel up to 1 kg" in guest.get("/product/mug-red").text)
    put_in_basket(guest, "mug-red", "5")
    assert "Ferry from £3.00, each parcel up to 1 kg" in guest.get("/basket").text
    guest.get("/checkout")
    lewis = {"line1": "7 Parcel Place", "city": "Stornoway", "postcode": "HS1 2AA"}
    eventually(lambda: "ferry" in chosen(guest, **lewis).choices["shipping"])
    page = chosen(guest, shipping="ferry", **lewis)
    assert "Ferry: £7.50, in 2 parcels" in page.text
    assert "Ferry, in 2 parcels £7.50" in page.text
    done = order(guest, shipping="ferry", **lewis)
    assert done.path.startswith("/orders/"), done.text
    assert done.text.count("Ferry, in 2 parcels") == 2, "the delivery, and what it costs"
    assert "Total £55.00" in done.text
    eventually(lambda: any("Ferry, in 2 parcels" in text for text in sent_emails(delivering)))
    assert "Ferry, in 2 parcels £7.50" in desk.get(f"/admin{done.path}").text


def test_delivery_is_free_from_an_amount(guest: Visitor) -> None:
    page = priced(guest, "rake", "2")
    assert "Van: £6.00" in page.text
    page = priced(guest, "rake")
    assert "Van: free" in page.text
    page = order(chosen_by(guest, "van"), shipping="van")
    assert page.path.startswith("/orders/"), page.text
    assert "Van free" in page.text


def test_what_is_collected_needs_no_delivery(guest: Visitor) -> None:
    page = priced(guest, "spade")
    assert "The shop 2 Mill Lane Bath" in page.text
    page = order(chosen_by(guest, "collect"), shipping="collect")
    assert page.path.startswith("/orders/"), page.text
    assert "The shop 2 Mill Lane Bath" in page.text
    assert "Total £25.00" in page.text
    assert b"Click and collect\nThe shop\n2 Mill Lane" in page.body, "a line of its own"
    assert "Goes to" not in page.text
    invoice = guest.get(page.link("Invoice"))
    assert "Goes to" not in invoice.text
    assert " Address " in invoice.text


def sent_emails(shop: Shop) -> list[str]:
    """As they were written, with the line breaks of quoted-printable taken out."""
    found = (shop.state / "mail").rglob("new/*")
    return [path.read_text(errors="replace").replace("=\n", "") for path in found]


def test_methods_follow_the_postcode(guest: Visitor) -> None:
    """The van does not go to Northern Ireland, and neither does the carrier."""
    priced(guest, "lamp-1")
    page = chosen(guest, **BELFAST)
    assert page.choices["shipping"] == ["collect"]
    assert "The delivery method that you had chosen is not offered" in page.text
    assert "Choose one of" not in page.text, "ids are for programs"
    every = ["van", "collect", "royal", "swift"]
    eventually(lambda: chosen(guest, **LEEDS).choices["shipping"] == every)


def test_a_postcode_follows_its_country(guest: Visitor) -> None:
    priced(guest, "lamp-1")
    page = order(guest, postcode="28195")
    assert page.path == "/checkout"
    assert "28195" in page.form("/checkout").values["postcode"]
    assert "Postcode:" in page.text, page.text


def test_a_carrier_that_is_away_is_named(guest: Visitor, desk: Visitor, easypost: EasyPostStandIn) -> None:
    """Only what the desk said for then is charged."""
    weigh(desk, "spade", 801)
    easypost.break_((503, {}))
    page = checkout(guest, "spade")
    assert page.choices["shipping"] == ["van", "collect", "swift"]
    assert "Swift: £9.90" in page.text
    assert "Royal cannot be chosen just now: the carrier does not tell its price." in page.text
    page = order(chosen_by(guest, "swift"), shipping="swift")
    assert page.path.startswith("/orders/"), page.text
    assert "Total £34.90" in page.text


def test_an_order_by_a_carrier_that_goes_away_charges_nothing(
    guest: Visitor, desk: Visitor, easypost: EasyPostStandIn
) -> None:
    weigh(desk, "rake", 901)
    checkout(guest, "rake")
    chosen(guest, shipping="royal", **LEEDS)
    weigh(desk, "rake", 902)
    easypost.break_((503, {}))
    page = order(guest, shipping="royal")
    assert page.path.startswith("/checkout"), page.text
    assert "The carrier does not tell its price just now, and nothing was charged." in page.text
    assert page.form("/checkout").values["line1"] == LEEDS["line1"], "what was typed is still there"


def test_goods_that_nobody_weighed_are_not_priced_by_weight(guest: Visitor) -> None:
    page = checkout(guest, "cup-01")
    assert page.choices["shipping"] == ["van", "collect", "swift"]
    assert "Royal cannot be chosen: what this order weighs is not known." in page.text


def test_without_the_tax_service_nothing_is_ordered(guest: Visitor, stripe_tax: StripeTaxStandIn) -> None:
    stripe_tax.break_((500, {}))
    page = checkout(guest, "cup-02", "7")
    assert page.path == "/basket"
    assert "The tax of your order cannot be worked out just now, and nothing was charged." in page.text
    stripe_tax.heal()
    guest.get("/checkout")
    page = order(chosen_by(guest, "van"), shipping="van")
    assert page.path.startswith("/orders/"), page.text


def test_settings_are_kept_with_who_wrote_them(desk: Visitor) -> None:
    """And one form does not overwrite another's."""
    first = desk.get(SETTINGS).form(SETTINGS)
    assert first.values["postcode"] == "LS1 4DY"
    assert "Its versions" in desk.page.text
    changed = {
        "gift_card_days": "365",
        "return_days": "14",
        "approve_returns": "yes",
        "return_address": "2 Mill Lane, Bath",
    }
    page = desk.send_form(first, {**first.values, **changed})
    assert "Saved." in page.text
    form = page.form(SETTINGS)
    assert {name: form.values[name] for name in changed} == changed
    assert "refund_before_receipt" not in form.values
    page = desk.send_form(first, {**first.values, "gift_card_days": "7"})
    assert "This was changed since you opened it." in page.text
    page = desk.get(SETTINGS)
    assert page.text.count("user ") >= 2, page.text
    for wrong in (
        {"country": "Britain"},
        {"gift_card_days": "a year"},
        {"gift_card_days": ""},
        {"country": ""},
    ):
        form = desk.get(SETTINGS).form(SETTINGS)
        page = desk.send_form(form, {**form.values, **wrong})
        assert "Saved." not in page.text
        assert page.form(SETTINGS)


def test_a_country_that_is_saved_holds_in_the_shop(guest: Visitor, desk: Visitor) -> None:
    put_in_basket(guest, "mug-red")
    assert guest.get("/checkout").form("/checkout").values["country"] == "GB"
    for country in ("DE", "GB"):
        form = desk.get(SETTINGS).form(SETTINGS)
        assert "Saved." in desk.send_form(form, {**form.values, "country": country}).text
        eventually(lambda country=country: _country_of(guest) == country)


def _country_of(visitor: Visitor) -> str:
    return visitor.get("/checkout").form("/checkout").values["country"]
