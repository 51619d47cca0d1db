"""SIGKILL to a process of the shop the moment a chosen document shows that a checkout has come so far."""

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any, Final

from services.orders.documents import DESIGN, SANDBOX_LEDGER
from services.products.documents import DESIGN as PRODUCTS
from shared.couch import DatabaseDesign, Doc
from shared.errors import AisleError
from tests.faults.shop import VICTIMS as KILLABLE
from tests.faults.shop import BreakableShop

KILLS: Final = int(os.environ.get("FAULTS_KILLS", "36"))
SEED: Final = int(os.environ.get("FAULTS_SEED", "18"))
WAITING_SECONDS: Final = 5.0
VICTIMS: Final = tuple(
    name
    for name in (
        *("orders",) * 3,
        *("couch", "products", "worker") * 2,
        *("redis", "users", "follower"),
    )
    if name in KILLABLE
)
"""One round; those that the steps of a checkout run through more often."""


def _is(type_: str, /, **fields: Any) -> Callable[[Doc], bool]:
    return lambda doc: (
        doc.get("type") == type_ and all(doc.get(name) == value for name, value in fields.items())
    )


Step = tuple[DatabaseDesign, Callable[[Doc], bool]]

STEPS: Final[dict[str, Step]] = {
    "order placed": (DESIGN, _is("order")),
    "stock reserved": (PRODUCTS, _is("reservation")),
    "code used": (DESIGN, _is("promotionuse", free=False)),
    "gift card spent": (DESIGN, _is("creditentry", kind="gift_card", reason="spent")),
    "store credit spent": (DESIGN, _is("creditentry", kind="store_credit", reason="spent")),
    "card charged": (SANDBOX_LEDGER, _is("charge", status="paid")),
    "stock sold": (PRODUCTS, _is("settlement", outcome="sold")),
    "payment written": (DESIGN, _is("orderpayment")),
    "charge closed": (SANDBOX_LEDGER, _is("charge", status="void")),
    "credit given back": (DESIGN, _is("creditentry", reason="given_back")),
    "code given back": (DESIGN, lambda doc: _is("promotionuse", free=True)(doc) and doc["_rev"][0] != "1"),
    "stock given back": (PRODUCTS, _is("settlement", outcome="released")),
}


AFTER_SALE: Final[dict[str, Step]] = {
    "parcel decided": (DESIGN, _is("decision", decision="dispatch")),
    "parcel left": (DESIGN, _is("orderdispatch")),
    "parcel arrived": (DESIGN, _is("orderdelivery")),
    "line cancelled": (DESIGN, _is("linecancellation")),
    "return requested": (DESIGN, _is("returnrequest")),
    "return approved": (DESIGN, _is("returndecision")),
    "goods received": (DESIGN, _is("return")),
    "refund decided": (DESIGN, _is("refund")),
    "refund paid": (SANDBOX_LEDGER, _is("ledgerrefund")),
    "goods given back": (
        PRODUCTS,
        lambda doc: _is("settlement", outcome="released")(doc) and "reference" in doc,
    ),
    "goods in stock again": (PRODUCTS, _is("movement", reason="released")),
    "restock written": (DESIGN, _is("restock")),
}


def kill_between_steps(
    shop: BreakableShop,
    killed: Counter[str],
    aimed: Counter[str],
    stopping: Event,
    known: dict[str, Step] = STEPS,
    most: int = KILLS,
) -> None:
    """`most` processes one after the other, each started again. `killed` counts them by name, `aimed` by the step they were hit after."""
    chance = random.Random(SEED)
    victims, steps = _in_rounds(chance, VICTIMS), _in_rounds(chance, tuple(known))
    for _ in range(most):
        if stopping.is_set():
            return
        victim, step = next(victims), next(steps)
        aimed[step if _seen(shop, known[step]) else "any time"] += 1
        time.sleep(chance.choice((0, 0, chance.uniform(0, 0.05))))
        shop.kill(victim)
        time.sleep(chance.uniform(0, 0.3))
        shop.start(victim)
        killed[victim] += 1
        time.sleep(chance.uniform(0, 0.3))


def _in_rounds(chance: random.Random, names: tuple[str, ...]) -> Iterator[str]:
    while True:
        yield from chance.sample(names, len(names))


def _seen(shop: BreakableShop, step: Step) -> bool:
    """Waits for a document of the step; whether one was written in time."""
    design, is_met = step
    database, since = shop.server().open(design), "now"
    deadline = time.monotonic() + WAITING_SECONDS
    while time.monotonic() < deadline:
        try:
            found = database.changes(since, wait=1, limit=20)
        except AisleError:
            return False
        if any(is_met(row.doc) for row in found.rows if row.doc):
            return True
        since = found.last_seq
    return False
