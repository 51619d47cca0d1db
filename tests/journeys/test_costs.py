"""The cost page's figures: the database calls of each request and of each page, all services together, counted on the running shop."""

import json
import re
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
import requests

from deploy.costs import (
    KEPT_PER_ORDER,
    PAGE,
    PAGES,
    REQUESTS,
    WRITTEN_PER_ACT,
    WRITTEN_PER_ORDER,
    Calls,
    page,
)
from services.orders.documents import NUMBER_PARTITION, report_partition
from services.products.search_documents import SEARCHES_PARTITION
from shared.clock import timestamp
from tests.journeys.counting import (
    GOODS,
    calls_since,
    counted,
    fill_basket,
    new_customer,
    new_visitor,
    start_sample_shop,
)
from tests.journeys.label_costs import TRIES, WITH_WORKER, label_actions, label_settings
from tests.journeys.shop import Shop
from tests.people import PASSWORD
from tests.services.orders.easypost_standin import EasyPostStandIn
from tests.services.storefront.visitor import Page, Visitor

Action = Callable[[], requests.Response]
Walk = Callable[[], Page]
LEAF = "/category/Home/Kitchen/Cook%27s%20Knives"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Each view of a page counts as its first one: the storefront keeps none to send it again for nothing."""
    carriers = EasyPostStandIn()
    settings = {"PAGE_CACHE_SECONDS": "0", **label_settings(carriers)}
    shop = start_sample_shop(tmp_path_factory.mktemp("costs"), **settings)
    yield shop
    shop.stop()
    carriers.close()


def sequence(shop: Shop) -> int:
    """How often documents were written so far, in all databases, but for what the clock writes: the searches of the day, the days and the month
    that are closed ten minutes past each hour; and the blocks of order numbers, of which one is taken for many orders."""
    names = requests.get(f"{shop.couch_url}/_all_dbs").json()
    infos = [requests.get(f"{shop.couch_url}/{name}").json() for name in names if not name.startswith("_")]
    written = sum(int(str(info["update_seq"]).split("-")[0]) for info in infos)
    for database, beginning in (
        ("products", f"{SEARCHES_PARTITION}:"),
        ("orders", f"{NUMBER_PARTITION}:"),
        ("orders", report_partition("day-")),
        ("orders", report_partition("month-")),
    ):
        span = {"startkey": json.dumps(beginning), "endkey": json.dumps(f"{beginning}\ufff0")}
        rows = requests.get(f"{shop.couch_url}/{database}/_all_docs", params=span).json()["rows"]
        written -= sum(int(row["value"]["rev"].split("-")[0]) for row in rows)
    return written


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
    noted = requests.post(
        f"{orders}/v1/admin/orders/{orderid}/notes", json={"text": "Called."}, headers=admin
    )
    assert noted.ok, noted.text
    customers = f"{users}/v1/admin/customers"
    sync, device = f"{users}/v1/users/me/sync", dict(new_customer(shop)[0].headers)
    line: dict[str, Any] = {"type": "basketline", "productid": GOODS[0], "quantity": 0}

    def sell_at_stall() -> requests.Response:
        money = {"amount": 2000, "currency": "GBP"}
        item = {"productid": GOODS[0], "quantity": 1, "price": money, "name": "Sold", "taxonomy": ["Home"]}
        sale = {
            "items": [item],
            "total": money,
            "payment": {"kind": "cash"},
            "stall": "Counted",
            "sold_by": "me",
        }
        headers = admin | {"Idempotency-Key": secrets.token_hex(8)}
        return requests.post(
            f"{orders}/v1/admin/stall/sales", json=sale | {"sold_at": timestamp()}, headers=headers
        )

    def count_at_stall() -> requests.Response:
        item = {"sku": GOODS[1], "level": 5, "counted_at": timestamp()}
        counts = {"stall": "Counted", "items": [item], "id": secrets.token_hex(8)}
        return requests.post(f"{products}/v1/admin/stall/counts", json=counts, headers=admin)

    def push_line() -> requests.Response:
        line["quantity"] += 1
        answer = requests.put(f"{sync}/basket-{GOODS[0]}", json=line, headers=device)
        line["_rev"] = answer.json().get("rev")
        return answer

    return label_actions(shop, admin, me) | {
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
        "desk: customers, found by name or e-mail": lambda: requests.get(
            customers, params={"q": person.email}, headers=admin
        ),
        "desk: a customer": lambda: requests.get(f"{customers}/{person.userid}", headers=admin),
        "desk: archives of closed years": lambda: requests.get(f"{orders}/v1/admin/archives", headers=admin),
        "desk: what was done, in all services": lambda: requests.get(
            f"{users}/v1/admin/audit", headers=admin
        ),
        "desk: what somebody did, in one service, at any time": lambda: requests.get(
            f"{users}/v1/admin/audit", params={"service": "orders", "subject": orderid}, headers=admin
        ),
        "desk: a customer imported": lambda: requests.post(
            f"{customers}/import",
            data=f'{{"email": "{secrets.token_hex(6)}@example.com", "name": "Ada"}}\n',
            headers={**admin, "Content-Type": "application/x-ndjson"},
        ),
        "sync: what changed, when nothing did": lambda: requests.get(f"{sync}/_changes", headers=device),
        "sync: documents fetched": lambda: requests.post(
            f"{sync}/_bulk_get", json={"docs": [{"id": "profile"}]}, headers=device
        ),
        "sync: a basket line pushed": push_line,
        "kept category: what changed, when nothing did": lambda: requests.get(
            f"{products}/v1/products/sync/{quote(quote(category['category'], safe=''), safe='')}/_changes"
        ),
        "stall: a sale told": sell_at_stall,
        "stall: a count told": count_at_stall,
    }


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_costs_what_the_page_says(shop: Shop, actions: dict[str, Action], name: str) -> None:
    assert actions[name]().ok  # caches of the service are warm, as they are in a running shop
    costs = REQUESTS[name]
    behind_worker = replace(costs, reads=costs.reads + 1) if name in WITH_WORKER else costs
    for _ in range(TRIES if name in WITH_WORKER else 1):
        before = counted(shop)
        answer = actions[name]()
        assert answer.ok, answer.text
        if (calls := calls_since(shop, before)) == costs:
            break
    assert calls in (costs, behind_worker)


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


def test_a_device_has_its_owners_orders_to_read(shop: Shop, actions: dict[str, Action]) -> None:
    """The orders that the API lists, with what became of them; nobody else's."""
    order = actions["checkout"]().json()
    sync, me = f"{shop.url('users')}/v1/users/me/sync", {"Authorization": order_owner(actions)}
    docid = f"order-{order['orderid']}"
    found = requests.get(f"{sync}/{docid}", headers=me)
    assert found.ok, found.text
    assert found.json()["type"] == "order"
    assert found.json()["total"] == order["total"]
    listed = {row["id"]: row for row in requests.get(f"{sync}/_changes", headers=me).json()["results"]}
    assert docid in listed
    doc = found.json() | {"total": {"amount": 0, "currency": "GBP"}}
    assert requests.put(f"{sync}/{docid}", json=doc, headers=me).status_code == 403
    assert requests.delete(f"{sync}/{docid}", params={"rev": doc["_rev"]}, headers=me).status_code == 403
    stranger = dict(new_customer(shop)[0].headers)
    assert requests.get(f"{sync}/{docid}", headers=stranger).status_code == 404


