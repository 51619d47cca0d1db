"""Products of a category that moves are moved after it by the worker."""

from urllib.parse import quote

import pytest

from services.products.actions import category_moves
from shared.clock import now
from tests.services.products.conftest import Shop, eventually, open_as_worker, product
from tests.services.products.variants import shirt


def test_products_follow_their_category_when_it_moves(shop: Shop, environment: dict[str, str]) -> None:
    goods = [
        product("follows-1", taxonomy=["Attic", "Trunks"], name="Cabin trunk", stock=3),
        product("follows-2", taxonomy=["Attic", "Trunks", "Small"], name="Hat trunk", stock=4),
        shirt("follows-3", taxonomy=["Attic", "Trunks"], name="Trunk shirt"),
        product("follows-4", taxonomy=["Attic", "Trunks"], name="Draft trunk", status="draft"),
        product("stays", taxonomy=["Attic", "Chests"], name="Oak chest"),
    ]
    assert shop.load(goods)["created"] == len(goods)
    before = shop.ok("/v1/products/follows-3")
    for path, target in (("Attic#Trunks", "Luggage#Cases"), ("Luggage#Cases", "Travel")):
        content = {"path": path, "moved_to": target}
        assert shop.admin("PUT", f"/v1/admin/categories/{quote(path, safe='')}", content).status in (200, 201)
    worker = open_as_worker(environment)

    def all_moved() -> bool:
        category_moves.move_products(worker, now())
        taxonomies = [shop.admin("GET", f"/v1/products/follows-{n}").json["taxonomy"] for n in range(1, 5)]
        return taxonomies == [["Travel"], ["Travel", "Small"], ["Travel"], ["Travel"]]

    eventually(all_moved)
    assert category_moves.move_products(worker, now()) == 0
    assert shop.ok("/v1/products/stays")["taxonomy"] == ["Attic", "Chests"]
    assert shop.ok("/v1/products/follows-1")["stock"] == 3
    after = shop.ok("/v1/products/follows-3")
    assert [each["stock"] for each in after["variants"]] == [each["stock"] for each in before["variants"]]
    eventually(lambda: len(shop.ok("/v1/products", category="Travel", subcategories="true")["items"]) == 3)


def test_products_move_in_parts(
    shop: Shop, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(category_moves, "MAX_MOVED", 2)
    goods = [product(f"part-{n}", taxonomy=["Loft"], name=f"Loft part {n}") for n in range(5)]
    assert shop.load(goods)["created"] == 5
    assert (
        shop.admin("PUT", "/v1/admin/categories/Loft", {"path": "Loft", "moved_to": "Garret"}).status == 201
    )
    worker, counts = open_as_worker(environment), list[int]()

    def none_left() -> bool:
        counts.append(category_moves.move_products(worker, now()))
        return sum(counts) == 5

    eventually(none_left)
    assert max(counts) == 2
