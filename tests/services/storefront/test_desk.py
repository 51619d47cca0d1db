"""The shopkeeper's desk through HTTP, without JavaScript, against the real services."""

from collections.abc import Callable

import orjson
import pytest
import requests

from services.orders.documents import DESIGN
from services.orders.store.dead_letters import DeadLetterStore
from shared.jobs import ADVANCE_ORDER
from tests.bench.running import Shop
from tests.people import place
from tests.services.storefront.conftest import database_of, import_goods, product
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

PAGES = (
    "/admin",
    "/admin/orders",
    "/admin/customers",
    "/admin/guests?email=somebody@example.com",
    "/admin/products",
    "/admin/products/new",
    "/admin/search",
    "/admin/search/synonyms",
    "/admin/search/redirects",
    "/admin/search/pins",
    "/admin/import",
    "/admin/failures",
    "/admin/staff",
    "/admin/audit",
)


@pytest.fixture(scope="module")
def customer(join: Callable[..., Visitor]) -> Visitor:
    visitor = join("Desk Customer")
    visitor.get("/account")
    visitor.submit("/account/addresses", name="Home", **place())
    return visitor


@pytest.fixture(scope="module")
def dead_letters(shop: Shop) -> DeadLetterStore:
    """The dead letters in the shop's own database."""
    return DeadLetterStore(database_of(shop).open(DESIGN))


def bought(customer: Visitor, productid: str) -> str:
    """An order's id."""
    customer.get(f"/product/{productid}")
    customer.submit("/basket")
    customer.get("/checkout")
    page = customer.submit("/checkout", card="tok_ok")
    assert page.path.startswith("/orders/"), page.text
    return page.path.removeprefix("/orders/")


@pytest.mark.parametrize("path", PAGES)
def test_only_the_shops_people_find_the_desk(
    visitor: Visitor, customer: Visitor, keeper: Visitor, path: str
) -> None:
    assert visitor.get(path).path.startswith("/login?next=/admin")
    assert customer.get(path).status == 404
    page = keeper.get(path)
    assert (page.status, page.inline) == (200, [])
    assert page.headers["Cache-Control"] == "no-store"
    assert len(page.body) < 50_000


def test_an_order_is_dispatched_delivered_and_refunded_by_hand(customer: Visitor, keeper: Visitor) -> None:
    orderid = bought(customer, "spade")
    address = f"/admin/orders/{orderid}"
    assert address in [href for href, _ in keeper.get("/admin/orders").links]
    keeper.get(address)
    page = keeper.submit(f"{address}/dispatch", courier="Bike", courierid="B-17")
    assert "Dispatched." in page.text
    assert "B-17" in page.text
    page = keeper.submit(f"{address}/delivery")
    assert "Delivered" in page.text
    keeper.submit(f"{address}/refunds", amount="2.50", reason="Scratched")
    page = keeper.submit(f"{address}/refunds", confirmed="yes")
    assert "£2.50" in page.text
    assert "Scratched" in page.text
    own = customer.get(f"/orders/{orderid}")
    assert "Delivered" in own.text
    assert "B-17" in own.text
    asked = customer.submit(f"/orders/{orderid}/returns", **{"back-spade": "1"}, reason="Does not fit")
    assert "Your return is noted." in asked.text
    assert "Return requested" in asked.text
    page = keeper.get(address)
    assert "Does not fit" in page.text
    assert "Return requested" in keeper.get("/admin/orders").text
    eventually(lambda: "Returns received" in keeper.get("/admin").text)
    keeper.get(address)
    assert "Approved" in keeper.submit(f"{address}/returns/1/approval").text
    assert "please send it" in customer.get(f"/orders/{orderid}").text
    nothing = keeper.submit(f"{address}/returns/1/receipt", **{"resaleable-spade": "0", "damaged-spade": "0"})
    assert "Say how many of what has come back." in nothing.text
    received = keeper.submit(
        f"{address}/returns/1/receipt", **{"resaleable-spade": "0", "damaged-spade": "1"}
    )
    assert "Received; the money is on its way back." in received.text
    own = customer.get(f"/orders/{orderid}")
    assert "Returned" in own.text
    assert "(damaged)" in own.text


def test_staff_note_things_on_an_order_for_each_other(customer: Visitor, keeper: Visitor) -> None:
    orderid = bought(customer, "spade")
    address = f"/admin/orders/{orderid}"
    form = keeper.get(address).form(f"{address}/notes")
    for _ in range(2):
        page = keeper.send_form(form, {**form.values, "text": "Call before noon"})
        assert page.text.count("Call before noon") == 1, "a form sent twice notes once"
    assert "Note is missing." in keeper.submit(f"{address}/notes", text=" ").text
    assert "Call before noon" not in customer.get(f"/orders/{orderid}").text