def order_owner(actions: dict[str, Action]) -> str:
    """The Authorization of who orders in `actions`."""
    answer = actions["order history"]()
    return str(answer.request.headers["Authorization"])


def quiet(shop: Shop) -> int:
    """The sequence when everybody is notified and nothing was written for longer than the sweep's 10 seconds."""
    last, calm = sequence(shop), 0
    for _ in range(180):
        time.sleep(0.5)
        now = sequence(shop)
        calm = calm + 1 if now == last else 0
        last = now
        if calm >= 22 and all_notified(shop):
            return now
    raise AssertionError("documents are written all the time")


def all_notified(shop: Shop) -> bool:
    """Whether customers got an e-mail of all that happened to their orders: the last that is written of each."""
    rows = requests.get(f"{shop.couch_url}/orders/_all_docs", {"include_docs": "true"}).json()["rows"]
    ids = {row["id"] for row in rows if "imported" not in row["doc"]}
    happened = (name.rsplit(":", 1) for name in ids if name.endswith((":payment", ":dispatch", ":delivery")))
    return ids >= {f"{order}:notice-{kind}" for order, kind in happened}


@pytest.fixture(scope="module")
def customer(shop: Shop) -> Visitor:
    """Logged in, with an address and a full basket."""
    visitor = new_visitor(shop)
    fill_basket(visitor)
    return visitor


