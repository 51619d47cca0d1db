"""Prices in several currencies, compared with others, from a time to a time, and for customer groups."""

from datetime import timedelta
from typing import Any

import orjson

from services.products.actions import maintenance
from services.products.dependencies import Dependencies
from services.products.documents import product_id
from services.products.resources.files import CSV
from shared.clock import iso, now
from tests.services.products.conftest import ADMIN, SERVICE, Shop, eventually, product, token

PLACE = ["Money", "Coins"]
OPTIONS = [{"name": "Size", "values": ["S", "L"]}]


def gbp(amount: int) -> dict[str, Any]:
    return {"amount": amount, "currency": "GBP"}


def eur(amount: int) -> dict[str, Any]:
    return {"amount": amount, "currency": "EUR"}


def priced(productid: str, pounds: int, euros: int | None = None, **fields: Any) -> dict[str, Any]:
    prices = {"prices": {"GBP": pounds, "EUR": euros}} if euros is not None else {}
    return product(productid, **{"taxonomy": PLACE, "price": gbp(pounds), **prices, **fields})


def sized(productid: str, **fields: Any) -> dict[str, Any]:
    variants = [
        {"sku": f"{productid}-{size}", "options": {"Size": size}, "stock": 5, **more}
        for size, more in (("S", {}), ("L", {"prices": {"GBP": 1800, "EUR": 2100}}))
    ]
    return priced(productid, 1500, 1750, options=OPTIONS, variants=variants, **fields)


def put(shop: Shop, body: dict[str, Any]) -> dict[str, Any]:
    answer = shop.admin("PUT", f"/v1/products/{body['productid']}", body)
    assert answer.status == 200, answer.body
    return dict(answer.json)


def history(shop: Shop, productid: str) -> list[dict[str, Any]]:
    return list(shop.admin("GET", f"/v1/products/{productid}/prices").json["items"])


def hours(count: int) -> str:
    return iso(now() + timedelta(hours=count))


def test_a_product_answers_in_the_currency_that_is_asked_for(shop: Shop):
    shop.load([priced("mug", 1499, 1790), priced("cup", 900)])
    assert shop.ok("/v1/products/mug")["price"] == gbp(1499)
    found = shop.get("/v1/products/mug", currency="EUR")
    assert (found.json["price"], found.json["prices"]) == (eur(1790), {"GBP": 1499, "EUR": 1790})
    assert found.calls == {"global": 1}
    assert found.headers["ETag"] != shop.get("/v1/products/mug").headers["ETag"]
    missing = shop.ok("/v1/products/cup", currency="EUR")
    assert (missing["price"], missing["prices"]) == (None, {"GBP": 900})
    assert shop.get("/v1/products/mug", currency="XXX").status == 422
    offers = shop.request(
        "POST", "/v1/products/lookup", {"productids": ["mug", "cup"], "currency": "EUR"}
    ).json["found"]
    assert [(each["price"], each["for_sale"], each.get("not_sold_in")) for each in offers] == [
        (eur(1790), True, None),
        (None, False, "EUR"),
    ]


def test_an_answer_of_one_currency_is_as_it_always_was(shop: Shop):
    shop.load([priced("plain", 500)])
    found = shop.ok("/v1/products/plain")
    assert not {"prices", "sales", "compare_at_price", "sale_ends", "delivery_prices"} & found.keys()
    assert found["price"] == gbp(500)
    assert found["delivery"] == gbp(0)


