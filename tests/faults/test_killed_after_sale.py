"""Orders in two parcels with a cancelled line and a return, while processes are killed between any two of these steps.

Nothing is paid back twice, nothing is in stock twice, and nothing stays undone.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import requests

from tests.faults.after_sale_books import after_sale_problems, put_back
from tests.faults.aimed_kills import AFTER_SALE, KILLS
from tests.faults.reckoning import books_of
from tests.faults.shop import ADMIN, BreakableShop
from tests.faults.test_killed import stocked
from tests.faults.walks import ask, at_rest, walk_while_killed
from tests.people import ADDRESS, Person, register

CLIENTS, PIECES, PRICE = 4, 5, 1250
MAX_ORDERS: Final = KILLS * 4
HEALING_SECONDS: Final = float(os.environ.get("FAULTS_HEALING_SECONDS", "120"))

pytestmark = [pytest.mark.faults, pytest.mark.timeout(7200)]


@pytest.fixture(scope="module")
def shop_settings() -> dict[str, str]:
    """People dispatch what is ordered."""
    return {"COURIER": "manual", "RESERVATION_SECONDS": "3600"}


@dataclass
class People:
    """A customer and the desk, who do each step again, with the same key, until there is an answer."""

    shop: BreakableShop
    admin: Person
    customer: Person
    product: str

    def go_through(self, number: int) -> None:
        """An order of PIECES: one is cancelled, one and then the others go out, two come back of which one is damaged."""
        orderid = self._ask("/v1/orders", self._checkout(), self.customer)["orderid"]
        own, desk = f"/v1/orders/{orderid}", f"/v1/admin/orders/{orderid}"
        steps = [
            (f"{own}/cancellation", {"items": self._items(1), "reason": "one less"}, self.customer),
            (f"{desk}/dispatch", {"courier": "post", "courierid": "1", "items": self._items(1)}, self.admin),
            (f"{desk}/dispatch", {"courier": "post", "courierid": "2"}, self.admin),
            (f"{desk}/parcels/2/delivery", None, self.admin),
            (f"{desk}/parcels/1/delivery", None, self.admin),
            (f"{own}/returns", {"items": self._items(2), "reason": "too loud"}, self.customer),
            (f"{desk}/returns/1/approval", None, self.admin),
            (f"{desk}/returns/1/receipt", {"items": self._received()}, self.admin),
        ]
        if number % 2:
            steps[0], steps[1] = steps[1], steps[0]
        for path, body, person in steps:
            self._ask(path, body, person)

    def _items(self, quantity: int) -> list[dict[str, Any]]:
        return [{"productid": self.product, "quantity": quantity}]

    def _received(self) -> list[dict[str, Any]]:
        return [{**self._items(1)[0], "condition": condition} for condition in ("resaleable", "damaged")]

    def _checkout(self) -> dict[str, Any]:
        payment = {"provider": "sandbox", "token": "tok_ok"}
        return {"items": self._items(PIECES), "address": ADDRESS, "payment": payment}

    def _ask(self, path: str, body: dict[str, Any] | None, by: Person) -> dict[str, Any]:
        said = ask(self.shop, path, body, by)
        assert said["status_code"] == 201, (path, said)
        return said


def test_no_piece_is_paid_back_or_put_back_twice(shop: BreakableShop, show: Callable[[str], None]) -> None:
    admin = Person(shop.url("users"), ADMIN)
    product = stocked(shop, admin, MAX_ORDERS * PIECES)
    people = [
        People(shop, admin, register(shop.url("users"), Path(shop.environment["MAIL_DIR"])), product)
        for _ in range(CLIENTS)
    ]
    kills, placed = walk_while_killed(
        shop, AFTER_SALE, CLIENTS, MAX_ORDERS, lambda client, number: people[client].go_through(number)
    )
    wrong, seconds = at_rest(lambda: _wrong(shop, admin, product, placed), HEALING_SECONDS)
    show(
        f"{kills.killed.total()} kills ({dict(kills.killed)}) after {dict(kills.aimed)}: {placed} orders in two parcels with a return;"
        f" {len(wrong)} wrong, all agrees after {seconds:.0f} s"
    )
    assert kills.killed.total() == KILLS
    assert not wrong, list(wrong.items())[:5]
    assert placed >= CLIENTS
    assert kills.aimed["any time"] < KILLS / 2


def _wrong(shop: BreakableShop, admin: Person, product: str, placed: int) -> dict[str, str]:
    books = books_of(shop)
    paid = {orderid: docs for orderid, docs in books.orders.items() if "payment" in docs}
    books.orders = paid
    found = after_sale_problems(books, PRICE)
    if len(paid) != placed:
        found["orders"] = f"{len(paid)} are paid, {placed} were placed"
    left, expected = _left(shop, admin, product), MAX_ORDERS * PIECES - placed * PIECES + put_back(books)
    if left != expected:
        found["stock"] = f"{left} are left, not {expected}"
    return found


def _left(shop: BreakableShop, admin: Person, product: str) -> int | str:
    """In stock, or what a service says that has just been started and cannot tell yet."""
    try:
        answer = admin.get(f"{shop.url('products')}/v1/products/{product}/stock", timeout=30)
    except requests.RequestException as error:
        return type(error).__name__
    return int(answer.json()["stock"]) if answer.status_code == 200 else str(answer.json()["code"])
