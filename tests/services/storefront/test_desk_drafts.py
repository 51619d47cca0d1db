"""Orders that staff make at the desk: goods found, a customer, sums, and an order with a link to pay or paid in cash."""

import re
import secrets
from collections.abc import Callable

import pytest

from tests.bench.running import Shop
from tests.maildir import read_mail
from tests.services.storefront.test_desk_lost_sessions import lose_and_come_back
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

PLACE = {"name": "Phil Phone", "line1": "1 Mill Lane", "city": "York", "postcode": "YO1 7PR"}


@pytest.fixture
def email() -> str:
    return f"phone-{secrets.token_hex(4)}@example.com"


def draft_of(keeper: Visitor, email: str, sku: str = "rake", quantity: str = "2") -> Page:
    """A draft of £41.00 for a guest: two rakes for £19.00 and delivery."""
    keeper.get("/admin/orders/new")
    typed = {"email": email, "sku-new": sku, "quantity-new": quantity}
    page = keeper.submit("/admin/drafts", **typed, **PLACE)
    assert page.path.startswith("/admin/drafts/"), page.text
    return page


def place_order(keeper: Visitor, page: Page, kind: str, **more: str) -> Page:
    action = f"{page.path.partition('?')[0]}/order"
    keeper.page = page
    return keeper.submit(action, kind=kind, **more)


def test_goods_are_found_and_added_and_reckoned(keeper: Visitor, email: str) -> None:
    keeper.get("/admin/orders/new")
    page = keeper.submit("/admin/drafts", email=email, q="spade", search="1", **PLACE)
    assert "Add Garden Spade" in page.text
    action = page.path.partition("?")[0]
    page = keeper.submit(action, add="spade")
    form = page.form(action)
    assert (form.values["sku-1"], form.values["quantity-1"], form.values["email"]) == ("spade", "1", email)
    assert form.values["city"] == "York"
    assert "£28.00" in page.text
    page = keeper.submit(action, **{"quantity-1": "3", "off-1": "10 %", "reason-1": "For the wait"})
    assert "−£7.50" in page.text
    assert "For the wait" in page.text
    assert "£70.50" in page.text
    page = keeper.submit(action, **{"quantity-1": "0"})
    assert "£" not in page.text


def test_a_draft_paid_in_cash_is_an_order_that_says_who_placed_it(keeper: Visitor, email: str) -> None:
    page = draft_of(keeper, email)
    assert "£41.00" in page.text
    order = place_order(keeper, page, "cash", reference="till 2")
    assert order.path.startswith("/admin/orders/")
    for words in ("The order is placed and paid.", "£41.00 with cash", "till 2", email, "Placed by"):
        assert words in order.text
    again = place_order(keeper, page, "cash", reference="till 2")
    assert again.path == order.path, "pressed twice it is one order"
    listed = keeper.get("/admin/drafts")
    assert any(href == order.path for href, _ in listed.links)


def test_cash_that_is_refunded_is_recorded_as_paid_back(keeper: Visitor, email: str) -> None:
    order = place_order(keeper, draft_of(keeper, email), "bank_transfer")
    keeper.submit(f"{order.path}/refunds", amount="1.50", reason="Scratched")
    page = keeper.submit(f"{order.path}/refunds", confirmed="yes")
    assert "To be paid back by hand" in page.text
    page = keeper.submit(f"{order.path}/refunds/1/settlement", reference="R-1")
    assert "Recorded as paid back." in page.text
    assert "To be paid back by hand" not in page.text


def test_a_payment_link_is_paid_on_the_sandbox_page(shop: Shop, keeper: Visitor, email: str) -> None:
    order = place_order(keeper, draft_of(keeper, email), "link")
    assert "Waits for its payment" in order.text
    link = order.link("/checkout/sandbox/")
    sent = eventually(lambda: read_mail(shop.state / "mail", email), seconds=60)[0]
    assert link in sent.text
    assert "£41.00" in sent.text
    buyer = Visitor(keeper.base)
    page = buyer.get(link)
    assert "Pay £41.00" in page.text
    page = buyer.submit("/checkout/sandbox/", card="tok_declined")
    assert "declined" in page.text
    page = buyer.submit("/checkout/sandbox/", card="tok_ok")
    assert "Thank you" in page.text
    assert "Waits for its payment" not in keeper.get(order.path).text
    assert "£41.00 with a test card" in keeper.page.text
    assert "This order is paid." in buyer.get(link).text
    assert buyer.get(re.sub("key=.", "key=_", link)).status == 404


