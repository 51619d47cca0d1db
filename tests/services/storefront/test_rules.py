"""Prices, category addresses, order steps, report axes and charts."""

from dataclasses import fields
from datetime import date
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.storefront.rules import charts, listing, periods, prices, progress, taxonomy
from services.storefront.rules.payments import PAYMENT_PAGES, form_targets
from services.storefront.settings import Settings
from shared.errors import Invalid, NotFound
from shared.money import money


@pytest.mark.parametrize(
    ("amount", "currency", "words"),
    [
        (1499, "GBP", "£14.99"),
        (123456789, "USD", "$1,234,567.89"),
        (500, "JPY", "¥500"),
        (1234, "BHD", "BHD 1.234"),
        (-250, "EUR", "−€2.50"),
        (0, "GBP", "£0.00"),
    ],
)
def test_prices_are_written_as_a_shop_does(amount: int, currency: str, words: str) -> None:
    assert prices.shown(money(amount, currency)) == words


@given(st.integers(0, 10**12), st.sampled_from(["GBP", "JPY", "BHD"]))
def test_a_price_typed_as_it_is_shown_is_the_same_price(amount: int, currency: str) -> None:
    assert prices.parse(prices.plain(money(amount, currency)), currency) == money(amount, currency)


@pytest.mark.parametrize("text", ["", "abc", "1.234", "NaN", "Infinity", "1e99", "1e999999", "--1"])
def test_what_is_no_price_is_refused_by_field(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        prices.parse(text, "GBP", "min_price")
    assert list(caught.value.errors) == ["min_price"]


@given(
    st.lists(
        st.text(st.characters(exclude_characters="#", exclude_categories=("Cs", "Cc")), min_size=1),
        min_size=1,
        max_size=4,
    )
)
def test_every_category_has_an_address_that_leads_back_to_it(names: list[str]) -> None:
    path = taxonomy.SEPARATOR.join(names)
    decoded_once = unquote(urlsplit(f"http://shop{taxonomy.href(path)}").path)
    assert taxonomy.from_url(decoded_once.removeprefix("/category/")) == path


@pytest.mark.parametrize("address", ["", "Home//Kitchen", "Home/", "a#b"])
def test_an_address_that_no_category_has_is_not_found(address: str) -> None:
    with pytest.raises(NotFound):
        taxonomy.from_url(address)


def test_departments_are_numbered_and_found_by_path() -> None:
    tree = [
        {"name": "Food", "path": "Food", "count": 1, "children": []},
        {
            "name": "Home",
            "path": "Home",
            "count": 3,
            "children": [{"name": "Mugs & Cups", "path": "Home#Mugs & Cups", "count": 3}],
        },
    ]
    menu = taxonomy.menu({"children": tree})
    assert [each.number for each in menu.departments] == [1, 2]
    assert menu.find("Home#Mugs & Cups").href == "/category/Home/Mugs%20%26%20Cups"
    assert menu.find("Home#Plates") is None


def test_categories_that_have_moved_are_followed_and_never_round_and_round() -> None:
    moved = {"Home#Mugs": "Kitchen#Cups", "Kitchen": "Cookery", "A": "B", "B": "A"}
    menu = taxonomy.menu({"children": [], "moved": moved})
    assert menu.moved_to("Home#Mugs") == "Cookery#Cups"
    assert menu.moved_to("Home#Mugs#Red") == "Cookery#Cups#Red"
    assert menu.moved_to("Home") is None
    assert menu.moved_to("Home#Mugs and more") is None
    assert menu.moved_to("A") is None, "the API refuses to write this"


def test_crumbs_have_labels_as_far_as_the_menu_knows_them() -> None:
    home = {"name": "Home", "path": "Home", "count": 1, "label": "Home & Living", "children": []}
    menu = taxonomy.menu({"children": [home]})
    assert menu.crumbs("Home#Deep") == [("Home & Living", "/category/Home"), ("Deep", "/category/Home/Deep")]
    assert (menu.label("Home"), menu.label("Home#Deep")) == ("Home & Living", "Deep")


def test_a_living_order_shows_what_is_still_to_come() -> None:
    order = {
        "status": "paid",
        "timeline": [{"status": "placed", "date": "d1"}, {"status": "paid", "date": "d2"}],
    }
    assert [(step.status, step.date) for step in progress.steps(order)] == [
        ("placed", "d1"),
        ("paid", "d2"),
        ("dispatched", None),
        ("delivered", None),
    ]
    assert not progress.settled(order)


def test_a_cancelled_order_promises_nothing_more() -> None:
    order = {
        "status": "cancelled",
        "timeline": [{"status": "placed", "date": "d1"}, {"status": "cancelled", "date": "d2"}],
    }
    assert [step.status for step in progress.steps(order)] == ["placed", "cancelled"]
    assert progress.settled(order)


def test_a_small_refund_leaves_the_rest_of_the_way_open() -> None:
    happened = [{"status": each, "date": "d"} for each in ("placed", "paid", "refunded")]
    steps = progress.steps({"status": "paid", "timeline": happened})
    assert [step.status for step in steps] == ["placed", "paid", "refunded", "dispatched", "delivered"]


def test_a_report_covers_every_period_of_its_range() -> None:
    assert periods.span("day", "2026-02-27", "2026-03-01", date(2026, 11, 20)).periods() == [
        "2026-02-27",
        "2026-02-28",
        "2026-03-01",
    ]
    assert periods.span("month", "2025-12-15", "2026-02-01", date(2026, 11, 20)).periods() == [
        "2025-12",
        "2026-01",
        "2026-02",
    ]
    assert len(periods.span("hour", "2026-11-20", "2026-11-20", date(2026, 11, 20)).periods()) == 24
    assert (
        periods.span("day", "2026-11-20", "2026-11-20", date(2026, 11, 20)).end == "2026-11-21T00:00:00.000Z"
    )


@pytest.mark.parametrize(
    ("by", "first", "last", "field"),
    [
        ("week", None, None, "by"),
        ("day", "yesterday", None, "from"),
        ("day", "2026-02-02", "2026-02-01", "from"),
        ("hour", "2026-01-01", "2026-02-01", "from"),
        ("day", None, "0001-01-01", "to"),
        ("day", None, "9999-12-31", "to"),
        ("year", "1899-12-31", None, "from"),
    ],
)
def test_a_range_that_cannot_be_drawn_is_refused_by_field(
    by: str, first: str | None, last: str | None, field: str
) -> None:
    with pytest.raises(Invalid) as caught:
        periods.span(by, first, last, date(2026, 11, 20))
    assert list(caught.value.errors) == [field]


@given(st.integers(0, 10**12))
def test_the_value_axis_holds_the_highest_bar_in_few_round_steps(amount: int) -> None:
    highest = amount / 100
    ceiling, step = charts.round_steps(highest)
    assert ceiling >= highest * (1 - 1e-9)
    assert 1 <= round(ceiling / step) <= 6


def test_a_chart_has_a_bar_for_each_period_and_few_labels() -> None:
    row = charts.Row("2026-11-02", 3, money(1000, "GBP"), money(400, "GBP"), money(600, "GBP"))
    axis = [f"2026-11-{day:02d}" for day in range(1, 31)]
    chart = charts.sales_chart(charts.filled(axis, [row], "GBP"), "GBP")
    assert len(chart.bars) == 30
    assert len(chart.times) <= charts.LABELS
    assert chart.bars[0].net_y == charts.BASE
    assert charts.TOP <= chart.bars[1].gross_y < chart.bars[1].net_y < charts.BASE
    assert chart.bars[1].tip == "2 Nov 2026: £6.00 net, 3 orders"
    assert all(bar.x >= 0 and bar.x + bar.width <= 100 for bar in chart.bars)


def test_filters_become_parameters_and_links() -> None:
    filters = listing.read(
        {
            "q": [" red mug "],
            "brand": ["Oak & Co", "Pine's", ""],
            "min_price": ["5"],
            "sort": ["price"],
            "cursor": ["c1"],
        }
    )
    assert filters.params()["min_price"] == 500
    assert filters.params()["q"] == "red mug"
    assert filters.params()["brand"] == ("Oak & Co", "Pine's")
    assert filters.query(cursor="") == "?q=red+mug&brand=Oak+%26+Co&brand=Pine%27s&min_price=5&sort=price"
    assert filters.query(choices={}) == "?q=red+mug&min_price=5&sort=price"
    assert "cursor=c2" in filters.query(cursor="c2")


def test_a_sort_there_is_not_is_refused() -> None:
    with pytest.raises(Invalid):
        listing.read({"sort": ["random"]})


def test_checkout_has_a_way_to_pay_for_every_provider_that_the_settings_take() -> None:
    (provider,) = [item for item in fields(Settings) if item.name == "payment_provider"]
    assert set(provider.metadata["choices"]) == {"sandbox", *PAYMENT_PAGES}


def test_the_checkouts_form_leads_to_the_providers_page_or_to_its_own_domain() -> None:
    assert form_targets("sandbox", "https://pay.example") == ()
    assert form_targets("stripe", "") == ("https://checkout.stripe.com",)
    assert form_targets("stripe", "https://pay.example") == ("https://pay.example",)
