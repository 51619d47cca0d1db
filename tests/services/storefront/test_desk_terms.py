"""Shipping methods and tax rates at the desk, without JavaScript: what is saved there holds at the checkout."""

from tests.people import place
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.visitor import Visitor

SHIPPING, TAXES = "/admin/shipping", "/admin/taxes"
METHODS = (
    {
        "id": "post",
        "name": "Post",
        "rate": "flat",
        "prices": "GBP 3.95; EUR 4.95",
        "min_days": "2",
        "max_days": "4",
    },
    {
        "id": "van",
        "name": "Van",
        "rate": "weight",
        "bands": "0: GBP 9.00\n2000: GBP 12.50",
        "zones": "GB except BT\nDE",
    },
    {
        "id": "collect",
        "name": "Collect",
        "rate": "value",
        "bands": "0.00: GBP 0.00",
        "collect_from": "2 Mill Lane",
    },
)


def test_what_is_saved_at_the_desk_holds_at_the_checkout(keeper: Visitor, visitor: Visitor) -> None:
    for method in METHODS:
        keeper.get(SHIPPING)
        page = keeper.submit(SHIPPING, active="yes", **method)
        assert "Saved." in page.text, page.text
        form = page.form(SHIPPING)
        assert {name: form.values[name] for name in method} == method
    for rate in (
        {"country": "GB", "name": "VAT", "rate": "20"},
        {"country": "DE", "name": "MwSt.", "rate": "19"},
    ):
        keeper.get(TAXES)
        assert "Saved." in keeper.submit(TAXES, active="yes", included="yes", **rate).text
    put_in_basket(visitor, "cup-30")
    for path in ("/product/cup-30", "/basket"):
        assert "Post from £3.95, 2 to 4 days" in visitor.get(path).text, path
    page = visitor.get("/checkout")
    assert page.choices["shipping"] == ["collect", "post", "van"]
    assert "£3.95" in page.text
    assert "2 to 4 days" in page.text
    assert page.form("/checkout").values["shipping"] == "post", "the cheapest that delivers"
    guest = {"email": "gus@example.com", "name": "Gus", "card": "tok_ok", **place()}
    page = visitor.submit("/checkout", shipping="van", **guest)
    assert page.path.startswith("/checkout"), "the total shown was another"
    assert "A price has changed" in page.text
    form = page.form("/checkout")
    page = visitor.send_form(form, {**form.values, "card": "tok_ok"})
    assert page.path.startswith("/orders/"), page.text
    assert "Van" in page.text
    report = keeper.get(TAXES).text
    assert "VAT 20 %" in report
    assert "country,region,name,rate,base,currency,amount" in keeper.get("/admin/tax.csv").body.decode()


def test_a_change_is_a_version_and_an_old_form_does_not_overwrite_it(keeper: Visitor) -> None:
    keeper.get(SHIPPING)
    content = {"id": "slow", "name": "Slow", "rate": "flat", "prices": "GBP 1.00"}
    page = keeper.submit(SHIPPING, **content)
    first = page.form(SHIPPING)
    page = keeper.send_form(first, {**first.values, "name": "Slower"})
    assert "Saved." in page.text
    page = keeper.send_form(first, {**first.values, "name": "Slowest"})
    assert "This was changed since you opened it." in page.text
    page = keeper.get(f"{SHIPPING}?id=slow")
    assert page.form(SHIPPING).values["name"] == "Slower"
    assert "Its versions" in page.text


def test_what_cannot_be_read_is_said_beside_its_field(keeper: Visitor) -> None:
    method = {"id": "wrong", "name": "Wrong", "rate": "flat"}
    for values, words in (
        ({"prices": "3.95"}, "Write the currency and the amount"),
        ({}, "A flat rate needs a price"),
        ({"prices": "GBP 1", "zones": "GB around BT"}, "write GB, US regions"),
        ({"rate": "weight", "bands": "heavy"}, "Write a line for each"),
    ):
        keeper.get(SHIPPING)
        assert words in keeper.submit(SHIPPING, **{**method, **values}).text
    keeper.get(TAXES)
    assert "Write a number of percent" in keeper.submit(TAXES, country="FR", name="TVA", rate="much").text