def test_lists_never_mix_currencies(shop: Shop):
    place = ["Money", "Mixed"]
    rows = [(f"both{n}", 1000 + n * 70, 3000 - n * 90) for n in range(7)]
    shop.load(
        [priced(each, pounds, euros, taxonomy=place, brand="Both") for each, pounds, euros in rows]
        + [priced(f"pound{n}", 900 + n, taxonomy=place, brand="Pound") for n in range(3)]
        + [
            product(
                f"yen{n}",
                taxonomy=place,
                brand="Yen",
                delivery=None,
                price={"amount": 100 + n, "currency": "JPY"},
            )
            for n in range(2)
        ]
    )
    path = "#".join(place)
    for query in (
        {},
        {"sort": "price"},
        {"sort": "-price"},
        {"sort": "price", "brand": "Both"},
        {"facets": "brand,price,currency"},
        {"facets": "brand,price", "stale_facets": "true", "subcategories": "true"},
        {"subcategories": "true", "sort": "price", "facets": "price"},
        {"q": "both"},
        {"min_price": 2500, "sort": "price"},
        {"min_price": 2500},
    ):
        eventually(
            lambda query=query: (
                len(shop.ok("/v1/products", category=path, currency="EUR", limit=50, **query)["items"])
                in (7, 6)
            )
        )
        found = shop.ok("/v1/products", category=path, currency="EUR", limit=50, **query)
        prices = [each["price"] for each in found["items"]]
        assert {each["currency"] for each in prices} == {"EUR"}, query
        amounts = [each["amount"] for each in prices]
        if query.get("sort") == "price":
            assert amounts == sorted(amounts)
        if query.get("sort") == "-price":
            assert amounts == sorted(amounts, reverse=True)
        if "price" in query.get("facets", ""):
            assert sum(band["count"] for band in found["facets"]["price"]) == 7
            assert {band["value"] for band in found["facets"]["price"]} == {"2000-4999"}
    assert len(shop.ok("/v1/products", category=path, currency="JPY")["items"]) == 2
    first = shop.ok("/v1/products", category=path, currency="EUR", sort="price", limit=3)
    second = shop.ok(
        "/v1/products", category=path, currency="EUR", sort="price", limit=3, cursor=first["next"]
    )
    third = shop.ok(
        "/v1/products", category=path, currency="EUR", sort="price", limit=3, cursor=second["next"]
    )
    ids = [each["productid"] for page in (first, second, third) for each in page["items"]]
    assert ids == [f"both{n}" for n in reversed(range(7))]
    assert third["next"] is None
    assert shop.get("/v1/products", category=path, currency="EUR", sort="price").calls == {"partition": 1}


def test_variants_have_prices_in_every_currency(shop: Shop):
    created = shop.admin("POST", "/v1/products", sized("shirt"))
    assert created.status == 201, created.body
    found = shop.ok("/v1/products/shirt", currency="EUR")
    assert {each["sku"]: each["price"] for each in found["variants"]} == {
        "shirt-S": eur(1750),
        "shirt-L": eur(2100),
    }
    assert (found["price"], found["highest_price"]) == (eur(1750), eur(2100))
    partly = sized("partly")
    partly["variants"][1]["prices"]["USD"] = 2500
    refused = shop.admin("POST", "/v1/products", partly)
    assert refused.status == 422
    assert "partly-S has no price in USD" in refused.json["errors"]["variants"][0]
    cheaper = sized("cheaper")
    cheaper["variants"][0]["prices"] = {"EUR": 1600}
    assert shop.admin("POST", "/v1/products", cheaper).status == 201
    assert shop.ok("/v1/products/cheaper", currency="EUR")["price"] == eur(1600)
    assert shop.ok("/v1/products/cheaper")["prices"] == {"GBP": 1500, "EUR": 1600}


def test_an_old_client_changes_the_price_it_knows_and_leaves_the_others(shop: Shop):
    shop.load([priced("old", 1000, 1200)])
    read = shop.ok("/v1/products/old")
    changed = put(shop, read | {"price": gbp(1100)})
    assert changed["prices"] == {"GBP": 1100, "EUR": 1200}
    changed = put(
        shop, {name: value for name, value in read.items() if name != "prices"} | {"price": gbp(900)}
    )
    assert changed["prices"] == {"GBP": 900, "EUR": 1200}
    assert put(shop, shop.ok("/v1/products/old", currency="EUR"))["price"] == gbp(900)
    both = shop.admin("PUT", "/v1/products/old", read | {"price": gbp(1), "prices": {"GBP": 2, "EUR": 3}})
    assert (both.status, list(both.json["errors"])) == (422, ["price"])
    assert "prices" not in put(shop, read | {"price": gbp(900), "prices": {"GBP": 900}})


def test_delivery_has_a_charge_in_every_currency_or_none(shop: Shop):
    body = priced("heavy", 1000, 1200, delivery=gbp(300))
    refused = shop.admin("POST", "/v1/products", body)
    assert (refused.status, refused.json["errors"]) == (422, {"delivery_prices": ["Missing for EUR."]})
    created = shop.admin("POST", "/v1/products", body | {"delivery_prices": {"GBP": 300, "EUR": 350}})
    assert created.status == 201, created.body
    assert shop.ok("/v1/products/heavy", currency="EUR")["delivery"] == eur(350)
    again = put(shop, shop.ok("/v1/products/heavy", currency="EUR"))
    assert (again["delivery"], again["delivery_prices"]) == (gbp(300), {"GBP": 300, "EUR": 350})


