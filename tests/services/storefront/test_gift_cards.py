"""Gift cards and store credit on the pages, without JavaScript: issued at the desk, looked up, spent at checkout, paid back."""

import re
from collections.abc import Callable

import pytest

from tests.bench.running import Shop
from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

CODE = re.compile(r"\b(?:[0-9A-Z]{4}-){3}[0-9A-Z]{4}\b")
VASE, TRAY = "gift-vase", "gift-tray"
ADDRESS = {"line1": "1 High Street", "city": "Leeds", "postcode": "LS1 4AP"}


@pytest.fixture(scope="module", autouse=True)
def goods(keeper: Visitor) -> None:
    place = ["Presents", "Tools"]
    import_goods(
        keeper,
        [product(VASE, "Vase as a present", place, 2500), product(TRAY, "Tray as a present", place, 1900)],
    )


def issued(keeper: Visitor, amount: str, **more: str) -> str:
    """The code of a card that is issued at the desk."""
    keeper.get("/admin/gift-cards")
    page = keeper.submit("/admin/gift-cards", amount=amount, currency="GBP", **more)
    found = CODE.search(page.text)
    assert found, page.text
    return found[0]


def with_basket(shop: Shop, productid: str, visitor: Visitor | None = None) -> Visitor:
    visitor = visitor or Visitor(shop.urls["storefront"])
    visitor.get(f"/product/{productid}")
    visitor.submit("/basket", quantity="1")
    return visitor


def checked_out(visitor: Visitor, **values: str) -> Page:
    return visitor.submit("/checkout", name="Gift Giver", email="giver@example.com", **ADDRESS, **values)


def shown_again(visitor: Visitor, **values: str) -> Page:
    """The checkout after "Show what is left to pay"."""
    form = visitor.page.form("/checkout")
    form.action = "/checkout/update"
    return visitor.send_form(form, {**form.values, "update": "1", **values})


def test_a_guest_pays_a_part_with_a_gift_card(shop: Shop, keeper: Visitor) -> None:
    code = issued(keeper, "5.00", note="a page journey")
    visitor = with_basket(shop, VASE)
    visitor.get("/checkout")
    page = shown_again(visitor, gift_code=f" {code.lower()} ")
    assert f"Gift card ending {code[-4:]} −£5.00 Left to pay £23.00" in page.text
    assert "Nothing was ordered" not in page.text
    page = checked_out(visitor, card="tok_ok")
    assert page.path.startswith("/orders/"), page.text
    assert f"Paid £28.00 with Gift card ending {code[-4:]} and a test card" in page.text
    assert "Charged £23.00" in page.text
    visitor.get("/gift-cards")
    assert "£0.00 are left" in visitor.submit("/gift-cards", code=code).text
    keeper.get("/admin/gift-cards")
    page = keeper.get(keeper.page.link(f"Gift card ending {code[-4:]}"))
    assert "Issued: a page journey" in page.text
    assert "Spent" in page.text


def test_a_gift_card_pays_all(shop: Shop, keeper: Visitor) -> None:
    code = issued(keeper, "100.00")
    visitor = with_basket(shop, TRAY)
    visitor.get("/checkout")
    page = shown_again(visitor, gift_code=code)
    assert "Nothing is left to pay." in page.text
    assert "card" not in page.form("/checkout").names
    page = checked_out(visitor)
    assert page.path.startswith("/orders/"), page.text
    assert f"Paid £22.00 with Gift card ending {code[-4:]}" in page.text
    assert "test card" not in page.text


def test_a_code_typed_with_the_order_is_shown_before_anything_is_charged(shop: Shop, keeper: Visitor) -> None:
    code = issued(keeper, "5.00")
    visitor = with_basket(shop, VASE)
    visitor.get("/checkout")
    page = checked_out(visitor, gift_code=code, card="tok_ok")
    assert page.path.startswith("/checkout?"), page.text
    assert "Nothing was ordered yet: look at what is left to pay now" in page.text
    assert "Left to pay £23.00" in page.text
    assert checked_out(visitor, card="tok_ok").path.startswith("/orders/")


def test_a_wrong_code_is_said_and_nothing_is_lost(shop: Shop) -> None:
    visitor = with_basket(shop, TRAY)
    visitor.get("/checkout")
    page = shown_again(
        visitor, gift_code="0000-1111-2222-3333", line1="7 Long Lane", email="wrong@example.com"
    )
    assert "There is no gift card with this code" in page.text
    form = page.form("/checkout")
    assert (form.values["line1"], form.values["gift_code"]) == ("7 Long Lane", "0000-1111-2222-3333")
    visitor.get("/gift-cards")
    assert "There is no gift card with this code" in visitor.submit("/gift-cards", code="no such thing").text


def test_a_balance_that_somebody_else_spends_meanwhile_charges_nobody(shop: Shop, keeper: Visitor) -> None:
    code = issued(keeper, "20.00")
    first, second = with_basket(shop, VASE), with_basket(shop, VASE)
    for visitor in (first, second):
        visitor.get("/checkout")
        assert "Left to pay £8.00" in shown_again(visitor, gift_code=code).text
    assert checked_out(first, card="tok_ok").path.startswith("/orders/")
    page = checked_out(second, card="tok_ok")
    assert page.path.startswith("/checkout"), page.text
    assert "Nothing is left on gift card ending" in page.text
    page = shown_again(second, gift_code="")
    assert "Left to pay" not in page.text
    assert checked_out(second, card="tok_ok").path.startswith("/orders/")


