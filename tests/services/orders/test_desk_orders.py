"""The desk's list of orders: by status, number, name, e-mail, product, day and open returns, one global query and full pages."""

from functools import partial
from typing import Any

import orjson
import pytest

from services.orders.dependencies import Dependencies
from services.orders.documents import DESIGN
from services.orders.rules.summaries import search_key, search_keys
from shared.couch import Server
from tests.services.orders.conftest import Shop, calls
from tests.waiting import eventually

NDJSON = {"Content-Type": "application/x-ndjson"}
SHIPPED = 2480
WAITING = 21


def line(orderid: str, date: str, **more: Any) -> dict[str, Any]:
    price = {"amount": 500, "currency": "GBP"}
    items = [{"productid": "lamp", "name": "Lamp", "quantity": 1, "unitPrice": price}]
    payment = {"provider": "till", "provider_ref": orderid, "date": date}
    return {
        "orderid": orderid,
        "userid": f"u-{orderid}",
        "date": date,
        "currency": "GBP",
        "items": items,
        "payment": payment,
        **more,
    }


def send(shop: Shop, lines: list[dict[str, Any]]) -> None:
    body = b"\n".join(orjson.dumps(each) for each in lines)
    path = f"{shop.orders}/v1/admin/orders/import"
    answer = shop.admin.post(path, data=body, headers=NDJSON, timeout=600)
    assert answer.json()["created"] == len(lines), answer.text


def pages(shop: Shop, limit: int = 20, **query: Any) -> list[list[dict[str, Any]]]:
    """Every page of the list; each costs one global query, and all but the last are full."""
    found: list[list[dict[str, Any]]] = []
    cursor = None
    while cursor is not None or not found:
        params = {"limit": limit, **query, **({"cursor": cursor} if cursor else {})}
        answer = shop.get(shop.admin, "/v1/admin/orders", params=params)
        assert answer.status_code == 200, answer.text
        assert calls(answer)["global"] == 1
        found.append(answer.json()["items"])
        cursor = answer.json()["next"]
        assert cursor is None or len(found[-1]) == limit
    return found


def orderids(shop: Shop, **query: Any) -> list[str]:
    """The first page, as the index has it by now."""
    answer = shop.get(shop.admin, "/v1/admin/orders", params={"limit": 100, **query})
    assert answer.status_code == 200, answer.text
    return [row["orderid"] for row in answer.json()["items"]]


def caught_up(shop: Shop, number: int, **query: Any) -> None:
    """Waits until the index of such a list holds so many: one that is behind is asked for what it has, too."""
    ask = partial(shop.get, shop.admin, "/v1/admin/orders", params={"limit": 100, **query})
    eventually(
        lambda: len((answer := ask()).json().get("items", ())) == number and calls(answer)["global"] == 1
    )


@pytest.fixture(scope="module")
def history(shop: Shop) -> list[str]:
    """Thousands of orders that have arrived, and before them some that wait: their ids, newest first."""
    day = {"date": "2019-06-01", "courier": "post", "courierid": "1"}
    old = [line(f"waiting{n:02d}", f"2018-01-01T00:{n:02d}:00Z") for n in range(WAITING)]
    new = [
        line(
            f"shipped{n:04d}",
            f"2019-05-01T{n // 60 // 60:02d}:{n // 60 % 60:02d}:{n % 60:02d}Z",
            dispatch=day,
            delivery=day,
        )
        for n in range(SHIPPED)
    ]
    send(shop, old + new)
    caught_up(shop, 100)
    caught_up(shop, 100, product="lamp")
    caught_up(shop, WAITING, status="paid", to="2019-12-31", **{"from": "2018"})
    return [each["orderid"] for each in reversed(old)]


def test_orders_that_wait_behind_thousands_are_on_the_first_page(
    shop: Shop, history: list[str], server: Server
) -> None:
    server.wait_for_indexes(DESIGN)  # each node of a cluster has an index of its own
    first, second = pages(shop, status="paid", to="2019-12-31", **{"from": "2018"})
    assert [row["orderid"] for row in first + second] == history
    assert {row["status"] for row in first} == {"paid"}


def shows(shop: Shop, query: dict[str, str], wanted: list[str]) -> bool:
    return orderids(shop, **query) == wanted


