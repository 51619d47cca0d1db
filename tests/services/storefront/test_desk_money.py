"""Money typed at the desk through HTTP: prices and refunds, read in one way only and asked once more."""

from collections.abc import Callable

import pytest

from tests.people import place
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually


@pytest.fixture(scope="module")
def customer(join: Callable[..., Visitor]) -> Visitor:
    visitor = join("Rita Refund")
    visitor.get("/account")
    visitor.submit("/account/addresses", name="Home", **place())
    return visitor


@pytest.fixture
def address(customer: Visitor) -> str:
    """The desk's address of a paid order of £28.00: a spade for £25.00 and delivery."""
    customer.get("/product/spade")
    customer.submit("/basket")
    customer.get("/checkout")
    page = customer.submit("/checkout", card="tok_ok")
    return f"/admin{page.path}"


def refund_form(keeper: Visitor, address: str) -> dict[str, str]:
    return keeper.get(address).form(f"{address}/refunds").values


@pytest.mark.parametrize("name", ["price", "delivery"])
def test_a_comma_in_a_price_is_refused_with_an_example(keeper: Visitor, name: str) -> None:
    keeper.get("/admin/products/new")
    typed = {
        "productid": f"comma-{name}",
        "name": "Comma",
        "taxonomy": "Garden",
        "price": "3.00",
        "delivery": "0",
    }
    typed |= {"description": "Long text.", "currency": "GBP", name: "12,50"}
    page = keeper.submit("/admin/products/new", **typed)
    assert "Write 12.50, without a comma." in page.text
    assert b"<title>Error: New product" in page.body
    assert f"#{name}" in [href for href, _ in page.links], "the summary leads to the field"
    assert page.form("/admin/products/new").values[name] == "12,50"
    assert page.form("/admin/products/new").values["description"] == "Long text."
    assert keeper.get(f"/product/comma-{name}").status == 404
    keeper.page = page
    page = keeper.submit("/admin/products/new", **{name: "12.50"})
    assert page.form(f"/admin/products/comma-{name}").values[name] == "12.50"


def test_a_comma_in_a_price_filter_is_refused_with_an_example(visitor: Visitor) -> None:
    page = visitor.get("/search?min_price=12,50")
    assert "Write 12.50, without a comma." in page.text


def test_a_refund_starts_from_what_is_left_and_is_asked_once_more(keeper: Visitor, address: str) -> None:
    assert refund_form(keeper, address)["amount"] == "28.00"
    page = keeper.submit(f"{address}/refunds", amount="1.50", reason="Scratched")
    assert "Refund £1.50?" in page.text
    assert "Rita Refund" in page.text
    assert address.rpartition("/")[2] in page.text
    assert refund_form(keeper, address)["amount"] == "28.00", "nothing is paid before it is confirmed"
    keeper.page = page
    page = keeper.submit(f"{address}/refunds", confirmed="yes")
    assert "Refunded." in page.text
    assert page.form(f"{address}/refunds").values["amount"] == "26.50"
    assert "£26.50 of £28.00 is left" in page.text


@pytest.mark.parametrize(
    ("unticked", "said"), [((), "gets one, with the amount"), (("notify",), "gets none")]
)
def test_the_customer_gets_an_e_mail_about_it_unless_staff_say_no(
    keeper: Visitor, address: str, unticked: tuple[str, ...], said: str
) -> None:
    assert refund_form(keeper, address)["notify"] == "yes"
    form = keeper.get(address).form(f"{address}/refunds")
    typed = form.values | {"amount": "1.50", "reason": "Scratched"}
    page = keeper.send_form(form, {name: text for name, text in typed.items() if name not in unticked})
    assert said in page.text
    page = keeper.submit(f"{address}/refunds", change="yes")
    assert ("notify" in page.form(f"{address}/refunds").values) is not bool(unticked)
    assert said in keeper.submit(f"{address}/refunds").text
    keeper.submit(f"{address}/refunds", confirmed="yes")
    listed = (
        "Money was paid back"
        in eventually(
            lambda: (
                (page := keeper.get(f"{address}/emails")) and (unticked or "paid back" in page.text) and page
            )
        ).text
    )
    assert listed is not bool(unticked)


def test_a_refund_with_a_comma_pays_nothing_and_keeps_what_was_typed(keeper: Visitor, address: str) -> None:
    refund_form(keeper, address)
    page = keeper.submit(f"{address}/refunds", amount="1,50", reason="Scratched lid")
    assert "Write 1.50, without a comma." in page.text
    assert b"<title>Error: Order" in page.body
    assert "#refund-amount" in [href for href, _ in page.links]
    assert page.form(f"{address}/refunds").values["reason"] == "Scratched lid"
    assert page.form(f"{address}/refunds").values["amount"] == "1,50"
    assert refund_form(keeper, address)["amount"] == "28.00"


@pytest.mark.parametrize("amount", ["28.01", "0", "0.00"])
def test_more_than_is_left_and_nothing_are_no_refunds(keeper: Visitor, address: str, amount: str) -> None:
    refund_form(keeper, address)
    page = keeper.submit(f"{address}/refunds", amount=amount, reason="Wrong")
    assert b'role="alert"' in page.body
    assert ("£28.00 is left to refund" if amount == "28.01" else "above zero") in page.text
    assert refund_form(keeper, address)["amount"] == "28.00"


def test_a_refund_can_be_changed_before_it_is_paid(keeper: Visitor, address: str) -> None:
    refund_form(keeper, address)
    keeper.submit(f"{address}/refunds", amount="3", reason="Late")
    page = keeper.submit(f"{address}/refunds", change="yes")
    assert page.form(f"{address}/refunds").values["reason"] == "Late"
    assert refund_form(keeper, address)["amount"] == "28.00"


def test_a_confirmation_sent_twice_pays_once(keeper: Visitor, address: str) -> None:
    refund_form(keeper, address)
    form = keeper.submit(f"{address}/refunds", amount="20", reason="Broken").form(f"{address}/refunds")
    for _ in range(2):
        page = keeper.send_form(form, {**form.values, "confirmed": "yes"})
        assert "Refunded." in page.text
    assert page.form(f"{address}/refunds").values["amount"] == "8.00"


def test_two_confirmations_at_once_cannot_pay_more_than_was_paid(keeper: Visitor, address: str) -> None:
    pages: list[Page] = []
    for reason in ("First", "Second"):
        refund_form(keeper, address)
        pages.append(keeper.submit(f"{address}/refunds", amount="20", reason=reason))
    forms = [page.form(f"{address}/refunds") for page in pages]
    assert "Refunded." in keeper.send_form(forms[0], {**forms[0].values, "confirmed": "yes"}).text
    page = keeper.send_form(forms[1], {**forms[1].values, "confirmed": "yes"})
    assert "£8.00 is left to refund, not £20.00." in page.text
    assert page.form(f"{address}/refunds").values["reason"] == "Second"
