"""What goods cost the shop to buy: told to staff alone, carried by imports and exports, added up to what the stock is worth."""

import csv
import io
from typing import Any

import pytest

from tests.services.products.conftest import ADMIN, Shop, eventually, product, token

SECRET = 1_234_567
PATHS = (
    "/v1/products/sluice-gate",
    "/v1/products/sluice-gate?currency=GBP",
    "/v1/products/sluice-gate?reviews=5",
    "/v1/products/sluice-hinge-left",
    "/v1/products?category=Sluices%23Gates",
    "/v1/products?category=Sluices&subcategories=true",
    "/v1/products?q=sluiceware",
    "/v1/products/sluice-gate/related",
    "/v1/categories",
    "/v1/products/sync/Sluices%23Gates/_changes?include_docs=true",
)
STAFF = token("admin", "staff")


@pytest.fixture(scope="module")
def sluices(shop: Shop) -> Shop:
    named = {"name": "Sluiceware", "related": ["sluice-hinge"]}
    hinge = {
        "taxonomy": ["Sluices", "Hinges"],
        "options": [{"name": "Side", "values": ["left", "right"]}],
        "cost_prices": {"GBP": SECRET},
        "variants": [
            {
                "sku": "sluice-hinge-left",
                "options": {"Side": "left"},
                "stock": 4,
                "cost_prices": {"GBP": 250},
            },
            {"sku": "sluice-hinge-right", "options": {"Side": "right"}, "stock": 2},
        ],
    }
    gates = {"taxonomy": ["Sluices", "Gates"]}
    loaded = shop.load(
        [
            product("sluice-gate", stock=3, cost_prices={"GBP": SECRET, "EUR": 700}, **gates, **named),
            product("sluice-plank", stock=10, **gates),
            product("sluice-hinge", name="Sluiceware hinge", **hinge),
            product("sluice-draft", stock=1, cost_prices={"GBP": 31}, taxonomy=["Sluices"], status="draft"),
            product("sluice-card", kind="gift_card", stock=50, cost_prices={"GBP": 9}, taxonomy=["Sluices"]),
        ]
    )
    assert loaded["failed"] == []
    return shop


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "who", [None, token("u1"), token("u1", group="trade")], ids=["nobody", "customer", "member"]
)
def test_nobody_but_staff_is_told_what_goods_cost(
    sluices: Shop, path: str, who: dict[str, str] | None
) -> None:
    sluices.get(path, STAFF)
    eventually(lambda: b"luice" in sluices.get(path, who).body)
    body = sluices.get(path, who).body
    assert b"cost" not in body
    assert str(SECRET).encode() not in body


def test_a_look_up_for_a_checkout_is_not_told_either(sluices: Shop) -> None:
    found = sluices.request(
        "POST", "/v1/products/lookup", {"productids": ["sluice-gate", "sluice-hinge-left"]}
    )
    assert len(found.json["found"]) == 2
    assert b"cost" not in found.body


def test_staff_reads_and_changes_cost_prices(sluices: Shop) -> None:
    read = sluices.ok("/v1/products/sluice-hinge", STAFF)
    assert read["cost_prices"] == {"GBP": SECRET}
    assert [each.get("cost_prices") for each in read["variants"]] == [{"GBP": 250}, None]
    public = {
        name: value
        for name, value in read.items()
        if name not in ("cost_prices", "rating", "stock", "highest_price")
    }
    public["variants"] = [
        {name: value for name, value in each.items() if name != "cost_prices"} for each in read["variants"]
    ]
    assert sluices.admin("PUT", "/v1/products/sluice-hinge", public).status == 200
    after = sluices.ok("/v1/products/sluice-hinge", STAFF)
    assert after["cost_prices"] == {"GBP": SECRET}, "what a request does not name stays"
    assert after["variants"][0]["cost_prices"] == {"GBP": 250}


def test_the_tag_of_staffs_answer_is_not_everybodys(sluices: Shop) -> None:
    everybodys = sluices.get("/v1/products/sluice-gate").headers["ETag"]
    again = sluices.get("/v1/products/sluice-gate", STAFF | {"If-None-Match": everybodys})
    assert again.status == 200
    assert again.json["cost_prices"] == {"GBP": SECRET, "EUR": 700}


@pytest.mark.parametrize("wrong", [{"GBP": -1}, {"XXX": 5}, {"GBP": 1.5}, 5])
def test_a_wrong_cost_price_is_refused_by_its_name(sluices: Shop, wrong: Any) -> None:
    sent = product("sluice-wrong", cost_prices=wrong)
    answer = sluices.admin("POST", "/v1/products", sent)
    assert answer.status == 422
    assert "cost_prices" in str(answer.json["errors"])


