"""Products with options are sold as variants, each with a SKU, a price, a picture and a stock of its own."""

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest

from services.products.actions import maintenance, skus
from services.products.actions.stock import Line
from services.products.dependencies import Dependencies
from services.products.documents import DESIGN, PRODUCT, SKU_CLAIM, product_id, sku_claim_id
from services.products.resources.files import CSV, NDJSON
from shared.clock import iso, now
from shared.couch import Server
from tests.services.products.conftest import ADMIN, Shop, eventually, open_as_worker, product, token

KITCHEN = ["Home", "Kitchen"]
SIZES, COLOURS = ["S", "M", "L"], ["red", "blue"]


@pytest.fixture(scope="module")
def deps(shop: Shop, environment: dict[str, str]) -> Dependencies:
    return open_as_worker(environment)


def shirt(productid: str, **fields: Any) -> dict[str, Any]:
    """Six variants, ten of each; the large ones cost more."""
    variants = [
        {
            "sku": f"{productid}-{size}-{colour}",
            "options": {"Size": size, "Colour": colour},
            "stock": 10,
            **({"prices": {"GBP": 1200}} if size == "L" else {}),
        }
        for size in SIZES
        for colour in COLOURS
    ]
    options = [{"name": "Size", "values": [*SIZES]}, {"name": "Colour", "values": [*COLOURS]}]
    return product(productid, options=options, variants=variants, **fields)


def variants_by_sku(found: dict[str, Any]) -> dict[str, Any]:
    return {variant["sku"]: variant for variant in found["variants"]}


def line(productid: str, sku: str, quantity: int = 1) -> dict[str, Any]:
    return {"productid": productid, "sku": sku, "taxonomy": KITCHEN, "quantity": quantity}


def reserve(shop: Shop, orderid: str, *lines: dict[str, Any]) -> Any:
    body = {"orderid": orderid, "items": list(lines), "expires": iso(now() + timedelta(minutes=15))}
    return shop.service("/v1/internal/reservations", body)


def level(shop: Shop, productid: str, sku: str) -> int:
    return int(shop.admin("GET", f"/v1/products/{productid}/stock?sku={sku}").json["stock"])


def edit(shop: Shop, productid: str, **changes: Any) -> Any:
    return shop.admin("PUT", f"/v1/products/{productid}", shop.ok(f"/v1/products/{productid}") | changes)


def test_a_product_is_found_by_its_productid_and_by_each_sku_for_one_query(shop: Shop):
    created = shop.admin("POST", "/v1/products", shirt("tee"))
    assert created.status == 201, created.body
    by_sku, by_id = shop.get("/v1/products/tee-L-red"), shop.get("/v1/products/tee")
    assert by_sku.json == by_id.json == created.json
    assert by_sku.calls == by_id.calls == {"global": 1}
    found = by_id.json
    assert (found["price"]["amount"], found["highest_price"]["amount"], found["stock"]) == (1000, 1200, 60)
    variant = variants_by_sku(found)["tee-L-red"]
    assert variant == {
        "sku": "tee-L-red",
        "options": {"Size": "L", "Colour": "red"},
        "prices": {"GBP": 1200},
        "active": True,
        "price": {"amount": 1200, "currency": "GBP"},
        "stock": 10,
    }
    assert shop.get("/v1/products/tee-XL-red").status == 404


def test_a_product_without_options_is_answered_as_ever(shop: Shop):
    shop.load([product("plain", stock=3)])
    found = shop.ok("/v1/products/plain")
    assert not {"options", "variants", "highest_price", "sku"} & found.keys()
    looked_up = shop.request("POST", "/v1/products/lookup", {"productids": ["plain"]}).json["found"][0]
    assert (looked_up["sku"], looked_up["for_sale"]) == ("plain", True)


