"""Labels of parcels and of a return, while processes are killed between any two of the steps that buy, use and cancel them.

What the carrier's stand-in has sold is written down, once; what no parcel leaves with is given back, once.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from services.orders.documents import DESIGN
from tests.faults.aimed_kills import KILLS, Step, _is
from tests.faults.reckoning import books_of
from tests.faults.shop import ADMIN, BreakableShop
from tests.faults.test_killed import stocked
from tests.faults.walks import ask, at_rest, walk_while_killed
from tests.people import Person, register
from tests.services.orders.easypost_standin import EasyPostStandIn

CLIENTS, PIECES = 3, 3
LABEL_KILLS: Final = KILLS // 2
"""Each process and each step, twice or more; a cancelled label's minute comes on top."""
MAX_ORDERS: Final = LABEL_KILLS * 4
HEALING_SECONDS: Final = float(os.environ.get("FAULTS_HEALING_SECONDS", "120"))
"""A cancelled label is given back a minute after the last decision about its order."""
ADDRESS: Final = {
    "name": "Ada",
    "line1": "1 High Street",
    "city": "Bath",
    "postcode": "BA1 1AA",
    "country": "GB",
}
LABELS: Final[dict[str, Step]] = {
    "parcel's shipment written": (DESIGN, _is("parcelshipment")),
    "parcel's label bought": (DESIGN, _is("parcellabel")),
    "parcel's label cancelled": (DESIGN, _is("parcellabelend")),
    "parcel decided": (DESIGN, _is("decision", decision="dispatch")),
    "parcel left": (DESIGN, _is("orderdispatch")),
    "return's shipment written": (DESIGN, _is("returnshipment")),
    "return's label bought": (DESIGN, _is("returnlabel")),
}
BOUGHT: Final = ("parcellabel", "returnlabel")

pytestmark = [pytest.mark.faults, pytest.mark.timeout(7200)]


@pytest.fixture(scope="module")
def carriers() -> Iterator[EasyPostStandIn]:
    """Of somebody else: it is never killed."""
    standin = EasyPostStandIn()
    yield standin
    standin.close()


@pytest.fixture(scope="module")
def shop_settings(carriers: EasyPostStandIn) -> dict[str, str]:
    return {
        "COURIER": "manual",
        "RESERVATION_SECONDS": "3600",
        **carriers.label_settings,
        "SHOP_ADDRESS": "9 Mill Lane; Leeds LS1 4DY",
        "SHOP_COUNTRY": "GB",
    }


@dataclass
class People:
    shop: BreakableShop
    admin: Person
    customer: Person
    product: str

    def go_through(self) -> None:
        """Two pieces go out with a label; the one of the third is cancelled, and another bought; one comes back with a label."""
        payment = {"provider": "sandbox", "token": "tok_ok"}
        checkout = {"items": self._items(PIECES), "address": ADDRESS, "payment": payment}
        orderid = self._ask("/v1/orders", checkout, self.customer)["orderid"]
        own, desk = f"/v1/orders/{orderid}", f"/v1/admin/orders/{orderid}"
        self._ask(f"{desk}/labels", {"items": self._items(2), "weight_grams": 800}, self.admin)
        self._ask(f"{desk}/labels/1/dispatch", None, self.admin)
        self._ask(f"{desk}/labels", {"weight_grams": 400}, self.admin)
        self._ask(f"{desk}/labels/2/cancellation", None, self.admin)
        self._ask(f"{desk}/labels", {"weight_grams": 400}, self.admin)
        self._ask(f"{desk}/labels/3/dispatch", None, self.admin)
        for number in (1, 2):
            self._ask(f"{desk}/parcels/{number}/delivery", None, self.admin)
        self._ask(f"{own}/returns", {"items": self._items(1), "reason": "too loud"}, self.customer)
        self._ask(f"{desk}/returns/1/approval", None, self.admin)
        self._ask(f"{desk}/returns/1/label", {"weight_grams": 400}, self.admin)

    def _items(self, quantity: int) -> list[dict[str, Any]]:
        return [{"productid": self.product, "quantity": quantity}]

    def _ask(self, path: str, body: dict[str, Any] | None, by: Person) -> dict[str, Any]:
        said = ask(self.shop, path, body, by)
        assert said["status_code"] == 201, (path, said)
        return said


def test_what_was_bought_is_written_once_and_what_is_not_used_given_back(
    shop: BreakableShop, carriers: EasyPostStandIn, show: Callable[[str], None]
) -> None:
    admin = Person(shop.url("users"), ADMIN)
    product = stocked(shop, admin, MAX_ORDERS * PIECES)
    people = [
        People(shop, admin, register(shop.url("users"), Path(shop.environment["MAIL_DIR"])), product)
        for _ in range(CLIENTS)
    ]
    kills, placed = walk_while_killed(
        shop, LABELS, CLIENTS, MAX_ORDERS, lambda client, _: people[client].go_through(), LABEL_KILLS
    )
    wrong, seconds = at_rest(lambda: _wrong(shop, carriers, placed), HEALING_SECONDS)
    show(
        f"{kills.killed.total()} kills ({dict(kills.killed)}) after {dict(kills.aimed)}: {placed} orders,"
        f" {len(carriers.purchases)} labels; {len(wrong)} wrong, all agrees after {seconds:.0f} s"
    )
    assert kills.killed.total() == LABEL_KILLS
    assert not wrong, list(wrong.items())[:5]
    assert placed >= CLIENTS


def _wrong(shop: BreakableShop, carriers: EasyPostStandIn, placed: int) -> dict[str, str]:
    found: dict[str, str] = {}
    written: list[str] = []
    unused: list[str] = []
    paid = {key: docs for key, docs in books_of(shop).orders.items() if "payment" in docs}
    for orderid, docs in paid.items():
        kept = [doc for doc in docs.values() if doc["type"] in BOUGHT]
        written += [doc["shipment"] for doc in kept]
        if len(kept) != 4:
            found[orderid] = f"{len(kept)} labels are written"
        codes = sorted(
            docs[f"label{number}"]["tracking_code"] for number in (1, 3) if f"label{number}" in docs
        )
        sent = sorted(doc["courierid"] for doc in docs.values() if doc["type"] == "orderdispatch")
        if codes != sent:
            found[orderid] = f"{sent} were sent with {codes}"
        unused.append(docs["label2shipment"]["shipment"])
        if "label2refund" not in docs:
            found[orderid] = "the cancelled label is not given back"
    if len(paid) != placed:
        found["orders"] = f"{len(paid)} are paid, {placed} were placed"
    if Counter(written) != Counter(carriers.purchases):
        found["labels"] = f"{len(carriers.purchases)} were bought, {len(written)} are written"
    if Counter(unused) != Counter(carriers.refunds):
        found["refunds"] = f"{len(carriers.refunds)} were given back of {len(unused)}"
    return found
