"""Invoices on the pages: everything of a paid order, for its customer and for staff. In a shop of its own, with taxes and an address."""

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

import pypdf
import pytest

from tests.bench.running import ADMIN_EMAIL, Shop, running_shop
from tests.maildir import read_mail
from tests.people import PASSWORD, register
from tests.pictures import png
from tests.services.storefront.conftest import import_goods, log_in, product
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.test_gift_cards import CODE
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

BOOK, LAMP = "invoice-book", "invoice-lamp"
PROMOTION = f"R{secrets.token_hex(3)}".upper()
GERMAN = {"Accept-Language": "de"}
BREMEN = {
    "name": "Berta Buch",
    "company": "Lesehaus GmbH",
    "line1": "Langenstraße 7",
    "line2": "3. Stock",
    "city": "Bremen",
    "postcode": "28195",
    "phone": "+49 421 123456",
}
NEW_YORK = {
    "name": "Una Buyer",
    "line1": "5 Long Road",
    "city": "New York",
    "region": "NY",
    "postcode": "10001",
    "country": "US",
}
TAX_RATES = (
    {"country": "US", "name": "Sales tax", "rate": "8"},
    {"country": "DE", "name": "MwSt.", "rate": "19", "included": "yes"},
    {"country": "DE", "name": "MwSt.", "rate": "7", "included": "yes", "tax_class": "reduced"},
)


def euros(amount: int) -> dict[str, object]:
    return {"amount": amount, "currency": "EUR"}


@pytest.fixture(scope="module")
def selling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    settings = {
        "COURIER_DISPATCH_SECONDS": "3600",
        "WEB_WORKERS": "1",
        "LANGUAGES": "en,de",
        "SHOP_COUNTRY": "DE",
        "SHOP_NAME": "Buch & Lampe",
        "SHOP_ADDRESS": "Am Markt 1; 28195 Bremen; USt-IdNr. DE123456789",
    }
    with running_shop(tmp_path_factory.mktemp("selling"), **settings) as running:
        yield running


@pytest.fixture(scope="module")
def desk(selling: Shop) -> Visitor:
    """The shopkeeper, who has goods, taxes and a promotion."""
    keeper = Visitor(selling.urls["storefront"])
    log_in(keeper, ADMIN_EMAIL, selling.admin_password)
    place = ["Quartz"]
    book = product(BOOK, "Quartz Book", place, 0, price=euros(2140), delivery=euros(0), tax_class="reduced")
    lamp = product(LAMP, "Quartz Lamp", place, 0, price=euros(11900), delivery=euros(595))
    import_goods(keeper, [book, lamp])
    for rate in TAX_RATES:
        keeper.get("/admin/taxes")
        form = keeper.page.form("/admin/taxes")
        form.values.pop("included", None)
        page = keeper.send_form(form, {**form.values, "active": "yes", **rate})
        assert "Saved." in page.text, page.text
    keeper.get("/admin/promotions")
    promotion = {"name": "Leserabatt", "codes": PROMOTION, "percent": "10", "products": BOOK}
    page = keeper.submit("/admin/promotions", active="yes", combines="yes", **promotion)
    assert "Saved." in page.text, page.text
    guest = with_goods(selling)
    for rate in ("7 %", "19 %"):
        eventually(lambda rate=rate: f"Includes MwSt. {rate}" in guest.get("/checkout").text)
    return keeper


def with_goods(shop: Shop, visitor: Visitor | None = None) -> Visitor:
    visitor = visitor or Visitor(shop.urls["storefront"])
    put_in_basket(visitor, BOOK, "2")
    put_in_basket(visitor, LAMP)
    return visitor


def ordered(visitor: Visitor, address: dict[str, str], **chosen: str) -> str:
    """The order's path, after the checkout was shown again with this address and what is chosen."""
    form = visitor.get("/checkout").form("/checkout")
    form.action = "/checkout/update"
    visitor.send_form(form, {**form.values, **address, **chosen, "update": "1"})
    form = visitor.page.form("/checkout")
    page = visitor.send_form(form, {**form.values, **address, "card": "tok_ok"})
    assert page.path.startswith("/orders/"), page.text
    return page.path


@dataclass
class Paid:
    guest: Visitor
    path: str
    gift_card: str

    def invoice(self, **headers: str) -> Page:
        page = self.guest.get(f"{self.path}/invoice", **headers)
        assert page.status == 200, page.text
        return page


