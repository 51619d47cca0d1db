"""Goods come back for others, at the same price and dearer, while processes are killed after any step of it.

Each exchange is one linked order that is paid once, one refund, and not a piece too many or too few in stock.
"""

import secrets
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import requests

from services.orders.clients.sandbox_pages import page_key
from services.orders.documents import DESIGN
from tests.faults.aimed_kills import AFTER_SALE, KILLS, STEPS, Step
from tests.faults.reckoning import Books, books_of, summary_problem
from tests.faults.shop import ADMIN, BreakableShop
from tests.faults.walks import GIVE_UP_SECONDS, ask, at_rest, walk_while_killed
from tests.people import ADDRESS, Person, register

CLIENTS: Final = 3
MAX_ORDERS: Final = KILLS * 4
PRICE, DEARER = 1250, 300
PRICES: Final = {"M": PRICE, "S": PRICE, "L": PRICE + DEARER}
HEALING_SECONDS: Final = 120
AIMS: Final[dict[str, Step]] = {
    **{name: AFTER_SALE[name] for name in ("return requested", "return approved", "goods received")},
    **{name: AFTER_SALE[name] for name in ("refund decided", "goods in stock again")},
    **{name: STEPS[name] for name in ("stock reserved", "stock sold", "card charged", "payment written")},
    "linked order placed": (DESIGN, lambda doc: doc.get("type") == "order" and "exchange_of" in doc),
    "page opened": (DESIGN, lambda doc: doc.get("type") == "paymentsession"),
    "exchange ended": (DESIGN, lambda doc: doc.get("type") == "returnexchange"),
}
Doc = dict[str, Any]

pytestmark = [pytest.mark.faults, pytest.mark.timeout(7200)]


@pytest.fixture(scope="module")
def shop_settings() -> dict[str, str]:
    return {"COURIER": "manual", "RESERVATION_SECONDS": "3600"}


@dataclass
class People:
    """A customer and the desk, who do each step again, with the same key, until there is an answer."""

    shop: BreakableShop
    admin: Person
    customer: Person
    product: str

    def exchange(self, size: str) -> None:
        """An M is bought, arrives, and comes back for another size; the customer pays what that costs more."""
        checkout = {
            "items": self._items(),
            "address": ADDRESS,
            "payment": {"provider": "sandbox", "token": "tok_ok"},
        }
        orderid = self._ask("/v1/orders", checkout, self.customer)["orderid"]
        desk = f"/v1/admin/orders/{orderid}"
        wish = [{**self._items()[0], "exchange_for": f"{self.product}-{size}"}]
        arrived = [{**self._items()[0], "condition": "resaleable"}]
        self._ask(f"{desk}/dispatch", {"courier": "post", "courierid": "1"}, self.admin)
        self._ask(f"{desk}/parcels/1/delivery", None, self.admin)
        self._ask(f"/v1/orders/{orderid}/returns", {"items": wish}, self.customer)
        self._ask(f"{desk}/returns/1/approval", None, self.admin)
        self._ask(f"{desk}/returns/1/receipt", {"items": arrived}, self.admin)
        if PRICES[size] > PRICE:
            linked = self._linked(orderid)
            key = page_key(self.shop.environment["SECRET_KEY"], linked)
            self._ask(f"/v1/orders/{linked}/sandbox-payment", {"key": key, "token": "tok_ok"}, self.customer)

    def _linked(self, orderid: str) -> str:
        """The order that takes its place, once its payment page is there."""
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < deadline:
            try:
                found = self.customer.get(f"{self.shop.url('orders')}/v1/orders/{orderid}", timeout=25)
                exchange = found.json()["returns"][0]["exchange"] if found.status_code == 200 else {}
            except requests.RequestException:
                exchange = {}
            if exchange.get("status") in ("offered", "paid"):
                return str(exchange["orderid"])
            time.sleep(0.2)
        raise AssertionError(f"no page to pay the difference of {orderid}")

    def _items(self) -> list[Doc]:
        return [{"productid": self.product, "sku": f"{self.product}-M", "quantity": 1}]

    def _ask(self, path: str, body: dict[str, Any] | None, by: Person) -> dict[str, Any]:
        said = ask(self.shop, path, body, by)
        assert said["status_code"] in (200, 201), (path, said)
        return said


