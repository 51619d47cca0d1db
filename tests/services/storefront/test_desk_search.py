"""Search at the desk, without JavaScript: what customers did not find, and what the shop's people do about it."""

from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually


@pytest.fixture(autouse=True)
def no_rules(keeper: Visitor):
    yield
    for kind in ("synonyms", "redirects", "pins", "hidden"):
        action = f"/admin/search/{kind}/delete"
        while any(form.action == action for form in keeper.get(f"/admin/search/{kind}").forms):
            keeper.submit(action)


def save(keeper: Visitor, kind: str, **values: str) -> Page:
    keeper.get(f"/admin/search/{kind}")
    page = keeper.submit(f"/admin/search/{kind}", **values)
    assert f"Saved for “{values['query']}”" in page.text, page.text
    return page


def found(visitor: Visitor, q: str) -> list[str]:
    page = visitor.get_patiently(f"/search?q={q}")
    assert page.status == 200, page.text
    return [href.removeprefix("/product/") for href, _ in page.links if href.startswith("/product/")]


def _search_from(address: str, visitor: Visitor, q: str) -> None:
    """What a browser at another address asks, which has no cookie."""
    site = urlsplit(visitor.base)
    connection = HTTPConnection(site.hostname or "", site.port, source_address=(address, 0), timeout=30)
    connection.request("GET", f"/search?q={q}")
    assert connection.getresponse().status == 200
    connection.close()


def test_a_synonym_helps_those_who_found_nothing(visitor: Visitor, keeper: Visitor) -> None:
    assert found(visitor, "beaker+of+tea") == []
    for n in range(3):
        _search_from(f"127.0.0.{n + 2}", visitor, "beaker+of+tea")
    eventually(lambda: "beaker of tea" in keeper.get("/admin/search").text)
    page = keeper.page
    assert "Counted without saying who searched" in page.text
    page = keeper.get(page.link("Synonym for beaker of tea"))
    assert page.form("/admin/search/synonyms").values["query"] == "beaker of tea"
    page = keeper.submit("/admin/search/synonyms", synonyms="mug, cups")
    assert "mug, cups" in page.text
    assert {"mug-red", "cup-00"} & set(found(visitor, "beaker+of+tea"))
    assert "there" in keeper.get("/admin/search").text
    page = keeper.get(keeper.get("/admin/search/synonyms").link("beaker of tea"))
    assert page.form("/admin/search/synonyms").values["synonyms"] == "mug, cups"
    keeper.submit("/admin/search/synonyms", synonyms="spade")
    eventually(lambda: found(visitor, "beaker+of+tea") == ["spade"])


def test_a_redirect_leads_to_a_department_or_a_page(visitor: Visitor, keeper: Visitor) -> None:
    save(keeper, "redirects", query="crockery", category="Home#Kitchen#Cups")
    save(keeper, "redirects", query="my orders", address="/product/spade?from=search")
    for n, address in enumerate(("/", "/orders", "/departments#top", "/category/Home/Kitchen/Cups")):
        save(keeper, "redirects", query=f"elsewhere {n}", address=address)
    assert visitor.get("/search?q=Crockery").path == "/category/Home/Kitchen/Cups"
    assert visitor.get("/search?q=my+orders").path == "/product/spade?from=search"
    assert visitor.get("/search?q=crockery&sort=price").path == "/search?q=crockery&sort=price"


def test_pinned_products_are_shown_first(visitor: Visitor, keeper: Visitor) -> None:
    save(keeper, "pins", query="mug", productids="rake, mug-gone")
    assert found(visitor, "mugs")[:2] == ["rake", "mug-gone"]
    assert found(visitor, "red+mug")[0] == "mug-red"