@pytest.fixture(scope="module")
def paid(selling: Shop, desk: Visitor) -> Paid:
    """Two books with a code and a lamp, paid by a gift card and a card."""
    desk.get("/admin/gift-cards")
    found = CODE.search(desk.submit("/admin/gift-cards", amount="50.00", currency="EUR").text)
    assert found, desk.page.text
    guest = with_goods(selling)
    email = {"email": "berta@example.com"}
    path = ordered(guest, {**BREMEN, **email}, codes=PROMOTION, gift_code=found[0])
    return Paid(guest, path, found[0][-4:])


def test_an_invoice_tells_all_of_an_order(paid: Paid) -> None:
    order = paid.guest.get(paid.path)
    assert order.link("Invoice") == f"{paid.path}/invoice"
    text = paid.invoice().text
    for expected in (
        "Buch & Lampe Am Markt 1 28195 Bremen USt-IdNr. DE123456789",
        "Customer Berta Buch berta@example.com",
        "Lesehaus GmbH",
        "Langenstraße 7 3. Stock 28195 Bremen Germany",
        "Phone: +49 421 123456",
        f"Reference {paid.path.rpartition('/')[2]}",
        "2 Quartz Book invoice-book €21.40 −€4.28 7 % €38.52",
        "1 Quartz Lamp invoice-lamp €119.00 19 % €119.00",
        "Goods €161.80",
        f"Leserabatt {PROMOTION} −€4.28",
        "Delivery €5.95",
        "MwSt. 7 % included €36.00 €2.52",
        "MwSt. 19 % included €105.00 €19.95",
        "Total €163.47",
        f"Gift card ending {paid.gift_card} −€50.00 Charged €113.47",
        f"Paid €163.47 with Gift card ending {paid.gift_card} and a test card",
    ):
        assert expected in text, (expected, text)
    assert re.search(r"Invoice A-\d+", text)
    assert re.search(r"Date of payment \d+ \w+ 20\d\d", text)


def test_an_invoice_is_in_the_language_of_the_page(paid: Paid) -> None:
    text = paid.invoice(**GERMAN).text
    for expected in (
        "28195 Bremen Deutschland",
        "2 Quartz Book invoice-book 21,40 € −4,28 € 7 % 38,52 €",
        "MwSt. 19 % enthalten 105,00 € 19,95 €",
        "Gesamt 163,47 €",
        "Stückpreis",
    ):
        assert expected in text, (expected, text)
    assert re.search(r"Rechnung A-\d+", text)
    assert re.search(r"Tag der Zahlung \d+\. \w+ 20\d\d", text)


def test_an_invoice_can_be_read_by_machines_that_read_aloud(paid: Paid) -> None:
    body = paid.invoice().body.decode()
    assert body.count("<h1") == 1
    headers = re.findall(r"<th\b[^>]*>", body)
    assert headers
    assert [each for each in headers if 'scope="' not in each] == []
    assert paid.guest.page.inline == []


def test_staff_find_the_invoice_at_the_desk(paid: Paid, desk: Visitor) -> None:
    page = desk.get(f"/admin{paid.path}")
    page = desk.get(page.link("Invoice"))
    assert (page.status, page.path) == (200, f"{paid.path}/invoice")
    assert "Customer Berta Buch berta@example.com" in page.text
    assert page.link("Order of") == f"/admin{paid.path}"


def printed(page: Page) -> str:
    assert (page.status, page.headers["Content-Type"]) == (200, "application/pdf"), page.text
    return "\n".join(each.extract_text() for each in pypdf.PdfReader(BytesIO(page.body)).pages)


def test_the_invoice_is_a_pdf_to_download(paid: Paid) -> None:
    number = re.search(r"Invoice (A-\d{4}-\d{6})", paid.invoice().text)
    assert number, paid.guest.page.text
    page = paid.guest.get(paid.guest.page.link("Download as PDF"))
    text = printed(page)
    assert f'filename="{number[1]}.pdf"' in page.headers["Content-Disposition"]
    assert "no-store" in page.headers["Cache-Control"]
    for expected in (
        f"Invoice {number[1]}",
        "Buch & Lampe",
        "USt-IdNr. DE123456789",
        "Lesehaus GmbH",
        "€38.52",
        f"Leserabatt ({PROMOTION}) −€4.28",
        "MwSt. 19 % €105.00 €19.95",
        "Total €163.47",
        "Charged €113.47",
    ):
        assert expected in text, (expected, text)


def test_the_desk_prints_a_packing_slip(paid: Paid, desk: Visitor) -> None:
    desk.get(f"/admin{paid.path}")
    text = printed(desk.get(desk.page.link("Packing slip as PDF")))
    assert "2 Quartz Book invoice-book" in text
    assert "€" not in text


