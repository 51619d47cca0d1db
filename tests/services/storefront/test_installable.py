"""The shop as an app: its manifest, its service worker, and the pages, which stay what they are without either."""

import base64
import re
from collections.abc import Callable

import orjson

from services.storefront.pages.installable import keeps_data
from tests.services.storefront.visitor import Visitor


def test_the_manifest_names_icons_that_are_there(visitor: Visitor) -> None:
    page = visitor.get("/manifest.webmanifest")
    assert page.headers["Content-Type"] == "application/manifest+json"
    manifest = orjson.loads(page.body)
    assert (manifest["scope"], manifest["start_url"], manifest["display"]) == ("/", "/", "standalone")
    for icon in manifest["icons"]:
        found = visitor.get(icon["src"])
        assert (found.status, found.headers["Content-Type"].partition(";")[0]) == (200, icon["type"])
    assert {"192x192", "512x512"} <= {icon["sizes"] for icon in manifest["icons"]}


def test_the_worker_names_the_files_of_its_release(visitor: Visitor) -> None:
    page = visitor.get("/worker.js")
    assert page.headers["Content-Type"].partition(";")[0] == "text/javascript"
    assert page.headers["Cache-Control"] == "no-cache", "a release replaces it at once"
    line, _, script = page.body.decode().partition("\n")
    shop = orjson.loads(line.removeprefix("const SHOP = ").removesuffix(";"))
    assert "addEventListener" in script
    assert all(shop["release"] in address for address in shop["shell"])
    for address in [*shop["shell"], shop["offline"]]:
        assert visitor.get(address).status == 200, address


def test_all_that_pages_load_is_on_the_device(visitor: Visitor) -> None:
    shell = visitor.get("/worker.js").body.decode().partition("\n")[0]
    for path in ("/", "/offline"):
        page = visitor.get(path)
        for address in re.findall(r'(?:src|href)="(/assets/[^"]+)"', page.text):
            assert address in shell or "/icons/" in address, address


def test_nobody_gets_a_cookie_for_it(visitor: Visitor) -> None:
    for path in ("/", "/manifest.webmanifest", "/worker.js", "/offline"):
        answer = visitor.get(path)
        assert "Set-Cookie" not in answer.headers
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'; ")
    assert "s-maxage" in visitor.get("/").headers["Cache-Control"]


def test_scripts_learn_who_is_here_and_nobody_else_does(
    visitor: Visitor, join: Callable[..., Visitor]
) -> None:
    assert orjson.loads(visitor.get("/device").body) == {"owner": ""}
    ann = join("Ann Device")
    answer = ann.get("/device")
    told = orjson.loads(answer.body)
    assert told["owner"]
    assert (f'data-owner="{told["owner"]}"' in ann.get("/").body.decode()) == keeps_data(), "where npm is"
    assert answer.headers["Cache-Control"] == "no-store"
    assert orjson.loads(ann.get("/device").body)["seal"] == told["seal"]
    assert orjson.loads(join("Annika Device").get("/device").body)["seal"] != told["seal"], "a key of each"
    assert visitor.get("/device/sync/").status == 401
    assert visitor.send("POST", "/device/orders", b"{}", {}).status == 403


def test_the_database_is_the_customers_own(join: Callable[..., Visitor]) -> None:
    ann = join("Anna Device")
    rows = orjson.loads(ann.get("/device/sync/_all_docs").body)["rows"]
    assert {"profile", "preferences"} <= {row["id"] for row in rows}
    missing = ann.get("/device/sync/basket-nothing")
    assert (missing.status, orjson.loads(missing.body)["error"]) == (404, "not_found")
    csrf = {"X-CSRF-Token": orjson.loads(ann.get("/device").body)["csrf"], "Content-Type": "application/json"}
    line = {"docs": [{"_id": "basket-spade", "type": "basketline", "productid": "spade", "quantity": 2}]}
    assert ann.send("POST", "/device/sync/_bulk_docs", orjson.dumps(line), {}).status == 403, (
        "no token of a page"
    )
    pushed = ann.send("POST", "/device/sync/_bulk_docs", orjson.dumps(line), csrf)
    assert (pushed.status, orjson.loads(pushed.body)[0]["id"]) == (201, "basket-spade")
    assert 'value="2"' in ann.get("/basket").body.decode()


def test_an_order_of_a_device_is_placed_once(visitor: Visitor, join: Callable[..., Visitor]) -> None:
    ann = join("Anne Device")
    csrf = {"X-CSRF-Token": orjson.loads(ann.get("/device").body)["csrf"], "Content-Type": "application/json"}
    address = {
        "name": "Anne",
        "line1": "1 High Street",
        "city": "Leeds",
        "postcode": "LS1 4DY",
        "country": "GB",
    }
    docs = {"docs": [{"_id": "deliverydevice001", "type": "userdelivery", "default": True, **address}]}
    assert ann.send("POST", "/device/sync/_bulk_docs", orjson.dumps(docs), csrf).status == 201
    order = {
        "key": "a-key-of-this-device-1",
        "items": [{"productid": "rake", "quantity": 1}],
        "expected_total": {"amount": 1, "currency": "GBP"},
        "address_id": "device001",
        "card": "tok_ok",
    }
    refused = ann.send("POST", "/device/orders", orjson.dumps(order), csrf)
    told = orjson.loads(refused.body)
    assert (refused.status, told["code"]) == (409, "price_changed")
    assert "Nothing was charged" in told["detail"]
    order |= {"key": "a-key-of-this-device-2", "expected_total": told["total"]}
    placed = [ann.send("POST", "/device/orders", orjson.dumps(order), csrf) for _ in range(2)]
    assert [each.status for each in placed] == [201, 201]
    [orderid] = {orjson.loads(each.body)["orderid"] for each in placed}
    became = ann.get(f"/device/orders/{orderid}")
    assert orjson.loads(became.body) == {"payment_page": "", "detail": ""}, "paid"
    assert visitor.get(f"/device/orders/{orderid}").status == 401
    assert join("Anneke Device").get(f"/device/orders/{orderid}").status == 404
    assert ann.get("/orders").body.decode().count("order-row") == 1
    declined = order | {"key": "a-key-of-this-device-3", "card": "tok_declined"}
    answer = ann.send("POST", "/device/orders", orjson.dumps(declined), csrf)
    assert (answer.status, orjson.loads(answer.body)["code"]) == (402, "payment_declined")


def key_of(category: str) -> str:
    return base64.urlsafe_b64encode(category.encode()).decode().rstrip("=")


def test_a_department_is_kept_by_the_databases_of_its_categories(join: Callable[..., Visitor]) -> None:
    ann = join("Annie Device")
    told = orjson.loads(ann.get("/device/kept?category=Home").body)
    places = {each["category"] for each in told["places"]}
    assert (told["label"], "Home#Lights/Lamps, indoor" in places) == ("Home", True)
    found = {place: ann.get(f"/device/kept/{key_of(place)}/_changes").status for place in places}
    assert set(found.values()) == {200}, "none that only holds others, which has no database"
    key = key_of("Home#Lights/Lamps, indoor")
    ids = {row["id"] for row in orjson.loads(ann.get(f"/device/kept/{key}/_changes").body)["results"]}
    assert ids == {"category", "product-lamp-1"}
    assert ann.get("/device/kept/no-key!/_changes").status == 404
