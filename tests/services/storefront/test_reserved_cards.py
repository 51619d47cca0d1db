"""A kept card in a shop that takes money with the parcels: reserved at our checkout, taken when the desk sends the goods."""

import re
from collections.abc import Iterator

import pytest

from tests.bench.running import ADMIN_EMAIL
from tests.services.orders.stripe_shop import StripeShop, stripe_shop
from tests.services.storefront.conftest import load_goods, log_in
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.test_payment_page import captures, press, to_the_page
from tests.services.storefront.visitor import Visitor


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StripeShop]:
    settings = {
        "CAPTURE_AT": "dispatch",
        "COURIER_DISPATCH_SECONDS": "3600",
        "WEB_WORKERS": "1",
        "LANGUAGES": "en,de",
    }
    with stripe_shop(tmp_path_factory.mktemp("reserved"), **settings) as running:
        load_goods(running.shop)
        yield running


def test_a_kept_card_is_reserved_and_charged_with_the_goods(shop: StripeShop) -> None:
    customer = Visitor(shop.base)
    log_in(customer, ADMIN_EMAIL, shop.shop.admin_password)
    to_the_page(customer, "cup-07", save_method="yes")
    press(customer, "card")
    put_in_basket(customer, "cup-08")
    german = customer.get("/checkout", **{"Accept-Language": "de"})
    assert "Wird mit der Bestellung reserviert und belastet, wenn die Ware verschickt wird." in german.text
    page = customer.get("/checkout", **{"Accept-Language": "en"})
    assert "Reserved when you order, charged when the goods are sent." in page.text
    form, (method, _) = page.form("/checkout"), page.choices["saved_method"]
    before = set(shop.stripe.intents)
    done = customer.send_form(form, {**form.values, "saved_method": method})
    assert done.path.startswith("/orders/"), done.text
    words = "with Stripe (the card is charged when the goods are sent)"
    assert words in done.text
    (intentid,) = set(shop.stripe.intents) - before
    intent = shop.stripe.intents[intentid]
    assert intent["status"] == "requires_capture"
    path = f"/admin/orders/{done.path.rpartition('/')[2]}"
    shown = customer.get(path)
    total = captures(shown)[0]
    assert captures(shown) == [total, "£0.00", total]
    sent = shown.form(f"{path}/dispatch")
    after = customer.send_form(sent, {**sent.values, "courier": "Owl", "courierid": "1"})
    assert captures(after) == [total, total, "£0.00"]
    assert words not in customer.get(done.path).text
    assert (intent["status"], re.sub(r"\D", "", total)) == ("succeeded", str(intent["amount_received"]))
