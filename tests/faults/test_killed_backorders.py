"""Goods sold beyond their stock, while processes are killed between any two steps of buying, coming in and sending them.

Who bought first gets what is there and what comes in; nothing is given out twice, and the others wait.
"""

import secrets
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, Final

import pytest
import requests

from services.orders.documents import DESIGN
from services.products.documents import DESIGN as PRODUCTS
from tests.faults.aimed_kills import KILLS, STEPS, Step, _is, kill_between_steps
from tests.faults.reckoning import books_of, summary_problem
from tests.faults.shop import ADMIN, BreakableShop
from tests.faults.walks import GIVE_UP_SECONDS, UNDER_WAY, ask, at_rest
from tests.people import ADDRESS, Person, register

CLIENTS: Final = 2
BACKORDER_KILLS: Final = KILLS // 3
THERE, COME, LATE = 10, 25, 15
BUYERS: Final = THERE + COME + LATE
"""Pieces in stock, pieces that come in, and buyers who get none; each of these groups buys after the one before."""
HEALING_SECONDS: Final = 120
AIMS: Final[dict[str, Step]] = {
    **{name: STEPS[name] for name in ("order placed", "stock reserved", "stock sold", "payment written")},
    "wait written": (DESIGN, _is("stockwait")),
    "parcel left": (DESIGN, _is("orderdispatch")),
    "goods moved": (PRODUCTS, _is("movement")),
}
Doc = dict[str, Any]

pytestmark = [pytest.mark.faults, pytest.mark.timeout(7200)]


@dataclass
class Buyers:
    """Each buys one piece, and does so again with the same key until there is an answer."""

    shop: BreakableShop
    admin: Person
    customer: Person
    product: str
    killed: Counter[str]

    def buy(self, number: int) -> str:
        """The buyers are spread over the kills: with each that was done, some more may buy."""
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while number * BACKORDER_KILLS >= (self.killed.total() + 1) * BUYERS:
            assert time.monotonic() < deadline, "nothing is killed any more"
            time.sleep(0.05)
        payment = {"provider": "sandbox", "token": "tok_ok"}
        items = [{"productid": self.product, "quantity": 1}]
        body = {"items": items, "address": ADDRESS, "payment": payment}
        said = ask(self.shop, "/v1/orders", body, self.customer)
        assert said["status_code"] == 201, said
        return str(said["orderid"])

    def come_in(self, count: int) -> None:
        url = f"{self.shop.url('products')}/v1/products/{self.product}/stock"
        headers = {**self.admin.headers, "Idempotency-Key": secrets.token_hex(8)}
        body, deadline = {"delta": count, "reason": "delivery"}, time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < deadline:
            try:
                answer = requests.post(url, json=body, headers=headers, timeout=25)
            except requests.RequestException:
                time.sleep(0.2)
                continue
            if answer.status_code < 500 and answer.json().get("code") not in UNDER_WAY:
                assert answer.ok, answer.text
                return
            time.sleep(0.2)
        raise AssertionError("the goods could not be booked")


def test_who_bought_first_gets_what_there_is_whatever_is_killed(
    shop: BreakableShop, show: Callable[[str], None]
) -> None:
    admin = Person(shop.url("users"), ADMIN)
    customer = register(shop.url("users"), Path(shop.environment["MAIL_DIR"]))
    killed, aimed = Counter[str](), Counter[str]()
    bought: list[set[str]] = []
    buyers = Buyers(shop, admin, customer, _stocked(shop, admin), killed)
    stopping = Event()
    with ThreadPoolExecutor(2) as pool:
        killing = pool.submit(kill_between_steps, shop, killed, aimed, stopping, AIMS, BACKORDER_KILLS)
        try:
            for count in (THERE, COME, LATE):
                coming = pool.submit(buyers.come_in, COME) if count == LATE else None
                with ThreadPoolExecutor(CLIENTS) as clients:
                    before = sum(len(each) for each in bought)
                    bought.append(set(clients.map(buyers.buy, range(before, before + count))))
            if coming:
                coming.result()
            killing.result()
        finally:
            stopping.set()
    first, second, waiting = bought
    wrong, seconds = at_rest(lambda: _wrong(shop, first | second, waiting), HEALING_SECONDS)
    show(
        f"{killed.total()} kills ({dict(killed)}) after {dict(aimed)}: {len(first | second)} of "
        f"{BUYERS} sent; {len(wrong)} wrong, all agrees after {seconds:.0f} s"
    )
    assert killed.total() == BACKORDER_KILLS
    assert not wrong, list(wrong.items())[:5]


def _wrong(shop: BreakableShop, served: set[str], waiting: set[str]) -> dict[str, str]:
    orders = {orderid: docs for orderid, docs in books_of(shop).orders.items() if "payment" in docs}
    found = {orderid: problem for orderid, docs in orders.items() if (problem := summary_problem(docs))}
    for orderid, docs in orders.items():
        parcels = sum(doc["type"] == "orderdispatch" for doc in docs.values())
        if parcels != (orderid in served):
            found[orderid] = f"{parcels} parcels, {'is' if orderid in served else 'is not'} among the first"
    if orders.keys() != served | waiting:
        found["orders"] = f"{len(orders)} are paid, {len(served | waiting)} were placed"
    if len(served) != THERE + COME or len(waiting) != LATE:
        found["buyers"] = f"{len(served)} and {len(waiting)}"
    return found


def _stocked(shop: BreakableShop, admin: Person) -> str:
    productid = f"lamp{secrets.token_hex(4)}"
    body = {
        "productid": productid,
        "taxonomy": ["Home", "Lamps"],
        "name": f"Lamp {productid}",
        "price": {"amount": 1250, "currency": "GBP"},
        "stock": THERE,
        "backorder": True,
    }
    admin.post(f"{shop.url('products')}/v1/products", json=body, timeout=30).raise_for_status()
    return productid
