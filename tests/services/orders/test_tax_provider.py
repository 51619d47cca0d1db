"""Tax as a tax service works it out (Stripe Tax): asked at the quote, charged as it was shown, kept on every line, and refused or
taken from the shop's own table while it is away, as the settings say."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st

from services.orders.actions.intents import Buyer, quote_answer
from services.orders.clients.stripe_tax import StripeTax
from services.orders.dependencies import open_dependencies
from services.orders.rules.pricing.carriers import Destination
from services.orders.rules.pricing.tax_question import TaxedItem, TaxItem, TaxQuestion, TaxUnavailable
from services.orders.settings import Settings
from shared.couch import Database
from shared.settings import load
from tests.people import Person
from tests.services.orders.conftest import Shop, calls
from tests.services.orders.stripe_standin import API_KEY
from tests.services.orders.stripe_tax_standin import BOOKS, StripeTaxStandIn, refusal
from tests.waiting import eventually

GBP = "GBP"
UK = {"name": "Ada", "line1": "1 High Street", "city": "Bath", "postcode": "BA1 1AA", "country": "GB"}
GERMANY = {"name": "Ada", "line1": "Am Markt 1", "city": "Bremen", "postcode": "28195", "country": "DE"}
CALIFORNIA = {
    "name": "Ada",
    "line1": "1 Main Street",
    "city": "San Diego",
    "region": "CA",
    "postcode": "92101",
    "country": "US",
}


@pytest.fixture(scope="module")
def stripe_tax() -> Iterator[StripeTaxStandIn]:
    standin = StripeTaxStandIn()
    yield standin
    standin.close()


@pytest.fixture(autouse=True)
def healed(stripe_tax: StripeTaxStandIn) -> Iterator[None]:
    yield
    stripe_tax.heal()


@pytest.fixture(scope="module")
def orders_settings(stripe_tax: StripeTaxStandIn) -> dict[str, str]:
    return {
        "TAX_PROVIDER": "stripe",
        "STRIPE_URL": stripe_tax.url,
        "STRIPE_API_KEY": API_KEY,
        "STRIPE_TAX_CODES": f"books={BOOKS}",
    }


@pytest.fixture(scope="module", autouse=True)
def terms(shop: Shop) -> None:
    """The shop's own rate says that American prices are without tax; what it is there, Stripe says."""
    methods = (
        {"id": "post", "name": "Post", "rate": "flat", "prices": {GBP: 399}},
        {"id": "collect", "name": "Collect", "rate": "flat", "prices": {GBP: 0}, "collect_from": "Bath"},
    )
    for method in methods:
        assert shop.post(shop.admin, "/v1/admin/shipping-methods", method).status_code == 201
    for rate in (
        {"country": "US", "name": "Sales tax", "rate": 0, "included": False},
        {"country": "GB", "name": "Own VAT", "rate": 17.5},
    ):
        assert shop.post(shop.admin, "/v1/admin/tax-rates", rate).status_code == 201


_price = iter(range(1001, 9999))


@pytest.fixture
def goods(shop: Shop) -> str:
    """A product at a price that no other has: Stripe was not asked about it before."""
    return shop.product(price=next(_price), delivery=0)


def quote(url: str, items: dict[str, int], **more: Any) -> requests.Response:
    body = {
        "items": [{"productid": each, "quantity": quantity} for each, quantity in items.items()],
        "address": UK,
        "shipping": "post",
        **more,
    }
    return requests.post(f"{url}/v1/orders/quote", json=body, timeout=30)


def quoted(url: str, items: dict[str, int], **more: Any) -> requests.Response:
    """A quote for which the service was asked in time: a busy machine, or a breaker that has just opened, may need a second one."""

    def answered() -> list[requests.Response]:
        answer = quote(url, items, **more)
        return [answer] if answer.status_code != 503 else []

    return eventually(answered)[0]


def due(found: dict[str, Any]) -> list[tuple[str, float, int, int]]:
    """Name, rate, base, amount of each tax."""
    return [
        (row["name"], row["rate"], row["base"]["amount"], row["amount"]["amount"]) for row in found["tax"]
    ]


def check_sums(found: dict[str, Any]) -> None:
    """Lines and shipping add up to the total, base and tax to what is paid of each."""
    parts = [(line["tax"], line["payable"]["amount"]) for line in found["items"]]
    shipping = found["shipping"]["tax"]
    parts.append((shipping, shipping["base"]["amount"] + shipping["amount"]["amount"]))
    assert all(tax["base"]["amount"] + tax["amount"]["amount"] == paid for tax, paid in parts)
    assert sum(paid for _, paid in parts) == found["total"]["amount"]
    assert sum(row[2] + row[3] for row in due(found)) == found["total"]["amount"]


