"""One title many times is one row of a search."""

from collections.abc import Callable

from tests.services.products.conftest import Shop, product

TITLE = "Cycling shorts, solid"
GOODS = [
    *(product(f"short{n}", name=TITLE.upper() if n % 2 else TITLE, stock=n) for n in range(10)),
    product("other-brand", name=TITLE, brand="Nordic"),
    product("other-title", name="Cycling shorts, striped"),
]


def test_one_title_is_one_row_with_its_others_beneath(shop: Shop, catch_up: Callable[[], None]) -> None:
    assert shop.load(GOODS)["created"] == len(GOODS)
    catch_up()
    answer = shop.ok("/v1/products", q="cycling shorts", collapse="true")
    assert len(answer["items"]) == 3
    assert answer["total"] == len(GOODS)
    [row] = [each for each in answer["items"] if "others" in each]
    assert row["stock"] > 0, "what is in stock stands for the others"
    assert {row["productid"], *(each["productid"] for each in row["others"])} == {
        f"short{n}" for n in range(10)
    }
    assert row["others"][0].keys() == {"productid", "price", "stock"}


def test_every_product_is_still_listed_once_beneath_its_row(shop: Shop) -> None:
    items = shop.ok("/v1/products", q="cycling shorts")["items"]
    assert sorted(each["productid"] for each in items) == sorted(each["productid"] for each in GOODS)
    [place] = [n for n, each in enumerate(items) if "others" in each]
    beneath = items[place + 1 : place + 10]
    assert {each.get("listed_under") for each in beneath} == {items[place]["productid"]}
    assert [each["productid"] for each in items[place]["others"]] == [each["productid"] for each in beneath]
    assert "others" not in str(shop.ok("/v1/products", q="cycling shorts", sort="name")["items"])


def test_a_title_is_one_row_over_all_pages(shop: Shop, catch_up: Callable[[], None]) -> None:
    goods = [
        product(f"parasol{n}", name="Parasol of linen" if n % 3 else f"Parasol of linen no {n}")
        for n in range(30)
    ]
    assert shop.load(goods)["created"] == len(goods)
    catch_up()
    rows, beneath, cursor = [], [], ""
    while cursor is not None:
        page = shop.ok("/v1/products", q="parasol linen", limit=7, collapse="true", cursor=cursor)
        rows += page["items"]
        beneath += [
            *page.get("others_of_earlier_rows", ()),
            *(o for each in page["items"] for o in each.get("others", ())),
        ]
        cursor = page["next"]
    assert sorted(each["name"] for each in rows) == sorted({each["name"] for each in goods})
    shown = [each["productid"] for each in (*rows, *beneath)]
    assert sorted(shown) == sorted(each["productid"] for each in goods), "each is reachable, once"


def test_without_collapse_what_was_shown_before_says_so(shop: Shop, catch_up: Callable[[], None]) -> None:
    goods = [product(f"gong{n}", name="Gong of brass") for n in range(9)]
    assert shop.load(goods)["created"] == len(goods)
    catch_up()
    items = shop.walk(q="gong brass", limit=4)
    assert sorted(each["productid"] for each in items) == sorted(each["productid"] for each in goods)
    rows = [each for each in items if not (each.get("listed_under") or each.get("title_shown_before"))]
    assert len(rows) == 1
