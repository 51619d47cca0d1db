"""Goods sold beyond their stock: the setting in files and answers, and who waits, wherever the product is."""

from typing import Any

from services.products.actions import maintenance
from services.products.dependencies import Dependencies
from tests.services.products.conftest import ADMIN, Answer, Shop, product, token
from tests.services.products.test_shop_exports import HEADER, load

KITCHEN, CELLAR = ["Home", "Kitchen"], ["Home", "Cellar"]
STAFF = token(*ADMIN)
FAR = "2030-01-01T00:00:00.000Z"


def line(productid: str, quantity: int, taxonomy: list[str] = KITCHEN, limit: int = 100) -> dict[str, Any]:
    return {"productid": productid, "taxonomy": taxonomy, "quantity": quantity, "backorder_limit": limit}


def reserve(shop: Shop, orderid: str, *lines: dict[str, Any]) -> Answer:
    body = {"orderid": orderid, "items": list(lines), "expires": FAR}
    return shop.service("/v1/internal/reservations", body)


def waiting(shop: Shop, productid: str, *orderids: str, taxonomy: list[str] = KITCHEN) -> dict[str, int]:
    asked = [{"orderid": each, "items": [line(productid, 1, taxonomy)]} for each in orderids]
    answer = shop.service("/v1/internal/waiting", {"orders": asked})
    assert answer.status == 200, answer.body
    return {each["orderid"]: each["items"][0]["waiting"] for each in answer.json["orders"]}


def come_in(shop: Shop, productid: str, count: int) -> None:
    body = {"delta": count, "reason": "delivery"}
    assert shop.admin("POST", f"/v1/products/{productid}/stock", body).status == 201


def test_what_comes_in_goes_to_the_oldest_also_where_the_product_was_moved_to(shop: Shop) -> None:
    lamp = product("bo-moved", stock=1, taxonomy=KITCHEN, backorder=True)
    shop.load([lamp])
    for orderid, quantity in (("mv1", 2), ("mv2", 3), ("mv3", 1)):
        assert reserve(shop, orderid, line("bo-moved", quantity)).status == 201
    assert waiting(shop, "bo-moved", "mv1", "mv2", "mv3") == {"mv1": 1, "mv2": 3, "mv3": 1}
    shop.load([lamp | {"taxonomy": CELLAR}])
    assert shop.ok("/v1/products/bo-moved")["taxonomy"] == CELLAR
    assert waiting(shop, "bo-moved", "mv1", "mv2", "mv3") == {"mv1": 1, "mv2": 3, "mv3": 1}
    assert reserve(shop, "mv4", line("bo-moved", 2, CELLAR)).status == 201
    come_in(shop, "bo-moved", 3)
    assert waiting(shop, "bo-moved", "mv1", "mv2", "mv3", "mv4") == {"mv1": 0, "mv2": 1, "mv3": 1, "mv4": 2}
    shop.load([lamp])
    come_in(shop, "bo-moved", 2)
    assert waiting(shop, "bo-moved", "mv2", "mv3", "mv4") == {"mv2": 0, "mv3": 0, "mv4": 2}


def test_long_queues_are_read_to_where_they_begin(shop: Shop) -> None:
    shop.load([product("bo-long", stock=0, backorder=True)])
    ids = [f"lq{number:03d}" for number in range(130)]
    for orderid in ids:
        assert reserve(shop, orderid, line("bo-long", 1, limit=1000)).status == 201
    come_in(shop, "bo-long", 20)
    found = waiting(shop, "bo-long", *ids)
    assert found == {orderid: int(number >= 20) for number, orderid in enumerate(ids)}


def test_without_a_limit_in_the_request_nothing_goes_below_zero(shop: Shop) -> None:
    shop.load([product("bo-none", stock=1)])
    assert reserve(shop, "no1", line("bo-none", 2, limit=0)).status == 409
    assert reserve(shop, "no2", line("bo-none", 1, limit=0)).status == 201
    assert reserve(shop, "no3", line("bo-none", 1, limit=0)).status == 409


