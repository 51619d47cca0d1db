"""Paying on the provider's page, as a visitor walks there and back: paid, declined, cancelled, in two windows, with the return lost."""

import re
import secrets
import time
from collections.abc import Iterator

import orjson
import pytest

from tests.bench.running import ADMIN_EMAIL
from tests.people import PASSWORD, Person, register
from tests.services.orders.stripe_shop import StripeShop, stripe_shop
from tests.services.storefront.conftest import load_goods, log_in, product
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.test_gift_cards import issued
from tests.services.storefront.test_vouchers import new_code, promotion
from tests.services.storefront.visitor import Page, Visitor

ADDRESS = {"line1": "7 Card Crescent", "city": "Leeds", "postcode": "LS1 4DY"}


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StripeShop]:
    settings = {"COURIER_DISPATCH_SECONDS": "3600", "WEB_WORKERS": "1"}
    with stripe_shop(tmp_path_factory.mktemp("cards"), **settings) as running:
        load_goods(running.shop)
        yield running


@pytest.fixture
def guest(cards: StripeShop) -> Visitor:
    return Visitor(cards.base)


def to_the_page(visitor: Visitor, productid: str, **values: str) -> Page:
    """From the product to the provider's page."""
    put_in_basket(visitor, productid)
    return order(visitor, **values)


def order(visitor: Visitor, **values: str) -> Page:
    form = visitor.get("/checkout").form("/checkout")
    typed = {"name": "Carda", "email": f"{secrets.token_hex(4)}@example.com", **ADDRESS}
    return visitor.send_form(form, {**form.values, **typed, **values})


def press(visitor: Visitor, how: str) -> Page:
    """A button of the provider's page, pressed by a browser that comes from another site."""
    form = visitor.page.forms[0]
    return visitor.send("POST", form.action, f"how={how}".encode(), {})


def stock_of(visitor: Visitor, productid: str) -> bool:
    return "Sold out" not in visitor.get(f"/product/{productid}").text


def test_paid(cards: StripeShop, guest: Visitor) -> None:
    page = to_the_page(guest, "mug-red")
    assert page.url.startswith(f"{cards.stripe.url}/c/pay/cs_test_"), page.text
    assert "Pay 12.50 GBP" in page.text
    done = press(guest, "card")
    assert done.path.startswith("/orders/"), done.text
    assert "Thank you! Your order is placed." in done.text
    assert "with Stripe" in done.text
    assert "Basket 0 in it" in guest.get("/basket").text
    assert set(cards.tell_events()) == {200}
    assert "Thank you!" in guest.get(done.path.replace("/orders/", "/checkout/paid/")).text


def test_with_3d_secure(guest: Visitor) -> None:
    to_the_page(guest, "mug-red")
    assert "Thank you! Your order is placed." in press(guest, "action").text


def test_declined_and_back(cards: StripeShop, guest: Visitor) -> None:
    """The last one of its kind: the customer's own attempt must not stand in the way of the next."""
    to_the_page(guest, "mug-last", email="back@example.com")
    page = press(guest, "declined")
    assert page.url.startswith(cards.stripe.url)
    orderid = cards.stripe.checkout.sessions[page.url.rpartition("/")[2]]["metadata"]["orderid"]
    unpaid = guest.get(f"/checkout/paid/{orderid}").text
    assert "Your card was declined. This order is not paid yet." in unpaid
    guest.page = page
    back = press(guest, "back")
    assert back.path.startswith("/checkout?"), back.text
    assert "Nothing was charged and nothing was ordered. Your card was declined." in back.text
    form = back.form("/checkout")
    assert form.values["email"] == "back@example.com"
    assert {name: form.values[name] for name in ADDRESS} == ADDRESS
    assert "Last Mug" in back.text
    page = guest.send_form(form, form.values)
    assert page.url.startswith(cards.stripe.url), page.text
    assert "Thank you! Your order is placed." in press(guest, "card").text


def test_who_goes_back_finds_code_and_gift_card_as_they_were(cards: StripeShop, guest: Visitor) -> None:
    """Both were taken for the first page, and are free for the second: the code holds for one order, and the gift card for one page."""
    keeper = Visitor(cards.base)
    log_in(keeper, ADMIN_EMAIL, cards.shop.admin_password)
    code, card = new_code(), issued(keeper, "5.00")
    made = promotion(keeper, codes=code, percent="10", products="cup-07", limit="1", per_customer="1").path
    put_in_basket(guest, "cup-07")
    form = guest.get("/checkout").form("/checkout")
    form.action = "/checkout/update"
    typed = {"codes": code, "gift_code": card, "name": "Carda", "email": "again@example.com", **ADDRESS}
    guest.send_form(form, {**form.values, **typed, "update": "1"})
    for _ in range(2):
        form = guest.page.form("/checkout")
        assert {name: form.values[name] for name in typed} == typed
        assert "Left to pay £2.56" in guest.page.text, guest.page.text
        page = guest.send_form(form, form.values)
        assert "Pay 2.56 GBP" in page.text, page.text
        assert "Used by 1 of 1" in keeper.get(made).text
        back = press(guest, "back")
        assert "Nothing was charged and nothing was ordered." in back.text
        assert "Used by 0 of 1" in keeper.get(made).text
    guest.send_form(guest.page.form("/checkout"), guest.page.form("/checkout").values)
    assert "Charged £2.56" in press(guest, "card").text
    assert "Used by 1 of 1" in keeper.get(made).text


