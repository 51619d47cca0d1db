"""The gross margin at the desk: drawn, as a table and as a file; and no page or e-mail of the customer's that tells what goods cost."""

import csv
import io
from collections.abc import Callable

from tests.bench.running import Shop
from tests.people import place
from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.test_desk import bought
from tests.services.storefront.test_desk_new_customers import summarise
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

PATH = "/admin/margin"
COST = "6,183.47"
"""Of one; no other figure of the shop reads like it."""


def test_the_desk_sees_what_is_left_over_the_costs(
    shop: Shop, join: Callable[..., Visitor], keeper: Visitor
) -> None:
    customer = join("Mara Margin")
    customer.get("/account")
    customer.submit("/account/addresses", name="Home", **place())
    plough = product("margin-plough", "Margin Plough", ["Margins"], 1_200_000, cost_prices={"GBP": 618_347})
    import_goods(keeper, [plough])
    before = _plough_costs(keeper)
    orderid = bought(customer, "margin-plough")
    summarise(shop)
    eventually(lambda: _plough_costs(keeper) == before + 618_347)
    page = keeper.get(PATH)
    assert 'aria-label="Bar chart of the margin by month' in page.body.decode()
    assert "Cost known of pieces" in page.text
    assert PATH in keeper.get("/admin").link("Gross margin")
    for path in (f"/orders/{orderid}", "/orders", "/product/margin-plough", "/basket"):
        told = customer.get(path).body.decode()
        assert not [text for text in (COST, COST.replace(",", ""), "618347") if text in told], path
    assert "/login" in Visitor(keeper.base).get(PATH).url


def _plough_costs(keeper: Visitor) -> int:
    """Minor units of all goods sold this month, as the file has them."""
    file = keeper.get(f"{PATH}.csv?by=year&currency=GBP").body.decode()
    rows = list(csv.DictReader(io.StringIO(file)))
    return sum(round(float(row["cost"]) * 100) for row in rows)


def test_a_step_that_is_none_is_named(keeper: Visitor) -> None:
    assert "Choose one of the list." in keeper.get(f"{PATH}?by=hour").text
