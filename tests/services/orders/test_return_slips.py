"""Return slips: the PDF that goes into the parcel of an approved return, for its customer and the shop alone."""

import re
from typing import Any

import pytest
import requests

from services.orders.actions import fulfilment
from services.orders.dependencies import Dependencies
from tests.maildir import read_mail
from tests.people import Person
from tests.services.orders.conftest import Shop, until
from tests.services.orders.test_after_sale import delivered
from tests.services.orders.test_invoices import pdf
from tests.services.orders.test_returns import asked, parcel, staff

Order = dict[str, Any]
GUEST = "slip@example.com"


@pytest.fixture(scope="module")
def orders_settings() -> dict[str, str]:
    return {"COURIER": "manual", "SHOP_NAME": "Lamp & Book", "SHOP_ADDRESS": "1 Mill Lane; Bath BA1 1AA"}


@pytest.fixture
def kettle(shop: Shop) -> str:
    return shop.product(price=999, delivery=300)


@pytest.fixture
def order(shop: Shop, customer: Person, kettle: str) -> Order:
    return delivered(shop, shop.placed(customer, {kettle: 3}))


def slip(order: Order) -> str:
    return f"/v1/orders/{order['orderid']}/returns/1/slip.pdf"


def test_an_approved_return_has_a_slip_that_says_where_it_goes_and_what_is_in_it(
    shop: Shop, customer: Person, order: Order, kettle: str
) -> None:
    assert asked(shop, customer, order, {kettle: 2}, reason="Does not fit").status_code == 201
    early = shop.get(customer, slip(order))
    assert (early.status_code, early.json()["code"]) == (409, "return_not_approved")
    assert staff(shop, order, 1, "approval").status_code == 201
    text = pdf(shop, customer, slip(order))
    for expected in (
        f"Return slip {order['number']}-R1",
        "Lamp & Book",
        "1 Mill Lane",
        "Ada Lovelace",
        "Does not fit",
        f"2 Kettle {kettle} {kettle}",
        "2 items in all.",
    ):
        assert expected in text, (expected, text)
    assert not re.search("£", text)
    assert pdf(shop, shop.admin, slip(order)) == text
    assert staff(shop, order, 1, "receipt", parcel((kettle, 2, "resaleable"))).status_code == 201
    assert shop.get(customer, slip(order)).status_code == 409


def test_nobody_else_gets_it(shop: Shop, customer: Person, order: Order, kettle: str) -> None:
    asked(shop, customer, order, {kettle: 1})
    assert staff(shop, order, 1, "approval").status_code == 201
    assert shop.get(requests.Session(), slip(order)).status_code == 404
    assert shop.get(shop.customer(), slip(order)).status_code == 404
    assert shop.get(customer, slip(order).replace("returns/1", "returns/2")).status_code == 404


def test_a_guest_reads_it_by_the_token_of_the_order_and_the_e_mail_tells_of_it(
    shop: Shop, deps: Dependencies, kettle: str
) -> None:
    guest = requests.Session()
    order = shop.placed(guest, {kettle: 1}, email=GUEST)
    headers = {"X-Order-Token": order["guest_token"]}
    delivered(shop, order)
    items = [{"productid": kettle, "quantity": 1}]
    path = f"/v1/orders/{order['orderid']}/returns"
    assert shop.post(guest, path, {"items": items}, headers=headers).status_code == 201
    assert staff(shop, order, 1, "approval").status_code == 201
    assert shop.get(guest, slip(order)).status_code == 404
    assert shop.get(guest, slip(order), headers=headers).content.startswith(b"%PDF")
    fulfilment.advance_order(deps, order["orderid"])
    mails = until(
        lambda: [mail for mail in read_mail(shop.mail) if "is approved" in mail.subject and mail.to == GUEST]
    )
    assert "Please print the return slip" in str(mails[-1])
