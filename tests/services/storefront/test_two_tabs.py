"""One basket revision is one order: two windows, a double click, the back button; guests too."""

import threading
from collections.abc import Callable

import pytest

from tests.people import place
from tests.services.storefront.test_customer import put_in_basket
from tests.services.storefront.visitor import Form, Page, Visitor
from tests.waiting import eventually

Join = Callable[..., Visitor]
GUEST = {"name": "Tabby", **place("5 Tab Row"), "card": "tok_ok"}


@pytest.fixture(scope="module")
def tab(join: Join) -> Visitor:
    visitor = join("Tab Keeper")
    form = visitor.get("/account").form("/account/addresses")
    visitor.send_form(form, {**form.values, "name": "Home", **place()})
    visitor.send_form(form, {**form.values, "name": "Work", **place("2 Work Street")})
    return visitor


def orders_of(visitor: Visitor) -> set[str]:
    """All orders; one placed for the purpose shows that the list, which may lag, has come so far."""
    put_in_basket(visitor, "spade")
    marker = send(visitor, visitor.get("/checkout").form("/checkout")).path
    assert marker.startswith("/orders/"), visitor.page.text
    eventually(lambda: marker in {href for href, _ in visitor.get("/orders").links})
    return {href for href, _ in visitor.page.links if href.startswith("/orders/")} - {marker}


def orders_since(visitor: Visitor, before: set[str]) -> set[str]:
    """What was ordered since, but for the markers."""
    return {path for path in orders_of(visitor) - before if "Garden Spade" not in visitor.get(path).text}


def address_ids(page: Page) -> list[str]:
    return [each for each in page.choices["address_id"] if each != "new"]


def send(visitor: Visitor, form: Form, **values: str) -> Page:
    return visitor.send_form(form, {**form.values, "card": "tok_ok", **values})


def test_a_second_window_does_not_buy_again(tab: Visitor) -> None:
    before = orders_of(tab)
    put_in_basket(tab, "cup-25")
    first, second = (tab.get("/checkout").form("/checkout") for _ in range(2))
    placed = send(tab, first)
    assert placed.path.startswith("/orders/"), placed.text
    page = send(tab, second)
    assert "You have already ordered this" in page.text
    assert placed.path in [href for href, _ in page.links]
    assert orders_since(tab, before) == {placed.path}


def test_who_wants_it_again_says_so_and_gets_a_second_order(tab: Visitor) -> None:
    put_in_basket(tab, "cup-26")
    first, second = (tab.get("/checkout").form("/checkout") for _ in range(2))
    placed = send(tab, first)
    send(tab, second, address_id="new", name="Tent", **place("1 Camp Site"))
    page = tab.submit("/checkout/again")
    assert page.path.startswith("/checkout?"), page.text
    form = page.form("/checkout")
    assert (form.values["name"], form.values["line1"]) == ("Tent", "1 Camp Site")
    again = send(tab, form)
    assert again.path.startswith("/orders/"), again.text
    assert again.path != placed.path
    assert "1 Camp Site" in again.text


def test_two_windows_at_once_with_different_addresses_buy_once(tab: Visitor) -> None:
    """Both are on their way before either is answered: the database decides, not a browser's cookie."""
    before = orders_of(tab)
    put_in_basket(tab, "cup-27")
    page = tab.get("/checkout")
    form, ids = page.form("/checkout"), address_ids(page)
    assert len(ids) >= 2
    answers: list[Page] = []

    def buy(address_id: str) -> None:
        window = Visitor(tab.base)
        for cookie in tab.jar:
            window.jar.set_cookie(cookie)
        answers.append(send(window, form, address_id=address_id))

    threads = [threading.Thread(target=buy, args=(each,)) for each in [*ids[:2]] * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(orders_since(tab, before)) == 1, [page.text[:200] for page in answers]
    assert {page.status for page in answers} == {200}


def test_the_same_basket_filled_again_is_another_order(tab: Visitor) -> None:
    paths = set()
    for _ in range(2):
        put_in_basket(tab, "cup-28")
        paths.add(send(tab, tab.get("/checkout").form("/checkout")).path)
    assert len(paths) == 2
    assert all(path.startswith("/orders/") for path in paths)


def test_a_declined_card_in_one_window_keeps_no_other_window_from_buying(tab: Visitor) -> None:
    before = orders_of(tab)
    put_in_basket(tab, "cup-29")
    first, second, third = (tab.get("/checkout").form("/checkout") for _ in range(3))
    assert "declined" in send(tab, first, card="tok_declined").text
    placed = send(tab, second)
    assert placed.path.startswith("/orders/"), placed.text
    assert "You have already ordered this" in send(tab, third).text
    assert orders_since(tab, before) == {placed.path}


def test_what_was_changed_in_another_window_is_not_bought_as_it_was(tab: Visitor) -> None:
    put_in_basket(tab, "cup-30")
    form = tab.get("/checkout").form("/checkout")
    tab.get("/basket")
    tab.submit("/basket/cup-30", quantity="2")
    page = send(tab, form, address_id="new", name="Shed", **place("3 Garden Path"))
    assert page.path.startswith("/checkout")
    assert "changed in another window" in page.text
    assert page.form("/checkout").values["line1"] == "3 Garden Path"
    assert send(tab, page.form("/checkout")).path.startswith("/orders/")
    assert "2 ×" in tab.page.text


@pytest.mark.parametrize("email", ["tabby@example.com", "tabby.corrected@example.com"])
def test_a_guests_second_window_does_not_buy_again(visitor: Visitor, email: str) -> None:
    put_in_basket(visitor, "cup-34")
    first, second = (visitor.get("/checkout").form("/checkout") for _ in range(2))
    placed = send(visitor, first, email="tabby@example.com", **GUEST)
    assert placed.path.startswith("/orders/"), placed.text
    page = send(visitor, second, email=email, **GUEST)
    assert "You have already ordered this" in page.text
    assert placed.path in [href for href, _ in page.links]
    page = visitor.submit("/checkout/again")
    assert page.form("/checkout").values["email"] == email
    assert send(visitor, page.form("/checkout")).path not in ("/checkout", placed.path)


def test_a_double_click_leads_to_the_one_order(visitor: Visitor) -> None:
    put_in_basket(visitor, "cup-35")
    form = visitor.get("/checkout").form("/checkout")
    paths = {send(visitor, form, email="twice@example.com", **GUEST).path for _ in range(3)}
    assert len(paths) == 1
    assert paths.pop().startswith("/orders/")