def test_an_export_as_csv_brings_cost_prices_back(sluices: Shop) -> None:
    text = sluices.get("/v1/products/export", token(*ADMIN) | {"Accept": "text/csv"}).body.decode()
    rows = [
        row
        for row in csv.DictReader(io.StringIO(text))
        if row["productid"] in ("sluice-gate", "sluice-hinge")
    ]
    assert [row["variant_cost_prices"] for row in rows if row["sku"] == "sluice-hinge-left"] == [
        '{"GBP":250}'
    ]
    gate = next(row for row in rows if row["productid"] == "sluice-gate")
    out = io.StringIO()
    writer = csv.DictWriter(out, list(gate))
    writer.writeheader()
    writer.writerow({**gate, "cost_prices": '{"GBP":4321}'})
    headers = token(*ADMIN) | {"Content-Type": "text/csv"}
    answer = sluices.request("POST", "/v1/products/import", out.getvalue().encode(), headers)
    assert answer.json["failed"] == []
    assert sluices.ok("/v1/products/sluice-gate", STAFF)["cost_prices"] == {"GBP": 4321}
    back = {**gate}
    out = io.StringIO()
    writer = csv.DictWriter(out, list(back))
    writer.writeheader()
    writer.writerow(back)
    assert (
        sluices.request("POST", "/v1/products/import", out.getvalue().encode(), headers).json["failed"] == []
    )


def test_the_stock_is_worth_what_it_cost(sluices: Shop) -> None:
    path = "/v1/products/stock-value"

    def value() -> list[tuple[str, int, int, int, str]]:
        return [
            (
                row["category"],
                row["units"],
                row["units_valued"],
                row["value"]["amount"],
                row["value"]["currency"],
            )
            for row in sluices.ok(path, STAFF)["rows"]
            if row["category"].startswith("Sluices")
        ]

    expected = [
        ("Sluices", 1, 1, 31, "GBP"),
        ("Sluices#Gates", 13, 3, 2100, "EUR"),
        ("Sluices#Gates", 13, 3, 3 * SECRET, "GBP"),
        ("Sluices#Hinges", 6, 6, 4 * 250 + 2 * SECRET, "GBP"),
    ]
    eventually(lambda: value() == expected)
    answer = sluices.get(path, STAFF)
    assert answer.calls == {"global": 1}
    departments = sluices.ok(path, STAFF, depth=1, currency="GBP")
    row = next(row for row in departments["rows"] if row["category"] == "Sluices")
    assert (row["units"], row["units_valued"]) == (20, 10)
    assert row["value"]["amount"] == 31 + 4 * 250 + 5 * SECRET
    assert [each["value"]["currency"] for each in departments["totals"]] == ["GBP"]


def test_stock_that_leaves_is_worth_nothing_any_more(sluices: Shop) -> None:
    change = {"delta": -10, "reason": "rotten"}
    assert sluices.admin("POST", "/v1/products/sluice-plank/stock", change).status == 201

    def units() -> int:
        rows = sluices.ok("/v1/products/stock-value", STAFF, currency="EUR")["rows"]
        return int(next(row["units"] for row in rows if row["category"] == "Sluices#Gates"))

    eventually(lambda: units() == 3)


def test_the_values_are_a_file_too(sluices: Shop) -> None:
    answer = sluices.get("/v1/products/stock-value", STAFF | {"Accept": "text/csv"}, currency="EUR")
    rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
    found = next(row for row in rows if row["category"] == "Sluices#Gates")
    assert (found["units_valued"], found["value"], found["currency"]) == ("3", "21.00", "EUR")


@pytest.mark.parametrize(("who", "status"), [(None, 401), (token("u1"), 403)])
def test_customers_are_not_told_what_the_stock_is_worth(
    sluices: Shop, who: dict[str, str] | None, status: int
) -> None:
    assert sluices.get("/v1/products/stock-value", who).status == status


def test_what_shopify_says_of_costs_is_taken_over(sluices: Shop) -> None:
    header = "Handle,Title,Type,Option1 Name,Option1 Value,Variant SKU,Variant Price,Cost per item,Status\n"
    rows = "sluice-pump,Pump,Pumps,Size,S,sluice-pump-s,50,20.05,active\nsluice-pump,,,,L,sluice-pump-l,60,,active\n"
    rows += "sluice-oil,Oil,Pumps,,,sluice-oil-1,9,3.5,active\n"
    headers = token(*ADMIN) | {"Content-Type": "text/csv"}
    query = {"format": "shopify", "pictures": "none", "currency": "GBP"}
    answer = sluices.request("POST", "/v1/products/import", (header + rows).encode(), headers, **query)
    assert answer.json["failed"] == [], answer.body
    variants = sluices.ok("/v1/products/sluice-pump", STAFF)["variants"]
    assert [each.get("cost_prices") for each in variants] == [{"GBP": 2005}, None]
    assert sluices.ok("/v1/products/sluice-oil", STAFF)["cost_prices"] == {"GBP": 350}