def test_the_return_is_lost(cards: StripeShop, guest: Visitor) -> None:
    """Paid, and the browser was closed at once: the webhook pays the order, and the basket does not buy a second time."""
    page = to_the_page(guest, "lamp-1", email="lost@example.com")
    cards.stripe.checkout.pay(page.url.rpartition("/")[2])
    assert set(cards.tell_events()) == {200}
    orders = cards.stripe.checkout.sessions
    before = len(orders)
    again = order(guest, email="lost@example.com")
    assert again.path.startswith("/orders/"), again.text
    assert len(orders) == before
    assert "Basket 0 in it" in guest.get("/basket").text


def test_return_and_webhook_are_lost(cards: StripeShop, guest: Visitor) -> None:
    """The order's own page asks: whoever comes back by the same form is told that it is paid."""
    page = to_the_page(guest, "rake", email="both@example.com")
    cards.stripe.checkout.pay(page.url.rpartition("/")[2])
    cards.told = len(cards.stripe.checkout.events)
    again = order(guest, email="both@example.com")
    assert again.path.startswith("/orders/"), again.text
    assert "Paid" in again.text


def test_a_second_window_with_another_address(cards: StripeShop, guest: Visitor) -> None:
    """The first window's page is ended, so that only one of the two can be paid."""
    put_in_basket(guest, "spade")
    form, second_form = (guest.get("/checkout").form("/checkout") for _ in range(2))
    typed = {**form.values, "name": "Carda", "email": "two@example.com", "address": "1 First Street"}
    first = guest.send_form(form, typed)
    second = guest.send_form(form, {**typed, "address": "2 Second Street"})
    assert second.url.startswith(cards.stripe.url), second.text
    sessions = cards.stripe.checkout.sessions
    assert sessions[first.url.rpartition("/")[2]]["status"] == "expired"
    same = guest.send_form(form, {**typed, "address": "2 Second Street"})
    assert same.url == second.url
    assert "Thank you!" in press(guest, "card").text
    already = guest.send_form(second_form, {**typed, "key": second_form.values["key"]})
    assert "You have already ordered this" in already.text


def test_a_bank_debit(cards: StripeShop, guest: Visitor) -> None:
    page = to_the_page(guest, "cup-01")
    sessionid = page.url.rpartition("/")[2]
    waiting = press(guest, "processing")
    assert "Your payment is on its way" in waiting.text
    assert "Basket 0 in it" in guest.get("/basket").text
    cards.stripe.checkout.settle(sessionid, arrived=True)
    assert set(cards.tell_events()) == {200}
    assert "Paid" in guest.get(waiting.path).text


def test_while_a_bank_debit_is_under_way_it_cannot_be_cancelled_and_is_not_offered(
    cards: StripeShop, guest: Visitor
) -> None:
    page = to_the_page(guest, "cup-04")
    waiting = press(guest, "processing")
    assert "It can be cancelled once it has arrived." in waiting.text
    assert "Changed your mind?" not in waiting.text
    cards.stripe.checkout.settle(page.url.rpartition("/")[2], arrived=True)
    assert set(cards.tell_events()) == {200}
    assert "Changed your mind?" in guest.get(waiting.path).text


def test_what_a_bank_debit_that_failed_was_for_goes_into_the_basket_again(
    cards: StripeShop, guest: Visitor
) -> None:
    """It had left the basket, days before."""
    page = to_the_page(guest, "cup-05")
    waiting = press(guest, "processing")
    cards.stripe.checkout.settle(page.url.rpartition("/")[2], arrived=False)
    assert set(cards.tell_events()) == {200}
    failed = guest.get(waiting.path)
    assert "This was not ordered: The account is empty. Nothing was charged." in failed.text
    assert "still in your basket" not in failed.text
    checkout = guest.submit("/checkout/again")
    assert checkout.path.startswith("/checkout?"), checkout.text
    assert "Basket 1 in it" in guest.get("/basket").text
    order(guest)
    assert "Thank you! Your order is placed." in press(guest, "card").text


