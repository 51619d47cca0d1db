"""What the shop says of its categories: labels, order, pictures, texts and moves; kept with the menu."""

from typing import Any
from urllib.parse import quote

import orjson
import pytest

from tests.services.products.conftest import ADMIN, Answer, Shop, eventually, product, token
from tests.waiting import Holds

PATH = "/v1/admin/categories"


@pytest.fixture(autouse=True)
def goods(shop: Shop) -> None:
    shop.load(
        [
            product("boot", taxonomy=["Hiking", "Boots"]),
            product("sock", taxonomy=["Hiking", "Wool/Socks, thick"]),
            product("cap", taxonomy=["Hiking", "Caps"]),
        ]
    )
    eventually(lambda: len(names(shop)) == 3)


def put(shop: Shop, path: str, headers: dict[str, str] | None = None, **content: Any) -> Answer:
    return shop.request("PUT", address(path), {"path": path, **content}, token(*ADMIN) | (headers or {}))


def address(path: str) -> str:
    return f"{PATH}/{quote(path, safe='')}"


def menu(shop: Shop) -> dict[str, Any]:
    return shop.ok("/v1/categories", depth=2)


def hiking(shop: Shop) -> dict[str, Any]:
    return next(each for each in menu(shop)["children"] if each["name"] == "Hiking")


def names(shop: Shop) -> list[str]:
    found = next((each for each in menu(shop)["children"] if each["name"] == "Hiking"), {"children": []})
    return [each["name"] for each in found["children"]]


def test_a_category_is_described_read_changed_and_forgotten(shop: Shop) -> None:
    made = put(shop, "Hiking#Wool/Socks, thick", label="Thick socks", text="Warm.", picture="/media/sock.svg")
    assert made.status == 201, made.body
    path = address("Hiking#Wool/Socks, thick")
    found = shop.get(path, token(*ADMIN))
    assert found.json["label"] == "Thick socks"
    assert found.json["edited_by"] == "admin"
    assert found.headers["ETag"] == made.headers["ETag"]

    def node() -> dict[str, Any]:
        return next(each for each in hiking(shop)["children"] if each["name"].startswith("Wool"))

    eventually(lambda: node().get("label") == "Thick socks")
    assert (node()["text"], node()["picture"]) == ("Warm.", "/media/sock.svg")
    changed = put(shop, "Hiking#Wool/Socks, thick", {"If-Match": made.headers["ETag"]}, label="Socks")
    assert changed.status == 200
    stale = put(shop, "Hiking#Wool/Socks, thick", {"If-Match": made.headers["ETag"]}, label="Late")
    assert stale.status == 412
    eventually(lambda: node().get("label") == "Socks")
    assert "text" not in node()
    assert shop.request("DELETE", path, headers=token(*ADMIN)).status == 204
    assert shop.get(path, token(*ADMIN)).status == 404
    assert put(shop, "Hiking#Wool/Socks, thick", {"If-Match": made.headers["ETag"]}).status == 412


@pytest.mark.parametrize("path", ["_Sale", "__dict__", "Über: alles", "import", "a%b&c=d+e"])
def test_a_category_may_have_any_name(shop: Shop, path: str) -> None:
    at = address(path)
    made = shop.admin("PUT", at, {"path": path, "label": "Sale"})
    assert made.status == 201, made.body
    assert shop.get(at, token(*ADMIN)).json["path"] == path
    assert shop.admin("DELETE", at).status == 204


def test_a_position_decides_the_order_and_names_do_where_there_is_none(shop: Shop, holds: Holds) -> None:
    holds(lambda: names(shop) == ["Boots", "Caps", "Wool/Socks, thick"])
    put(shop, "Hiking#Wool/Socks, thick", position=1)
    put(shop, "Hiking#Caps", position=0)
    holds(lambda: names(shop) == ["Caps", "Wool/Socks, thick", "Boots"])
    for path in ("Hiking#Wool/Socks, thick", "Hiking#Caps"):
        shop.request("DELETE", address(path), headers=token(*ADMIN))
    holds(lambda: names(shop) == ["Boots", "Caps", "Wool/Socks, thick"])


