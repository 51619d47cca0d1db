"""A product that moves to another category is there all the while, once, with its stock."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

from services.products.dependencies import Dependencies
from services.products.documents import product_id
from services.products.rules.product import checked, complete, document
from shared.clock import timestamp
from tests.services.products.conftest import Shop, eventually, open_as_worker, product

LAMPS = ["Home", "Lighting", "Lamps"]


def path(*levels: str) -> str:
    return "#".join(levels)


def test_a_product_half_moved_is_deleted_whole(shop: Shop, environment: dict[str, str]):
    shop.load([product("torn", taxonomy=["Torn", "Old"])])
    content = complete(checked(product("torn", taxonomy=["Torn", "New"])).content)
    old = product_id(["Torn", "Old"], "torn")
    open_as_worker(environment).catalogue.put(document(content, timestamp(), moved_from=old))
    tag = shop.get("/v1/products/torn").headers["ETag"]
    assert shop.admin("DELETE", "/v1/products/torn", If_Match=tag).status == 204
    eventually(lambda: shop.get("/v1/products/torn").status == 404)
    assert shop.get("/v1/categories", under="Torn").status == 404


def test_a_product_moves_without_a_moment_gone_or_doubled(shop: Shop):
    """Readers look without pause while it goes to and fro twelve times with its stock."""
    old, new = ["Move", "Old"], ["Move", "New: & 'quoted'"]
    shop.load(
        [
            product("mover", taxonomy=old, name="Wandering lamp", stock=6),
            product("fixed", taxonomy=old, name="Fixed lamp"),
        ]
    )
    done, wrong = Event(), []

    def look(request, expected) -> None:
        while not done.is_set():
            answer = request()
            if answer.status != 200 or not expected(answer.json):
                wrong.append((answer.status, answer.body[:300]))

    def once(found) -> bool:
        return [each["productid"] for each in found["items"]].count("mover") == 1

    readers = [
        Thread(target=look, args=(lambda: shop.get("/v1/products/mover"), lambda found: found["stock"] == 6)),
        Thread(
            target=look, args=(lambda: shop.get("/v1/products", category="Move", subcategories="true"), once)
        ),
        Thread(
            target=look,
            args=(
                lambda: shop.request("POST", "/v1/products/lookup", {"productids": ["mover"]}),
                lambda found: len(found["found"]) == 1,
            ),
        ),
    ]
    for reader in readers:
        reader.start()
    for taxonomy in (new, old) * 6:
        assert (
            shop.admin(
                "PUT", "/v1/products/mover", product("mover", taxonomy=taxonomy, name="Wandering lamp")
            ).status
            == 200
        )
    assert (
        shop.admin("PUT", "/v1/products/mover", product("mover", taxonomy=new, name="Wandering lamp")).status
        == 200
    )
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert [each["productid"] for each in shop.walk(category=path(*new))] == ["mover"]
    assert [each["productid"] for each in shop.walk(category=path(*old))] == ["fixed"]
    assert shop.ok("/v1/categories", under="Move")["count"] == 2
    assert shop.admin("GET", "/v1/products/mover/stock").json["stock"] == 6


def test_a_product_without_stock_moves_to_and_fro(shop: Shop):
    old, new = ["Empty", "Old"], ["Empty", "New"]
    shop.load([product("empty", taxonomy=old), product("soldout", taxonomy=old, stock=1)])
    shop.admin("POST", "/v1/products/soldout/stock", {"delta": -1, "reason": "broken"})
    for taxonomy in (new, old, new, old, new):
        for productid in ("empty", "soldout"):
            answer = shop.admin("PUT", f"/v1/products/{productid}", product(productid, taxonomy=taxonomy))
            assert answer.status == 200, answer.body
    for productid in ("empty", "soldout"):
        answer = shop.admin("POST", f"/v1/products/{productid}/stock", {"delta": 2, "reason": "new"})
        assert (answer.status, answer.json["stock"]) == (201, 2)
        for n, taxonomy in enumerate((old, new)):
            line = {"productid": productid, "taxonomy": taxonomy, "quantity": 1}
            body = {"orderid": f"{productid}{n}", "items": [line], "expires": "2099-01-01T00:00:00.000Z"}
            assert shop.service("/v1/internal/reservations", body).status == 201


def test_stock_can_be_reserved_while_the_product_moves(shop: Shop, deps: Dependencies):
    """Orders name the category they saw; the chain of movements leads on from there."""
    old, new = ["Trek", "Old"], ["Trek", "New"]
    shop.load([product("trek", taxonomy=old, stock=30)])

    def reserve(number: int) -> int:
        time.sleep(number % 5 * 0.01)
        body = {
            "orderid": f"trek{number}",
            "items": [{"productid": "trek", "taxonomy": old, "quantity": 1}],
            "expires": "2099-01-01T00:00:00.000Z",
        }
        return shop.service("/v1/internal/reservations", body).status

    with ThreadPoolExecutor(8) as buyers:
        pending = [buyers.submit(reserve, number) for number in range(40)]
        for taxonomy in (new, old, new):
            assert shop.admin("PUT", "/v1/products/trek", product("trek", taxonomy=taxonomy)).status == 200
        statuses = [each.result() for each in pending]
    late = [reserve(100 + n) for n in range(statuses.count(503))]
    sold = (statuses + late).count(201)
    if not deps.catalogue.has_one_copy:
        assert sold <= 30, "what an order that was answered 503 keeps comes back later"
        return
    assert sold == 30
    assert shop.admin("GET", "/v1/products/trek/stock").json["stock"] == 0
    line = {"productid": "trek", "taxonomy": old, "quantity": 1}
    orderid = f"trek{statuses.index(201)}"
    assert shop.service(f"/v1/internal/reservations/{orderid}/release", {"items": [line]}).status == 200
    assert shop.admin("GET", "/v1/products/trek/stock").json["stock"] == 1