def test_more_of_the_same_that_came_in_while_it_was_paid_stays_in_a_guests_basket(guest: Visitor) -> None:
    page = to_the_page(guest, "cup-06")
    put_in_basket(guest, "cup-06", quantity="2")
    guest.page = page
    assert "Thank you! Your order is placed." in press(guest, "card").text
    assert guest.get("/basket").form("/basket/cup-06").values["quantity"] == "2"


def test_more_of_the_same_that_came_in_while_it_was_paid_stays_in_a_customers_basket(
    cards: StripeShop, guest: Visitor
) -> None:
    buyer = register(cards.shop.urls["users"], cards.shop.state / "mail")
    log_in(guest, buyer.email, PASSWORD)
    page = to_the_page(guest, "cup-06")
    guest.get("/basket")
    guest.submit("/basket/cup-06", quantity="3")
    guest.page = page
    assert "Thank you! Your order is placed." in press(guest, "card").text
    assert guest.get("/basket").form("/basket/cup-06").values["quantity"] == "2"


@pytest.mark.parametrize("left", [0, 2])
def test_who_logs_in_while_paying_as_a_guest_finds_the_basket_without_what_was_bought(
    cards: StripeShop, guest: Visitor, left: int
) -> None:
    """The guest's basket has come along into the account's, and with it what is being paid."""
    page = to_the_page(guest, "cup-08")
    if left:
        put_in_basket(guest, "cup-08", quantity=str(left))
    buyer = register(cards.shop.urls["users"], cards.shop.state / "mail")
    log_in(guest, buyer.email, PASSWORD)
    assert f"Basket {left + 1} in it" in guest.get("/basket").text
    guest.page = page
    assert "Thank you! Your order is placed." in press(guest, "card").text
    assert f"Basket {left} in it" in guest.get("/basket").text


def test_an_order_page_leads_back_to_the_payment(cards: StripeShop, guest: Visitor) -> None:
    page = to_the_page(guest, "cup-02")
    orderid = cards.stripe.checkout.sessions[page.url.rpartition("/")[2]]["metadata"]["orderid"]
    shown = guest.get(f"/orders/{orderid}")
    assert "This order waits for your payment" in shown.text
    assert shown.link("Continue to payment") == page.url
    back = guest.get(f"/checkout/cancelled/{orderid}")
    assert "nothing was ordered" in back.text
    assert "This was not ordered" in guest.get(f"/orders/{orderid}").text


def test_an_order_has_an_invoice_once_it_is_paid(cards: StripeShop, guest: Visitor) -> None:
    page = to_the_page(guest, "cup-10")
    orderid = cards.stripe.checkout.sessions[page.url.rpartition("/")[2]]["metadata"]["orderid"]
    address = f"/orders/{orderid}"
    assert f"{address}/invoice" not in [href for href, _ in guest.get(address).links]
    early = guest.get(f"{address}/invoice")
    assert early.status == 404
    assert "There is no invoice before the order is paid." in early.text
    guest.page = page
    assert press(guest, "card").link("Invoice") == f"{address}/invoice"
    assert "with Stripe" in guest.get(f"{address}/invoice").text


def test_a_browser_that_knows_nothing_of_the_order(cards: StripeShop, guest: Visitor) -> None:
    page = to_the_page(guest, "cup-03")
    orderid = cards.stripe.checkout.sessions[page.url.rpartition("/")[2]]["metadata"]["orderid"]
    stranger = Visitor(cards.base)
    returned = stranger.get(f"/checkout/paid/{orderid}")
    assert (returned.status, "is being confirmed" in returned.text) == (200, True)
    assert stranger.get(f"/checkout/cancelled/{orderid}").path == "/basket"
    assert cards.stripe.checkout.of(orderid)[0]["status"] == "open", "a stranger ends nothing"


def test_only_the_checkouts_form_may_lead_to_the_provider(cards: StripeShop, guest: Visitor) -> None:
    put_in_basket(guest, "cup-04")
    for path in ("/", "/basket", "/product/cup-04"):
        assert cards.stripe.url not in guest.get(path).headers["Content-Security-Policy"]
    page = guest.get("/checkout")
    assert f"form-action 'self' {cards.stripe.url};" in page.headers["Content-Security-Policy"]
    assert "Test card" not in page.text
    wrong = order(guest, email="not an address")
    assert cards.stripe.url in wrong.headers["Content-Security-Policy"]


def test_stripe_is_away(cards: StripeShop, guest: Visitor) -> None:
    cards.stripe.away = True
    try:
        page = to_the_page(guest, "cup-05", email="away@example.com")
    finally:
        cards.stripe.away = False
    assert page.path.startswith("/checkout?"), page.text
    assert page.form("/checkout").values["email"] == "away@example.com"
    time.sleep(0.1)
    again = guest.send_form(page.form("/checkout"), page.form("/checkout").values)
    assert again.url.startswith(cards.stripe.url), again.text