def test_the_desk_reads_an_e_mail_in_each_language_and_sends_it_again(
    paid: Paid, desk: Visitor, selling: Shop
) -> None:
    address = f"/admin{paid.path}/emails"
    desk.get(f"/admin{paid.path}")
    assert desk.page.link("E-mails") == address
    eventually(lambda: "Confirmation of the order" in desk.get(address).text)
    english = desk.get(desk.page.link("Look at it"))
    assert "thank you for your order" in english.text
    assert "berta@example.com" in english.text
    [other] = [href for href, _ in english.links if href.endswith("/payment?in=de")]
    german = desk.get(other)
    assert "vielen Dank für Ihre Bestellung" in german.text
    page = desk.get(german.link("As mail programs show it"))
    assert page.headers["Content-Security-Policy"].endswith("sandbox")
    assert "Buch &amp; Lampe" in page.body.decode()
    before = len(read_mail(selling.state / "mail", "berta@example.com"))
    desk.get(address)
    assert "The e-mail was sent again." in desk.submit(address, kind="payment").text
    assert len(read_mail(selling.state / "mail", "berta@example.com")) == before + 1


def test_the_shop_s_logo_is_on_invoices_from_then_on(selling: Shop, desk: Visitor) -> None:
    """Uploaded at the desk; an invoice that was issued before stays as it was."""
    guest = Visitor(selling.urls["storefront"])
    put_in_basket(guest, BOOK)
    before = ordered(guest, {**BREMEN, "email": "vor@example.com"})
    assert images(guest.get(f"{before}/invoice.pdf")) == 0
    desk.get("/admin/settings")
    numbers = {"gift_card_days": "0", "return_days": "30"}
    page = desk.upload("/admin/settings", "logo_file", png(90, (300, 100)), filename="logo.png", **numbers)
    assert "Saved." in page.text, page.text

    def has_logo() -> bool:
        put_in_basket(guest, BOOK)
        after = ordered(guest, {**BREMEN, "email": "nach@example.com"})
        return images(guest.get(f"{after}/invoice.pdf")) == 1

    eventually(has_logo)
    assert images(guest.get(f"{before}/invoice.pdf")) == 0


def images(page: Page) -> int:
    assert page.status == 200, page.text
    return sum(len(each.images) for each in pypdf.PdfReader(BytesIO(page.body)).pages)


def test_a_refund_is_on_the_invoice(paid: Paid, desk: Visitor) -> None:
    assert "Refund" not in paid.invoice().text
    address = f"/admin{paid.path}"
    desk.get(address)
    desk.submit(f"{address}/refunds", amount="5.00", reason="Scratched")
    assert "Refunded." in desk.submit(f"{address}/refunds", confirmed="yes").text
    assert re.search(r"Refund €5\.00 on \d+ \w+ 20\d\d: Scratched", paid.invoice().text)
    note = printed(paid.guest.get(paid.guest.get(paid.path).link("Credit note")))
    for expected in ("Credit note C-", "Scratched", "Credited in all €5.00"):
        assert expected in note, (expected, note)


def test_a_tax_that_is_added_is_said_to_be(selling: Shop, desk: Visitor) -> None:
    guest = Visitor(selling.urls["storefront"])
    put_in_basket(guest, LAMP)
    path = ordered(guest, {**NEW_YORK, "email": "una@example.com"})
    text = guest.get(f"{path}/invoice").text
    for expected in (
        "Una Buyer 5 Long Road New York, NY 10001 United States",
        "Sales tax 8 % added €124.95 €10.00",
        "Total €134.95",
    ):
        assert expected in text, (expected, text)
    assert "Vereinigte Staaten" in guest.get(f"{path}/invoice", **GERMAN).text


def test_nobody_else_reads_an_invoice(paid: Paid, selling: Shop) -> None:
    other = register(selling.urls["users"], selling.state / "mail", "Nora Nichts")
    visitor = Visitor(selling.urls["storefront"])
    log_in(visitor, other.email, PASSWORD)
    assert visitor.get(f"{paid.path}/invoice").status == 404
    assert visitor.get(f"{paid.path}/invoice.pdf").status == 404
    assert "Berta" not in visitor.page.text
    page = Visitor(selling.urls["storefront"]).get(f"{paid.path}/invoice")
    assert page.path.startswith("/login")
    assert "Berta" not in page.text


def test_the_desk_chooses_the_language_of_a_gift_card_s_e_mail(selling: Shop, desk: Visitor) -> None:
    for language, expected in (("de", "hier ist eine Geschenkkarte über"), ("en", "here is a gift card of")):
        to = f"gift-{language}@example.com"
        desk.get("/admin/gift-cards")
        page = desk.submit("/admin/gift-cards", amount="12.00", currency="EUR", email=to, language=language)
        assert "is issued" in page.text, page.text
        [message] = read_mail(selling.state / "mail", to)
        assert expected in message.text, message.text
