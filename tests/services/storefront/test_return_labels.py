"""A label that staff buy at the desk for a return, and its PDF on the customer's page."""

from collections.abc import Callable, Iterator

import pytest

from tests.people import place
from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.test_desk import bought
from tests.services.storefront.visitor import Visitor

SETTINGS = "/admin/settings"
LABEL = "Return label as PDF"


@pytest.fixture
def address(keeper: Visitor) -> Iterator[None]:
    """Where returned goods go, while a test runs."""
    keeper.get(SETTINGS)
    former = keeper.page.form(SETTINGS).values["return_address"]
    numbers = {"gift_card_days": "0", "return_days": "30"}
    page = keeper.submit(SETTINGS, return_address="9 Mill Lane\nLeeds LS1 4DY", **numbers)
    assert "Saved." in page.text, page.text
    yield
    keeper.get(SETTINGS)
    keeper.submit(SETTINGS, return_address=former, **numbers)


def test_staff_buys_a_label_and_the_customer_prints_it(
    join: Callable[..., Visitor], keeper: Visitor, visitor: Visitor, address: None
) -> None:
    customer = join("Lola Label")
    customer.get("/account")
    customer.submit("/account/addresses", name="Home", **place())
    import_goods(keeper, [product("label-vase", "Label Vase", ["Garden"], 800)])
    orderid = bought(customer, "label-vase")
    desk = f"/admin/orders/{orderid}"
    keeper.get(desk)
    keeper.submit(f"{desk}/dispatch", courier="Van", courierid="L-1")
    keeper.submit(f"{desk}/delivery")
    customer.get(f"/orders/{orderid}")
    customer.submit(f"/orders/{orderid}/returns", **{"back-label-vase": "1"})
    keeper.get(desk)
    approved = keeper.submit(f"{desk}/returns/1/approval")
    assert LABEL not in approved.text
    unknown = keeper.submit(f"{desk}/returns/1/label", weight_grams="")
    assert "what the parcel weighs" in unknown.text, unknown.text
    done = keeper.submit(f"{desk}/returns/1/label", weight_grams="900")
    assert "Bought for £3.50 from RoyalMail" in done.text
    assert f"{desk}/returns/1/label" not in [form.action for form in done.forms]
    for reader, page in ((keeper, done), (customer, customer.get(f"/orders/{orderid}"))):
        assert reader.get(page.link(LABEL)).body.startswith(b"%PDF")
    page = customer.get(f"/orders/{orderid}")
    assert page.link("RM").startswith("https://track.easypost.com/RM")
    assert "3.50" not in page.text
    assert visitor.get(page.link(LABEL)).headers["Content-Type"] != "application/pdf"