def test_a_return_is_refused_at_the_desk_with_a_reason(customer: Visitor, keeper: Visitor) -> None:
    orderid = bought(customer, "spade")
    address = f"/admin/orders/{orderid}"
    keeper.get(address)
    keeper.submit(f"{address}/dispatch", courier="Bike", courierid="B-19")
    keeper.submit(f"{address}/delivery")
    customer.get(f"/orders/{orderid}")
    customer.submit(f"/orders/{orderid}/returns", **{"back-spade": "1"})
    keeper.get(address)
    keeper.submit(f"{address}/returns/1/refusal", reason="It was dug with")
    own = customer.get(f"/orders/{orderid}")
    assert "It was dug with" in own.text
    assert [form.action for form in own.forms if form.action.endswith("/returns")] != []


def test_what_was_not_sent_back_yet_can_be_sent_back_later(customer: Visitor, keeper: Visitor) -> None:
    customer.get("/product/rake")
    customer.submit("/basket", quantity="3")
    customer.get("/checkout")
    orderid = customer.submit("/checkout").path.rpartition("/")[2]
    keeper.get(f"/admin/orders/{orderid}")
    keeper.submit(f"/admin/orders/{orderid}/dispatch", courier="Bike", courierid="B-18")
    keeper.submit(f"/admin/orders/{orderid}/delivery")
    address = f"/orders/{orderid}"
    customer.get(address)
    assert "of 3" in customer.page.text
    form = customer.page.form(f"{address}/returns")
    for _ in range(2):
        page = customer.send_form(form, {**form.values, "back-rake": "1"})
        assert "of 2" in page.text, "a form sent twice sends back once"
    page = customer.submit(f"{address}/returns", **{"back-rake": "2"})
    assert "Your return is noted." in page.text
    assert [form for form in page.forms if form.action.startswith(address)] == []
    assert "Return 2 2 × Garden Rake: requested" in keeper.get(f"/admin/orders/{orderid}").text


def test_a_change_of_stock_sent_twice_counts_once(keeper: Visitor) -> None:
    import_goods(keeper, [product("counted", "Abacus", ["Counting"], 700)])
    address = "/admin/products/counted"
    form = keeper.get(address).form(f"{address}/stock")
    for _ in range(2):
        page = keeper.send_form(form, {**form.values, "delta": "7", "reason": "Delivery"})
        assert "Stock: 27" in page.text
    assert "Stock: 34" in keeper.submit(f"{address}/stock", delta="7", reason="Delivery").text


def test_orders_are_filtered_by_what_is_known_of_them(customer: Visitor, keeper: Visitor) -> None:
    import_goods(keeper, [product("listed-vase", "Vase", ["Vases on a list"], 700)])
    orderid = bought(customer, "listed-vase")
    address = f"/admin/orders/{orderid}"

    def shown(query: str) -> bool:
        return address in [href for href, _ in keeper.get(f"/admin/orders?{query}").links]

    eventually(lambda: shown("product=listed-vase"))
    assert shown("status=paid")
    assert shown("status=paid&product=listed-vase&q=desk+customer")
    assert not shown("status=paid&product=cup-20")
    assert not shown("product=listed-vase&q=nobody")
    assert not shown("product=listed-vase&open_returns=true")
    assert not shown("status=delivered")
    chips = [text for _, text in keeper.get("/admin/orders?product=listed-vase").links]
    assert "<details open>" in keeper.page.body.decode(), "a filter that is set is not hidden"
    assert "<td>Desk Customer</td>" in keeper.page.body.decode()
    assert "<details open>" not in keeper.get("/admin/orders?status=paid").body.decode()
    assert "Paid 1" in [" ".join(text.split()) for text in chips]
    assert address not in [href for href, _ in keeper.get("/admin/orders?to=2020-01-01").links]
    assert "Write a day" in keeper.get("/admin/orders?to=soon").text
    assert "Choose a year" in keeper.get("/admin/orders?to=9999-12-31").text
    assert "`errors`" not in keeper.get("/admin/orders?from=soon").text
    keeper.get("/admin/orders")
    form = next(form for form in keeper.page.forms if "order" in form.names)
    assert keeper.send_form(form, {"order": orderid}).path == address
    assert keeper.get("/admin/orders/no-such-order").status == 404


