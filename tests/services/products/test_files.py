"""CSV, export, progress."""

import csv
import io
from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest

from services.products.rules.product import BadProduct, checked, complete, document
from shared.clock import timestamp
from tests.services.products.conftest import ADMIN, Shop, open_as_worker, product, token


def send(shop: Shop, text: bytes, kind: str, query: str = ""):
    return shop.request("POST", f"/v1/products/import{query}", text, token(*ADMIN) | {"Content-Type": kind})


def test_what_is_exported_can_be_imported(shop: Shop):
    shop.load(
        [
            product(
                "x1",
                stock=3,
                colours=["red", "sky blue"],
                keywords=["a b", "c", "this|that", "back\\slash", "end\\", "\\|"],
                description='Line\nbreak, "quotes"',
                weight_grams=1250,
                tax_class="books",
                customs={"hs_code": "6912002310", "origin": "PT"},
            ),
            product("x2", taxonomy=["_Odd: one", "B"]),
        ]
    )
    for kind in ("application/x-ndjson", "text/csv"):
        answer = shop.request("GET", "/v1/products/export", None, token(*ADMIN) | {"Accept": kind})
        assert answer.headers["Content-Type"].startswith(kind)
        again = send(shop, answer.body, kind).json
        assert (again["created"], again["updated"], again["failed"]) == (0, 0, [])
        assert again["unchanged"] >= 2
        if kind == "text/csv":
            row = next(
                row for row in csv.DictReader(io.StringIO(answer.body.decode())) if row["productid"] == "x1"
            )
            assert (row["weight_grams"], row["tax_class"]) == ("1250", "books")
            assert (row["customs_hs_code"], row["customs_origin"]) == ("6912002310", "PT")
        if kind == "application/x-ndjson":
            line = next(
                line for line in map(orjson.loads, answer.body.splitlines()) if line["productid"] == "x1"
            )
            assert line["stock"] == 3
    for each in ("x1", "x2"):
        shop.admin("DELETE", f"/v1/products/{each}")
    assert send(shop, answer.body, "text/csv").json["created"] == 2
    assert shop.ok("/v1/products/x1")["customs"] == {"hs_code": "6912002310", "origin": "PT"}


def test_no_cell_of_a_csv_export_is_a_formula_and_all_come_back(shop: Shop):
    evil = {
        "name": '=HYPERLINK("http://evil.example","Cheap")',
        "brand": "+44 1632 960000",
        "description": "@SUM(1+1)*cmd|' /C calc'!A0",
        "keywords": ["-1", "'=2"],
        "colours": ["'=red", "\uff1dblue"],
        "taxonomy": ["-Sale", "=Mugs"],
    }
    shop.load([product("formula", **evil)])
    csv_file = {"Accept": "text/csv"}
    answer = shop.request("GET", "/v1/products/export", None, token(*ADMIN) | csv_file)
    rows = list(csv.DictReader(io.StringIO(answer.body.decode(), newline="")))
    cells = [cell for row in rows for cell in row.values()]
    assert [cell for cell in cells if cell[:1] in tuple("=+-@\t\r\n\uff1d")] == []
    assert send(shop, answer.body, "text/csv").json["updated"] == 0
    before = shop.ok("/v1/products/formula")
    shop.admin("DELETE", "/v1/products/formula")
    assert send(shop, answer.body, "text/csv").json["created"] == 1
    assert shop.ok("/v1/products/formula") == before


@pytest.mark.parametrize(
    ("image", "accepted"),
    [
        ("", True),
        ("/media/mug.svg", True),
        ("https://pictures.example/mug.jpg?w=200", True),
        ("http://pictures.example:8080/mug.jpg", True),
        ("//evil.example/mug.jpg", False),
        ("/\\evil.example/mug.jpg", False),
        ("/\t/evil.example/mug.jpg", False),
        ("https://shop.example@evil.example/mug.jpg", False),
        ("https:///mug.jpg", False),
        ("javascript:alert(1)", False),
        ("data:image/svg+xml,<svg/>", False),
        ('/mug.jpg"onerror="alert(1)', False),
        ("mug.jpg", False),
    ],
)
def test_a_picture_comes_from_a_plain_address_or_a_path_of_this_site(shop: Shop, image: str, accepted: bool):
    created = shop.admin("POST", "/v1/products", product("addressed", image=image))
    assert created.status == (201 if accepted else 422), created.body
    line = orjson.dumps(product("addressed", image=image))
    imported = send(shop, line, "application/x-ndjson").json
    row = io.StringIO()
    writer = csv.writer(row)
    writer.writerow(
        "productid taxonomy keywords brand name description colours price_amount price_currency image".split()
    )
    writer.writerow(["addressed", "A", "", "", "N", "", "", 100, "GBP", image])
    for answer in (imported, send(shop, row.getvalue().encode(), "text/csv").json):
        assert len(answer["failed"]) == (0 if accepted else 1)
        assert accepted or "image" in answer["failed"][0]["detail"]
    if accepted:
        shop.admin("DELETE", "/v1/products/addressed")


