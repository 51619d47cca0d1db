"""Codes, gift cards and the way of delivery that were chosen at a checkout: there again after a lost session, in a second window and after
a declined card; and what an attempt had taken of them is given back before the next one."""

import secrets
from collections.abc import Callable

import pytest

from tests.people import place
from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.test_desk_terms import SHIPPING, no_settings_afterwards
from tests.services.storefront.test_gift_cards import issued
from tests.services.storefront.test_lost_sessions import LOSSES, log_in_here, secret
from tests.services.storefront.test_vouchers import new_code, promotion
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

__all__ = ["no_settings_afterwards", "secret"]
"""Fixtures."""

Join = Callable[..., Visitor]
JUG = "remembered-jug"
ADDRESS = {"name": "Mem Ory", **place("3 Memory Lane")}


@pytest.fixture(scope="module", autouse=True)
def goods(keeper: Visitor) -> None:
    """A jug of 30.00, which can be posted for 4.00 or come by van for 9.00."""
    import_goods(keeper, [product(JUG, "Remembered Jug", ["Remembered"], 3000)])
    for name, price in (("post", "4.00"), ("van", "9.00")):
        keeper.get(SHIPPING)
        method = {"id": name, "name": name.title(), "rate": "flat", "prices": f"GBP {price}", "active": "yes"}
        assert "Saved." in keeper.submit(SHIPPING, **method).text
    visitor = Visitor(keeper.base)
    put_in_basket(visitor, JUG)
    eventually(lambda: visitor.get("/checkout").choices["shipping"] == ["post", "van"])


class Choices:
    """A code for one order and a gift card of 5.00."""

    def __init__(self, keeper: Visitor) -> None:
        self.keeper, self.code, self.card = keeper, new_code(), issued(keeper, "5.00")
        self.made = promotion(keeper, codes=self.code, percent="10", products=JUG, limit="1").path

    @property
    def typed(self) -> dict[str, str]:
        return {"codes": self.code, "gift_code": self.card, "shipping": "van"}

    def are_free(self) -> bool:
        return "Used by 0 of 1" in self.keeper.get(self.made).text and self._left("£5.00")

    def are_used_once(self) -> bool:
        return "Used by 1 of 1" in self.keeper.get(self.made).text and self._left("£0.00")

    def _left(self, amount: str) -> bool:
        visitor = Visitor(self.keeper.base)
        visitor.get("/gift-cards")
        return f"{amount} are left" in visitor.submit("/gift-cards", code=self.card).text


@pytest.fixture
def choices(keeper: Visitor) -> Choices:
    return Choices(keeper)


def chosen(visitor: Visitor, choices: Choices, **more: str) -> Page:
    """The checkout that shows what they come to."""
    form = visitor.get("/checkout").form("/checkout")
    form.action = "/checkout/update"
    return checked(visitor.send_form(form, {**form.values, **choices.typed, **more, "update": "1"}), choices)


def checked(page: Page, choices: Choices) -> Page:
    """30.00 less 3.00, by van for 9.00, and 5.00 by gift card."""
    assert page.path.startswith("/checkout"), page.text
    values = page.form("/checkout").values
    assert {name: values[name] for name in choices.typed} == choices.typed
    assert "−£3.00" in page.text
    assert "Left to pay £31.00" in page.text
    return page


@pytest.mark.parametrize("lose", LOSSES)
def test_after_a_lost_session(
    join: Join, secret: str, choices: Choices, lose: Callable[[Visitor, str], None]
) -> None:
    email = f"mem.{secrets.token_hex(4)}@example.com"
    visitor = join("Mem Ory", email=email)
    put_in_basket(visitor, JUG)
    form = chosen(visitor, choices, address_id="new", **ADDRESS).form("/checkout")
    lose(visitor, secret)
    visitor.send_form(form, {**form.values, "card": "tok_ok"})
    page = checked(log_in_here(visitor, email), choices)
    assert page.form("/checkout").values["line1"] == ADDRESS["line1"]
    assert choices.are_free()
    visitor.page = page
    assert visitor.submit("/checkout", card="tok_ok").path.startswith("/orders/"), visitor.page.text
    assert "Charged £31.00" in visitor.page.text
    assert choices.are_used_once()


def test_after_a_declined_card(visitor: Visitor, choices: Choices) -> None:
    put_in_basket(visitor, JUG)
    chosen(visitor, choices, email="declined@example.com", **ADDRESS)
    page = visitor.submit("/checkout", card="tok_declined")
    assert "declined" in page.text
    assert checked(page, choices).form("/checkout").values["email"] == "declined@example.com"
    assert choices.are_free()
    visitor.page = page
    assert visitor.submit("/checkout", card="tok_ok").path.startswith("/orders/"), visitor.page.text
    assert choices.are_used_once()


def test_in_a_second_window(visitor: Visitor, choices: Choices) -> None:
    """What was typed in one is there in another; ordered is once, and who wants it again sees what is used up."""
    put_in_basket(visitor, JUG)
    page = chosen(visitor, choices, email="windows@example.com", **ADDRESS)
    other = visitor.get("/checkout")
    assert other.form("/checkout").values["codes"] == choices.code
    first, second = page.form("/checkout"), chosen(visitor, choices, email="windows@example.com", **ADDRESS)
    placed = visitor.send_form(first, {**first.values, "card": "tok_ok"})
    assert placed.path.startswith("/orders/"), placed.text
    form = second.form("/checkout")
    assert "You have already ordered this" in visitor.send_form(form, {**form.values, "card": "tok_ok"}).text
    assert choices.are_used_once()
    again = visitor.submit("/checkout/again")
    values = again.form("/checkout").values
    assert {name: values[name] for name in choices.typed} == choices.typed
    assert "Nothing is left on gift card" in again.text or "used as often as it could be" in again.text
    assert "−£3.00" not in again.text
    assert choices.are_used_once()
