"""Customers at the desk: found, looked at, noted on, written to again, put into a group; their data handed out, and erased."""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

import pytest
import requests

from tests.bench.running import Shop
from tests.people import PASSWORD, Person
from tests.services.storefront.conftest import link_in_email, log_in
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

Join = Callable[..., Visitor]
OK = {"provider": "sandbox", "token": "tok_ok"}


@dataclass
class Customer:
    name: str
    email: str
    userid: str
    orderid: str

    @property
    def page(self) -> str:
        return f"/admin/customers/{self.userid}"


def place(shop: Shop, who: requests.Session, **more: str) -> str:
    body = {
        "items": [{"productid": "mug-red", "quantity": 1}],
        "address": "1 Mill Lane\nYork YO1 7PR",
        "payment": OK,
    }
    key = {"Idempotency-Key": secrets.token_hex(8)}
    made = who.post(f"{shop.urls['orders']}/v1/orders", json={**body, **more}, headers=key, timeout=30)
    assert made.status_code == 201, made.text
    return made.json()["orderid"]


@pytest.fixture(scope="module")
def customer(shop: Shop, join: Join) -> Customer:
    """Somebody who ordered once."""
    name = f"Dora {secrets.token_hex(4)}"
    join(name)
    person = Person(shop.urls["users"], f"{name.lower().replace(' ', '.')}@example.com", PASSWORD)
    return Customer(name, person.email, person.userid, place(shop, person))


@pytest.fixture(scope="module")
def assistant(shop: Shop, join: Join, keeper: Visitor) -> Visitor:
    """Staff, no admin."""
    name = f"Assistant {secrets.token_hex(4)}"
    visitor, email = join(name), f"{name.lower().replace(' ', '.')}@example.com"
    keeper.get("/admin/staff")
    keeper.submit("/admin/staff", email=email, role="staff")
    visitor = Visitor(shop.urls["storefront"])
    log_in(visitor, email, PASSWORD)
    return visitor


def test_a_customer_is_found_and_shown_with_orders_and_what_was_spent(
    keeper: Visitor, customer: Customer
) -> None:
    keeper.get("/admin/customers")
    for query in (customer.name, customer.name.split()[1], customer.email, customer.userid):
        page = keeper.get(f"/admin/customers?q={query.replace(' ', '+')}")
        assert page.link(customer.name) == customer.page, query
    assert "No account fits" in keeper.get("/admin/customers?q=nobody-at-all-is-called-so").text
    assert page.inline == []
    eventually(lambda: "1 order" in keeper.get(customer.page).text)
    page = keeper.page
    assert customer.email in page.text
    assert page.form(f"{customer.page}/group")
    assert f"/admin/orders/{customer.orderid}" in [href for href, _ in page.links]
    assert f"/admin/store-credit/{customer.userid}" in [href for href, _ in page.links]
    order = keeper.get(f"/admin/orders/{customer.orderid}")
    assert order.link("All about this customer") == customer.page
    assert keeper.get("/admin/customers/nobody").status == 404


def test_the_list_goes_on_page_by_page(keeper: Visitor, shop: Shop) -> None:
    mark = f"pager{secrets.token_hex(3)}"
    for number in range(26):
        body = {"name": mark, "email": f"{mark}.{number}@example.com", "password": PASSWORD}
        assert requests.post(f"{shop.urls['users']}/v1/users", json=body, timeout=30).status_code == 201
    page = keeper.get(f"/admin/customers?q={mark}")
    assert f"{mark}.25@" in page.text
    assert f"{mark}.0@" not in page.text
    page = keeper.get(page.link("Next page"))
    assert f"{mark}.0@" in page.text
    assert f"{mark}.1@" not in page.text
    assert "Not confirmed" in page.text


def test_a_note_is_added_and_shown(keeper: Visitor, assistant: Visitor, customer: Customer) -> None:
    assistant.get(customer.page)
    assert "Noted." in assistant.submit(f"{customer.page}/notes", text="Likes tea.").text
    assert "Likes tea." in keeper.get(customer.page).text
    refused = keeper.submit(f"{customer.page}/notes", text="")
    assert "Error:" in refused.body.decode()


def test_a_note_on_a_product_is_added_and_shown(keeper: Visitor) -> None:
    text = f"Fragile {secrets.token_hex(4)}"
    keeper.get("/admin/products/mug-red")
    assert text in keeper.submit("/admin/products/mug-red/notes", text=text).text
    assert text not in keeper.get("/product/mug-red").text


