"""What each page costs: the database calls of all services together, counted on the running shop, and told by the page."""

import re
from collections.abc import Callable, Iterator

import pytest

from deploy.costs import PAGES, Calls
from tests.journeys.counting import calls_since, counted, fill_basket, new_visitor, start_sample_shop
from tests.journeys.shop import Shop
from tests.services.storefront.visitor import Page, Visitor

Walk = Callable[[], Page]
LEAF = "/category/Home/Kitchen/Cook%27s%20Knives"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Each view of a page counts as its first one: the storefront keeps none to send it again for nothing."""
    shop = start_sample_shop(tmp_path_factory.mktemp("page-costs"), PAGE_CACHE_SECONDS="0")
    yield shop
    shop.stop()


@pytest.fixture(scope="module")
def customer(shop: Shop) -> Visitor:
    """Logged in, with an address and a full basket."""
    visitor = new_visitor(shop)
    fill_basket(visitor)
    return visitor


@pytest.fixture(scope="module")
def guest(shop: Shop) -> Visitor:
    visitor = Visitor(shop.url("storefront"))
    fill_basket(visitor)
    return visitor


@pytest.fixture(scope="module")
def order(customer: Visitor) -> str:
    customer.get("/checkout")
    path = customer.submit("/checkout", card="tok_ok").path
    assert path.startswith("/orders/")
    customer.get(customer.get("/product/p0020").link("Write a review"))
    customer.submit("/product/p0020/reviews", stars="4", text="Sharp.")
    assert "Sharp." in customer.get("/product/p0020").text
    fill_basket(customer)
    return path


@pytest.fixture
def walks(shop: Shop, customer: Visitor, guest: Visitor, order: str) -> dict[str, Walk]:
    stranger = Visitor(shop.url("storefront"))

    def check_out() -> Page:
        """The form is loaded before, by whoever counts; the page of the order behind it is asked for by the browser."""
        form = customer.page.form("/checkout")
        return customer.send_form(form, {**form.values, "card": "tok_ok"}, follow=False)

    return {
        "home": lambda: stranger.get("/"),
        "all departments": lambda: stranger.get("/departments"),
        "category": lambda: stranger.get(LEAF),
        "category, filtered and sorted": lambda: stranger.get(f"{LEAF}?min_price=1&max_price=90&sort=-price"),
        "department (a category with others below it)": lambda: stranger.get("/category/Home"),
        "department, filtered": lambda: stranger.get("/category/Home?max_price=50"),
        "search": lambda: stranger.get("/search?q=knife"),
        "product": lambda: stranger.get("/product/p0018"),
        "product with reviews": lambda: stranger.get("/product/p0020"),
        "guest's basket": lambda: guest.get("/basket"),
        "guest's checkout": lambda: guest.get("/checkout"),
        "basket": lambda: customer.get("/basket"),
        "checkout, shown": lambda: customer.get("/checkout"),
        "checkout, sent": check_out,
        "order": lambda: customer.get(order),
        "invoice": lambda: customer.get(f"{order}/invoice"),
        "orders": lambda: customer.get("/orders"),
        "account": lambda: customer.get("/account"),
        "log-in form": lambda: stranger.get("/login"),
    }


@pytest.mark.parametrize("name", PAGES)
def test_a_page_costs_what_the_table_says(
    shop: Shop, customer: Visitor, walks: dict[str, Walk], name: str
) -> None:
    if name == "checkout, sent":
        customer.get("/checkout")
    else:
        walks[name]()  # what is kept is there, as in a running shop
    before = counted(shop)
    page = walks[name]()
    assert page.status in (200, 302), page.text
    assert calls_since(shop, before) == PAGES[name]
    said = said_by(page)
    if (
        name == "checkout, sent"
    ):  # it also says what the services do after the sale, which the table counts apart
        assert said.globals == PAGES[name].globals
        assert said.reads >= PAGES[name].reads
        assert said.writes >= PAGES[name].writes
    else:
        assert said == PAGES[name]


def said_by(page: Page) -> Calls:
    """The database calls of all services that a page says it has cost."""
    said = re.search(r'database;desc="([^"]*)"', page.headers["Server-Timing"])[1]
    calls = {kind: int(number) for kind, number in re.findall(r"(\w+) (\d+)", said)}
    return Calls(calls["partition"] + calls["read"], calls["global"], calls["write"])