def test_answers_say_the_terms_to_all_and_who_waits_to_staff(shop: Shop, deps: Dependencies) -> None:
    sizes = [
        {"sku": f"bo-size-{size}", "options": {"Size": size}, "stock": 1, **more}
        for size, more in (("S", {}), ("M", {"backorder": False}), ("L", {"backorder_limit": 4}))
    ]
    options = {"options": [{"name": "Size", "values": ["S", "M", "L"]}], "variants": sizes}
    shop.load([product("bo-size", backorder=True, backorder_date="2026-12-12", **options)])
    big = line("bo-size", 3) | {"sku": "bo-size-L"}
    assert reserve(shop, "sz1", big).status == 201
    maintenance.sum_up(deps)
    shown = {each["sku"]: each for each in shop.ok("/v1/products/bo-size")["variants"]}
    assert shown["bo-size-S"]["backorder_terms"] == {"date": "2026-12-12"}
    assert "backorder_terms" not in shown["bo-size-M"]
    assert shown["bo-size-L"]["backorder_terms"] == {"date": "2026-12-12", "limit": 4, "left": 2}
    assert (shown["bo-size-L"]["stock"], "waiting" in shown["bo-size-L"]) == (0, False)
    seen = shop.ok("/v1/products/bo-size", STAFF)
    assert (seen["waiting"], seen["variants"][2]["waiting"]) == (2, 2)
    sent = shop.admin("PUT", "/v1/products/bo-size", seen)
    assert sent.status == 200, sent.body
    maintenance.sum_up(deps)
    assert shop.ok("/v1/products/bo-size", STAFF)["waiting"] == 2
    come_in(shop, "bo-size-L", 2)
    assert "waiting" not in shop.ok("/v1/products/bo-size", STAFF)


def test_csv_files_carry_the_setting_out_and_in_and_name_what_is_wrong(shop: Shop) -> None:
    sizes = [{"sku": "bo-csv-S", "options": {"Size": "S"}, "backorder": False, "backorder_limit": 3}]
    options = {"options": [{"name": "Size", "values": ["S"]}], "variants": sizes}
    shop.load([product("bo-csv", backorder=True, backorder_date="2026-12-12", backorder_limit=9, **options)])
    out = shop.get("/v1/products/export", STAFF | {"Accept": "text/csv"})
    header, *rows = out.body.decode().splitlines() if isinstance(out.body, bytes) else out.body.splitlines()
    row = next(each for each in rows if each.startswith(("bo-csv,", '"bo-csv"')) or ",bo-csv," in each)
    headers = STAFF | {"Content-Type": "text/csv"}
    changed = f"{header}\n{row.replace('2026-12-12', '2027-01-02').replace('bo-csv', 'bo-csv2')}\n"
    report = shop.request("POST", "/v1/products/import", changed.encode(), headers).json
    assert (report["created"], report["failed"]) == (1, []), report
    found = shop.ok("/v1/products/bo-csv2", STAFF)
    assert (found["backorder"], found["backorder_date"], found["backorder_limit"]) == (True, "2027-01-02", 9)
    variant = found["variants"][0]
    assert (variant["backorder"], variant["backorder_limit"]) == (False, 3)
    wrong = changed.replace("2027-01-02", "soon")
    report = shop.request("POST", "/v1/products/import", wrong.encode(), headers).json
    assert "backorder_date" in str(report["failed"]), report


def test_other_shops_files_say_it_too(shop: Shop) -> None:
    header = HEADER.replace("Variant Inventory Qty", "Variant Inventory Policy,Variant Inventory Qty")
    rows = "bo-kept,Kept,,Hats,,,BOK,continue,0,5,active\nbo-not,Not,,Hats,,,BON,deny,0,5,active\n"
    report = load(shop, "shopify", (header + rows).encode(), currency="GBP")
    assert report["failed"] == [], report
    assert "backorder_terms" in shop.ok("/v1/products/bo-kept")
    assert "backorder_terms" not in shop.ok("/v1/products/bo-not")
    header = "ID,Type,SKU,Name,Published,Visibility in catalog,Stock,Backorders allowed?,Regular price,Categories\n"
    rows = "1,simple,bo-woo,Woo,1,visible,0,notify,5,Hats\n2,simple,bo-nowoo,No,1,visible,0,0,5,Hats\n"
    report = load(shop, "woocommerce", (header + rows).encode(), currency="GBP")
    assert report["failed"] == [], report
    assert "backorder_terms" in shop.ok("/v1/products/bo-woo")
    assert "backorder_terms" not in shop.ok("/v1/products/bo-nowoo")
