"""Orders whose money is only reserved, sent in two parcels with a cancelled line and a refund, while processes are killed between any two steps.

What the provider took is what our documents say, for goods that have gone out, once; nothing stays reserved.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from services.orders.documents import DESIGN
from tests.faults.aimed_kills import AFTER_SALE, KILLS, STEPS, Step
from tests.faults.reckoning import Books, books_of, summary_problem, written_twice
from tests.faults.shop import ADMIN, BreakableShop
from tests.faults.test_killed import stocked
from tests.faults.walks import CHECKOUT, ask, at_rest, walk_while_killed
from tests.people import ADDRESS, Person, register
from tests.services.orders.stripe_standin import API_KEY, StripeStandIn

CLIENTS, PIECES, PRICE, REFUND = 3, 4, 1250, 300
MAX_ORDERS: Final = KILLS * 4
HEALING_SECONDS: Final = float(os.environ.get("FAULTS_HEALING_SECONDS", "120"))
AIMS: Final[dict[str, Step]] = {
    "payment written": STEPS["payment written"],
    **{
        name: AFTER_SALE[name]
        for name in ("parcel decided", "parcel left", "line cancelled", "refund decided")
    },
    "capture decided": (DESIGN, lambda doc: doc.get("type") == "paymentcapture"),
    "captured": (DESIGN, lambda doc: doc.get("type") == "paymentcaptured"),
    "refund settled": (DESIGN, lambda doc: doc.get("type") == "settlement"),
}
Doc = dict[str, Any]

pytestmark = [pytest.mark.faults, pytest.mark.timeout(7200)]


@pytest.fixture(scope="module")
def stripe() -> Iterator[StripeStandIn]:
    standin = StripeStandIn()
    yield standin
    standin.close()


@pytest.fixture(scope="module")
def shop_settings(stripe: StripeStandIn) -> dict[str, str]:
    return {
        "PAYMENT_PROVIDERS": "stripe",
        "STRIPE_URL": stripe.url,
        "STRIPE_API_KEY": API_KEY,
        "STRIPE_WEBHOOK_SECRET": "whsec_faults",
        "CAPTURE_AT": "dispatch",
        "STRIPE_MULTICAPTURE": "true",
        "COURIER": "manual",
        "RESERVATION_SECONDS": "3600",
    }


@pytest.mark.parametrize("several", [True, False], ids=["in parts", "once"])
def test_reserved_money_is_taken_once_and_for_what_has_gone_out(
    shop: BreakableShop, stripe: StripeStandIn, show: Callable[[str], None], several: bool
) -> None:
    stripe.checkout.multicapture = several
    admin = Person(shop.url("users"), ADMIN)
    product = stocked(shop, admin, MAX_ORDERS * PIECES * 2)
    customers = [register(shop.url("users"), Path(shop.environment["MAIL_DIR"])) for _ in range(CLIENTS)]

    def walk(client: int, number: int) -> None:
        go_through(shop, stripe, admin, customers[client], product, number)

    kills, done = walk_while_killed(shop, AIMS, CLIENTS, MAX_ORDERS, walk)
    wrong, seconds = at_rest(lambda: _wrong(books_of(shop), stripe, product, several, done), HEALING_SECONDS)
    show(
        f"{kills.killed.total()} kills ({dict(kills.killed)}) after {dict(kills.aimed)}: {done} orders captured"
        f" {'in parts' if several else 'once'}; {len(wrong)} wrong, all agrees after {seconds:.0f} s"
    )
    assert kills.killed.total() == KILLS
    assert not wrong, list(wrong.items())[:5]
    assert done >= CLIENTS
    assert kills.aimed["any time"] < KILLS / 2


def go_through(
    shop: BreakableShop, stripe: StripeStandIn, admin: Person, customer: Person, product: str, number: int
) -> None:
    """Of PIECES one is cancelled, one goes out, REFUND is paid back, and the others go out; the first two and the refund in three orders."""
    orderid = paid(shop, stripe, customer, product, on_page=number % 2 == 0)
    desk, one = f"/v1/admin/orders/{orderid}", [{"productid": product, "quantity": 1}]
    steps = [
        (f"/v1/orders/{orderid}/cancellation", {"items": one, "reason": "one less"}, customer),
        (f"{desk}/dispatch", {"courier": "post", "courierid": "1", "items": one}, admin),
        (f"{desk}/refunds", {"amount": REFUND, "reason": "a scratch"}, admin),
    ]
    steps = steps[number % 3 :] + steps[: number % 3]
    for path, body, by in [*steps, (f"{desk}/dispatch", {"courier": "post", "courierid": "2"}, admin)]:
        said = ask(shop, path, body, by)
        assert said["status_code"] == 201, (path, said)


def paid(shop: BreakableShop, stripe: StripeStandIn, person: Person, product: str, *, on_page: bool) -> str:
    """An order with its money reserved, on the provider's page or without; ordered again where an attempt was ended meanwhile."""
    payment = {"provider": "stripe"} | ({} if on_page else {"token": "pm_card_visa"})
    items = [{"productid": product, "quantity": PIECES}]
    while True:
        order = ask(shop, CHECKOUT, {"items": items, "address": ADDRESS, "payment": payment}, person)
        assert order["status_code"] in (200, 201, 202), order
        if page := order["payment_page"]:
            stripe.checkout.pay(page["url"].rpartition("/")[2])
            order = ask(shop, f"/v1/orders/{order['orderid']}/payment", {}, person)
        if order["status"] == "paid":
            return str(order["orderid"])


