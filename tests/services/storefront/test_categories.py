"""Categories with labels, order, pictures, texts and new addresses: at the desk, and on the shop's pages."""

import re
from itertools import count
from urllib.parse import quote

import pytest

from tests.pictures import png
from tests.services.storefront.conftest import import_goods, product
from tests.services.storefront.visitor import Page, Visitor
from tests.waiting import eventually

DESK = "/admin/categories"
FALCONRY = [
    product("hood-1", "Falconhood", ["Falconry", "Hoods/Bells"], 2100),
    product("glove-1", "Falconglove", ["Falconry", "Gloves"], 4100),
    product("lure-1", "Falconlure", ["Falconry", "Lures"], 1100),
]


@pytest.fixture(scope="module", autouse=True)
def goods(keeper: Visitor) -> None:
    import_goods(keeper, FALCONRY)
    eventually(lambda: "Lures" in Visitor(keeper.base).get("/category/Falconry").text)


def describe(keeper: Visitor, path: str, **values: str) -> Page:
    keeper.get(f"{DESK}?path={quote(path)}")
    page = keeper.submit(DESK, **values)
    assert "Saved." in page.text, page.text
    return page


def chips(visitor: Visitor) -> list[str]:
    return re.findall(r'class="chip" href="[^"]*">([^<]*) <', visitor.get("/category/Falconry").body.decode())


def test_a_label_is_shown_wherever_a_category_is_named(keeper: Visitor, visitor: Visitor) -> None:
    describe(keeper, "Falconry", label="Hunting with birds")
    describe(keeper, "Falconry#Hoods/Bells", label="Hoods & bells")
    leaf = "/category/Falconry/Hoods%252FBells"
    eventually(lambda: "Hoods & bells" in visitor.get(leaf).text)
    page = visitor.get(leaf)
    assert "Hunting with birds Hoods & bells" in page.text, "the way to it"
    assert b"<h1>Hoods &amp; bells</h1>" in page.body
    assert b"<title>Hoods &amp; bells" in page.body
    assert visitor.get("/category/Falconry").text.count("Hunting with birds") >= 2
    assert "Hunting with birds" in visitor.get("/departments").text
    page = visitor.get("/product/hood-1")
    assert "Hunting with birds Hoods & bells" in page.text
    assert "Category Hoods & bells" in page.text
    eventually(lambda: "Hoods & bells" in visitor.get("/suggest?q=bell").text)
    describe(keeper, "Falconry", label="")
    describe(keeper, "Falconry#Hoods/Bells", label="")
    eventually(lambda: "Hunting with birds" not in visitor.get("/category/Falconry").text)


def test_the_place_of_a_category_is_chosen(keeper: Visitor, visitor: Visitor) -> None:
    assert chips(visitor) == ["Gloves", "Hoods/Bells", "Lures"]
    describe(keeper, "Falconry#Lures", position="1")
    eventually(lambda: chips(visitor) == ["Lures", "Gloves", "Hoods/Bells"])
    page = keeper.get(f"{DESK}?path=Falconry%23Lures")
    assert page.form(DESK).values["position"] == "1"
    keeper.get(f"{DESK}?path=Falconry%23Lures")
    assert "by its name again" in keeper.submit(f"{DESK}/forget").text
    eventually(lambda: chips(visitor) == ["Gloves", "Hoods/Bells", "Lures"])


def test_text_and_picture_stand_above_the_products(keeper: Visitor, visitor: Visitor) -> None:
    describe(keeper, "Falconry#Gloves", text="For the left hand, as <ever>.", picture="/media/mug-red.svg")
    eventually(lambda: "For the left hand" in visitor.get("/category/Falconry/Gloves").text)
    body = visitor.get("/category/Falconry/Gloves").body.decode()
    assert "For the left hand, as &lt;ever&gt;." in body
    assert 'src="/media/mug-red.svg"' in body
    assert '<meta name="description" content="For the left hand' in body
    assert "For the left hand" not in visitor.get("/category/Falconry/Gloves?q=glove").text
    describe(keeper, "Falconry#Gloves", text="", picture="")