def test_an_exchange_is_one_order_paid_once_whatever_is_killed(
    shop: BreakableShop, show: Callable[[str], None]
) -> None:
    admin = Person(shop.url("users"), ADMIN)
    product = _stocked(shop, admin)
    people = [
        People(shop, admin, register(shop.url("users"), Path(shop.environment["MAIL_DIR"])), product)
        for _ in range(CLIENTS)
    ]
    exchanged: list[str] = []

    def walk(client: int, number: int) -> None:
        size = "SL"[(number + client) % 2]
        people[client].exchange(size)
        exchanged.append(size)

    kills, _ = walk_while_killed(shop, AIMS, CLIENTS, MAX_ORDERS, walk)
    sizes = Counter(exchanged)
    wrong, seconds = at_rest(lambda: _wrong(shop, admin, product, sizes), HEALING_SECONDS)
    show(
        f"{kills.killed.total()} kills ({dict(kills.killed)}) after {dict(kills.aimed)}: {dict(sizes)} exchanged;"
        f" {len(wrong)} wrong, all agrees after {seconds:.0f} s"
    )
    assert kills.killed.total() == KILLS
    assert not wrong, list(wrong.items())[:5]
    assert min(sizes["S"], sizes["L"]) >= 1
    assert kills.aimed["any time"] < KILLS / 2


def _wrong(shop: BreakableShop, admin: Person, product: str, sizes: Counter[str]) -> dict[str, str]:
    books = books_of(shop)
    first = {orderid: docs for orderid, docs in books.orders.items() if "exchange_of" not in docs["order"]}
    found = {orderid: problem for orderid in first if (problem := _problem(books, orderid))}
    if len(first) != sizes.total():
        found["orders"] = f"{len(first)} were placed, {sizes.total()} are known"
    expected = {"M": MAX_ORDERS, "S": MAX_ORDERS - sizes["S"], "L": MAX_ORDERS - sizes["L"]}
    for size, pieces in expected.items():
        if (left := _left(shop, admin, f"{product}-{size}")) != pieces:
            found[size] = f"{left} are left, not {pieces}"
    return found


def _problem(books: Books, orderid: str) -> str:
    docs = books.orders[orderid]
    linked = [each for each in books.orders.values() if _is_for(each["order"], orderid)]
    if len(linked) != 1:
        return f"{len(linked)} orders take its place"
    (other,) = linked
    (line,) = other["order"]["basket"]
    refunds = [doc for doc in docs.values() if doc["type"] == "refund"]
    difference = PRICES[line["sku"][-1]] - PRICE
    otherid = other["order"]["orderid"]
    checks = {
        "the linked order is not paid": "payment" in other and "cancellation" not in other,
        f"{len(refunds)} refunds": len(refunds) == 1,
        "its refund is not settled": all(f"{each['reference']}settled" in docs for each in refunds),
        f"{books.charges[orderid]} charges": books.charges[orderid] == 1,
        f"{books.charged[orderid]} are kept of it": books.charged[orderid]
        == docs["order"]["total"]["amount"],
        f"{books.charged[otherid]} are kept of the difference": books.charged[otherid] == difference,
        f"{books.charges[otherid]} charges of the difference": books.charges[otherid] == bool(difference),
        "the exchange has not ended": any(doc["type"] == "returnexchange" for doc in docs.values()),
    }
    failed = [problem for problem, holds in checks.items() if not holds]
    return ", ".join(failed) or summary_problem(docs) or summary_problem(other)


def _is_for(order: Doc, orderid: str) -> bool:
    return bool(order.get("exchange_of", {}).get("orderid") == orderid)


def _stocked(shop: BreakableShop, admin: Person) -> str:
    productid = f"x{secrets.token_hex(4)}"
    body = {
        "productid": productid,
        "taxonomy": ["Clothes"],
        "name": f"Shirt {productid}",
        "price": {"amount": PRICE, "currency": "GBP"},
        "options": [{"name": "Size", "values": list(PRICES)}],
        "variants": [
            {
                "sku": f"{productid}-{size}",
                "options": {"Size": size},
                "stock": MAX_ORDERS,
                "prices": {"GBP": price},
            }
            for size, price in PRICES.items()
        ],
    }
    admin.post(f"{shop.url('products')}/v1/products", json=body, timeout=30).raise_for_status()
    return productid


def _left(shop: BreakableShop, admin: Person, sku: str) -> int | str:
    """In stock, or what a service says that has just been started and cannot tell yet."""
    try:
        answer = admin.get(f"{shop.url('products')}/v1/products/{sku}/stock", timeout=30)
    except requests.RequestException as error:
        return type(error).__name__
    return int(answer.json()["stock"]) if answer.status_code == 200 else str(answer.json()["code"])
