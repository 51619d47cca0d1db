"""The wish list on the real products service."""

import pytest

from services.products.documents import DESIGN as PRODUCTS
from services.users.documents import DESIGN
from services.users.rules.accounts import MAX_WISHES
from tests.processes import free_port
from tests.services.users.conftest import Api, calls, made

PATH = "/v1/users/me/wishes"
BASKET = "/v1/users/me/basket"
SIZES = {
    "options": [{"name": "Size", "values": ["S", "L"]}],
    "variants": [
        {"sku": "tee-s", "options": {"Size": "S"}, "stock": 3},
        {"sku": "tee-l", "options": {"Size": "L"}, "stock": 0},
    ],
}


@pytest.fixture(scope="module")
def users_url(prepared, service, environment):
    environment["USERS_URL"] = f"http://127.0.0.1:{free_port()}"
    prepared(DESIGN, PRODUCTS)
    service("products")
    return service("users", ARGON2_MEMORY_KIB="64", ARGON2_PASSES="1", MAILS_PER_HOUR="100")


@pytest.fixture(scope="module")
def products(users_url, admin, environment):
    return Api(environment["PRODUCTS_URL"], admin.token)


def sell(products, productid, **more):
    body = {
        "productid": productid,
        "taxonomy": ["Home", "Kitchen"],
        "name": f"The {productid}",
        "price": {"amount": 1000, "currency": "GBP"},
        **({} if "variants" in more else {"stock": 10}),
        **more,
    }
    made(products, "/v1/products", body)


def wished(person):
    return [each.get("sku") or each["productid"] for each in person.get(PATH).json()["items"]]


def test_products_and_variants_are_kept_and_priced_in_one_query(products, person):
    for each in ("pot", "jug"):
        sell(products, each)
    sell(products, "tee", **SIZES)
    ann, bob = person(), person()
    for each in ("pot", "jug", "tee", "tee-s", "tee-l", "pot"):
        assert ann.put(f"{PATH}/{each}").status_code == 200
    answer = ann.get(PATH)
    shown = {each.get("sku") or each["productid"]: each for each in answer.json()["items"]}
    assert list(shown) == ["tee-l", "tee-s", "tee", "jug", "pot"]
    assert calls(answer)["partition"] == 1
    assert (shown["pot"]["price"]["amount"], shown["pot"]["available"]) == (1000, True)
    assert (shown["tee-s"]["options"], shown["tee-s"]["available"]) == ({"Size": "S"}, True)
    assert (shown["tee-l"]["stock"], shown["tee-l"]["available"]) == (0, False)
    assert (shown["tee"]["variant_needed"], shown["tee"]["name"], shown["tee"]["available"]) == (
        True,
        "The tee",
        False,
    )
    assert wished(bob) == []


def test_it_moves_to_the_basket_and_what_is_there_stays(products, person):
    sell(products, "bowl")
    ann = person()
    ann.put(f"{BASKET}/bowl", {"quantity": 3})
    ann.put(f"{PATH}/bowl")
    moved = ann.post(f"{PATH}/bowl/basket")
    assert (moved.status_code, moved.json()["quantity"]) == (200, 3)
    assert wished(ann) == []
    assert ann.post(f"{PATH}/bowl/basket").status_code == 404
    assert [each["quantity"] for each in ann.get(BASKET).json()["items"]] == [3]


def test_a_variant_must_be_chosen_before_it_moves(products, person):
    sell(products, "shirt", options=SIZES["options"], variants=[{"sku": "shirt-s", "options": {"Size": "S"}}])
    ann = person()
    ann.put(f"{PATH}/shirt")
    assert ann.post(f"{PATH}/shirt/basket").json()["code"] == "variant_needed"
    assert wished(ann) == ["shirt"]


def test_what_is_no_longer_sold_stays_visible(products, person):
    sell(products, "vase")
    ann = person()
    ann.put(f"{PATH}/vase")
    products.put("/v1/products/vase", {**products.get("/v1/products/vase").json(), "status": "archived"})
    (wish,) = ann.get(PATH).json()["items"]
    assert (wish["productid"], wish["available"], wish["price"]) == ("vase", False, None)
    assert ann.post(f"{PATH}/vase/basket").status_code == 404
    assert ann.delete(f"{PATH}/vase").status_code == 204
    assert ann.delete(f"{PATH}/vase").status_code == 204
    assert wished(ann) == []


def test_unknown_products_guests_and_too_many_are_refused(products, person, users_url):
    ann = person()
    assert ann.put(f"{PATH}/nothing").json()["code"] == "no_such_product"
    assert Api(users_url).get(PATH).status_code == 401
    for number in range(MAX_WISHES + 1):
        sell(products, f"many{number}")
    codes = [ann.put(f"{PATH}/many{number}").status_code for number in range(MAX_WISHES + 1)]
    assert codes == [200] * MAX_WISHES + [409]
    assert ann.put(f"{PATH}/many0").status_code == 200


def test_it_is_part_of_what_the_shop_holds_of_a_person(products, person, one_list):
    sell(products, "plate")
    ann = person()
    ann.put(f"{PATH}/plate")
    assert wished(ann) == ["plate"]
    me = ann.get("/v1/users/me")
    assert calls(me) == one_list