def test_the_quote_has_the_services_taxes(shop: Shop, stripe_tax: StripeTaxStandIn) -> None:
    """Included where the shop's own rate says so, added where it says that; without a database call, and without the buyer's street."""
    goods = shop.product(price=1000, delivery=0)
    answer = quoted(shop.orders, {goods: 2})
    assert answer.status_code == 200, answer.text
    assert due(answer.json()) == [("VAT", 20, 1667 + 332, 333 + 67)]
    assert answer.json()["total"]["amount"] == 2399
    assert set(calls(answer).values()) == {0}
    form = stripe_tax.forms[-1]
    assert {name: value for name, value in form.items() if "address" in name} == {
        "customer_details[address][country]": "GB",
        "customer_details[address][postal_code]": "BA1 1AA",
        "customer_details[address_source]": "shipping",
        "ship_from_details[address][country]": "GB",
    }
    assert due(quoted(shop.orders, {goods: 2}, address=GERMANY).json()) == [("VAT", 19, 1681 + 335, 319 + 64)]
    american = quoted(shop.orders, {goods: 2}, address=CALIFORNIA).json()
    assert due(american) == [("Sales Tax", 8.5, 2399, 170 + 34)]
    assert american["total"]["amount"] == 2603
    nevada = quoted(shop.orders, {goods: 2}, address=CALIFORNIA | {"region": "NV"}).json()
    assert due(nevada) == [("", 0, 2399, 0)]
    collected = quoted(shop.orders, {goods: 2}, address=GERMANY, shipping="collect").json()
    assert due(collected) == [("VAT", 20, 1667, 333)], "at the shop"
    for found in (american, nevada, collected):
        check_sums(found)


def test_the_order_keeps_the_taxes_of_its_quote(
    shop: Shop,
    stripe_tax: StripeTaxStandIn,
    goods: str,
    replica: str,
    customer: Person,
    database: Database,
) -> None:
    """Reports and refunds take what is written on the lines, whatever the service says later."""
    shown = quoted(replica, {goods: 3}, address=CALIFORNIA).json()
    check_sums(shown)
    asked = len(stripe_tax.requests)
    order = shop.placed(
        customer, {goods: 3}, address=CALIFORNIA, shipping="post", expected_total=shown["total"]
    )
    assert len(stripe_tax.requests) == asked, "its answer was kept"
    assert (order["taxes"], order["total"]) == (shown["tax"], shown["total"])
    assert [line["tax"] for line in order["items"]] == [line["tax"] for line in shown["items"]]
    stripe_tax.break_("hang")
    answer = shop.post(
        shop.admin,
        f"/v1/admin/orders/{order['orderid']}/refunds",
        {"reason": "Broken", "amount": order["total"]},
        headers={"Idempotency-Key": secrets.token_hex(8)},
    )
    assert answer.status_code in (200, 201), answer.text
    stored = database.get(f"order{order['orderid']}:refund1")
    assert stored["taxes"] == order["taxes"]


@pytest.mark.parametrize(
    "fault",
    [
        "lose",
        "garbage",
        (500, {"error": {"type": "api_error"}}),
        refusal(429, "rate_limit"),
        refusal(401, "api_key_invalid"),
        refusal(400, "stripe_tax_inactive"),
        (200, {"id": "taxcalc_1", "line_items": {"data": [], "has_more": False}, "amount_total": 5}),
    ],
    ids=str,
)
def test_without_an_answer_nothing_is_quoted_or_ordered(
    shop: Shop, stripe_tax: StripeTaxStandIn, goods: str, customer: Person, fault: Any
) -> None:
    stripe_tax.break_(fault)
    answer = quote(shop.orders, {goods: 1})
    assert (answer.status_code, answer.json()["code"]) == (503, "tax_unavailable"), answer.text
    assert answer.headers["Retry-After"]
    before = shop.get(customer, "/v1/orders").json()["items"]
    key = secrets.token_hex(8)
    refused = shop.order(customer, {goods: 1}, key, address=UK, shipping="post")
    assert (refused.status_code, refused.json()["code"]) == (503, "tax_unavailable")
    assert shop.get(customer, "/v1/orders").json()["items"] == before, "nothing was written"
    stripe_tax.heal()
    assert quoted(shop.orders, {goods: 1}).status_code == 200
    assert shop.order(customer, {goods: 1}, key, address=UK, shipping="post").status_code == 201


def test_a_paid_order_is_found_again_while_the_service_is_away(
    shop: Shop, stripe_tax: StripeTaxStandIn, customer: Person, goods: str
) -> None:
    """A repeated request whose answer was lost; the kept answers may be gone by then."""
    key = secrets.token_hex(8)
    assert quoted(shop.orders, {goods: 1}).status_code == 200
    first = shop.order(customer, {goods: 1}, key, address=UK, shipping="post")
    stripe_tax.break_((500, {}))
    path = "/v1/admin/tax-rates/gb-standard"
    content = shop.get(shop.admin, path).json()
    flipped = shop.admin.put(f"{shop.orders}{path}", json=content | {"included": False}, timeout=30)
    try:
        assert flipped.status_code == 200
        assert quote(shop.orders, {goods: 1}).status_code == 503, "it would have to be asked again"
        again = shop.order(customer, {goods: 1}, key, address=UK, shipping="post")
        assert (again.status_code, again.json()["orderid"]) == (201, first.json()["orderid"]), again.text
    finally:
        assert shop.admin.put(f"{shop.orders}{path}", json=content, timeout=30).status_code == 200