def test_a_sale_is_in_force_to_the_second_and_lists_follow(shop: Shop, deps: Dependencies):
    ends, category = hours(1), {"taxonomy": ["Money", "Sales"]}
    for seconds in (2, 10, 60):  # until it is read before the sale, however slow the machine is
        begins = iso(now() + timedelta(seconds=seconds))
        sale = {"prices": {"GBP": 500}, "from": begins, "until": ends}
        shop.load(
            [priced("sold", 1000, 1200, sales=[sale], **category), priced("other", 700, 800, **category)]
        )
        before = shop.ok("/v1/products/sold")["price"]
        if iso(now()) < begins:
            break
    assert before == gbp(1000)
    eventually(lambda: shop.ok("/v1/products/sold")["price"] == gbp(500))
    assert iso(now()) >= begins
    found = shop.ok("/v1/products/sold")
    assert (found["compare_at_price"], found["sale_ends"]) == (gbp(1000), ends)
    assert "sales" not in found
    assert shop.ok("/v1/products/sold", token(*ADMIN))["sales"] == [sale]
    assert shop.ok("/v1/products/sold", currency="EUR")["price"] == eur(1200)
    maintenance.refresh_sale_prices(deps, now())

    def cheapest(currency: str) -> str:
        query = {"category": "Money#Sales", "sort": "price", "currency": currency}
        return str(shop.ok("/v1/products", **query)["items"][0]["productid"])

    eventually(lambda: cheapest("GBP") == "sold")
    assert cheapest("EUR") == "other"
    eventually(
        lambda: (
            shop.ok("/v1/products", category="Money#Sales", currency="GBP", max_price=600, q="")["items"]
            != []
        )
    )
    assert maintenance.refresh_sale_prices(deps, now()) == 0
    late = now() + timedelta(hours=2)
    assert maintenance.refresh_sale_prices(deps, late) == 1
    assert "current_prices" not in deps.catalogue.get(product_id(["Money", "Sales"], "sold"))


def test_who_reads_during_a_sale_and_writes_back_changes_nothing(shop: Shop):
    sale = {"prices": {"GBP": 500}, "until": hours(1)}
    shop.load([priced("kept", 1000, sales=[sale])])
    read = shop.ok("/v1/products/kept")
    assert (read["price"], read["prices"]) == (gbp(500), {"GBP": 1000})
    put(shop, read | {"name": "Renamed"})
    kept = shop.ok("/v1/products/kept", token(*ADMIN))
    assert (kept["name"], kept["prices"], kept["sales"]) == ("Renamed", {"GBP": 1000}, [sale])
    assert "sales" not in put(shop, kept | {"sales": []})


def test_a_sale_of_a_variant(shop: Shop):
    body = sized("sport")
    body["variants"][1]["sales"] = [{"prices": {"EUR": 1400}, "until": hours(1)}]
    body["variants"][0]["compare_at_prices"] = {"GBP": 1999}
    assert shop.admin("POST", "/v1/products", body).status == 201
    found = shop.ok("/v1/products/sport", currency="EUR")
    assert (found["price"], found["compare_at_price"]) == (eur(1400), eur(2100))
    large = next(each for each in found["variants"] if each["sku"] == "sport-L")
    assert (large["price"], large["compare_at_price"], "sales" in large) == (eur(1400), eur(2100), False)
    [offer] = shop.request(
        "POST", "/v1/products/lookup", {"productids": ["sport-L"], "currency": "EUR"}
    ).json["found"]
    assert (offer["price"], offer["sale_ends"]) == (eur(1400), body["variants"][1]["sales"][0]["until"])
    put(shop, found | {"name": "Still"})
    small = shop.ok("/v1/products/sport")["variants"][0]
    assert (small["price"], small["compare_at_price"]) == (gbp(1500), gbp(1999))


