"""What suppliers bring: expected, received in parts, each part in stock once whatever happens, and counted while the shop sells."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from services.products.actions import supplier_deliveries as act
from services.products.dependencies import Dependencies
from services.products.rules.ledger import Line
from shared.clock import iso, now, timestamp
from tests.services.products.conftest import ADMIN, Answer, Shop, product, token

PATH = "/v1/admin/supplier-deliveries"
CAPS = {
    "options": [{"name": "Size", "values": ["S", "M"]}],
    "variants": [{"sku": f"flatcap-{size}", "options": {"Size": size}, "stock": 2} for size in ("S", "M")],
}


@pytest.fixture(autouse=True)
def goods(shop: Shop) -> None:
    shop.load([product("flatcap", **CAPS), product("thimble", stock=4)])


def level(shop: Shop, sku: str) -> int:
    stock: int = shop.ok(f"/v1/products/{sku}/stock", token(*ADMIN))["stock"]
    return stock


def expected(shop: Shop, **items: int) -> dict[str, Any]:
    body = {
        "supplier": "Hat & Sons",
        "reference": "HS-7",
        "items": [{"sku": sku.replace("_", "-"), "quantity": quantity} for sku, quantity in items.items()],
    }
    answer = shop.admin("POST", PATH, body)
    assert answer.status == 201, answer.body
    return dict(answer.json)


def receive(shop: Shop, deliveryid: str, number: int, complete: bool = False, **items: int) -> Answer:
    came = [{"sku": sku.replace("_", "-"), "quantity": quantity} for sku, quantity in items.items()]
    body = {"number": number, "items": came, "complete": complete}
    return shop.admin("POST", f"{PATH}/{deliveryid}/receipts", body)


def test_a_delivery_comes_in_parts_and_each_part_is_in_stock_at_once(shop: Shop) -> None:
    before = {sku: level(shop, sku) for sku in ("flatcap-S", "flatcap-M", "thimble")}
    delivery = expected(shop, flatcap_S=10, thimble=5)
    assert (delivery["status"], delivery["receipts"]) == ("expected", [])
    part = receive(shop, delivery["deliveryid"], 1, flatcap_S=6)
    assert part.status == 201, part.body
    assert part.json["status"] == "part"
    assert level(shop, "flatcap-S") == before["flatcap-S"] + 6
    rest = receive(shop, delivery["deliveryid"], 2, flatcap_S=4, thimble=6).json
    assert rest["status"] == "received", "one thimble too many came, and is there"
    assert [each["received"] for each in rest["items"]] == [10, 6]
    after = {
        "flatcap-S": before["flatcap-S"] + 10,
        "flatcap-M": before["flatcap-M"],
        "thimble": before["thimble"] + 6,
    }
    assert {sku: level(shop, sku) for sku in before} == after
    movements = shop.ok("/v1/products/thimble/stock", token(*ADMIN))["movements"]
    assert (movements[0]["delta"], movements[0]["note"]) == (6, "From Hat & Sons HS-7")
    assert shop.ok(f"{PATH}/{delivery['deliveryid']}", token(*ADMIN)) == rest


def test_what_will_not_come_is_waited_for_no_more(shop: Shop) -> None:
    delivery = expected(shop, thimble=5)["deliveryid"]
    assert receive(shop, delivery, 1, complete=True, thimble=1).json["status"] == "received"
    late = receive(shop, delivery, 2, thimble=4)
    assert (late.status, late.json["code"]) == (409, "delivery_received")


def test_two_people_at_the_door_receive_the_goods_once(shop: Shop) -> None:
    before, delivery = level(shop, "thimble"), expected(shop, thimble=50)["deliveryid"]
    with ThreadPoolExecutor(6) as people:
        answers = list(people.map(lambda count: receive(shop, delivery, 1, thimble=count), range(1, 7)))
    assert sorted(each.status for each in answers) == [201, 409, 409, 409, 409, 409]
    assert {each.json["code"] for each in answers if each.status == 409} == {"receipt_exists"}
    [receipt] = shop.ok(f"{PATH}/{delivery}", token(*ADMIN))["receipts"]
    assert level(shop, "thimble") == before + receipt["items"][0]["quantity"]


def test_the_same_receipt_sent_again_changes_nothing(shop: Shop) -> None:
    before, delivery = level(shop, "thimble"), expected(shop, thimble=5)["deliveryid"]
    assert [receive(shop, delivery, 1, thimble=3).status for _ in range(3)] == [201] * 3
    assert level(shop, "thimble") == before + 3


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"number": 1, "items": [{"sku": "flatcap-M", "quantity": 1}]}, "items"),
        ({"number": 1, "items": [{"sku": "thimble", "quantity": 1}] * 2}, "items"),
        ({"number": 2, "items": [{"sku": "thimble", "quantity": 1}]}, "number"),
        ({"number": 1, "items": [{"sku": "thimble", "quantity": 0}]}, "items"),
    ],
)
def test_a_receipt_that_cannot_be_says_why(shop: Shop, body: dict[str, Any], field: str) -> None:
    delivery = expected(shop, thimble=5)["deliveryid"]
    answer = shop.admin("POST", f"{PATH}/{delivery}/receipts", body)
    assert answer.status == 422
    assert field in str(answer.json["errors"])


def test_what_is_not_sold_cannot_be_expected(shop: Shop) -> None:
    for items in ([{"sku": "nowhere", "quantity": 1}], [{"sku": "thimble", "quantity": 1}] * 2, []):
        assert shop.admin("POST", PATH, {"supplier": "X", "items": items}).status == 422
    assert shop.admin("POST", f"{PATH}/nobody/receipts", {"number": 1, "items": []}).status == 404


def test_what_a_crash_left_is_put_into_stock_by_the_worker_once(
    shop: Shop, deps: Dependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {sku: level(shop, sku) for sku in ("flatcap-S", "thimble")}
    delivery = expected(shop, flatcap_S=3, thimble=5)["deliveryid"]
    append = type(deps.ledger).append

    def killed_at_the_second(ledger: Any, line: Line, *arguments: Any, **more: Any) -> Any:
        if line.productid == "thimble":
            raise KeyboardInterrupt
        return append(ledger, line, *arguments, **more)

    monkeypatch.setattr(type(deps.ledger), "append", killed_at_the_second)
    items = [{"sku": "flatcap-S", "quantity": 3}, {"sku": "thimble", "quantity": 5}]
    with pytest.raises(KeyboardInterrupt):
        act.receive(deps, delivery, 1, items, timestamp(), complete=False)
    monkeypatch.undo()
    assert act.finish_receipts(deps, now()) == 0, "whoever receives it may still be at it"
    later = now() + act.FINISH_AFTER + timedelta(seconds=1)
    assert act.finish_receipts(deps, later) == 1
    assert act.finish_receipts(deps, later) == 0
    assert level(shop, "flatcap-S") == before["flatcap-S"] + 3
    assert level(shop, "thimble") == before["thimble"] + 5


def test_deliveries_are_listed_newest_first_in_pages(shop: Shop) -> None:
    made = [expected(shop, thimble=number)["deliveryid"] for number in range(1, 6)]
    receive(shop, made[2], 1, thimble=1)
    found: list[dict[str, Any]] = []
    query = "?limit=2"
    while len(found) < 5:
        page = shop.ok(f"{PATH}{query}", token(*ADMIN))
        found += page["items"]
        query = f"?limit=2&cursor={page['next']}"
    assert [each["deliveryid"] for each in found[:5]] == made[::-1]
    assert [len(each["receipts"]) for each in found[:5]] == [0, 0, 1, 0, 0]


def test_what_is_sold_between_the_counting_and_its_entry_is_no_difference(shop: Shop) -> None:
    there, counted_at = level(shop, "thimble"), iso(now())
    sold = shop.admin("POST", "/v1/products/thimble/stock", {"delta": -1, "reason": "sold by hand"})
    assert sold.status == 201
    change = {"sku": "thimble", "level": there + 2, "counted_at": counted_at}
    report = shop.admin("POST", "/v1/admin/products/stock", {"changes": [change], "reason": "counted"})
    assert report.json["changed"] == 1, report.body
    assert level(shop, "thimble") == there + 1, "two more were found, one was sold since"
    early = change | {"counted_at": "2020-01-01T00:00:00.000Z"}
    report = shop.admin("POST", "/v1/admin/products/stock", {"changes": [early], "reason": "counted"})
    assert [each["code"] for each in report.json["failed"]] == ["counted_too_early"]
