"""The basket on the real products service: one document a line, priced when it is shown."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import orjson
import pytest

from services.products.documents import DESIGN as PRODUCTS
from services.users.actions.basket import remove_item
from services.users.documents import DESIGN
from services.users.rules.accounts import MAX_BASKET_ITEMS
from services.users.store import UserStore
from shared.clock import timestamp
from tests.processes import free_port
from tests.services.users.conftest import Api, calls, log_in, made
from tests.waiting import eventually

PATH = "/v1/users/me/basket"


class Quicker(UserStore):
    """Another device takes the line out between our read and our deletion."""

    def of_user(self, userid, key):
        if doc := super().of_user(userid, key):
            self.delete(doc)
        return doc


def test_two_devices_may_take_a_line_out_at_once(products, person, deps):
    sell(products, "both")
    ann = person()
    assert ann.put(f"{PATH}/both", {"quantity": 1}).status_code == 200
    remove_item(replace(deps, store=Quicker(deps.store.server)), ann.userid, "both")
    assert ann.get(PATH).json()["items"] == []


@pytest.fixture(scope="module")
def users_url(prepared, service, environment):
    environment["USERS_URL"] = f"http://127.0.0.1:{free_port()}"
    prepared(DESIGN, PRODUCTS)
    service("products")
    return service("users", ARGON2_MEMORY_KIB="64", ARGON2_PASSES="1", MAILS_PER_HOUR="100")


@pytest.fixture(scope="module")
def products(users_url, admin, environment):
    return Api(environment["PRODUCTS_URL"], admin.token)


def goods_named(productid, amount=1000, stock=10):
    return {
        "productid": productid,
        "taxonomy": ["Home", "Kitchen"],
        "keywords": [],
        "brand": "Aisle",
        "name": f"The {productid}",
        "description": "",
        "colours": [],
        "price": {"amount": amount, "currency": "GBP"},
        "delivery": {"amount": 0, "currency": "GBP"},
        "image": "",
        "stock": stock,
    }


def sell(products, productid, **more):
    made(products, "/v1/products", goods_named(productid, **more))
    eventually(lambda: products.get(f"/v1/products/{productid}").ok)


def test_a_line_has_todays_price_and_stock(products, person, one_list):
    sell(products, "kettle", amount=1250, stock=3)
    ann = person()
    put = ann.put(f"{PATH}/kettle", {"quantity": 2})
    assert (put.status_code, put.json()["total"]) == (200, {"amount": 2500, "currency": "GBP"})
    basket = ann.get(PATH)
    line = basket.json()["items"][0]
    assert (line["name"], line["quantity"], line["stock"], line["available"]) == ("The kettle", 2, 3, True)
    assert basket.json()["totals"] == [{"amount": 2500, "currency": "GBP"}]
    assert ann.get("/v1/users/me").json()["basket"] == [{"productid": "kettle", "quantity": 2}]
    assert calls(basket) == one_list, "the rest is asked of products"
    products.post("/v1/products/kettle/stock", {"delta": -2, "reason": "broken"})
    assert ann.get(PATH).json()["items"][0]["available"] is False


def test_a_product_that_is_gone_stays_visible_and_costs_nothing(products, person):
    sell(products, "toaster")
    ann = person()
    ann.put(f"{PATH}/toaster", {"quantity": 1})
    assert products.delete("/v1/products/toaster").status_code == 204
    eventually(lambda: not ann.get(PATH).json()["items"][0]["available"])
    basket = ann.get(PATH).json()
    assert (basket["items"][0]["available"], basket["items"][0]["price"], basket["totals"]) == (
        False,
        None,
        [],
    )
    assert ann.delete(f"{PATH}/toaster").status_code == 204
    assert ann.get(PATH).json()["items"] == []


@pytest.mark.parametrize("productid", ["no-such-thing", "a%20b", "a:b", "%C3%BC", "x" * 90])
def test_an_unknown_product_is_404(person, productid):
    assert person().put(f"{PATH}/{productid}", {"quantity": 1}).status_code == 404


@pytest.mark.parametrize("quantity", [0, -1, 1000, 1.5, "2", None])
def test_a_wrong_quantity_is_422(products, person, quantity):
    assert person().put(f"{PATH}/kettle", {"quantity": quantity}).status_code == 422


def test_all_devices_share_it_and_racing_writers_leave_one_line(products, person, nobody):
    sell(products, "pan")
    phone = person()
    laptop = log_in(nobody, phone.email)
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(
                lambda number: (phone, laptop)[number % 2].put(f"{PATH}/pan", {"quantity": number + 1}),
                range(4),
            )
        )
    assert {answer.status_code for answer in answers} <= {200, 409}
    lines = laptop.get(PATH).json()["items"]
    assert len(lines) == 1
    assert lines[0]["quantity"] in {
        number + 1 for number, answer in enumerate(answers) if answer.status_code == 200
    }


def test_merging_a_guests_basket_twice_is_merging_it_once(products, person):
    for name in ("cup", "plate"):
        sell(products, name)
    ann = person()
    ann.put(f"{PATH}/cup", {"quantity": 3})
    guest = {
        "items": [
            {"productid": "cup", "quantity": 1},
            {"productid": "plate", "quantity": 2},
            {"productid": "plate", "quantity": 1},
            {"productid": "gone", "quantity": 1},
        ]
    }
    for _ in range(2):
        merged = ann.post(PATH, guest)
        assert merged.status_code == 200, merged.text
        assert {line["productid"]: line["quantity"] for line in merged.json()["items"]} == {
            "cup": 3,
            "plate": 2,
        }


def test_a_basket_as_full_as_it_may_be_is_shown(products, person):
    lines = [{"productid": f"bead{number}", "quantity": 1} for number in range(MAX_BASKET_ITEMS)]
    goods = b"\n".join(orjson.dumps(goods_named(line["productid"])) for line in lines)
    headers = {"Content-Type": "application/x-ndjson"}
    imported = products.call("POST", "/v1/products/import", data=goods, headers=headers)
    assert imported.json()["created"] == MAX_BASKET_ITEMS
    ann = person()
    assert ann.post(PATH, {"items": lines}).status_code == 200
    assert len(ann.get(PATH).json()["items"]) == MAX_BASKET_ITEMS
    sell(products, "one-bead-more")
    full = ann.put(f"{PATH}/one-bead-more", {"quantity": 1})
    assert (full.status_code, full.json()["code"]) == (409, "basket_full")


def test_bought_products_leave_and_others_stay(products, person, nobody, environment):
    for name in ("fork", "knife", "ladle"):
        sell(products, name)
    ann = person()
    for name in ("fork", "knife", "ladle"):
        ann.put(f"{PATH}/{name}", {"quantity": 1})
    bought = {"productids": ["fork", "ladle"], "date": timestamp()}
    time.sleep(0.002)
    ann.put(f"{PATH}/ladle", {"quantity": 2})  # for the next order, before the worker came to this one
    headers = {"Authorization": f"Service {environment['SERVICE_SECRET']}"}
    for _ in range(2):
        cleared = nobody.post(f"/v1/internal/users/{ann.userid}/basket/clear", bought, headers=headers)
        assert cleared.status_code == 204
    assert [line["productid"] for line in ann.get(PATH).json()["items"]] == ["knife", "ladle"]
    assert ann.delete(PATH).status_code == 204
    assert ann.get(PATH).json()["items"] == []


@pytest.mark.parametrize(("wanted", "left"), [(3, [2]), (1, []), (2, [1])])
def test_of_an_item_that_became_more_while_it_was_paid_the_rest_stays(
    products, person, nobody, environment, wanted, left
):
    """However often it is said that it was bought; what came in anew after the order is another matter."""
    trowel, sieve = f"trowel-{wanted}", f"sieve-{wanted}"
    for name in (trowel, sieve):
        sell(products, name)
    ann = person()
    for name in (trowel, sieve):
        ann.put(f"{PATH}/{name}", {"quantity": 1})
    bought = {
        "productids": [trowel, sieve],
        "date": timestamp(),
        "quantities": {trowel: 1, sieve: 1},
    }
    time.sleep(0.002)
    ann.put(f"{PATH}/{trowel}", {"quantity": wanted})
    ann.delete(f"{PATH}/{sieve}")
    ann.put(f"{PATH}/{sieve}", {"quantity": 4})
    headers = {"Authorization": f"Service {environment['SERVICE_SECRET']}"}
    for _ in range(3):
        cleared = nobody.post(f"/v1/internal/users/{ann.userid}/basket/clear", bought, headers=headers)
        assert cleared.status_code == 204
    kept = {line["productid"]: line["quantity"] for line in ann.get(PATH).json()["items"]}
    assert kept == {sieve: 4} | ({trowel: left[0]} if left else {})


def test_somebody_elses_basket_is_out_of_reach(products, person):
    sell(products, "spoon")
    ann, bob = person(), person()
    ann.put(f"{PATH}/spoon", {"quantity": 1})
    assert bob.get(PATH).json()["items"] == []
    assert bob.delete(f"{PATH}/spoon").status_code == 204
    assert len(ann.get(PATH).json()["items"]) == 1


def sell_shirt(products, productid):
    body = goods_named(productid) | {
        "options": [{"name": "Size", "values": ["M", "L"]}],
        "variants": [
            {"sku": f"{productid}-M", "options": {"Size": "M"}, "stock": 3},
            {"sku": f"{productid}-L", "options": {"Size": "L"}, "stock": 4, "prices": {"GBP": 1300}},
        ],
    }
    answer = products.post("/v1/products", body)
    assert answer.status_code == 201, answer.text
    for sku in ("M", "L"):
        eventually(lambda sku=sku: products.get(f"/v1/products/{productid}-{sku}").ok)


def test_a_variant_lies_in_the_basket_by_its_sku_with_its_options(products, person):
    sell_shirt(products, "shirt")
    ann = person()
    put = ann.put(f"{PATH}/shirt-L", {"quantity": 2})
    assert (put.status_code, put.json()["total"]["amount"], put.json()["options"]) == (
        200,
        2600,
        {"Size": "L"},
    )
    assert ann.put(f"{PATH}/shirt-M", {"quantity": 1}).status_code == 200
    large, medium = ann.get(PATH).json()["items"]
    assert (large["productid"], large["sku"], large["quantity"], large["stock"]) == ("shirt", "shirt-L", 2, 4)
    assert (medium["sku"], medium["price"]["amount"], medium["available"]) == ("shirt-M", 1000, True)
    needed = ann.put(f"{PATH}/shirt", {"quantity": 1})
    assert (needed.status_code, needed.json()["code"]) == (422, "variant_needed")
    assert ann.delete(f"{PATH}/shirt-L").status_code == 204
    assert [item["sku"] for item in ann.get("/v1/users/me").json()["basket"]] == ["shirt-M"]


def test_a_variant_that_is_no_longer_sold_says_so_in_the_basket(products, person):
    sell_shirt(products, "retired")
    ann = person()
    for size in "ML":
        assert ann.put(f"{PATH}/retired-{size}", {"quantity": 1}).status_code == 200
    found = products.get("/v1/products/retired").json()
    found["variants"][0]["active"] = False
    changed = products.put("/v1/products/retired", found | {"variants": found["variants"][:1]})
    assert changed.status_code == 200, changed.text
    basket = ann.get(PATH).json()
    assert [(item["name"], item["available"], item["total"]) for item in basket["items"]] == [
        ("The retired", False, None),
        ("The retired", False, None),
    ]
    assert basket["totals"] == []
    for size in "ML":
        assert ann.put(f"{PATH}/retired-{size}", {"quantity": 2}).status_code == 404


def test_a_guests_variants_join_the_basket(products, person):
    sell_shirt(products, "joined")
    ann = person()
    guest = [
        {"productid": "joined-M", "quantity": 2},
        {"productid": "joined", "sku": "joined-L", "quantity": 1},
    ]
    for _ in range(2):
        merged = ann.post(PATH, {"items": guest}).json()["items"]
        assert sorted((item["productid"], item["sku"], item["quantity"]) for item in merged) == [
            ("joined", "joined-L", 1),
            ("joined", "joined-M", 2),
        ]


def test_a_basket_is_shown_in_one_currency_and_names_what_is_not_sold_in_it(products, person, one_list):
    both = goods_named("both-currencies") | {"prices": {"GBP": 1000, "EUR": 1200}}
    assert products.post("/v1/products", both).status_code == 201
    sell(products, "pounds-only")
    ann = person()
    for each in ("both-currencies", "pounds-only"):
        assert ann.put(f"{PATH}/{each}", {"quantity": 2}).status_code == 200
    found = ann.get(f"{PATH}?currency=EUR")
    shown = {each["productid"]: each for each in found.json()["items"]}
    assert found.json()["totals"] == [{"amount": 2400, "currency": "EUR"}]
    assert [each["quantity"] for each in shown.values()] == [2, 2], "converting keeps what is there"
    assert (shown["pounds-only"]["available"], shown["pounds-only"]["not_sold_in"]) == (False, "EUR")
    assert ann.get(PATH).json()["totals"] == [{"amount": 4000, "currency": "GBP"}]
    refused = ann.put(f"{PATH}/pounds-only?currency=EUR", {"quantity": 1})
    assert (refused.status_code, refused.json()["code"]) == (422, "not_sold_in_currency")
    assert calls(found) == one_list


def test_a_customer_of_a_group_pays_its_prices(products, person, admin, users_url):
    body = goods_named("trade-kettle") | {"group_prices": {"trade": {"GBP": 700}}}
    assert products.post("/v1/products", body).status_code == 201
    ann = person()
    path = f"/v1/admin/users/{ann.userid}/group"
    assert ann.put(path, {"group": "trade"}).status_code == 403
    assert admin.put(path, {"group": "Trade!"}).status_code == 422
    assert admin.put(path, {"group": "trade"}).json()["group"] == "trade"
    ann = log_in(Api(users_url), ann.email)
    assert ann.put(f"{PATH}/trade-kettle", {"quantity": 1}).json()["price"]["amount"] == 700
