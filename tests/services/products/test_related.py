"""What a product's page shows beside it: named by hand, then bought together."""

from typing import Any

import pytest

from tests.services.products.conftest import ADMIN, Shop, eventually, product, token

STAFF = token(*ADMIN)


@pytest.fixture(scope="module", autouse=True)
def goods(shop: Shop) -> None:
    shop.load([product(each, stock=3) for each in ("pan", "lid", "whisk", "spoon", "bowl")])
    shop.load([product("sold-out", stock=0), product("hidden", stock=3, status="draft")])
    shop.neighbours.bought_together["pan"] = ["hidden", "lid", "sold-out", "gone", "whisk"]
    replaced = shop.admin(
        "PUT", "/v1/products/pan", product("pan", related=["bowl", "hidden", "sold-out", "lid"])
    )
    assert replaced.json["related"] == ["bowl", "hidden", "sold-out", "lid"]


def ids(items: list[Any]) -> list[str]:
    return [each["productid"] for each in items]


def test_by_hand_comes_first_then_what_is_bought_with_it_and_can_be_had(shop: Shop) -> None:
    answer = shop.get("/v1/products/pan/related")
    assert ids(answer.json["items"]) == ["bowl", "sold-out", "lid", "whisk"]
    assert answer.calls == {"global": 2}
    assert shop.ok("/v1/products/bowl/related")["items"] == []
    assert shop.get("/v1/products/hidden/related").status == 404


def test_the_page_has_it_and_asks_no_database_for_it(shop: Shop) -> None:
    def page() -> Any:
        answer = shop.get("/v1/products/pan", reviews=1)
        assert answer.calls == {"global": 1}
        return ids(answer.json["related"])

    shop.ok("/v1/products/pan", reviews=1)
    eventually(lambda: page() == ["bowl", "sold-out", "lid", "whisk"])
    shop.admin("PUT", "/v1/products/pan", product("pan", related=["spoon"]))
    eventually(lambda: page() == ["spoon", "lid", "whisk"])
    shop.admin("PUT", "/v1/products/pan", product("pan", name="Renamed"))
    assert shop.ok("/v1/products/pan")["related"] == ["spoon"]


def test_it_is_exported_imported_and_checked(shop: Shop) -> None:
    for accept in ("application/x-ndjson", "text/csv"):
        file = shop.get("/v1/products/export", STAFF | {"Accept": accept}).body
        answer = shop.request("POST", "/v1/products/import", file, STAFF | {"Content-Type": accept}).json
        assert (answer.get("updated"), answer.get("failed")) == (0, []), (accept, answer)
    wrong = shop.admin("PUT", "/v1/products/lid", product("lid", related=["lid"]))
    assert (wrong.status, list(wrong.json["errors"])) == (422, ["related"])
