"""Products with options are sold as variants, each with a SKU, a price, a picture and a stock of its own."""

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest
import requests

from services.products.actions import skus
from services.products.actions.stock import Line
from services.products.dependencies import Dependencies
from services.products.documents import DESIGN, PRODUCT, SKU_CLAIM, product_id, sku_claim_id
from services.products.resources.files import CSV, NDJSON
from shared.clock import iso, now
from shared.couch import Server
from tests.services.products.conftest import ADMIN, Shop, product, token
from tests.services.products.variants import (
    KITCHEN,
    edit,
    level,
    shirt,
    variants_by_sku,
)
from tests.waiting import settles


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

    def created(body: dict[str, Any]) -> int:
        while (answer := shop.admin("POST", "/v1/products", body)).status == 503:
            assert answer.headers["Retry-After"] == "2"
        return answer.status

    with ThreadPoolExecutor(6) as together:
        statuses = list(together.map(created, rivals[2:]))
    assert sorted(statuses) == [201, *[409] * 5]


def test_a_sku_that_is_just_being_given_away_is_waited_for(shop: Shop, deps: Dependencies):
    """It was 409 at once, also where the one who gave it away had died."""
    shop.load([shirt("later")])
    added = {"sku": "later-S-green", "options": {"Size": "S", "Colour": "green"}, "stock": 1}
    changed = shop.ok("/v1/products/later")
    changed["options"][1]["values"].append("green")
    changed["variants"].append(added)
    with deps.locks.hold("create:later-S-green", lease=30) as acquired:
        assert acquired
        busy = requests.put(f"{shop.url}/v1/products/later", json=changed, headers=token(*ADMIN), timeout=30)
    assert (busy.status_code, busy.headers.get("Retry-After")) == (503, "2"), busy.text
    with deps.locks.hold("create:later-S-green", lease=0.5):
        assert shop.admin("PUT", "/v1/products/later", changed).status == 200
    assert level(shop, "later", "later-S-green") == 1


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


def test_a_product_of_the_last_release_is_read_sold_and_given_variants(shop: Shop, deps: Dependencies):
    doc = {**stored_document("first"), "schema": 1}
    deps.catalogue.put(doc)
    deps.catalogue.by_productid("first", allow_stale=False)
    assert shop.ok("/v1/products/first")["name"] == "Product first"
    settles(lambda: [each["productid"] for each in shop.ok("/v1/products", q="first")["items"]] == ["first"])
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
        german = [meanwhile.submit(shop.get, f"/v1/products/{each}", language="de") for each in ids]
        said = {"de": {"name": "Neuer Name"}}
        edits = [
            meanwhile.submit(edit, shop, each, name="Edited", translations=said, weight_grams=90)
            for each in ids[:5]
        ]
        server.migrate([DESIGN], progress=print)
        assert {each.result().status for each in (*reading, *german, *edits)} == {200}
    stored = deps.catalogue.get_many([product_id(KITCHEN, each) for each in ids])
    raw = [server.open(replace(DESIGN, types=())).get(docid) for docid in stored]
    assert {doc["schema"] for doc in raw} == {2}
    assert [doc["name"] for doc in raw].count("Edited") == 5
    assert [doc.get("translations") for doc in raw].count(said) == 5
    assert shop.ok("/v1/products/old1", language="de")["name"] == "Neuer Name"


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