def _wrong(books: Books, stripe: StripeStandIn, product: str, several: bool, done: int) -> dict[str, str]:
    """Of the orders of this product."""
    ours = {
        orderid: docs
        for orderid, docs in books.orders.items()
        if "order" in docs and docs["order"]["basket"][0]["productid"] == product
    }
    found = {
        orderid: problem
        for orderid, docs in ours.items()
        if (problem := _problem(stripe, orderid, docs, several))
    }
    sent = sum("dispatch" in docs for docs in ours.values())
    return found | ({} if sent == done else {"orders": f"{sent} have gone out, not {done}"})


def _problem(stripe: StripeStandIn, orderid: str, docs: dict[str, Doc], several: bool) -> str:
    intents = [each for each in list(stripe.intents.values()) if each["metadata"]["orderid"] == orderid]
    live = [each for each in intents if each["status"] not in ("canceled", "requires_payment_method")]
    if "payment" not in docs:
        return (
            f"{len(live)} payments of an order that is not paid" if live or "cancellation" not in docs else ""
        )
    if len(live) != 1 or live[0]["status"] != "succeeded":
        return f"at the provider {[each['status'] for each in live]}"
    (intent,) = live
    back = [each["amount"] for each in list(stripe.refunds) if each["payment_intent"] == intent["id"]]
    written = [doc["total"]["amount"] for doc in docs.values() if doc["type"] == "paymentcaptured"]
    parcels, refunds = _of(docs, "orderdispatch"), _of(docs, "refund")
    checks = {
        f"taken are {intent['captures']}, written {written}": sum(written) == intent["amount_received"],
        f"{intent['captures']} were taken in parts": len(intent["captures"]) == 1 or several,
        f"{intent['captures']} is more than the first parcel": not several or intent["captures"][0] <= PRICE,
        f"{intent['amount_received']} - {back} are kept": intent["amount_received"] - sum(back)
        == PRICE * (PIECES - 1) - REFUND,
        f"{len(parcels)} parcels": len(parcels) == 2,
        f"{len(refunds)} refunds": len(refunds) == 2,
        "a refund is not settled": all(f"{each['reference']}settled" in docs for each in refunds),
        f"{back} were paid back": sum(back) <= PRICE + REFUND,
        "written twice": not written_twice(docs),
    }
    failed = [problem for problem, holds in checks.items() if not holds]
    return ", ".join(failed) or summary_problem(docs)


def _of(docs: dict[str, Doc], kind: str) -> list[Doc]:
    return [doc for doc in docs.values() if doc["type"] == kind]