def test_a_list_has_the_lowest_price_and_the_highest_and_no_variants(shop: Shop):
    shop.load([shirt("listed", taxonomy=["Lists"])])
    item = shop.ok("/v1/products", category="Lists")["items"][0]
    assert (item["price"]["amount"], item["highest_price"]["amount"]) == (1000, 1200)
    assert [option["name"] for option in item["options"]] == ["Size", "Colour"]
    assert "variants" not in item


def test_a_look_up_answers_each_variant_as_it_is_bought(shop: Shop):
    body = shirt("looked")
    body["variants"][0]["picture"] = "/v1/pictures/small-red"
    body["variants"][1]["active"] = False
    shop.load([body])
    asked = ["looked-S-red", "looked", "looked-S-blue", "looked-L-red", "nothing"]
    answer = shop.request("POST", "/v1/products/lookup", {"productids": asked})
    assert answer.calls == {"global": 1}
    small, whole, inactive, large = answer.json["found"]
    assert answer.json["missing"] == ["nothing"]
    assert (small["sku"], small["productid"], small["stock"], small["image"]) == (
        "looked-S-red",
        "looked",
        10,
        "/v1/pictures/small-red",
    )
    assert small["selected_options"] == {"Size": "S", "Colour": "red"}
    assert large["price"] == {"amount": 1200, "currency": "GBP"}
    assert [each["for_sale"] for each in (small, whole, inactive, large)] == [True, False, False, True]
    assert whole["sku"] is None


def test_the_products_price_is_that_of_its_cheapest_active_variant(shop: Shop):
    body = shirt("priced")
    body["variants"][0] |= {"prices": {"GBP": 700}, "active": False}
    body["variants"][1] |= {"prices": {"GBP": 800}}
    shop.load([body])
    found = shop.ok("/v1/products/priced")
    assert found["price"]["amount"] == 800
    assert [variant["price"]["amount"] for variant in found["variants"]] == [700, 800, 1000, 1000, 1200, 1200]
    assert shop.load([body])["unchanged"] == 1
    assert edit(shop, "priced", price={"amount": 1500, "currency": "GBP"}).status == 200
    found = shop.ok("/v1/products/priced")
    assert [variant["price"]["amount"] for variant in found["variants"]] == [
        700,
        1500,
        1000,
        1000,
        1200,
        1200,
    ]
    assert found["price"]["amount"] == 1000
    history = shop.admin("GET", "/v1/products/priced/prices").json["items"]
    assert [(each.get("sku"), each["after"]["amount"]) for each in history] == [
        ("priced-S-blue", 1500),
        (None, 1000),
    ]


WRONG: list[tuple[Any, str]] = [
    (
        lambda body: body["variants"][0]["options"].update(Size="XXL"),
        "Size has no value XXL; it has S, M, L.",
    ),
    (lambda body: body["variants"][0]["options"].pop("Size"), "Entry 1 has no Size."),
    (lambda body: body["variants"][0]["options"].update(Fit="slim"), "there is no option Fit."),
    (lambda body: body["variants"][1]["options"].update(Colour="red"), "Entries 1 and 2 are alike: S, red."),
    (
        lambda body: body["variants"][1].update(sku="bad-S-red"),
        "Entries 1 and 2 have the same SKU, bad-S-red.",
    ),
    (
        lambda body: body["variants"][0].update(prices={"EUR": 900}),
        "has no price in EUR, and neither has the product.",
    ),
    (
        lambda body: body["variants"][0].update(prices={"GBP": -1}),
        "Entry 1, prices: GBP: amount must be a whole number",
    ),
    (lambda body: body["variants"][0].update(sku="a b"), "Entry 1, sku: Only letters, digits"),
    (lambda body: body["variants"][0].update(sku="suggest"), "a word that the API uses"),
    (lambda body: body["variants"][0].update(size="S"), "Entry 1: size is unknown."),
    (lambda body: body.update(variants=[]), "needs at least one variant."),
    (lambda body: body.update(options=[]), "there is no option"),
    (lambda body: body["options"].append({"name": "Size", "values": ["1"]}), "There are two options Size."),
    (lambda body: body["options"][0]["values"].append("S"), "Size has the value S twice."),
    (
        lambda body: body.update(variants=[{"sku": f"v{n}", "options": {}} for n in range(251)]),
        "Must have 250 entries at most, not 251.",
    ),
]