def test_an_order_that_waits_is_sent_again_and_cancelled(shop: Shop, keeper: Visitor, email: str) -> None:
    order = place_order(keeper, draft_of(keeper, email), "link")
    assert eventually(lambda: read_mail(shop.state / "mail", email), seconds=60)
    keeper.get(order.path)
    keeper.submit(f"{order.path}/emails")
    assert "The e-mail was sent again." in keeper.page.text
    assert len(read_mail(shop.state / "mail", email)) == 2
    page = keeper.submit(f"{order.path}/payment/cancellation")
    assert "It is cancelled, and the goods are for sale again." in page.text
    late = Visitor(keeper.base).get(order.link("/checkout/sandbox/"))
    assert "cannot be paid any more" in late.text


def test_an_account_is_found_by_its_email(keeper: Visitor, join: Callable[..., Visitor]) -> None:
    customer = join("Anna Account")
    [address] = set(re.findall(r"[\w.+-]+@[\w-]+\.[a-z]+", customer.get("/account").text))
    page = draft_of(keeper, address)
    assert page.form(page.path).values["email"] == address
    order = place_order(keeper, page, "paid_elsewhere")
    assert "£41.00 with paid elsewhere" in order.text
    assert customer.get(order.path.removeprefix("/admin")).status == 200


def test_what_is_wrong_is_said_and_nothing_typed_is_lost(keeper: Visitor, email: str) -> None:
    keeper.get("/admin/orders/new")
    page = keeper.submit(
        "/admin/drafts", email=email, note="calls back", **{"sku-new": "no-such-thing"}, **PLACE
    )
    assert page.path == "/admin/drafts"
    assert b'role="alert"' in page.body
    assert page.form("/admin/drafts").values["note"] == "calls back"
    page = draft_of(keeper, email)
    page = keeper.submit(page.path, **{"price-1": "12.00"})
    assert "Say why something is taken off" in page.text
    assert page.form("/admin/drafts").values["price-1"] == "12.00"


def test_what_is_sold_out_is_named(keeper: Visitor, email: str) -> None:
    page = place_order(keeper, draft_of(keeper, email, "mug-gone", "1"), "cash")
    assert page.path.startswith("/admin/drafts/")
    assert "“Sold Mug” is sold out." in page.text


def test_two_at_one_draft_do_not_undo_each_other(keeper: Visitor, email: str) -> None:
    page = draft_of(keeper, email)
    first = page.form(page.path)
    keeper.submit(page.path, note="from the other window")
    late = keeper.send_form(first, {**first.values, "note": "mine"})
    assert "Somebody else has changed this draft." in late.text
    assert late.form(page.path).values["note"] == "mine"
    assert keeper.submit(page.path).form(page.path).values["note"] == "mine"


def test_another_countrys_form_keeps_what_was_typed(keeper: Visitor, email: str) -> None:
    page = draft_of(keeper, email)
    page = keeper.submit(page.path, country="DE", update="1", note="moved")
    form = page.form("/admin/drafts")
    assert (form.values["country"], form.values["note"]) == ("DE", "moved")
    assert page.status == 200


def test_a_lost_session_keeps_the_draft_that_was_typed(shop: Shop, keeper: Visitor, email: str) -> None:
    page = draft_of(keeper, email)
    path = page.path.partition("?")[0]
    back = lose_and_come_back(shop, keeper, path, path, note="typed before", **{"quantity-1": "7"})
    form = back.form(path)
    assert (form.values["note"], form.values["quantity-1"]) == ("typed before", "7")
    new = lose_and_come_back(
        shop, keeper, "/admin/orders/new", "/admin/drafts", email=email, **{"sku-new": "rake"}
    )
    assert new.form("/admin/drafts").values["email"] == email


def test_a_draft_is_removed(keeper: Visitor, email: str) -> None:
    page = draft_of(keeper, email)
    done = keeper.submit(f"{page.path}/removal")
    assert "The draft is removed." in done.text
    assert keeper.get(page.path).status == 404