def test_a_group_pays_its_own_price_and_nobody_else_reads_it(shop: Shop):
    shop.load([priced("wholesale", 1000, group_prices={"trade": {"GBP": 700}})])
    trade = token("t1", group="trade")
    found = shop.get("/v1/products/wholesale", trade)
    assert (found.json["price"], found.json["compare_at_price"]) == (gbp(700), gbp(1000))
    assert "private" in found.headers["Cache-Control"]
    assert found.calls == {"global": 1}
    public = shop.get("/v1/products/wholesale")
    assert (public.json["price"], "private" in public.headers["Cache-Control"]) == (gbp(1000), False)
    assert "group_prices" not in public.json
    body = {"productids": ["wholesale"], "group": "trade"}
    assert shop.request("POST", "/v1/products/lookup", body).json["found"][0]["price"] == gbp(1000)
    assert shop.request("POST", "/v1/products/lookup", body, SERVICE).json["found"][0]["price"] == gbp(700)


def test_the_history_says_what_changed_and_who_did_it(shop: Shop):
    shop.load([priced("history", 1000, 1200)])
    read = shop.ok("/v1/products/history", token(*ADMIN))
    sale = {"prices": {"EUR": 900}, "until": hours(1)}
    put(shop, read | {"price": gbp(1100), "prices": {"GBP": 1100, "EUR": 1200}, "sales": [sale]})
    changes = history(shop, "history")
    assert {each["by"] for each in changes} == {"admin"}
    assert [(each.get("kind"), each["before"], each["after"]) for each in changes] == [
        ("sale", None, eur(900)),
        (None, gbp(1000), gbp(1100)),
    ] or [(each.get("kind"), each["before"], each["after"]) for each in changes] == [
        (None, gbp(1000), gbp(1100)),
        ("sale", None, eur(900)),
    ]


def test_csv_and_ndjson_carry_all_prices_there_and_back(shop: Shop):
    sale = {"prices": {"EUR": 900}, "from": hours(-1), "until": hours(5)}
    body = sized(
        "round", sales=[sale], compare_at_prices={"GBP": 1999}, group_prices={"trade": {"EUR": 1500}}
    )
    body["variants"][1]["sales"] = [sale]
    assert shop.admin("POST", "/v1/products", body).status == 201
    for kind in (CSV, "application/x-ndjson"):
        exported = shop.get("/v1/products/export", token(*ADMIN) | {"Accept": kind}).body
        before = shop.ok("/v1/products/round", token(*ADMIN))
        put(
            shop,
            before
            | {
                "prices": {"GBP": 1, "EUR": 2},
                "price": gbp(1),
                "sales": [],
                "group_prices": {},
                "compare_at_prices": {},
            },
        )
        answer = shop.request("POST", "/v1/products/import", exported, token(*ADMIN) | {"Content-Type": kind})
        assert (answer.status, answer.json["failed"]) == (200, []), answer.body
        assert shop.ok("/v1/products/round", token(*ADMIN)) == before


def test_a_csv_file_names_a_price_by_its_currency(shop: Shop):
    head = "productid,taxonomy,name,price_GBP,price_EUR,stock\n"
    text = head + "incsv,Money#Coins,In CSV,1000,1200,3\nbadcsv,Money#Coins,Bad,ten,1,1\n"
    answer = shop.request("POST", "/v1/products/import", text.encode(), token(*ADMIN) | {"Content-Type": CSV})
    assert answer.status == 200, answer.body
    assert answer.json["created"] == 1
    assert [each["line"] for each in answer.json["failed"]] == [3]
    assert shop.ok("/v1/products/incsv", currency="EUR")["price"] == eur(1200)


def test_documents_of_schema_1_answer_as_before_and_are_listed_in_their_currency(
    shop: Shop, deps: Dependencies
):
    shop.load([priced("ancient", 800, taxonomy=["Money", "Ancient"])])
    docid = product_id(["Money", "Ancient"], "ancient")
    doc = {name: value for name, value in deps.catalogue.get(docid).items() if name != "prices"}
    deps.catalogue.put(doc | {"schema": 1})
    assert shop.ok("/v1/products/ancient")["price"] == gbp(800)
    for query in ({}, {"sort": "price"}, {"q": "ancient"}, {"sort": "name"}):
        eventually(
            lambda query=query: (
                len(shop.ok("/v1/products", category="Money#Ancient", currency="GBP", **query)["items"]) == 1
            )
        )
    assert shop.ok("/v1/products", category="Money#Ancient", currency="EUR")["items"] == []
    assert orjson.dumps(deps.catalogue.get(docid)["prices"]) == b'{"GBP":800}'
