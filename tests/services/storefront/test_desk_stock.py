"""The stock of several variants at once at the desk, without JavaScript: rows, pasted lines and a file."""

import pytest

from services.storefront.rules.stock_lines import stock_changes
from shared.errors import Invalid
from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.visitor import Visitor
from tests.waiting import eventually

DESK = "/admin/stock"
SPAT = product(
    "spat",
    "Linenspat",
    ["Haberdashery"],
    900,
    options=[{"name": "Size", "values": ["S", "M", "L"]}],
    variants=[{"sku": f"spat-{size}", "options": {"Size": size}, "stock": 10} for size in ("S", "M", "L")],
)


@pytest.fixture(scope="module", autouse=True)
def goods(keeper: Visitor) -> None:
    import_goods(keeper, [{name: value for name, value in SPAT.items() if name != "stock"}])


def stocks(keeper: Visitor) -> dict[str, int]:
    body = keeper.get(f"{DESK}?product=spat").text
    return {size: int(body.split(f"spat-{size} {size} ")[1].split()[0]) for size in ("S", "M", "L")}


def test_several_variants_change_with_one_form(keeper: Visitor) -> None:
    page = keeper.get("/admin/products/spat")
    keeper.get(page.link("Change several variants at once"))
    before = stocks(keeper)
    rows = {"row-0-delta": "12", "row-1-delta": "= 7", "row-2-delta": ""}
    page = keeper.submit(DESK, reason="counted", **rows)
    assert "2 changed." in page.text, page.text
    eventually(lambda: stocks(keeper) == {"S": before["S"] + 12, "M": 7, "L": before["L"]})


def test_lines_and_a_file_change_what_they_name(keeper: Visitor) -> None:
    before = stocks(keeper)
    keeper.get(DESK)
    page = keeper.submit(DESK, reason="delivery", lines="spat-S 3\nspat-L, -1")
    assert "2 changed." in page.text, page.text
    keeper.get(DESK)
    page = keeper.upload(DESK, "file", b"sku;delta\r\nspat-M;4\r\n", reason="delivery")
    assert "1 changed." in page.text, page.text
    after = {"S": before["S"] + 3, "M": before["M"] + 4, "L": before["L"] - 1}
    eventually(lambda: stocks(keeper) == after)


def test_what_is_wrong_is_said_and_stays_typed_in(keeper: Visitor) -> None:
    before = stocks(keeper)
    keeper.get(DESK)
    page = keeper.submit(DESK, reason="delivery", lines="spat-S 3\nspat-L many")
    assert "Line 2: write a SKU and a number: spat-L many." in page.text
    assert page.form(DESK).values["lines"] == "spat-S 3\nspat-L many"
    keeper.get(DESK)
    assert "Say what changes" in keeper.submit(DESK, reason="delivery").text
    assert stocks(keeper) == before
    keeper.get(DESK)
    page = keeper.submit(DESK, reason="delivery", lines="spat-S 1\nspat-XXL 3\nspat-L -5000")
    assert "Everything else is changed. These are not: spat-XXL" in page.text
    assert "spat-L" in page.text.split("These are not:")[1]
    eventually(lambda: stocks(keeper) == before | {"S": before["S"] + 1})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a 1", [{"sku": "a", "delta": 1}]),
        ("SKU,Change\na,+1\n\nb\t-2", [{"sku": "a", "delta": 1}, {"sku": "b", "delta": -2}]),
        ("a = 0", [{"sku": "a", "level": 0}]),
        ("a;=5", [{"sku": "a", "level": 5}]),
    ],
)
def test_lines_are_read_as_they_are_typed(text: str, found: list[dict]) -> None:
    assert stock_changes(text, "lines") == found


@pytest.mark.parametrize("text", ["a", "a one", "a = -1", "a 1\na 2", "/a 1", "a 1 2"])
def test_lines_that_say_something_else_are_refused(text: str) -> None:
    with pytest.raises(Invalid):
        stock_changes(text, "lines")


def test_goods_of_a_supplier_are_expected_and_received_in_parts(keeper: Visitor) -> None:
    before = stocks(keeper)
    keeper.get("/admin/products")
    keeper.get(keeper.page.link("Stock"))
    keeper.get(keeper.page.link("Deliveries from suppliers"))
    page = keeper.submit("/admin/supplier-deliveries", supplier="Spat & Sons", lines="spat-S many")
    assert "Line 1: write a SKU and a number: spat-S many." in page.text
    page = keeper.submit(
        "/admin/supplier-deliveries", lines="spat-S 5\nspat-L 2", expected="2026-12-01T09:00"
    )
    assert "Delivery from Spat & Sons" in page.text, page.text
    address = next(
        form.action for form in page.forms if form.action.startswith("/admin/supplier-deliveries/")
    )
    page = keeper.submit(address, **{"row-0-quantity": "three"})
    assert "spat-S: write how many came, such as 12." in page.text
    page = keeper.submit(address, **{"row-0-quantity": "3", "row-1-quantity": ""})
    assert "Received, and in stock." in page.text, page.text
    page = keeper.submit(address, **{"row-0-quantity": "1", "row-1-quantity": "2"}, complete="yes")
    assert "Nothing more is waited for." in page.text, page.text
    eventually(lambda: stocks(keeper) == {"S": before["S"] + 4, "M": before["M"], "L": before["L"] + 2})
    assert "Received" in keeper.get("/admin/supplier-deliveries").text