@pytest.mark.parametrize(
    ("kind", "values", "words"),
    [
        ("synonyms", {"query": "?!", "synonyms": "mug"}, "Must have a word"),
        ("synonyms", {"query": "mug", "synonyms": "Mug"}, "Name another word"),
        ("redirects", {"query": "mug"}, "Give either"),
        ("redirects", {"query": "mug", "category": "Nowhere"}, "no such category"),
        ("redirects", {"query": "mug", "address": "https://elsewhere.example"}, "within the shop"),
        ("redirects", {"query": "mug", "address": "/delivery"}, "no such page in this shop"),
        ("redirects", {"query": "mug", "address": "/product/never-sold?a=b"}, "no such page in this shop"),
        ("redirects", {"query": "mug", "address": "/category/Nowhere"}, "no such page in this shop"),
        ("pins", {"query": "mug", "productids": "mug-red, none"}, "There is no product none."),
    ],
)
def test_what_is_wrong_is_said_beside_what_was_typed(
    keeper: Visitor, kind: str, values: dict[str, str], words: str
) -> None:
    keeper.get(f"/admin/search/{kind}")
    page = keeper.submit(f"/admin/search/{kind}", **values)
    assert words in page.text
    kept = page.form(f"/admin/search/{kind}").values
    assert {name: kept[name] for name in values} == values
    assert page.inline == []


def test_nobodys_rule_is_written_over_unseen(keeper: Visitor) -> None:
    save(keeper, "pins", query="mug", productids="mug-red")
    keeper.get("/admin/search/pins")
    page = keeper.submit("/admin/search/pins", query="Mug", productids="mug-blue")
    assert "There is one for this query already" in page.text
    keeper.get("/admin/search/pins?query=mug")
    old = keeper.page.form("/admin/search/pins").values["etag"]
    keeper.submit("/admin/search/pins", productids="mug-blue")
    keeper.get("/admin/search/pins?query=mug")
    page = keeper.submit("/admin/search/pins", productids="mug-last", etag=old)
    assert "This was changed since you opened it." in page.text


def test_several_synonyms_at_once(visitor: Visitor, keeper: Visitor) -> None:
    keeper.get("/admin/search/synonyms")
    lines = "tumbler = mug, drinking vessel\n\nhoe > rake"
    page = keeper.submit("/admin/search/synonyms/lines", lines=lines)
    assert "2 saved" in page.text
    assert "mug-red" in found(visitor, "tumbler")
    assert found(visitor, "hoe") == ["rake"]
    page = keeper.submit("/admin/search/synonyms/lines", lines="mug = cup\n" * 20)
    assert "20 saved" in page.text
    page = keeper.submit("/admin/search/synonyms/lines", lines="mug = cup\n" * 21)
    assert "At most 20 lines" in page.text
    page = keeper.submit("/admin/search/synonyms/lines", lines="tumbler = mug\nno sign")
    assert "Line 2: write" in page.text
    page = keeper.submit("/admin/search/synonyms/lines", lines="tumbler = mug\n? = mug")
    assert "Line 2: Must have a word" in page.text


def test_addresses_of_forms_lead_back(keeper: Visitor) -> None:
    assert keeper.get("/admin/search/pins/delete").path == "/admin/search/pins"
    page = keeper.get("/admin/search/synonyms/lines")
    assert page.path == "/admin/search/synonyms", (page.status, page.text)
    assert keeper.get("/admin/search/nothing").status == 404


def test_searches_of_people_whom_a_kept_page_answered_are_counted(visitor: Visitor, keeper: Visitor) -> None:
    for n in range(5):
        _search_from(f"127.0.0.{n + 2}", visitor, "hammock")
    eventually(lambda: "hammock 5 5 0" in keeper.get("/admin/search?found=little").text)


def test_a_query_that_is_hidden_and_who_did_it(keeper: Visitor) -> None:
    save(keeper, "hidden", query="hammock", reason="out of season")
    page = keeper.get("/admin/search/history")
    assert "Hidden query written hammock out of season" in page.text


def test_what_the_shops_people_look_for_is_not_counted(visitor: Visitor, keeper: Visitor) -> None:
    for n in range(3):
        keeper.get("/admin/products?q=tumbril")
        _search_from(f"127.0.0.{n + 2}", visitor, "wheelbarrow")
    eventually(lambda: "wheelbarrow" in keeper.get("/admin/search?found=little").text)
    assert "tumbril" not in keeper.page.text
