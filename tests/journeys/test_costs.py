"""The cost page's figures: the database calls of each request, all services together, counted on the running shop."""

import secrets
import time
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
import requests

from deploy.costs import KEPT_PER_ORDER, PAGE, REQUESTS, WRITTEN_PER_ACT, WRITTEN_PER_ORDER, page
from services.products.search_documents import SEARCHES_PARTITION
from tests.journeys.counting import GOODS, calls_since, counted, new_customer, start_sample_shop
from tests.journeys.shop import Shop
from tests.people import PASSWORD

Action = Callable[[], requests.Response]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    shop = start_sample_shop(tmp_path_factory.mktemp("costs"))
    yield shop
    shop.stop()


def sequence(shop: Shop) -> int:
    """How often documents were written so far, in all databases, but for the searches of the day that the clock writes down."""
    names = requests.get(f"{shop.couch_url}/_all_dbs").json()
    infos = [requests.get(f"{shop.couch_url}/{name}").json() for name in names if not name.startswith("_")]
    written = sum(int(str(info["update_seq"]).split("-")[0]) for info in infos)
    searches = f"{shop.couch_url}/products/_partition/{quote(SEARCHES_PARTITION, safe='')}/_all_docs"
    days = requests.get(searches).json()["rows"]
    return written - sum(int(row["value"]["rev"].split("-")[0]) for row in days)


def admin_of(shop: Shop) -> dict[str, str]:
    """The headers of a request by the shop's admin."""
    password = (shop.state / "admin-password").read_text().strip()
    login = {"email": "admin@example.com", "password": password}
    answer = requests.post(f"{shop.url('users')}/v1/sessions", json=login)
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


@pytest.fixture(scope="module")
def actions(shop: Shop) -> dict[str, Action]:
    """The request of each row of the page, by somebody who is logged in and has ordered before."""
    users, products, orders = (shop.url(name) for name in ("users", "products", "orders"))
    person, address_id = new_customer(shop)
    me = dict(person.headers)
    credentials = {"email": person.email, "password": PASSWORD}
    basket = {
        "items": [{"productid": productid, "quantity": 1} for productid in GOODS],
        "address_id": address_id,
        "payment": {"provider": "sandbox", "token": "tok_ok"},
    }

    def check_out(*codes: str, **more: object) -> requests.Response:
        return requests.post(
            f"{orders}/v1/orders",
            json=basket | more | ({"codes": list(codes)} if codes else {}),
            headers={**me, "Idempotency-Key": secrets.token_hex(8)},
        )

    promotion = {
        "name": "Ten percent",
        "codes": ["COUNTED"],
        "limit": 100,
        "actions": [{"kind": "percent", "basis_points": 1000}],
    }
    made = requests.post(f"{orders}/v1/admin/promotions", json=promotion, headers=admin_of(shop))
    assert made.ok, made.text

    value = {"value": {"amount": 400, "currency": "GBP"}}
    url, admin = f"{orders}/v1/admin/gift-cards", admin_of(shop)
    gift_cards = [requests.post(url, json=value, headers=admin).json()["code"] for _ in range(5)]
    orderid = check_out().json()["orderid"]
    category = {"category": "Home#Kitchen#Cook's Knives"}
    draft = {
        "items": [{"productid": GOODS[0], "quantity": 1}],
        "address": {
            "name": "Ada",
            "line1": "1 Mill Lane",
            "city": "York",
            "postcode": "YO1 7PR",
            "country": "GB",
        },
    }
    drafts = [
        requests.post(f"{orders}/v1/admin/drafts", json=draft, headers=admin).json()["id"] for _ in range(2)
    ]
    return {
        "category page": lambda: requests.get(f"{products}/v1/products", params=category),
        "menu": lambda: requests.get(f"{products}/v1/categories"),
        "search": lambda: requests.get(f"{products}/v1/products", params={"q": "knife", "facets": "brand"}),
        "product": lambda: requests.get(f"{products}/v1/products/p0018"),
        "log in": lambda: requests.post(f"{users}/v1/sessions", json=credentials),
        "profile with addresses and basket": lambda: requests.get(f"{users}/v1/users/me", headers=me),
        "checkout": check_out,
        "checkout with a code that has a limit": lambda: check_out("COUNTED"),
        "checkout with a gift card": lambda: check_out(gift_cards=[gift_cards.pop()]),
        "order": lambda: requests.get(f"{orders}/v1/orders/{orderid}", headers=me),
        "order history": lambda: requests.get(f"{orders}/v1/orders", headers=me),
        "desk: orders of a status, of a name, with a product": lambda: requests.get(
            f"{orders}/v1/admin/orders",
            params={"status": "delivered", "q": person.email, "product": GOODS[0]},
            headers=admin,
        ),
        "desk: draft orders": lambda: requests.get(f"{orders}/v1/admin/drafts", headers=admin),
        "desk: a draft order placed": lambda: requests.post(
            f"{orders}/v1/admin/drafts/{drafts.pop()}/order",
            json={"payment": {"kind": "cash"}},
            headers=admin,
        ),
    }


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_costs_what_the_page_says(shop: Shop, actions: dict[str, Action], name: str) -> None:
    assert actions[name]().ok  # caches of the service are warm, as they are in a running shop
    before = counted(shop)
    answer = actions[name]()
    assert answer.ok, answer.text
    assert calls_since(shop, before) == REQUESTS[name]


def test_an_order_writes_as_many_documents_as_the_page_says(shop: Shop, actions: dict[str, Action]) -> None:
    before = quiet(shop)
    orderid = actions["checkout"]().json()["orderid"]
    admin = admin_of(shop)
    courier = {"courier": "Pedal & Post", "courierid": "1"}
    acts = (("dispatch", courier), ("delivery", courier))
    for step, body in acts:
        done = requests.post(
            f"{shop.url('orders')}/v1/admin/orders/{orderid}/{step}", json=body, headers=admin
        )
        assert done.ok, done.text
    assert quiet(shop) - before <= WRITTEN_PER_ORDER + WRITTEN_PER_ACT * len(acts)
    partition = requests.get(f"{shop.couch_url}/orders/_partition/order{orderid}").json()
    assert partition["doc_count"] <= KEPT_PER_ORDER


def quiet(shop: Shop) -> int:
    """The sequence when everybody is notified and nothing was written for some seconds."""
    last, calm = sequence(shop), 0
    for _ in range(120):
        time.sleep(0.5)
        now = sequence(shop)
        calm = calm + 1 if now == last else 0
        last = now
        if calm >= 6 and all_notified(shop):
            return now
    raise AssertionError("documents are written all the time")


def all_notified(shop: Shop) -> bool:
    """Whether customers got an e-mail of all that happened to their orders: the last that is written of each."""
    rows = requests.get(f"{shop.couch_url}/orders/_all_docs", {"include_docs": "true"}).json()["rows"]
    ids = {row["id"] for row in rows if "imported" not in row["doc"]}
    happened = (name.rsplit(":", 1) for name in ids if name.endswith((":payment", ":dispatch", ":delivery")))
    return ids >= {f"{order}:notice-{kind}" for order, kind in happened}


def test_the_page_is_written_from_the_figures() -> None:
    assert PAGE.read_text() == page(), "run: python -m deploy.costs --page"
