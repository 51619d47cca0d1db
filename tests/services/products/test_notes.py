"""What staff note on a product: for them alone, beside the product wherever it goes."""

from tests.services.products.conftest import Shop, product, token


def texts(shop: Shop, productid: str) -> list[str]:
    return [each["text"] for each in shop.admin("GET", f"/v1/admin/products/{productid}/notes").json["items"]]


def test_staff_note_things_on_a_product_and_read_them_latest_first(shop: Shop) -> None:
    shop.load([product("noted")])
    path, key = "/v1/admin/products/noted/notes", {"Idempotency_Key": "the first note"}
    first = shop.admin("POST", path, {"text": "Supplier\nis slow."}, **key)
    assert first.status == 201, first.body
    assert first.json.keys() == {"id", "text", "by", "date"}
    assert shop.admin("POST", path, {"text": "Supplier\nis slow."}, **key).json == first.json
    shop.admin("POST", path, {"text": "Found another."})
    assert texts(shop, "noted") == ["Found another.", "Supplier\nis slow."]
    page = shop.admin("GET", f"{path}?limit=1").json
    rest = shop.admin("GET", f"{path}?limit=1&cursor={page['next']}").json
    assert [each["text"] for each in rest["items"]] == ["Supplier\nis slow."]
    assert b"slow" not in shop.request("GET", "/v1/products/noted").body
    assert shop.admin("POST", path, {"text": ""}).status == 422
    assert shop.admin("POST", "/v1/admin/products/nothing/notes", {"text": "x"}).status == 404
    assert shop.request("GET", path, None, token("a customer")).status == 403


def test_notes_move_with_their_product(shop: Shop) -> None:
    shop.load([product("mover", taxonomy=["Old place"])])
    assert shop.admin("POST", "/v1/admin/products/mover/notes", {"text": "Heavy."}).status == 201
    moved = shop.admin("PUT", "/v1/products/mover", product("mover", taxonomy=["New place"]))
    assert moved.status == 200, moved.body
    assert texts(shop, "mover") == ["Heavy."]
