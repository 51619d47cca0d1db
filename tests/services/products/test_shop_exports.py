"""Product exports of Shopify and WooCommerce, taken as they are."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
import urllib3

from tests.services.products.conftest import ADMIN, Answer, Shop, token

FILES = Path(__file__).parent / "shop_exports"
SHOPIFY, WOOCOMMERCE = ((FILES / f"{name}.csv").read_bytes() for name in ("shopify", "woocommerce"))
STAFF = token(*ADMIN)
HEADER = "Handle,Title,Body (HTML),Type,Option1 Name,Option1 Value,Variant SKU,Variant Inventory Qty,Variant Price,Status\n"


def send(shop: Shop, kind: str, content: bytes, **query: Any) -> Answer:
    headers = STAFF | {"Content-Type": "text/csv"}
    query = {"format": kind, "pictures": "none", **query}
    return shop.request("POST", "/v1/products/import", content, headers, **query)


def load(shop: Shop, kind: str, content: bytes, **query: Any) -> Any:
    answer = send(shop, kind, content, **query)
    assert answer.status == 200, answer.body
    return answer.json


def read(shop: Shop, productid: str) -> Any:
    return shop.ok(f"/v1/products/{productid}", STAFF)


def notes(report: Any) -> set[tuple[int, str]]:
    return {(each["line"], each["code"]) for each in report["notes"]}


def test_a_dry_run_says_what_would_become_of_each_line(shop: Shop) -> None:
    report = load(shop, "shopify", SHOPIFY, dry_run="true")
    assert (report["created"], report["failed"], report["dry_run"]) == (3, [], True)
    assert shop.get("/v1/products/wool-beanie", STAFF).status == 404
    load(shop, "shopify", SHOPIFY)
    assert load(shop, "shopify", SHOPIFY, dry_run="true")["unchanged"] == 3
    changed = SHOPIFY.replace(b"Beeswax candle", b"Beeswax light")
    report = load(shop, "shopify", changed, dry_run="true")
    assert (report["updated"], report["unchanged"]) == (1, 2)
    taken = HEADER + "thief,Thief,,Hats,Colour,Red,BEA-OAT-S,1,5,active\n"
    report = load(shop, "shopify", taken.encode(), dry_run="true")
    assert [(each["line"], each["code"]) for each in report["failed"]] == [(2, "sku_taken")]


def test_shopify_products_with_their_variants(shop: Shop) -> None:
    report = load(shop, "shopify", SHOPIFY)
    assert report["created"] + report["unchanged"] == 3, report
    assert {(4, "sku_changed"), (4, "stock_below_zero")} <= notes(report)
    hat = read(shop, "wool-beanie")
    assert hat["name"] == "Wool Beanie"
    assert hat["brand"] == "North & Co"
    assert hat["taxonomy"] == ["Apparel & Accessories", "Clothing Accessories", "Hats"]
    assert hat["keywords"] == ["winter", "wool", "gift", "Beanies"]
    assert hat["description"] == 'Warm & soft, "the" beanie.\n\n- Merino\n- Hand wash'
    assert hat["options"] == [{"name": "Colour", "values": ["Oat"]}, {"name": "Size", "values": ["S", "L"]}]
    small, large = hat["variants"]
    assert (small["sku"], small["price"]["amount"], small["stock"]) == ("BEA-OAT-S", 2400, 7)
    assert (small["weight_grams"], small["barcode"]) == (120, "5012345678900")
    assert (large["sku"], large["price"]["amount"], large["stock"]) == ("BEA-OAT-L", 2600, 0)
    assert (small["compare_at_prices"], large.get("compare_at_prices", {})) == ({"GBP": 3000}, {})
    candle = read(shop, "candle")
    assert (candle["status"], candle["taxonomy"], candle["stock"]) == ("draft", ["Candles"], 12)
    assert candle["price"] == {"amount": 950, "currency": "GBP"}
    assert read(shop, "old-scarf")["status"] == "archived"


def test_woocommerce_products_with_their_variations(shop: Shop) -> None:
    report = load(shop, "woocommerce", WOOCOMMERCE, currency="EUR", untracked_stock=50)
    assert report["created"] == 3, report
    assert {each["line"] for each in report["failed"]} == {7, 8}
    assert {(6, "variation_left_out"), (9, "made_a_draft")} <= notes(report)
    tee = read(shop, "vneck-tee")
    assert tee["taxonomy"] == ["Clothing", "T-shirts"]
    assert tee["keywords"] == ["cotton", "summer, light", "Clothing", "Sale"]
    assert tee["description"] == "A soft tee.\n\nCut for everyone.\nMachine wash.\n\nFabric: Cotton"
    assert tee["options"] == [{"name": "Color", "values": ["Blue", "Red"]}]
    red, blue = tee["variants"]
    assert (red["sku"], red["price"], red["stock"]) == ("vneck-red", {"amount": 1800, "currency": "EUR"}, 4)
    assert red["weight_grams"] == 200
    assert (blue["sku"], blue["active"], blue["stock"]) == ("vneck-tee-Blue", False, 50)
    assert blue["price"]["amount"] == 1750
    album = read(shop, "album")
    assert (album["name"], album["status"], album["price"]["amount"]) == ("=Album", "draft", 900)
    assert album["compare_at_price"] == {"amount": 1250, "currency": "EUR"}
    assert (read(shop, "product-51")["status"], read(shop, "product-51")["stock"]) == ("draft", 0)


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + SHOPIFY,
        SHOPIFY.decode().encode("utf-16"),
        SHOPIFY.replace(b"\n", b"\r\n"),
    ],
    ids=["bom", "utf-16", "crlf"],
)
def test_the_same_file_however_it_was_saved_changes_nothing(shop: Shop, content: bytes) -> None:
    load(shop, "shopify", SHOPIFY)
    assert load(shop, "shopify", content)["unchanged"] == 3


def test_semicolons_tabs_and_a_line_that_names_them(shop: Shop) -> None:
    load(shop, "shopify", SHOPIFY)
    rows = list(csv.reader(io.StringIO(SHOPIFY.decode())))
    for separator, before in ((";", ""), ("\t", ""), (";", "sep=;\n")):
        out = io.StringIO()
        csv.writer(out, delimiter=separator).writerows(rows)
        report = load(shop, "shopify", (before + out.getvalue()).encode())
        assert report["unchanged"] == 3, (separator, report)


def test_the_newer_headers_of_shopify_in_any_order_and_case(shop: Shop) -> None:
    content = (
        "TITLE,URL handle,Description,Vendor,Product category,Tags,Published on online store,Status,SKU,Barcode,"
        "Option1 name,Option1 value,Price,Compare-at price,Inventory tracker,Inventory quantity,Weight value (grams),Product image URL\n"
        'Linen Apron,linen-apron,<p>Strong</p>,Oak,Home & Garden > Linens,kitchen,TRUE,Active,APR-1,,Size,One,"1,249.00",,shopify,3,400,\n'
    )
    assert load(shop, "shopify", content.encode())["created"] == 1
    apron = read(shop, "linen-apron")
    assert apron["taxonomy"] == ["Home & Garden", "Linens"]
    assert (apron["variants"][0]["sku"], apron["price"]["amount"], apron["stock"]) == ("APR-1", 124900, 3)


def test_german_headers_of_woocommerce(shop: Shop) -> None:
    content = (
        'ID;Typ;Artikelnummer;Name;Veröffentlicht;"Sichtbarkeit im Katalog";Beschreibung;Vorrätig?;Bestand;"Gewicht (kg)";"Regulärer Preis";Kategorien;Schlagwörter;Übergeordnet;"Attribut 1 Name";"Attribut 1 Wert(e)"\n'
        '7;variable;STUHL;Stühle;1;visible;Aus Holz;1;;;;Möbel > Sitzen;Holz;;Farbe;"Weiß, Rot"\n'
        '8;variation;STUHL-W;;1;visible;;1;3;4,5;"149,90";;;STUHL;Farbe;Weiß\n'
    )
    assert load(shop, "woocommerce", content.encode(), currency="EUR")["created"] == 1
    chair = read(shop, "STUHL")
    assert (chair["taxonomy"], chair["price"]) == (["Möbel", "Sitzen"], {"amount": 14990, "currency": "EUR"})
    assert (chair["variants"][0]["weight_grams"], chair["stock"]) == (4500, 3)


def test_gift_cards_weights_and_sales_of_a_time_are_taken(shop: Shop) -> None:
    shopify = (
        b"Handle,Title,Variant SKU,Variant Grams,Variant Inventory Qty,Variant Price,Gift Card,Status\n"
        b"voucher-card,Voucher,VC,,9,25.00,true,active\n"
        b"anvil,Anvil,ANV,12500,2,80.00,false,active\n"
    )
    assert load(shop, "shopify", shopify)["created"] == 2
    assert read(shop, "voucher-card")["kind"] == "gift_card"
    anvil = read(shop, "anvil")
    assert (anvil["weight_grams"], "kind" in anvil) == (12500, False)
    woocommerce = (
        b"ID,Type,SKU,Name,Published,Date sale price starts,Date sale price ends,Weight (kg),Sale price,Regular price\n"
        b"1,simple,tongs,Tongs,1,2020-11-27,2999-11-30 12:00:00,1.2,8,10\n"
        b"2,simple,poker,Poker,1,2998-01-01,,,8,10\n"
        b"3,simple,shovel,Shovel,1,tomorrow,,,8,10\n"
    )
    report = load(shop, "woocommerce", woocommerce, currency="EUR")
    assert report["created"] == 2
    assert [(each["line"], "'tomorrow'" in each["detail"]) for each in report["failed"]] == [(4, True)]
    tongs, poker = read(shop, "tongs"), read(shop, "poker")
    assert (tongs["price"]["amount"], tongs["compare_at_price"]["amount"]) == (800, 1000)
    assert (tongs["sale_ends"], tongs["weight_grams"]) == ("2999-11-30T12:00:00.000Z", 1200)
    assert (poker["price"]["amount"], poker["sales"][0]["from"]) == (1000, "2998-01-01T00:00:00.000Z")


def test_rows_that_are_wrong_fail_alone_with_line_and_reason(shop: Shop) -> None:
    content = HEADER + (
        ",No handle,,Hats,,,,1,5,active\n"
        "no-title,,,Hats,,,,1,5,active\n"
        "no-price,No price,,Hats,,,,1,,active\n"
        "bad-price,Bad price,,Hats,,,,1,cheap,active\n"
        "half-penny,Half a penny,,Hats,,,,1,0.005,active\n"
        "odd-status,Odd status,,Hats,,,,1,5,sleeping\n"
        "two-rows,Two rows,,Hats,,,A-1,1,5,active\n"
        "two-rows,,,,,,A-2,1,5,\n"
        'many-cells,"Many\ncells",,Hats,,,,1,5,active,,,more\n'
        "odd-stock,Odd stock,,Hats,,,,few,5,active\n"
        "good,Good,,Hats,,,,1,5,active\n"
        "search,Reserved? no,,Hats,,,,1,5,active\n"
        "lookup,Reserved,,Hats,,,,1,5,active\n"
        "twice,Twice,,Hats,Size,S,T-1,1,5,active\n"
        "twice,,,,,S,T-2,1,5,\n"
    )
    report = load(shop, "shopify", content.encode())
    assert report["created"] == 2, report
    failed = {each["line"]: each["code"] for each in report["failed"]}
    assert set(failed) == {2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16}, report["failed"]
    assert failed[10] == "row_too_long"
    assert "sleeping" in next(each["detail"] for each in report["failed"] if each["line"] == 7)


def test_variants_may_be_anywhere_in_the_file(shop: Shop) -> None:
    content = HEADER + (
        "spread,,,,,L,SPR-L,2,12,\n"
        "other,Other hat,,Hats,,,,1,5,active\n"
        "spread,Spread hat,,Hats,Size,S,SPR-S,1,10,active\n"
    )
    assert load(shop, "shopify", content.encode())["created"] == 2
    assert [each["sku"] for each in read(shop, "spread")["variants"]] == ["SPR-L", "SPR-S"]
    rows = WOOCOMMERCE.split(b"\n")
    turned = (
        b"\n".join([rows[0], *reversed(rows[1:-1]), b""]).replace(b"vneck", b"turned").replace(b"44", b"144")
    )
    report = load(shop, "woocommerce", turned, currency="EUR")
    assert len(read(shop, "turned-tee")["variants"]) == 2, report


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "first row"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "UTF-8"),
        (b"a,b\n1,2\n", "handle, title"),
        ((HEADER + 'x,"open,,\n').encode(), "not CSV"),
    ],
)
def test_a_file_that_is_none_is_refused(shop: Shop, content: bytes, words: str) -> None:
    answer = send(shop, "shopify", content)
    assert (answer.status, words in answer.json["detail"]) == (400, True), answer.body


def test_what_is_asked_wrongly_is_refused(shop: Shop) -> None:
    assert send(shop, "magento", SHOPIFY).status == 422
    assert send(shop, "shopify", SHOPIFY, currency="XXQ").status == 422
    assert send(shop, "shopify", SHOPIFY, pictures="all").status == 422
    headers = STAFF | {"Content-Type": "application/json"}
    assert shop.request("POST", "/v1/products/import", SHOPIFY, headers, format="shopify").status == 415
    anonymous = {"Content-Type": "text/csv"}
    assert shop.request("POST", "/v1/products/import", SHOPIFY, anonymous, format="shopify").status == 401


def test_ten_thousand_rows_with_progress_and_few_calls(shop: Shop) -> None:
    rows = [
        f"bulk-{n},{'Bulk hat ' + str(n) if size == 'S' else ''},,Bulk hats,{'Size' if size == 'S' else ''},{size},B-{n}-{size},3,{10 + n % 7},active\n"
        for n in range(2_500)
        for size in ("S", "M", "L", "XL")
    ]
    url = f"{shop.url}/v1/products/import?format=shopify&id=ten-thousand"
    headers = STAFF | {"Content-Type": "text/csv"}
    sent = urllib3.request("POST", url, body=(HEADER + "".join(rows)).encode(), headers=headers, timeout=600)
    answer = Answer(sent.status, sent.headers, sent.data)
    assert (answer.json["created"], answer.json["failed"]) == (2500, [])
    assert sum(answer.calls.values()) < 100, answer.calls
    progress = shop.ok("/v1/products/imports/ten-thousand", STAFF)
    assert (progress["created"], progress["done"]) == (2500, True)
    assert read(shop, "B-1999-XL")["productid"] == "bulk-1999"


def test_keys_are_made_of_any_text(shop: Shop) -> None:
    content = HEADER + (
        f"крем-для-рук,Крем для рук,,Крем,,,,1,5,active\n{'long-' * 30},Long handle,,Hats,,,,1,5,active\n"
    )
    assert load(shop, "shopify", content.encode())["created"] == 2
    assert load(shop, "shopify", content.encode())["unchanged"] == 2
