"""Address forms in a country's own words, and what an order costs there, without JavaScript."""

from dataclasses import replace

from tests.people import place
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.visitor import Visitor

BREMEN = {"country": "DE", "line1": "Am Markt 1", "postcode": "28195", "city": "Bremen"}


def test_the_checkout_has_the_form_of_the_country_that_is_chosen(visitor: Visitor) -> None:
    put_in_basket(visitor, "cup-31")
    form = visitor.get("/checkout").form("/checkout")
    assert form.values["country"] == "GB"
    assert {"line1", "city", "postcode"} <= form.names
    assert "region" not in form.names
    page = visitor.send_form(
        replace(form, action="/checkout/update"),
        {**form.values, "name": "Gus", "country": "US", "update": "1"},
    )
    assert page.path.startswith("/checkout?")
    assert "What you typed" not in page.text
    states = page.form("/checkout")
    assert (states.values["country"], states.values["name"]) == ("US", "Gus")
    assert "region" in states.names
    assert "ZIP code" in page.text
    assert "California" in page.text


def test_an_address_is_checked_by_its_country_and_shown_as_it_writes_it(visitor: Visitor) -> None:
    put_in_basket(visitor, "cup-32")
    form = visitor.get("/checkout").form("/checkout")
    guest = {"email": "gus@example.com", "name": "Gus", "card": "tok_ok"}
    page = visitor.send_form(form, {**form.values, **guest, **BREMEN, "postcode": "BA1 1AA"})
    assert "It looks like 26133" in page.text
    assert page.form("/checkout").values["line1"] == "Am Markt 1"
    page = visitor.send_form(page.form("/checkout"), {**page.form("/checkout").values, **guest, **BREMEN})
    assert page.path.startswith("/orders/"), page.text
    assert "28195 Bremen" in page.text
    assert "Germany" in page.text


def test_the_address_book_takes_an_address_of_any_country(visitor: Visitor, join) -> None:
    ann = join("Ann Abroad")
    ann.get("/account")
    page = ann.submit("/account/addresses", name="Ann", **place())
    assert "LS1 4DY" in page.text
    form = next(each for each in page.forms if each.action == "/account/addresses")
    page = ann.send_form(form, {**form.values, "name": "Ann", "country": "DE", "update": "1"})
    form = next(each for each in page.forms if each.action == "/account/addresses")
    assert form.values["country"] == "DE"
    page = ann.send_form(form, {**form.values, **BREMEN})
    assert "28195 Bremen" in page.text
    saved = next(
        each for each in page.forms if each.action.startswith("/account/addresses/") and "line1" in each.names
    )
    page = ann.send_form(saved, {**saved.values, "line1": "2 High Street"})
    assert "2 High Street" in page.text