def test_the_menu_costs_nothing_while_nothing_changes(shop: Shop) -> None:
    put(shop, "Hiking#Boots", label="Strong boots")
    menu(shop)
    assert shop.get("/v1/categories", depth=2).calls == {}
    assert shop.get("/v1/categories", depth=2).calls == {}
    shop.request("DELETE", address("Hiking#Boots"), headers=token(*ADMIN))


def test_moves_are_told_and_never_lead_round_and_round(shop: Shop, holds: Holds) -> None:
    assert put(shop, "Footwear", moved_to="Hiking#Boots").status == 201
    holds(lambda: menu(shop).get("moved", {}).get("Footwear") == "Hiking#Boots")
    assert "moved" not in shop.ok("/v1/categories", under="Hiking")
    refusals = {
        "Hiking#Boots": "Footwear",
        "Hiking": "Footwear#Sale",
        "Sandals": "Sandals#Summer",
        "Shoes": "Shoes",
    }
    for path, moved_to in refusals.items():
        refused = put(shop, path, moved_to=moved_to)
        assert refused.status == 422, path
        assert "moved_to" in refused.json["errors"]
    shop.request("DELETE", address("Footwear"), headers=token(*ADMIN))
    holds(lambda: "moved" not in menu(shop))


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ({"path": "Hiking##Boots"}, "path"),
        ({"path": "Hiking# Boots"}, "path"),
        ({"path": "Hiking", "picture": "//elsewhere.example/p.png"}, "picture"),
        ({"path": "Hiking", "position": -1}, "position"),
        ({"path": "Hiking", "moved_to": "#"}, "moved_to"),
        ({"path": "Hiking", "text": "x" * 2001}, "text"),
        ({"path": "Hiking", "colour": "red"}, "colour"),
    ],
)
def test_wrong_fields_are_named(shop: Shop, content: dict[str, Any], field: str) -> None:
    refused = shop.admin("PUT", address(content["path"]), content)
    assert refused.status == 422, refused.body
    assert field in refused.json["errors"]


def test_an_import_writes_lines_and_names_those_that_it_cannot(shop: Shop) -> None:
    lines = [
        {"path": "Hiking#Caps", "label": "Hats and caps", "position": 3},
        {"path": "Hiking#Boots", "position": "first"},
        {"path": "Old hats", "moved_to": "Hiking#Caps"},
        {"path": "Hiking#Caps#Wool", "moved_to": "Old hats#Wool"},
    ]
    body = b"\n".join([*map(orjson.dumps, lines), b"{", b""])
    headers = token(*ADMIN) | {"Content-Type": "application/x-ndjson"}
    report = shop.request("POST", PATH, body, headers).json
    assert (report["written"], report["unchanged"]) == (2, 0)
    assert [each["line"] for each in report["failed"]] == [2, 4, 5]
    assert "position" in report["failed"][0]["detail"]
    listed = {each["path"]: each for each in shop.ok(PATH, token(*ADMIN))["items"]}
    assert listed["Hiking#Caps"]["label"] == "Hats and caps"
    assert menu(shop)["moved"] == {"Old hats": "Hiking#Caps"}
    again = shop.request("POST", PATH, orjson.dumps(lines[0]), headers).json
    assert again == {"written": 0, "unchanged": 1, "failed": []}
    for path in ("Hiking#Caps", "Old hats"):
        shop.request("DELETE", address(path), headers=token(*ADMIN))


def test_customers_say_nothing_of_categories(shop: Shop) -> None:
    assert shop.get(PATH).status == 401
    assert shop.get(PATH, token("u1")).status == 403
    assert shop.request("PUT", address("Hiking"), {"path": "Hiking"}, token("u1")).status == 403
    shop.neighbours.roles["clerk"] = ("staff",)
    assert shop.get(PATH, token("clerk", "staff")).status == 200
    assert shop.request("PUT", address("Hiking"), {"path": "Hiking"}, token("clerk", "staff")).status == 403
