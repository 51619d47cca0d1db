"""PouchDB, unchanged, keeps a category: a public database that nobody but the shop writes to."""

from urllib.parse import quote

import pytest

from tests.services.users.conftest import Api
from tests.services.users.test_basket import goods_named

pytestmark = pytest.mark.sync

CATEGORY = ["Market stall", "Bread & jam/honey 100%"]


@pytest.fixture(scope="module")
def products(users_url, admin, environment):
    return Api(environment["PRODUCTS_URL"], admin.token)


def stall(number: int, **more):
    return goods_named(f"stall-{number:03}") | {"taxonomy": CATEGORY} | more


def put(products, number: int, **more):
    name = f"/v1/products/stall-{number:03}"
    tag = products.get(name).headers["ETag"]
    body = {key: value for key, value in stall(number, **more).items() if key != "stock"}
    answer = products.put(name, body, headers={"If-Match": tag})
    assert answer.status_code == 200, answer.text


def test_a_device_keeps_a_category_and_hears_of_all_that_happens_to_it(products, person, device):
    for number in range(120):
        assert products.post("/v1/products", stall(number)).status_code == 201
    key = quote(quote("#".join(CATEGORY), safe=""), safe="")
    url, phone = f"{products.base}/v1/products/sync/{key}", device(person())
    written, docs = phone.keep(url)
    assert written == len(docs) == 121
    assert len(docs["category"]["productids"]) == 120
    assert phone.keep(url)[0] == 0, "it goes on from where it was, though the shop keeps no checkpoint of it"
    put(products, 0, name="Honey")
    put(products, 1, taxonomy=["Elsewhere"])
    put(products, 2, status="archived")
    name = "/v1/products/stall-003"
    tag = products.get(name).headers["ETag"]
    assert products.delete(name, headers={"If-Match": tag}).status_code == 204
    written, docs = phone.keep(url)
    assert written == 5
    assert docs["product-stall-000"]["name"] == "Honey"
    assert sorted(docs["category"]["productids"]) == sorted(
        docid.removeprefix("product-") for docid in docs if docid != "category"
    )
    assert {f"product-stall-{number:03}" for number in (1, 2, 3)}.isdisjoint(docs)
    for price in range(1, 13):
        put(products, 0, name="Honey", price={"amount": price * 100, "currency": "GBP"})
        products.get(url.removeprefix(products.base) + "/_changes")
    written, docs = phone.keep(url)
    assert docs["product-stall-000"]["price"]["amount"] == 1200
    assert [docid for docid, doc in docs.items() if "_conflicts" in doc] == []
    laptop = device(person())
    assert laptop.keep(url)[1] == docs