def test_the_group_is_set_on_the_page(keeper: Visitor, customer: Customer) -> None:
    keeper.get(customer.page)
    assert "Saved." in keeper.submit(f"{customer.page}/group", group="desk-friends").text
    assert customer.name in keeper.get("/admin/customers?group=desk-friends").text
    wrong = keeper.get(customer.page) and keeper.submit(f"{customer.page}/group", group="No Group!")
    assert wrong.form(f"{customer.page}/group").values["group"] == "No Group!"
    keeper.get(customer.page)
    keeper.submit(f"{customer.page}/group", group="")


def test_emails_are_previewed_and_a_new_password_is_sent_again(
    keeper: Visitor, customer: Customer, shop: Shop
) -> None:
    page = keeper.get(f"{customer.page}/emails")
    assert "Confirm the e-mail address" in page.text
    kinds = [form.values["kind"] for form in page.forms if form.action == f"{customer.page}/emails"]
    assert kinds == ["new-password"], "the address is confirmed"
    preview = keeper.get(f"{customer.page}/emails/new-password")
    assert "asked to set a new password" in preview.text
    assert "only-to-look-at" in preview.text
    alone = keeper.get(preview.link("As mail programs show it"))
    assert alone.headers["Content-Security-Policy"].startswith("default-src 'none'")
    keeper.get(f"{customer.page}/emails")
    assert "sent, with a new link" in keeper.submit(f"{customer.page}/emails").text
    assert "Set a new password" in keeper.page.text
    link = link_in_email(Visitor(shop.urls["storefront"]), customer.email)
    assert "/reset/confirm?token=" in link


def test_staff_who_are_no_admins_hand_out_and_erase_nothing(assistant: Visitor, customer: Customer) -> None:
    page = assistant.get(customer.page)
    assert not [form for form in page.forms if form.action.endswith(("/export", "/group"))]
    assert "Erase" not in page.text
    form = assistant.get(f"{customer.page}/erasure").form(f"{customer.page}/erasure")
    refused = assistant.send_form(form, {**form.values, "password": PASSWORD})
    assert "is erased" not in refused.text
    assert customer.name in assistant.get(customer.page).text


def test_data_are_handed_out_and_then_erased_with_the_admins_password(
    keeper: Visitor, shop: Shop, join: Join
) -> None:
    name = f"Gone {secrets.token_hex(4)}"
    join(name)
    person = Person(shop.urls["users"], f"{name.lower().replace(' ', '.')}@example.com", PASSWORD)
    orderid, path = place(shop, person), f"/admin/customers/{person.userid}"
    keeper.get(path)
    keeper.submit(f"{path}/notes", text=f"{name} rang")
    file = keeper.submit(f"{path}/export")
    assert "attachment" in file.headers["Content-Disposition"]
    data = json.loads(file.body)
    assert data["orders"][0]["orderid"] == orderid
    assert f"{name} rang" in str(data["documents"])
    page = keeper.get(keeper.get(path).link("Erase this customer"))
    assert name in page.text
    wrong = keeper.submit(f"{path}/erasure", password="not mine")
    assert "Error:" in wrong.body.decode()
    assert wrong.form(f"{path}/erasure").values["password"] == ""
    assert person.get(f"{shop.urls['users']}/v1/users/me", timeout=30).status_code == 200
    done = keeper.submit(f"{path}/erasure", password=shop.admin_password)
    assert "The customer is erased." in done.text
    assert name not in done.text
    assert "No account fits" in keeper.get(f"/admin/customers?q={name.replace(' ', '+')}").text
    assert keeper.get(f"{path}/erasure").status == 404


def test_a_guest_is_found_by_email_handed_out_and_erased(keeper: Visitor, shop: Shop) -> None:
    email = f"guest.{secrets.token_hex(4)}@example.com"
    orderid = place(shop, requests.Session(), email=email, name="Gus Guest")
    eventually(lambda: orderid in str(keeper.get(f"/admin/guests?email={email}").links))
    eventually(lambda: "1 order" in keeper.get(f"/admin/guests?email={email}").text)
    assert keeper.get(f"/admin/orders/{orderid}").link(email) == f"/admin/guests?email={quote(email)}"
    found = keeper.get(f"/admin/customers?q={email}")
    keeper.get(found.link("as a guest"))
    file = keeper.submit("/admin/guests/export")
    assert [each["orderid"] for each in json.loads(file.body)["items"]] == [orderid]
    keeper.get(f"/admin/guests?email={email}")
    keeper.get(keeper.page.link("Erase this guest"))
    assert "1 order has no name any more." in keeper.submit("/admin/guests/erasure").text
    assert "Gus Guest" not in keeper.get(f"/admin/orders/{orderid}").text
