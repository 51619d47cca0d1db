"""Customers of another shop at the desk: a file comes in, what is wrong with it is said, and all of them go out as one."""

import json
import secrets

from tests.bench.running import Shop
from tests.services.storefront.conftest import log_in
from tests.services.storefront.visitor import Visitor

OLD_PASSWORD = "old password of mine"
HASH = "pbkdf2_sha1$1000$seasalt$YYADIHvUD0PxEr76FVi3GO2S/cI="


def sent(keeper: Visitor, kind: str, content: str) -> str:
    keeper.get("/admin/customers/import")
    return keeper.upload("/admin/customers/import", "file", content.encode(), format=kind).text


def test_a_file_of_customers_comes_in_once_and_they_log_in_with_their_old_passwords(
    shop: Shop, keeper: Visitor
) -> None:
    mark = secrets.token_hex(4)
    assert keeper.get("/admin/customers").link("Import customers") == "/admin/customers/import"
    rows = [
        "email,name,email_verified,password_hash,newsletter,line1,city,postcode,country",
        f"ida.{mark}@example.com,Ida {mark},true,{HASH},yes,1 Mill Lane,York,YO1 7PR,GB",
        f"otto.{mark}@example.com,Otto {mark},,,,,,,",
        "nobody,Nobody,,,,,,,",
    ]
    text = sent(keeper, "csv", "\n".join(rows))
    for words in ("Result", "Refused lines", "name@example.com"):
        assert words in text, words
    found = keeper.get(f"/admin/customers?q=ida.{mark}").link(f"Ida {mark}")
    assert "YO1 7PR" in keeper.get(found).text
    ida = Visitor(shop.urls["storefront"])
    log_in(ida, f"ida.{mark}@example.com", OLD_PASSWORD)
    assert f"Ida {mark}" in ida.get("/account").text
    assert "Refused lines" not in sent(keeper, "csv", "\n".join(rows[:-1]))
    line = json.dumps({"email": f"eva.{mark}@example.com", "name": f"Eva {mark}"})
    assert "Result" in sent(keeper, "ndjson", line)
    assert "email is missing" in sent(keeper, "csv", "name\nAda\n")
    keeper.get("/admin/customers")
    exported = keeper.submit("/admin/customers/export")
    for name in ("ida", "otto", "eva"):
        assert f"{name}.{mark}@example.com" in exported.body.decode()


def test_the_import_says_how_far_it_is_and_needs_a_file(keeper: Visitor) -> None:
    name = f"import-{secrets.token_hex(4)}"
    keeper.get("/admin/customers/import")
    content = f"email,name\n{name}@example.com,Ada\n".encode()
    keeper.upload("/admin/customers/import", "file", content, format="csv", id=name)
    assert keeper.get(f"/admin/customers/import/progress/{name}").status == 200
    keeper.get("/admin/customers/import")
    assert "Choose a file first" in keeper.submit("/admin/customers/import", format="csv").text