@pytest.mark.parametrize("by", ["hour", "day", "month", "year"])
def test_sales_are_a_chart_a_table_and_a_csv(customer: Visitor, keeper: Visitor, by: str) -> None:
    bought(customer, "cup-21")
    page = keeper.get(f"/admin?by={by}")
    assert "GBP" in page.text
    assert b'<g class="point">' in page.body
    assert "Total" in page.text
    csv = keeper.get(page.link("CSV"))
    assert csv.headers["Content-Type"].startswith("text/csv")
    assert "attachment" in csv.headers["Content-Disposition"]
    assert csv.body.startswith(b"period,orders")
    assert csv.body.count(b"\n") >= 2


def test_the_longest_charts_are_still_small_pages(keeper: Visitor) -> None:
    for query in (
        "by=day&from=2026-01-01&to=2026-04-01",
        "by=hour&from=2026-11-18&to=2026-11-21",
        "by=month&from=2018-01-01&to=2026-12-31",
    ):
        page = keeper.get(f"/admin?{query}")
        assert page.status == 200
        assert len(page.body) < 50_000


@pytest.mark.parametrize(
    "query",
    [
        "by=week",
        "from=yesterday",
        "by=hour&from=2020-01-01",
        "from=2026-02-02&to=2026-02-01",
        "to=9999-12-31",
        "to=0001-01-01",
    ],
)
def test_a_range_that_cannot_be_drawn_is_said_on_the_page(keeper: Visitor, query: str) -> None:
    page = keeper.get(f"/admin?{query}")
    assert page.status == 200
    assert b'role="alert"' in page.body


def test_a_product_is_made_changed_stocked_and_removed(keeper: Visitor, visitor: Visitor) -> None:
    keeper.get("/admin/products/new")
    page = keeper.submit(
        "/admin/products/new",
        productid="bell-1",
        name="Bike Bell",
        taxonomy="Garden#Bells",
        price="12.50",
        delivery="0",
        currency="gbp",
        keywords="ring, ding",
        colours="silver",
        stock="7",
    )
    assert page.path == "/admin/products/bell-1", page.text
    assert page.form("/admin/products/bell-1").values["keywords"] == "ring, ding"
    assert "£12.50" in visitor.get("/product/bell-1").text
    page = keeper.submit("/admin/products/bell-1", price="11.00", taxonomy="Garden#Bells & Horns")
    assert "Saved." in page.text, page.text
    shown = visitor.get("/product/bell-1")
    assert "£11.00" in shown.text
    assert "Bells & Horns" in shown.text
    keeper.get("/admin/products/bell-1")
    page = keeper.submit("/admin/products/bell-1/stock", delta="-3", reason="Given away")
    assert "Stock: 4" in page.text
    page = keeper.submit("/admin/products/bell-1/stock", delta="many", reason="x")
    assert "Write a whole number" in page.text
    page = keeper.submit("/admin/products/bell-1/delete")
    assert "gone from the shop" in page.text
    assert visitor.get("/product/bell-1").status == 404


def test_an_edit_leaves_alone_what_was_not_changed(shop: Shop, keeper: Visitor) -> None:
    """A form cannot show a comma within a keyword, nor a field that it does not have."""
    made = product("comma-1", "Cutlery Set", ["Commas"], 100, keywords=["knife, fork", "spoon"])
    keeper.get("/admin/import")
    keeper.upload("/admin/import", "file", orjson.dumps(made) + b"\n")
    keeper.get("/admin/products/comma-1")
    keeper.submit("/admin/products/comma-1", name="Cutlery Set, large")
    found = requests.get(f"{shop.urls['products']}/v1/products/comma-1", timeout=30).json()
    assert (found["name"], found["keywords"]) == ("Cutlery Set, large", ["knife, fork", "spoon"])


def test_an_edit_of_an_old_page_does_not_undo_a_newer_one(keeper: Visitor) -> None:
    import_goods(keeper, [product("edited", "Scythe", ["Edits"], 700)])
    address = "/admin/products/edited"
    old = keeper.get(address).form(address)
    keeper.submit(address, name="Scythe the newer")
    page = keeper.send_form(old, {**old.values, "name": "Scythe the older"})
    assert "still here" in page.text
    assert page.form(address).values["name"] == "Scythe the older"
    assert keeper.get(address).form(address).values["name"] == "Scythe the newer"