def test_the_settings_can_say_that_the_table_holds_meanwhile(
    shop: Shop, stripe_tax: StripeTaxStandIn, goods: str, environment: dict[str, str]
) -> None:
    deps = open_dependencies(load(Settings, environment | {"TAX_FALLBACK": "table"}))
    stripe_tax.break_((500, {}))
    body = {"items": [{"productid": goods, "quantity": 1}], "address": UK, "shipping": "post"}
    found = quote_answer(deps, body, Buyer(None))
    assert [(row["name"], row["rate"]) for row in found["tax"]] == [("Own VAT", 17.5)]
    stripe_tax.heal()
    eventually(lambda: [row["name"] for row in quote_answer(deps, body, Buyer(None))["tax"]] == ["VAT"])


def test_a_service_that_hangs_is_not_waited_for_again_and_again(
    shop: Shop, stripe_tax: StripeTaxStandIn
) -> None:
    stripe_tax.break_("hang")

    def is_not_asked() -> bool:
        goods, before = shop.product(price=next(_price), delivery=0), stripe_tax.accepted
        assert quote(shop.orders, {goods: 1}).status_code == 503
        return stripe_tax.accepted == before

    eventually(is_not_asked)
    stripe_tax.heal()
    goods = shop.product(price=next(_price), delivery=0)
    eventually(lambda: quote(shop.orders, {goods: 1}).status_code == 200)


def test_an_address_without_the_postcode_it_needs_is_refused_by_field(shop: Shop, goods: str) -> None:
    answer = quoted(shop.orders, {goods: 1}, address={"country": "US", "region": "CA"})
    assert (answer.status_code, answer.json()["code"]) == (422, "tax_location_invalid"), answer.text
    assert "address" in answer.json()["errors"]


def test_a_class_has_the_code_that_the_settings_give_it(shop: Shop) -> None:
    content = shop.admin.get(f"{shop.products}/v1/products/{shop.product(price=1200)}", timeout=30).json()
    names = ("taxonomy", "keywords", "brand", "name", "description", "colours", "image", "price")
    book = f"b{secrets.token_hex(4)}"
    body = {name: content[name] for name in names} | {"productid": book, "tax_class": "books", "stock": 5}
    assert shop.admin.post(f"{shop.products}/v1/products", json=body, timeout=30).status_code == 201
    found = quoted(shop.orders, {book: 1}).json()
    assert due(found)[0] == ("", 0, 1200, 0)


def test_more_lines_than_a_page_of_the_answer_has(shop: Shop) -> None:
    items = {shop.product(price=100 + number, delivery=0): 1 + number % 3 for number in range(23)}
    found = quoted(shop.orders, items).json()
    check_sums(found)
    assert {line["tax"]["rate"] for line in found["items"]} == {20}


def asked(provider: StripeTax, question: TaxQuestion) -> tuple[TaxedItem, ...]:
    """Nothing when the answer was too late."""
    try:
        return provider.taxes(question)
    except TaxUnavailable:
        return ()


@given(
    amounts=st.lists(st.tuples(st.integers(0, 10**7), st.booleans()), min_size=1, max_size=12),
    shipping=st.integers(0, 10**5),
    place=st.sampled_from([Destination("GB"), Destination("DE"), Destination("US", "CA", "92101")]),
)
@settings(max_examples=60)
def test_what_is_said_of_each_line_adds_up(
    amounts: list[tuple[int, bool]], shipping: int, place: Destination, stripe_tax: StripeTaxStandIn
) -> None:
    items = [TaxItem(amount, 1, "standard", included) for amount, included in [*amounts, (shipping, True)]]
    question = TaxQuestion(GBP, Destination("GB"), place, "2026-01-31", tuple(items))
    taxed = eventually(lambda: asked(StripeTax(stripe_tax.url, API_KEY, {}), question))
    for item, tax in zip(items, taxed, strict=True):
        rate = tax.parts_per_million / 1_000_000
        exact = item.amount * (rate / (1 + rate) if item.included else rate)
        assert abs(tax.amount - exact) <= 0.5001
        assert not item.amount or tax.name


def test_an_answer_that_does_not_add_up_charges_nobody(stripe_tax: StripeTaxStandIn) -> None:
    question = TaxQuestion(
        GBP, Destination("GB"), Destination("GB"), "2026-01-31", (TaxItem(100, 1, "standard", True),) * 2
    )
    provider = StripeTax(stripe_tax.url, API_KEY, {})
    right = eventually(lambda: asked(provider, question))
    assert [each.amount for each in right] == [17, 17]
    line = {"reference": "0", "amount_tax": -5, "tax_breakdown": []}
    for lines, total in (
        ([line], 195),
        ([line | {"amount_tax": 17}], 1),
        ([line | {"amount_tax": 500}], 200),
    ):
        shipping = {"amount_tax": 17, "tax_breakdown": []}
        stripe_tax.break_(
            (
                200,
                {"id": "t", "amount_total": total, "line_items": {"data": lines}, "shipping_cost": shipping},
            )
        )
        with pytest.raises(TaxUnavailable):
            provider.taxes(question)
