"""The return slip on the customer's page and at the desk: a link to a PDF, for both of them alone."""

from collections.abc import Callable

from tests.people import place
from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.test_desk import bought
from tests.services.storefront.visitor import Visitor

SLIP = "Return slip as PDF"


def test_an_approved_return_leads_to_its_slip(
    join: Callable[..., Visitor], keeper: Visitor, visitor: Visitor
) -> None:
    customer = join("Sally Slip")
    customer.get("/account")
    customer.submit("/account/addresses", name="Home", **place())
    import_goods(keeper, [product("slip-vase", "Slip Vase", ["Garden"], 800)])
    orderid = bought(customer, "slip-vase")
    address = f"/admin/orders/{orderid}"
    keeper.get(address)
    keeper.submit(f"{address}/dispatch", courier="Van", courierid="S-1")
    keeper.submit(f"{address}/delivery")
    customer.get(f"/orders/{orderid}")
    asked = customer.submit(f"/orders/{orderid}/returns", **{"back-slip-vase": "1"})
    assert SLIP not in asked.text
    keeper.get(address)
    approved = keeper.submit(f"{address}/returns/1/approval")
    for reader, page in ((keeper, approved), (customer, customer.get(f"/orders/{orderid}"))):
        printed = reader.get(page.link(SLIP))
        assert printed.headers["Content-Type"] == "application/pdf"
        assert printed.body.startswith(b"%PDF")
    assert visitor.get(customer.page.path).headers["Content-Type"] != "application/pdf"