def test_a_product_with_mistakes_is_said_at_its_fields(keeper: Visitor) -> None:
    keeper.get("/admin/products/new")
    page = keeper.submit(
        "/admin/products/new", productid="no good!", name="", taxonomy="Garden", price="cheap", currency="GBP"
    )
    assert page.path == "/admin/products/new"
    assert "Name is missing." in page.text
    page = keeper.submit(
        "/admin/products/new",
        productid="no good!",
        name="X",
        taxonomy="Garden",
        price="1",
        delivery="0",
        currency="GBP",
    )
    assert 'role="alert"' in page.body.decode()
    assert page.path == "/admin/products/new"


def test_a_file_is_imported_and_refused_lines_are_named(keeper: Visitor, visitor: Visitor) -> None:
    lines = [
        orjson.dumps(product(f"imp-{number}", f"Imported {number}", ["Imports"], 100)) for number in range(3)
    ]
    data = b"\n".join([*lines, b"not json", orjson.dumps({"productid": "imp-9"})]) + b"\n"
    keeper.get("/admin/import")
    page = keeper.upload("/admin/import", "file", data)
    numbers = _tiles(page)
    assert numbers == {"Created": "3", "Updated": "0", "Unchanged": "0", "Refused": "2"}
    assert {"4", "5"} <= set(page.text.split("Why", 1)[1].split())
    page = keeper.upload("/admin/import", "file", data)
    assert _tiles(page)["Unchanged"] == "3"
    assert visitor.get("/product/imp-1").status == 200


def test_a_piece_of_a_file_keeps_its_line_numbers(keeper: Visitor) -> None:
    token = keeper.get("/admin/import").form("/admin/import").values["_csrf"]
    headers = {"X-CSRF-Token": token, "X-First-Line": "501", "Content-Type": "application/x-ndjson"}
    answer = orjson.loads(keeper.send("POST", "/admin/import/piece", b"broken\n", headers).body)
    assert [each["line"] for each in answer["failed"]] == [501]
    assert keeper.send("POST", "/admin/import/piece", b"broken\n", {"X-First-Line": "1"}).status == 403
    for first in ("\u00b2", "9" * 5000, "1" * 400, "-1", ""):
        answer = keeper.send("POST", "/admin/import/piece", b"broken\n", {**headers, "X-First-Line": first})
        assert answer.status == 400, first


def test_the_catalogue_can_be_downloaded(keeper: Visitor) -> None:
    page = keeper.get("/admin/products.ndjson")
    assert len([orjson.loads(line) for line in page.body.splitlines()]) > 40


def test_roles_are_given_and_taken(keeper: Visitor, customer: Visitor) -> None:
    keeper.get("/admin/staff")
    page = keeper.submit("/admin/staff", email="desk.customer@example.com", role="staff")
    assert "desk.customer@example.com" in page.text
    page = keeper.submit("/admin/staff", email="nobody.at.all@example.com", role="staff")
    assert b'role="alert"' in page.body
    page = keeper.submit("/admin/staff", email="desk.customer@example.com", role="customer")
    assert "Desk Customer" not in page.text


def _tiles(page: Page) -> dict[str, str]:
    words = page.text.split("Result", 1)[1].split()
    return {words[place]: words[place + 1] for place in (0, 2, 4, 6)}


def test_a_job_that_was_given_up_is_shown_and_sent_again(
    customer: Visitor, keeper: Visitor, dead_letters: DeadLetterStore
) -> None:
    orderid = bought(customer, "cup-22")
    dead_letters.add(
        ADVANCE_ORDER, orderid, 1, error="Unavailable", detail="The courier is away.", transient=False
    )
    page = keeper.get("/admin/failures")
    assert orderid in page.text
    assert "The courier is away." in page.text
    retry = next(form for form in page.forms if orderid in form.action)
    page = keeper.send_form(retry, retry.values)
    assert "Sent again." in page.text
    assert "The courier is away." not in page.text


def test_the_way_back_from_a_later_page_keeps_the_filters(keeper: Visitor) -> None:
    keeper.get_patiently("/admin/products?q=cup")
    page = keeper.get_patiently(keeper.page.link("Next page"))
    assert keeper.get(page.link("First page")).form("/admin/products").values["q"] == "cup"


def test_what_runs_out_is_a_list(keeper: Visitor) -> None:
    keeper.get("/admin/products")
    page = keeper.get(keeper.page.link("What runs out"))
    found = [href for href, _ in page.links if href.startswith("/admin/products/")]
    assert "/admin/products/mug-gone" in found
    assert "/admin/products/cup-01" not in found