def test_the_desk_names_reserved_money(cards: StripeShop, guest: Visitor) -> None:
    """Reserved by a shop that takes money at dispatch; the one order stands for it here, whatever this shop's setting is."""
    page = to_the_page(guest, "cup-06")
    session = cards.stripe.checkout.sessions[page.url.rpartition("/")[2]]
    session["intent_data"]["capture_method"] = "manual"
    done = press(guest, "card")
    assert "Thank you!" in done.text
    intent = cards.stripe.intents[session["payment_intent"]]
    assert intent["status"] == "requires_capture"
    keeper = Visitor(cards.base)
    log_in(keeper, ADMIN_EMAIL, cards.shop.admin_password)
    orderid = done.path.rpartition("/")[2]
    shown = keeper.get(f"/admin/orders/{orderid}")
    assert "The money is only reserved, until" in shown.text
    total = captures(shown)[0]
    assert captures(shown) == [total, "£0.00", total]
    sent = shown.form(f"/admin/orders/{orderid}/dispatch")
    after = keeper.send_form(sent, {**sent.values, "courier": "Owl", "courierid": "1"})
    assert "only reserved" not in after.text
    assert captures(after) == [total, total, "£0.00"]
    assert intent["status"] == "succeeded"


def captures(page: Page) -> list[str]:
    """What the desk's page of an order says is reserved, taken and still open."""
    (shown,) = re.findall(r'id="captures">(.*?)</dl>', page.body.decode(), re.DOTALL)
    return re.findall(r"<dd>(.*?)</dd>", shown)


def test_the_desk_names_prices_that_no_card_can_pay(cards: StripeShop) -> None:
    """In currencies with three decimals, of which Stripe takes whole tens."""
    keeper, admin = (
        Visitor(cards.base),
        Person(cards.shop.urls["users"], ADMIN_EMAIL, cards.shop.admin_password),
    )
    log_in(keeper, ADMIN_EMAIL, cards.shop.admin_password)
    for name, fils in (("odd-lamp", 1234), ("even-lamp", 1230)):
        line = product(name, "Lamp", ["Home", "Lamps"], 1200)
        line |= {"prices": {"GBP": 1200, "KWD": fils}, "delivery_prices": {"GBP": 300, "KWD": 1500}}
        answer = admin.post(
            f"{cards.shop.urls['products']}/v1/products/import",
            data=orjson.dumps(line),
            headers={"Content-Type": "application/x-ndjson"},
        )
        assert not answer.json()["failed"], answer.text
    assert "Cards cannot pay" in keeper.get("/admin/products/odd-lamp").text
    assert "1.234" in keeper.page.text.partition("Cards cannot pay")[2][:30]
    assert "Cards cannot pay" not in keeper.get("/admin/products/even-lamp").text


def test_a_saved_card_is_chosen_at_our_checkout(cards: StripeShop) -> None:
    """By the customer who keeps it, without the provider's page; and where the bank asks for more, that page is the other way."""
    customer = Visitor(cards.base)
    log_in(customer, ADMIN_EMAIL, cards.shop.admin_password)
    to_the_page(customer, "cup-07", save_method="yes")
    assert "Thank you!" in press(customer, "card").text
    (ref,) = cards.stripe.checkout.customers
    (known,) = cards.stripe.checkout.methods[ref]
    careful = cards.stripe.checkout.keep(ref, "authentication")
    put_in_basket(customer, "cup-08")
    page = customer.get("/checkout")
    assert page.choices["saved_method"] == [known["id"], careful, ""]
    assert "Visa ending 4242" in page.text
    form = page.form("/checkout")
    assert form.values["saved_method"] == "", "nobody pays with a card that they did not choose"
    refused = customer.send_form(form, {**form.values, "saved_method": careful})
    assert refused.path.startswith("/checkout"), refused.text
    assert "Your bank wants you to confirm this payment, and nothing was charged." in refused.text
    cards.stripe.checkout.detach(ref, careful)
    form = refused.form("/checkout")
    refused = customer.send_form(form, {**form.values, "saved_method": careful})
    assert "This card is not saved any more. Choose another." in refused.text
    assert "Your bank" not in refused.text
    assert refused.choices["saved_method"] == [known["id"], ""]
    form = refused.form("/checkout")
    done = customer.send_form(form, {**form.values, "saved_method": known["id"]})
    assert done.path.startswith("/orders/"), done.text
    assert "Thank you! Your order is placed." in done.text
    put_in_basket(customer, "cup-09")
    cards.stripe.away = True
    try:
        page = customer.get("/checkout")
    finally:
        cards.stripe.away = False
    assert "Your saved cards cannot be shown just now." in page.text
    assert "saved_method" not in page.choices