@pytest.mark.parametrize(("spoil", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_wrong_with_variants_is_said_with_the_line_and_the_reason(
    shop: Shop, spoil: Any, message: str
):
    body = shirt("bad")
    spoil(body)
    failed = shop.load([product("good"), body])["failed"]
    assert [each["line"] for each in failed] == [2]
    assert message in failed[0]["detail"]
    answer = shop.admin("POST", "/v1/products", body)
    assert (answer.status, answer.json["code"]) in ((422, "invalid"), (422, "invalid_product"))


def test_a_sku_belongs_to_one_product(shop: Shop):
    shop.load([shirt("mine"), product("article")])
    for sku in ("mine-S-red", "mine", "article"):
        thief = shirt("thief")
        thief["variants"][0]["sku"] = sku
        answer = shop.admin("POST", "/v1/products", thief)
        assert (answer.status, answer.json["code"]) == (409, "sku_taken"), sku
        assert shop.load([thief])["failed"][0]["code"] == "sku_taken"
    answer = shop.admin("POST", "/v1/products", product("mine-S-red"))
    assert (answer.status, answer.json["code"]) == (409, "product_exists")
    assert shop.load([product("mine-S-red")])["failed"][0]["code"] == "sku_taken"
    assert shop.get("/v1/products/thief").status == 404
    honest = shirt("honest")
    honest["variants"][0]["sku"] = "honest"
    assert shop.admin("POST", "/v1/products", honest).status == 201, "its own productid may be a SKU"


def test_two_in_one_file_or_at_once_do_not_get_one_sku(shop: Shop):
    rivals = [shirt(f"rival{n}") for n in range(8)]
    for each in rivals:
        each["variants"][0]["sku"] = "wanted"
    outcome = shop.load(rivals[:2])
    assert (outcome["created"], [each["code"] for each in outcome["failed"]]) == (1, ["sku_taken"])
    for each in rivals[2:]:
        each["variants"][0]["sku"] = "wanted-too"
    with ThreadPoolExecutor(6) as together:
        statuses = list(
            together.map(lambda body: shop.admin("POST", "/v1/products", body).status, rivals[2:])
        )
    assert statuses.count(201) == 1
    assert set(statuses) == {201, 409}


def test_a_claim_that_a_crash_left_behind_is_taken_over(shop: Shop, deps: Dependencies):
    """The process died after the claim and before the product."""
    for sku, age in (("left-S-red", 5), ("fresh-S-red", 0)):
        claimed = iso(now() - timedelta(minutes=age))
        deps.catalogue.put(SKU_CLAIM.new(sku_claim_id(sku), sku=sku, productid="dead", claimed=claimed))
    assert shop.admin("POST", "/v1/products", shirt("fresh")).status == 409
    assert shop.admin("POST", "/v1/products", shirt("left")).status == 201
    assert deps.catalogue.get(sku_claim_id("left-S-red"))["productid"] == "left"


def test_a_sku_is_free_again_when_its_variant_or_product_is_gone(shop: Shop, deps: Dependencies):
    shop.load([shirt("leaving"), shirt("deleted")])
    found = shop.ok("/v1/products/leaving")
    assert edit(shop, "leaving", variants=found["variants"][1:]).status == 200
    assert deps.catalogue.get_many([sku_claim_id("leaving-S-red")]) == {}
    assert shop.admin("DELETE", "/v1/products/deleted").status == 204
    heir = shirt("heir")
    heir["variants"][0]["sku"], heir["variants"][1]["sku"] = "leaving-S-red", "deleted-S-red"
    assert shop.admin("POST", "/v1/products", heir).status == 201
    assert shop.ok("/v1/products/leaving-S-red")["productid"] == "heir"


def test_a_removed_variant_is_known_as_one_that_is_not_sold_any_more(shop: Shop):
    shop.load([shirt("less")])
    found = shop.ok("/v1/products/less")
    edit(shop, "less", variants=found["variants"][1:])
    offer = shop.request("POST", "/v1/products/lookup", {"productids": ["less-S-red"]}).json["found"][0]
    assert (offer["productid"], offer["sku"], offer["for_sale"]) == ("less", "less-S-red", False)
    assert shop.ok("/v1/products/less")["stock"] == 50
    edit(shop, "less", variants=[*found["variants"]])
    assert shop.ok("/v1/products/less")["stock"] == 60, "what it had is still there when it comes back"


def test_two_hundred_buyers_for_the_last_ten_of_one_sku_while_its_siblings_sell_freely(shop: Shop):
    body = shirt("scarce")
    for variant in body["variants"]:
        variant["stock"] = 10 if variant["sku"] == "scarce-M-red" else 1000
    shop.load([body])

    def buy(number: int) -> tuple[int, int]:
        sibling = reserve(shop, f"sibling{number}", line("scarce", "scarce-M-blue", 2)).status
        return reserve(
            shop, f"race{number}", line("scarce", "scarce-M-red"), line("scarce", "scarce-S-red")
        ).status, sibling

    with ThreadPoolExecutor(32) as buyers:
        statuses = list(buyers.map(buy, range(200)))
    assert [status for status, _ in statuses].count(201) == 10
    assert {status for status, _ in statuses} == {201, 409}
    assert {sibling for _, sibling in statuses} == {201}
    assert level(shop, "scarce", "scarce-M-red") == 0
    assert level(shop, "scarce", "scarce-M-blue") == 1000 - 2 * 200
    assert level(shop, "scarce", "scarce-S-red") == 1000 - 10
    refused = reserve(shop, "late", line("scarce", "scarce-M-red", 3)).json
    assert refused["items"] == [{"productid": "scarce", "sku": "scarce-M-red", "available": 0}]


def test_stock_of_a_variant_is_moved_by_staff_and_shown(shop: Shop):
    shop.load([shirt("counted")])
    answer = shop.admin(
        "POST", "/v1/products/counted/stock", {"delta": -4, "reason": "broken", "sku": "counted-S-red"}
    )
    assert (answer.status, answer.json["sku"], answer.json["stock"]) == (201, "counted-S-red", 6)
    assert (
        shop.admin("POST", "/v1/products/counted-S-red/stock", {"delta": 1, "reason": "found"}).json["stock"]
        == 7
    )
    found = shop.ok("/v1/products/counted")
    assert (found["stock"], variants_by_sku(found)["counted-S-red"]["stock"]) == (57, 7)
    movements = shop.admin("GET", "/v1/products/counted/stock?sku=counted-S-red").json["movements"]
    assert [each["delta"] for each in movements] == [1, -4, 10]
    for sku in ("", "&sku=nothing"):
        assert shop.admin("GET", f"/v1/products/counted/stock?x{sku}").status == 422
    edit(
        shop,
        "counted",
        variants=[{**each, "active": each["sku"] != "counted-S-red"} for each in found["variants"]],
    )
    assert shop.ok("/v1/products/counted")["stock"] == 50, "what is inactive is not for sale"


def test_stock_follows_sales_and_returns_of_each_variant(shop: Shop, deps: Dependencies):
    shop.load([shirt("sold")])
    lines = [line("sold", "sold-S-red", 3), line("sold", "sold-M-red", 2)]
    assert reserve(shop, "sale", *lines).status == 201
    assert reserve(shop, "sale", *lines).status == 201, "a repetition takes nothing twice"
    assert shop.service("/v1/internal/reservations/sale/confirmation", {"items": lines}).status == 200
    back = {"items": [line("sold", "sold-S-red", 1)], "reference": "return1"}
    assert shop.service("/v1/internal/reservations/sale/release", back).status == 200
    eventually(lambda: maintenance.sum_up(deps) == 0)
    left = {sku: each["stock"] for sku, each in variants_by_sku(shop.ok("/v1/products/sold")).items()}
    assert (left["sold-S-red"], left["sold-M-red"], left["sold-L-red"]) == (8, 8, 10)


def test_a_reservation_of_a_variant_ends_when_its_time_is_up(shop: Shop, deps: Dependencies):
    shop.load([shirt("idle")])
    body = {
        "orderid": "idle1",
        "items": [line("idle", "idle-S-red", 4)],
        "expires": iso(now() - timedelta(minutes=1)),
    }
    assert shop.service("/v1/internal/reservations", body).status == 201
    for minutes in (0, 2):
        maintenance.sweep(deps, now() + timedelta(minutes=minutes))
    assert level(shop, "idle", "idle-S-red") == 10


def test_variants_move_to_another_category_with_their_stock(shop: Shop):
    shop.load([shirt("moving")])
    assert reserve(shop, "moving1", line("moving", "moving-S-red", 4)).status == 201
    assert edit(shop, "moving", taxonomy=["Garden"]).status == 200
    found = shop.ok("/v1/products/moving-S-red")
    assert (found["taxonomy"], found["stock"]) == (["Garden"], 60)
    assert level(shop, "moving", "moving-S-red") == 6
    released = shop.service(
        "/v1/internal/reservations/moving1/release", {"items": [line("moving", "moving-S-red", 4)]}
    )
    assert (released.status, level(shop, "moving", "moving-S-red")) == (200, 10)


def test_a_new_variant_has_the_stock_that_is_given_and_an_old_one_keeps_its_own(shop: Shop):
    shop.load([shirt("grows")])
    found = shop.ok("/v1/products/grows")
    options = [{"name": "Size", "values": [*SIZES, "XL"]}, found["options"][1]]
    fresh = {"sku": "grows-XL-red", "options": {"Size": "XL", "Colour": "red"}, "stock": 4}
    kept = [{**variant, "stock": 99} for variant in found["variants"]]
    answer = edit(shop, "grows", options=options, variants=[*kept, fresh])
    assert (answer.status, answer.json["stock"]) == (200, 64)
    assert variants_by_sku(answer.json)["grows-XL-red"]["stock"] == 4
    assert level(shop, "grows", "grows-XL-red") == 4


def test_a_plain_product_gets_variants_and_loses_them_again(shop: Shop):
    shop.load([product("both", stock=7)])
    plain = shop.ok("/v1/products/both")
    body = plain | {
        "options": [{"name": "Size", "values": ["S", "M"]}],
        "variants": [
            {"sku": "both", "options": {"Size": "S"}},
            {"sku": "both-M", "options": {"Size": "M"}, "stock": 2},
        ],
    }
    answer = shop.admin("PUT", "/v1/products/both", body)
    assert (answer.status, answer.json["stock"]) == (200, 9), answer.body
    assert variants_by_sku(answer.json)["both"]["stock"] == 7, "the SKU that it had goes on as a variant"
    assert reserve(shop, "both1", line("both", "both", 3)).status == 201
    assert level(shop, "both", "both") == 4
    assert edit(shop, "both", options=[], variants=[]).json["stock"] == 4


def big(productid: str, count: int = 250) -> dict[str, Any]:
    options = [
        {"name": "Size", "values": [f"S{n}" for n in range(25)]},
        {"name": "Colour", "values": [f"C{n}" for n in range(10)]},
    ]
    variants = [
        {"sku": f"{productid}-{n}", "options": {"Size": f"S{n % 25}", "Colour": f"C{n // 25}"}, "stock": 5}
        for n in range(count)
    ]
    return product(productid, options=options, variants=variants)


def test_250_variants_cost_as_many_database_calls_as_none(shop: Shop):
    """Reading, pricing, editing, buying; each twice on its own product, the second time with 250 variants."""
    shop.load([product("none", stock=5), product("other", stock=5), big("all")])
    costs: dict[str, list[dict[str, int]]] = {"none": [], "all": []}
    for productid, sku in (("none", "none"), ("all", "all-249")):
        read = shop.get(f"/v1/products/{sku}")
        looked_up = shop.request("POST", "/v1/products/lookup", {"productids": [sku, "other"]})
        body = read.json | {"price": {"amount": 1100, "currency": "GBP"}}
        priced = shop.admin("PUT", f"/v1/products/{productid}", body)
        renamed = shop.admin("PUT", f"/v1/products/{productid}", priced.json | {"name": "Another name"})
        reserve(shop, f"warm-{productid}", line(productid, sku))
        reserved = reserve(shop, f"cost-{productid}", line(productid, sku))
        counted = shop.admin(
            "POST", f"/v1/products/{productid}/stock", {"delta": 1, "reason": "found", "sku": sku}
        )
        answers = [read, looked_up, priced, renamed, reserved, counted]
        assert [answer.status for answer in answers] == [200, 200, 200, 200, 201, 201]
        costs[productid] = [answer.calls for answer in answers]
    assert costs["all"] == costs["none"]
    assert costs["all"][0] == {"global": 1}
    assert shop.ok("/v1/products/all")["variants"][7]["price"]["amount"] == 1100


def test_a_product_of_the_last_release_is_read_sold_and_given_variants(shop: Shop, deps: Dependencies):
    doc = {**stored_document("first"), "schema": 1}
    deps.catalogue.put(doc)
    deps.catalogue.by_productid("first", allow_stale=False)
    assert shop.ok("/v1/products/first")["name"] == "Product first"
    assert shop.ok("/v1/products", q="first")["items"][0]["productid"] == "first"
    answer = edit(
        shop,
        "first",
        options=[{"name": "Size", "values": ["S"]}],
        variants=[{"sku": "first-S", "options": {"Size": "S"}, "stock": 1}],
    )
    assert (answer.status, answer.json["stock"]) == (200, 1)
    assert deps.catalogue.get(product_id(KITCHEN, "first"))["schema"] == PRODUCT.schema == 2


def test_the_products_of_the_last_release_are_migrated_while_they_are_read_and_edited(
    shop: Shop, deps: Dependencies, server: Server
):
    ids = [f"old{number}" for number in range(20)]
    deps.catalogue.put_many({**stored_document(each), "schema": 1} for each in ids)
    deps.catalogue.all_by_productid(ids, allow_stale=False)
    with ThreadPoolExecutor(3) as meanwhile:
        reading = [meanwhile.submit(shop.get, f"/v1/products/{each}") for each in ids]
        edits = [meanwhile.submit(edit, shop, each, name="Edited") for each in ids[:5]]
        server.migrate([DESIGN], progress=print)
        assert {each.result().status for each in (*reading, *edits)} == {200}
    stored = deps.catalogue.get_many([product_id(KITCHEN, each) for each in ids])
    raw = [server.open(replace(DESIGN, types=())).get(docid) for docid in stored]
    assert {doc["schema"] for doc in raw} == {2}
    assert [doc["name"] for doc in raw].count("Edited") == 5


def stored_document(productid: str) -> dict[str, Any]:
    fields = {name: value for name, value in product(productid).items() if name != "stock"}
    return PRODUCT.new(
        product_id(KITCHEN, productid),
        **fields,
        stock=0,
        rating={"average": None, "count": 0},
        rank=0,
        edited=iso(now()),
    )


def test_a_claim_is_not_given_while_another_holds_it(deps: Dependencies):
    assert skus.claim_all(deps, {"once": "a"}) == {}
    assert skus.claim_all(deps, {"once": "a"}) == {}
    assert skus.claim_all(deps, {"once": "b"}) == {"once": "a"}


def test_a_variant_of_another_product_with_the_same_words_has_its_own_chain(shop: Shop, deps: Dependencies):
    """A SKU that changes hands within one category begins with its new product's stock."""
    shop.load([shirt("giver")])
    found = shop.ok("/v1/products/giver")
    edit(shop, "giver", variants=found["variants"][1:])
    taker = shirt("taker")
    taker["variants"][0] |= {"sku": "giver-S-red", "stock": 3}
    shop.load([taker])
    assert level(shop, "taker", "giver-S-red") == 3
    assert deps.ledger.level(Line("giver", tuple(KITCHEN), 0, "giver-S-red")) == 10


def test_ndjson_and_csv_carry_variants_out_and_in_again(shop: Shop):
    body = shirt("carried", taxonomy=["Carried"], description="=1+1")
    body["options"][0]["values"].append("extra | large")
    body["variants"].append(
        {
            "sku": "carried-XL",
            "options": {"Size": "extra | large", "Colour": "blue"},
            "active": False,
            "barcode": "4006381333931",
            "weight_grams": 180,
            "picture": "/v1/pictures/xl",
            "prices": {"GBP": 1500},
            "stock": 3,
        }
    )
    shop.load([body, product("carried-plain", taxonomy=["Carried"], stock=2)])
    exported = {
        kind: shop.request("GET", "/v1/products/export", headers=token(*ADMIN) | {"Accept": kind}).body
        for kind in (NDJSON, CSV)
    }
    lines = [orjson.loads(text) for text in exported[NDJSON].splitlines()]
    mine = next(each for each in lines if each["productid"] == "carried")
    assert mine["variants"][-1] == body["variants"][-1]
    assert (
        not {"options", "variants"}
        & next(each for each in lines if each["productid"] == "carried-plain").keys()
    )
    rows = list(csv.DictReader(io.StringIO(exported[CSV].decode())))
    assert [row["sku"] for row in rows if row["productid"] == "carried"][-1] == "carried-XL"
    for kind, text in exported.items():
        outcome = import_text(shop, text, kind)
        assert (outcome["created"], outcome["updated"], outcome["failed"]) == (0, 0, []), kind
        for productid in ("carried", "carried-plain"):
            assert shop.admin("DELETE", f"/v1/products/{productid}").status == 204
        assert import_text(shop, text, kind)["created"] == 2
        assert shop.ok("/v1/products/carried")["variants"][-1]["stock"] == 3
        assert shop.ok("/v1/products/carried-XL")["stock"] == 60


def test_a_csv_of_variants_names_the_line_and_the_reason(shop: Shop):
    text = """productid,taxonomy,name,price_amount,price_currency,option1_name,option1_values,sku,option1,variant_stock,variant_active
mug,Home,Mug,900,GBP,Colour,red|blue,mug-red,red,4,
mug,,,,,,,mug-blue,blue,5,
vase,Home,Vase,900,GBP,Colour,red|blue,vase-red,green,4,
lamp,,,,,,,lamp-red,red,1,
bowl,Home,Bowl,900,GBP,Colour,red,bowl-red,red,1,maybe
"""
    outcome = import_text(shop, text.encode(), CSV)
    assert outcome["created"] == 1
    assert [(each["line"], each["code"]) for each in outcome["failed"]] == [
        (4, "invalid_product"),
        (5, "variant_without_product"),
        (6, "invalid_product"),
    ]
    assert "Colour has no value green" in outcome["failed"][0]["detail"]
    assert [each["stock"] for each in shop.ok("/v1/products/mug")["variants"]] == [4, 5]


def import_text(shop: Shop, text: bytes, kind: str) -> Any:
    headers = token(*ADMIN) | {"Content-Type": kind}
    return shop.request("POST", "/v1/products/import", text, headers).json