def test_store_credit_is_granted_spent_and_refunded_to(
    shop: Shop, keeper: Visitor, join: Callable[..., Visitor]
) -> None:
    visitor = join("Credit Customer")
    with_basket(shop, VASE, visitor)
    visitor.get("/checkout")
    page = shown_again(visitor, store_credit="yes", **ADDRESS, name="Credit Customer")
    assert "You have no store credit in this currency." in page.text
    page = visitor.submit("/checkout", card="tok_ok")
    assert page.path.startswith("/checkout") or page.path.startswith("/orders/"), page.text
    orderid = page.path.removeprefix("/orders/")
    page = keeper.get(f"/admin/orders/{orderid}")
    keeper.get(page.link("Store credit of this customer"))
    path = keeper.page.path
    page = keeper.submit(path, amount="8.00", currency="GBP", reason="Sorry for the wait.")
    assert "Granted: Sorry for the wait." in page.text
    with_basket(shop, VASE, visitor)
    visitor.get("/checkout")
    page = shown_again(visitor, store_credit="yes")
    assert "Store credit −£8.00 Left to pay £20.00" in page.text
    page = visitor.submit("/checkout", card="tok_ok")
    assert "Paid £28.00 with Store credit and a test card" in page.text
    orderid = page.path.removeprefix("/orders/")
    keeper.get(f"/admin/orders/{orderid}")
    page = keeper.submit(
        f"/admin/orders/{orderid}/refunds", amount="18.00", reason="Half of it.", store_credit="yes"
    )
    assert "the rest becomes the customer's store credit" in page.text
    page = keeper.submit(f"/admin/orders/{orderid}/refunds", confirmed="yes")
    assert "£18.00 of it to Store credit" in page.text
    assert "£18.00" in visitor.get("/gift-cards").text


def test_the_desk_blocks_a_card_and_customers_may_not(shop: Shop, keeper: Visitor) -> None:
    code = issued(keeper, "5.00", email="lucky@example.com", name="Lucky", message="Happy birthday!")
    keeper.get("/admin/gift-cards")
    keeper.get(keeper.page.link(f"Gift card ending {code[-4:]}"))
    page = keeper.submit(keeper.page.path, amount="0", note="Lost in the post")
    assert "Adjusted: Lost in the post" in page.text
    assert Visitor(shop.urls["storefront"]).get("/admin/gift-cards").path.startswith("/login")
    page = Visitor(shop.urls["storefront"]).get("/mailbox?to=lucky@example.com")
    assert "Happy birthday!" in page.text
    assert code in page.text


def test_a_gift_card_is_sold_for_somebody_else(shop: Shop, keeper: Visitor) -> None:
    """Made at the desk, bought by a guest, sent to the one it is for."""
    keeper.get("/admin/products/new")
    page = keeper.submit(
        "/admin/products/new",
        productid="present-30",
        name="Present of thirty pounds",
        taxonomy="Presents",
        kind="gift_card",
        price="30.00",
        delivery="3.00",
        currency="GBP",
        stock="50",
    )
    assert page.form("/admin/products/present-30").values["kind"] == "gift_card", page.text
    visitor = with_basket(shop, "present-30")
    page = visitor.get("/checkout")
    assert "By e-mail: free" in page.text
    to = "dear-friend@example.com"
    page = checked_out(visitor, card="tok_ok", gift_email=to, gift_name="Dear", gift_message="Buy a vase!")
    assert "Total £30.00" in page.text
    assert "Goes to" not in page.text
    reader = Visitor(shop.urls["storefront"])
    text = eventually(lambda: CODE.search(reader.get(f"/mailbox?to={to}").text) and reader.page.text)
    assert "Buy a vase!" in text
    shown = eventually(lambda: re.search(f"Dear, {to}, sent on (.*)", visitor.get(page.path).text))
    assert shown, visitor.page.text
    desk = keeper.get(f"/admin{page.path}")
    assert f"Gift cards by e-mail to Dear, {to}, sent on" in desk.text
    action = f"/admin{page.path}/gift-recipient"
    assert desk.form(action).values["email"] == to
    wrong = keeper.submit(action, email="no address")
    assert wrong.form(action).values["email"] == "no address"
    right = "dearer-friend@example.com"
    done = keeper.submit(action, email=right, name="Dearer")
    assert f"The gift cards were sent to {right}." in done.text
    assert f"by e-mail to Dearer, {right}, sent on" in visitor.get(page.path).text
    sent = reader.get(f"/mailbox?to={right}").text
    assert CODE.findall(sent)[:1] == CODE.findall(text)[:1]
    assert "Named another recipient of gift cards" in keeper.get("/admin/audit").text
    visitor.get("/gift-cards")
    assert "£30.00 are left" in visitor.submit("/gift-cards", code=CODE.search(text)[0]).text