def test_wrong_rows_of_a_csv_file_are_named(shop: Shop):
    head = b"productid,taxonomy,keywords,brand,name,description,colours,price_amount,price_currency,image\r\n"
    rows = b"v1,A#B,,Acme,One,,,100,GBP,\r\nv2,A#B,,Acme,Two,,,,GBP,\r\nv3,A#B,,Acme,Three,,,x,GBP,\r\n"
    answer = send(shop, head + rows, "text/csv").json
    assert (answer["created"], [each["line"] for each in answer["failed"]]) == (1, [3, 4])
    assert send(shop, b"productid,name\nv9,x\n", "text/csv").status == 400
    for number, cell in enumerate(
        (b"--5", b"-", b"1e3", b"1.5", b"-5", b"9" * 5000, "²".encode(), "٣".encode())
    ):
        answer = send(shop, head + b"w%d,A#B,,Acme,One,,,%s,GBP,\r\n" % (number, cell), "text/csv")
        assert (answer.status, answer.json["failed"][0]["code"]) == (200, "invalid_product"), cell
    cut = head + b"v4,A#B,,Acme,Four, with a comma,,,100,GBP,\r\nv5,A#B,,Acme,Five,,,100,GBP,\r\n"
    answer = send(shop, b"\xef\xbb\xbf" + cut, "text/csv").json
    assert (answer["created"], [(each["line"], each["code"]) for each in answer["failed"]]) == (
        1,
        [(2, "row_too_long")],
    ), "a byte order mark, as spreadsheets write it, is no part of a name"
    assert send(shop, b"{}", "application/json").status == 415


def test_an_import_tells_its_progress_and_goes_on_from_a_line(shop: Shop):
    text = b"\n".join(orjson.dumps(product(f"pr{n}")) for n in range(10))
    assert send(shop, text, "application/x-ndjson", "?id=mine&from_line=4").json["created"] == 7
    state = shop.admin("GET", "/v1/products/imports/mine").json
    assert state == {"lines": 10, "created": 7, "updated": 0, "unchanged": 0, "failed": 0, "done": True}
    assert shop.admin("GET", "/v1/products/imports/other").status == 404
    assert send(shop, text, "application/x-ndjson").json == {
        "created": 3,
        "updated": 0,
        "unchanged": 7,
        "failed": [],
    }


def test_a_product_that_comes_twice_has_two_price_changes(shop: Shop):
    prices = [{"amount": amount, "currency": "GBP"} for amount in (100, 200, 300)]
    shop.load([product("twice", price=price) for price in prices])
    changes = shop.admin("GET", "/v1/products/twice/prices").json["items"]
    assert [each["before"]["amount"] for each in changes] == [200, 100]


def test_an_import_waits_for_whoever_makes_one_of_its_products(shop: Shop, environment: dict[str, str]):
    deps = open_as_worker(environment)
    with ThreadPoolExecutor(1) as meanwhile, deps.locks.hold("create:raced") as acquired:
        assert acquired
        importing = meanwhile.submit(shop.load, [product("other"), product("raced", taxonomy=["Imported"])])
        with pytest.raises(TimeoutError):
            importing.result(timeout=1)
        content = complete(checked(product("raced", taxonomy=["Posted"])).content)
        deps.catalogue.put(document(content, timestamp()))
    assert importing.result() == {"created": 1, "updated": 1, "unchanged": 0, "failed": []}
    assert [doc["taxonomy"] for doc in deps.catalogue.copies("raced")] == [["Imported"]]
    with deps.locks.hold("create:other", "create:fresh", wait=10):
        refused = shop.admin("POST", "/v1/products", product("fresh", taxonomy=["Posted"]))
        assert (refused.status, refused.headers["Retry-After"]) == (503, "2")
    assert shop.admin("POST", "/v1/products", product("fresh", taxonomy=["Posted"])).status == 201


def test_an_import_moves_a_product_to_another_category(shop: Shop):
    shop.load([product("mv", taxonomy=["From"], stock=4)])
    assert shop.load([product("mv", taxonomy=["To"], stock=9)])["updated"] == 1
    assert (shop.ok("/v1/products/mv")["taxonomy"], shop.ok("/v1/products/mv")["stock"]) == (["To"], 4)
    assert shop.walk(category="From") == []


@pytest.mark.parametrize(
    ("customs", "field"),
    [
        ({"hs_code": "69120"}, "customs"),
        ({"hs_code": "6912.00"}, "customs"),
        ({"hs_code": "69120023101"}, "customs"),
        ({"origin": "pt"}, "customs"),
        ({"origin": "ZZ"}, "customs.origin"),
        ({"country": "PT"}, "customs"),
        ("691200", "customs"),
    ],
)
def test_what_is_no_hs_code_and_no_country_is_refused(customs, field: str):
    with pytest.raises(BadProduct) as refused:
        checked(product("declared", customs=customs))
    assert list(refused.value.errors) == [field]


def test_customs_details_stay_where_a_client_does_not_say_them():
    said = {"hs_code": "691200", "origin": "PT"}
    made = document(complete(checked(product("declared", customs=said)).content), timestamp())
    assert made["customs"] == said
    assert complete(checked(product("declared")).content, made)["customs"] == said
    assert complete(checked(product("declared", customs={})).content, made)["customs"] == {}
    older = document(complete(checked(product("declared")).content), timestamp())
    assert "customs" not in older