def test_a_picture_is_uploaded_at_the_desk(keeper: Visitor, visitor: Visitor) -> None:
    keeper.get(f"{DESK}?path=Falconry%23Gloves")
    page = keeper.upload(DESK, "file", png(41))
    assert "Saved." in page.text, page.text
    assert page.form(DESK).values["picture"].startswith("/v1/pictures/")
    kept = "/pictures/" + page.form(DESK).values["picture"].removeprefix("/v1/pictures/")
    eventually(
        lambda: any(each.startswith(kept) for each in visitor.get("/category/Falconry/Gloves").sources)
    )
    shown = next(each for each in visitor.page.sources if each.startswith(kept))
    assert visitor.get(shown).status == 200
    keeper.get(f"{DESK}?path=Falconry%23Gloves")
    wrong = keeper.upload(DESK, "file", b"no picture at all", filename="notes.txt")
    assert "Saved." not in wrong.text
    assert "notes.txt" in wrong.text
    describe(keeper, "Falconry#Gloves", picture="")


def test_an_old_address_leads_to_where_a_category_has_moved(keeper: Visitor, visitor: Visitor) -> None:
    describe(keeper, "Birds of prey", moved_to="Falconry # Hoods/Bells")
    old, new = "/category/Birds%20of%20prey", "/category/Falconry/Hoods%252FBells"
    eventually(lambda: visitor.send("GET", old, None, follow=False).status == 301)
    assert visitor.page.headers["Location"] == new
    page = visitor.send("GET", f"{old}/Eagles?sort=price", None, follow=False)
    assert (page.status, page.headers["Location"]) == (301, f"{new}/Eagles?sort=price")
    page = visitor.get(f"{old}?sort=price")
    assert (page.status, page.path) == (200, f"{new}?sort=price")
    assert "has moved to Falconry#Hoods/Bells" in keeper.get(DESK).text
    keeper.get(f"{DESK}?path=Falconry%23Hoods/Bells")
    wrong = keeper.submit(DESK, moved_to="Birds of prey")
    assert "Leads back to this category." in wrong.text
    assert wrong.form(DESK).values["moved_to"] == "Birds of prey"
    keeper.get(f"{DESK}?path=Birds%20of%20prey")
    keeper.submit(f"{DESK}/forget")
    eventually(lambda: visitor.send("GET", old, None, follow=False).status == 404)


def test_an_edit_over_a_later_one_is_refused_and_stays_typed_in(keeper: Visitor) -> None:
    first = keeper.get(f"{DESK}?path=Falconry%23Lures").form(DESK)
    describe(keeper, "Falconry#Lures", label="Lures and tidbits")
    old = keeper.get(f"{DESK}?path=Falconry%23Lures").form(DESK)
    describe(keeper, "Falconry#Lures", label="Lures, feathered")
    page = keeper.send_form(old, {**old.values, "label": "Too late"})
    assert "Saved." not in page.text
    assert page.form(DESK).values["label"] == "Too late"
    assert first.values["label"] == ""
    keeper.get(f"{DESK}?path=Falconry%23Lures")
    keeper.submit(f"{DESK}/forget")


def test_labels_cost_no_database_call(keeper: Visitor, visitor: Visitor) -> None:
    views = count()

    def cost() -> str:
        """Of a view of which no page is kept."""
        page = visitor.get(f"/category/Falconry/Gloves?min_price=1&view={next(views)}")
        return re.search(r'database;desc="([^"]*)"', page.headers["Server-Timing"])[1]

    cost()
    before = cost()
    describe(keeper, "Falconry#Gloves", label="Gauntlets")
    eventually(lambda: "Gauntlets" in visitor.get("/category/Falconry/Gloves?min_price=1").text)
    eventually(lambda: cost() == before)
    describe(keeper, "Falconry#Gloves", label="")