def test_filters_narrow_the_list_together(shop: Shop) -> None:
    made = [
        ("one", "Zoë Quartz-Feldspar", "Zoe.Q@Example.com", "vase"),
        ("two", "Quartz, Ann Zoe", "ann@example.org", "vase"),
        ("three", "Zoë Quartz-Feldspar", "zoe.q@example.com", "bowl"),
    ]
    price = {"amount": 500, "currency": "GBP"}
    lines = [
        line(
            f"narrow-{orderid}",
            f"2017-01-0{day}",
            name=name,
            email=email,
            items=[
                {
                    "productid": product,
                    "name": "V",
                    "quantity": 1,
                    "unitPrice": price,
                    "sku": f"{product}-blue",
                }
            ],
        )
        for day, (orderid, name, email, product) in enumerate(made, 1)
    ]
    send(shop, lines)
    one, two, three = (f"narrow-{orderid}" for orderid, *_ in made)
    for query, wanted in (
        ({"q": "zoe.q@example.COM"}, [three, one]),
        ({"q": "ZOE quartz"}, [three, two, one]),
        ({"q": "quartz feldspar zoë"}, [three, one]),
        ({"q": "quart"}, []),
        ({"q": "?!"}, []),
        ({"product": "vase"}, [two, one]),
        ({"product": "vase-blue", "q": "feldspar"}, [one]),
        ({"q": "feldspar", "status": "paid"}, [three, one]),
        ({"q": "feldspar", "status": "delivered"}, []),
        ({"q": "feldspar", "to": "2017-01-02"}, [one]),
        ({"q": "feldspar", "from": "2017-01-02"}, [three]),
        ({"q": "feldspar", "open_returns": "true"}, []),
        ({"q": one, "product": "vase"}, [one]),
        ({"q": one, "product": "bowl"}, []),
    ):
        eventually(partial(shows, shop, query, wanted))
    eventually(partial(shows, shop, {"q": one}, [one]))
    [row] = shop.get(shop.admin, "/v1/admin/orders", params={"q": one}).json()["items"]
    assert (row["name"], row["email"]) == ("Zoë Quartz-Feldspar", "Zoe.Q@Example.com")
    eventually(partial(shows, shop, {"to": "2017-01-02", "from": "2017"}, [one]))
    named = shop.get(shop.admin, "/v1/admin/orders", params={"to": "2017-01-02", "from": "2017"})
    assert [(each["orderid"], each["name"]) for each in named.json()["items"]] == [(one, row["name"])]
    counted = partial(shop.get, shop.admin, "/v1/admin/orders/counts", params={"q": "quartz"})
    eventually(lambda: calls(counted())["global"] == 1)
    assert counted().json() == {"total": 3, "counts": {"paid": 3}}
    both = shop.get(shop.admin, "/v1/admin/orders/counts", params={"q": "quartz", "product": "vase"})
    assert (calls(both)["global"], both.json()) == (1, {"total": 2, "counts": {"paid": 2}})
    page = shop.get(shop.admin, "/v1/admin/orders", params={"q": "quartz", "product": "vase", "limit": 1})
    assert [each["orderid"] for each in page.json()["items"]] == [two]
    query = {"q": "quartz", "product": "vase", "limit": 1, "cursor": page.json()["next"]}
    page = shop.get(shop.admin, "/v1/admin/orders", params=query)
    assert ([each["orderid"] for each in page.json()["items"]], page.json()["next"]) == ([one], None)


def test_a_cursor_is_good_for_its_own_filters_only(shop: Shop, history: list[str]) -> None:
    query = {"status": "paid", "to": "2019-12-31", "limit": 5}
    cursor = shop.get(shop.admin, "/v1/admin/orders", params=query).json()["next"]
    wrong = shop.get(shop.admin, "/v1/admin/orders", params={**query, "product": "lamp", "cursor": cursor})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "bad_cursor")


@pytest.mark.parametrize(
    ("name", "q", "found"),
    [
        ("Ada King Lovelace", "lovelace ada", True),
        ("Ada King Lovelace", "Ada Byron", False),
        ("José García", "jose garcia", True),
        ("Anna Maria von der Vogelweide", "Vogelweide Anna", True),
        ("李小龍", "李小龍", True),
        ("", "ada", False),
    ],
)
def test_a_name_is_found_by_any_of_its_words(name: str, q: str, found: bool) -> None:
    assert (search_key(q) in search_keys(name, "a@b.example")) is found


def test_spend_adds_up_by_customer_and_by_a_guests_email(shop: Shop, deps: Dependencies) -> None:
    lines = [
        line("spend1", "2015-01-01", userid="spender"),
        line("spend2", "2015-01-02", userid="spender"),
        line("spend3", "2015-01-03", userid=None, email="Guest@spend.example"),
    ]
    send(shop, lines)
    eventually(lambda: deps.summaries.spend("user", "spender") == {"GBP": (2, 1000, 0)})
    eventually(lambda: deps.summaries.spend("email", "guest@spend.example") == {"GBP": (1, 500, 0)})