@pytest.fixture(scope="module")
def guest(shop: Shop) -> Visitor:
    visitor = Visitor(shop.url("storefront"))
    fill_basket(visitor)
    return visitor


@pytest.fixture(scope="module")
def order(customer: Visitor) -> str:
    customer.get("/checkout")
    path = customer.submit("/checkout", card="tok_ok").path
    assert path.startswith("/orders/")
    customer.get(customer.get("/product/p0020").link("Write a review"))
    customer.submit("/product/p0020/reviews", stars="4", text="Sharp.")
    assert "Sharp." in customer.get("/product/p0020").text
    fill_basket(customer)
    return path


QUOTED = "a device asks what the basket costs, after a change"


@pytest.fixture
def walks(shop: Shop, customer: Visitor, guest: Visitor, order: str) -> dict[str, Walk]:
    stranger = Visitor(shop.url("storefront"))

    def check_out() -> Page:
        """The form is loaded before, by whoever counts; the page of the order behind it is asked for by the browser."""
        form = customer.page.form("/checkout")
        return customer.send_form(form, {**form.values, "card": "tok_ok"}, follow=False)

    return {
        "home": lambda: stranger.get("/"),
        "all departments": lambda: stranger.get("/departments"),
        "category": lambda: stranger.get(LEAF),
        "category, filtered and sorted": lambda: stranger.get(f"{LEAF}?min_price=1&max_price=90&sort=-price"),
        "department (a category with others below it)": lambda: stranger.get("/category/Home"),
        "department, filtered": lambda: stranger.get("/category/Home?max_price=50"),
        "search": lambda: stranger.get("/search?q=knife"),
        "product": lambda: stranger.get("/product/p0018"),
        "product with reviews": lambda: stranger.get("/product/p0020"),
        "guest's basket": lambda: guest.get("/basket"),
        "guest's checkout": lambda: guest.get("/checkout"),
        "basket": lambda: customer.get("/basket"),
        "checkout, shown": lambda: customer.get("/checkout"),
        "checkout, sent": check_out,
        "order": lambda: customer.get(order),
        "invoice": lambda: customer.get(f"{order}/invoice"),
        "orders": lambda: customer.get("/orders"),
        "account": lambda: customer.get("/account"),
        "log-in form": lambda: stranger.get("/login"),
        "a device asks who is here": lambda: customer.get("/device"),
        QUOTED: lambda: customer.get("/device/quote"),
        "a device asks what became of an order to be paid": lambda: customer.get(f"/device{order}"),
    }


@pytest.mark.parametrize("name", PAGES)
def test_a_page_costs_what_the_table_says(
    shop: Shop, customer: Visitor, walks: dict[str, Walk], name: str
) -> None:
    if name == "checkout, sent":
        customer.get("/checkout")
    else:
        if name == QUOTED:
            fill_basket(customer)  # an order has emptied it
        walks[name]()  # what is kept is there, as in a running shop
    before = counted(shop)
    page = walks[name]()
    assert page.status in (200, 302), page.text
    assert calls_since(shop, before) == PAGES[name]
    said = said_by(page)
    if (
        name == "checkout, sent"
    ):  # it also says what the services do after the sale, which the table counts apart
        assert said.globals == PAGES[name].globals
        assert said.reads >= PAGES[name].reads
        assert said.writes >= PAGES[name].writes
    else:
        assert said == PAGES[name]


def said_by(page: Page) -> Calls:
    """The database calls of all services that a page says it has cost."""
    said = re.search(r'database;desc="([^"]*)"', page.headers["Server-Timing"])[1]
    calls = {kind: int(number) for kind, number in re.findall(r"(\w+) (\d+)", said)}
    return Calls(calls["partition"] + calls["read"], calls["global"], calls["write"])


def test_the_page_is_written_from_the_figures() -> None:
    assert PAGE.read_text() == page(), "run: python -m deploy.costs --page"
