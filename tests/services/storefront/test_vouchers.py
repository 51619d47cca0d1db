"""Promotions without JavaScript: made at the desk, typed into basket and checkout, seen on the order, ended."""

import secrets

import pytest

from tests.people import place
from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

DESK = "/admin/promotions"
GUEST = {"email": "vera@example.com", "name": "Vera", "card": "tok_ok", **place()}


RED, BLUE, GREEN = "voucher-bowl-red", "voucher-bowl-blue", "voucher-bowl-green"


@pytest.fixture(scope="module", autouse=True)
def goods(keeper: Visitor) -> None:
    """Goods of these tests' own."""
    shelf = ["Voucher Bowls"]
    import_goods(
        keeper,
        [
            product(RED, "Red Voucher Bowl", shelf, 950),
            product(BLUE, "Blue Voucher Bowl", shelf, 1050),
            product(GREEN, "Green Voucher Bowl", shelf, 2000),
        ],
    )


def new_code() -> str:
    return f"V{secrets.token_hex(3)}".upper()


def promotion(keeper: Visitor, **values: str) -> Page:
    keeper.get(DESK)
    page = keeper.submit(DESK, **{"name": "Spring sale", "active": "yes", "combines": "yes", **values})
    assert "Saved." in page.text, page.text
    return page


def use_code(visitor: Visitor, code: str) -> Page:
    """Typed at the checkout; nothing is ordered by it."""
    page = visitor.get("/checkout")
    form = page.form("/checkout")
    form.action = "/checkout/update"
    return visitor.send_form(form, {**form.values, "codes": code, "update": "1"})


def test_a_voucher_is_made_used_and_ended(keeper: Visitor, visitor: Visitor) -> None:
    code = new_code()
    made = promotion(keeper, codes=code.lower(), percent="10", products=f"{RED}\n{BLUE}", limit="3")
    assert "Used by 0 of 3 orders." in made.text
    assert "10 %" in made.text
    put_in_basket(visitor, RED, "2")
    visitor.get("/basket")
    eventually(lambda: "Spring sale" in visitor.submit("/checkout/codes", codes=code.lower()).text)
    page = visitor.get("/basket")
    assert "−£1.90" in page.text
    assert "£17.10" in page.text, "without delivery"
    page = visitor.get("/checkout")
    assert page.form("/checkout").values["codes"] == code.lower(), "it remembers what was typed"
    assert "−£1.90" in page.text
    page = visitor.submit("/checkout", **GUEST)
    assert page.path.startswith("/orders/"), page.text
    assert "Spring sale" in page.text
    assert "−£1.90" in page.text
    assert code in page.text
    assert visitor.get("/checkout").path.startswith("/basket"), "the basket is empty"
    page = keeper.get(made.path)
    assert "Used by 1 of 3 orders." in page.text
    page = keeper.submit(f"{DESK}/end")
    assert "Ended." in page.text
    assert "ended" in page.text
    assert "Its versions" in page.text
    put_in_basket(visitor, RED)
    page = use_code(visitor, code)
    assert f"{code} is not valid any more." in page.text
    assert page.form("/checkout").values["codes"] == code


def test_an_offer_that_needs_no_code_holds_for_as_many_orders_as_it_says(keeper: Visitor) -> None:
    """Two see it, one gets it: the other is shown the price without it before anything is paid."""
    made = promotion(keeper, percent="10", products=GREEN, limit="1")
    first, second = Visitor(keeper.base), Visitor(keeper.base)
    try:
        for visitor in (first, second):
            put_in_basket(visitor, GREEN)
            eventually(lambda visitor=visitor: "−£2.00" in visitor.get("/basket").text)
            assert "Total £21.00" in visitor.get("/checkout").text
        assert first.submit("/checkout", **GUEST).path.startswith("/orders/"), first.page.text
        page = second.submit("/checkout", **GUEST)
        assert page.path.startswith("/checkout"), page.text
        assert "A price has changed: the total is £23.00 now, not £21.00." in page.text
        form = page.form("/checkout")
        page = second.send_form(form, {**form.values, "card": "tok_ok"})
        assert page.path.startswith("/orders/"), page.text
        assert "Total £23.00" in page.text
        assert "Used by 1 of 1 orders." in keeper.get(made.path).text
    finally:
        keeper.get(made.path)
        keeper.submit(f"{DESK}/end")


def test_what_is_wrong_with_a_code_stands_beside_its_field(keeper: Visitor, visitor: Visitor) -> None:
    code = new_code()
    promotion(keeper, codes=code, amount="GBP 5.00", minimum="GBP 40.00")
    put_in_basket(visitor, BLUE)
    page = use_code(visitor, "NONSENSE")
    assert "There is no code NONSENSE" in page.text
    assert page.form("/checkout").values["codes"] == "NONSENSE"
    page = use_code(visitor, code)
    assert "It needs goods worth £40.00 or more." in page.text
    assert "−£5.00" not in page.text
    put_in_basket(visitor, BLUE, "3")
    page = use_code(visitor, code)
    assert "It needs goods" not in page.text
    assert "−£5.00" in page.text


def test_a_code_that_was_typed_and_not_shown_yet_is_shown_before_anything_is_paid(
    keeper: Visitor, visitor: Visitor
) -> None:
    code = new_code()
    promotion(keeper, codes=code, free_delivery="yes")
    put_in_basket(visitor, BLUE)
    visitor.get("/checkout")
    page = visitor.submit("/checkout", codes=code, **GUEST)
    assert page.path.startswith("/checkout"), page.text
    assert "A price has changed" in page.text
    assert "free delivery" in page.text
    form = page.form("/checkout")
    page = visitor.send_form(form, {**form.values, "card": "tok_ok"})
    assert page.path.startswith("/orders/"), page.text
    assert "free delivery" in page.text


def test_a_new_version_keeps_what_the_form_holds(keeper: Visitor) -> None:
    typed = {
        "codes": new_code(),
        "percent": "12.5",
        "amount": "GBP 5.00; EUR 6.00",
        "buy_get": "2 + 1 at 50 %",
        "free_delivery": "yes",
        "methods": "post, van",
        "categories": "Home#Kitchen\nGarden",
        "groups": "trade",
        "minimum": "GBP 40.00",
        "from": "2026-01-01",
        "to": "9999-12-31",
        "per_customer": "2",
        "priority": "7",
    }
    form = promotion(keeper, **typed).form(DESK)
    assert {name: form.values[name] for name in typed} == typed
    page = keeper.send_form(form, {**form.values, "name": "Autumn sale"})
    assert "Saved." in page.text
    assert page.form(DESK).values["name"] == "Autumn sale"
    page = keeper.send_form(form, {**form.values, "name": "Winter sale"})
    assert "This was changed since you opened it." in page.text


@pytest.mark.parametrize(
    ("field", "text", "wrong"),
    [
        ("percent", "a lot", "Write percent from 0.01 to 100"),
        ("percent", "", "Say what comes off"),
        ("buy_get", "three for two", "Write 2 + 1"),
        ("amount", "5.00", "Write the currency and the amount"),
    ],
)
def test_the_desk_says_at_the_field_what_is_wrong(keeper: Visitor, field: str, text: str, wrong: str) -> None:
    keeper.get(DESK)
    values = {"name": "Odd", "percent": "", field: text}
    page = keeper.submit(DESK, **values)
    assert wrong in page.text, page.text
    assert page.form(DESK).values[field] == text
