"""Placing an order: a saga over immutable documents, every step of which may be done again.

    intent (order, customer, lines: one bulk) -> stock reserved -> charged -> payment document -> stock sold

The order's id follows from the Idempotency-Key, and the order id is the key of the reservation and of the charge,
so whoever repeats a step, the customer, another thread or the reconciliation, finds it done.
"""

import logging
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from services.orders.actions.attempts import AttemptClosed, abandon, record_payment, refusal_of, reserve
from services.orders.actions.shop import Shop
from services.orders.clients.payments import Charge, PaymentClosed, PaymentDeclined, ProviderUnavailable
from services.orders.clients.services import GoodsGone, OutOfStock
from services.orders.documents import CUSTOMER, ORDER, order_key
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.identity import check_same, fingerprint_of, key_is_free_again, orderid_for
from services.orders.rules.pricing import Quote, check_expected, merged, quote
from services.orders.rules.writing import items_of
from shared.clock import now, parse, timestamp
from shared.couch import Doc
from shared.errors import AisleError, Conflict, Invalid, NotFound, Unavailable

log = logging.getLogger(__name__)

CHARGE_TRIES = 3
FIRST_PAUSE, LONGEST_PAUSE = 0.04, 0.4
WAIT_FOR_THE_FIRST = 3.0


class NoSuchAddress(Invalid):
    code, title = "unknown_address", "You have no such address"


@dataclass(frozen=True)
class Buyer:
    """A customer by user id, or a guest by e-mail address."""

    userid: str | None
    email: str = ""
    name: str = ""

    @property
    def whose(self) -> str:
        return self.userid or f"guest {self.email.lower()}"


@dataclass(frozen=True)
class Placed:
    """An order, and whether an earlier request with the same key had placed it."""

    found: OrderDocuments
    replayed: bool = False


def place_order(shop: Shop, buyer: Buyer, key: str, body: dict[str, Any]) -> Placed:
    """Places the order that `body` asks for, once per key. `body`: items, address or address_id, payment, expected_total.

    Raises OutOfStock, PriceChanged, PaymentDeclined, KeyReused, Invalid, or Unavailable; after the last the same
    key may be sent again.
    """
    fingerprint, token = fingerprint_of(body), body["payment"]["token"]
    orderid = orderid_for(buyer.whose, key)
    try:
        intent = _intent(shop, buyer, body)
    except (Conflict, Invalid, NotFound) as refusal:
        found = _latest(shop, buyer.whose, key)[1]
        if not found.exists:
            raise
        return _again(shop, found, None, fingerprint, token, refusal)
    docs = intent.documents(orderid, fingerprint)
    if shop.orders.place(docs):
        return Placed(_carry_through(shop, OrderDocuments(docs), token))
    orderid, found = _latest(shop, buyer.whose, key)
    docs = intent.documents(orderid, fingerprint)
    if not found.exists and shop.orders.place(docs):
        return Placed(_carry_through(shop, OrderDocuments(docs), token))
    found = found if found.exists else shop.orders.order(orderid)
    return _again(shop, found, docs, fingerprint, token, None)


def quote_items(shop: Shop, wanted: list[Doc]) -> Doc:
    """What `wanted` [{productid, quantity}] costs now, in the order's own words. Raises NoSuchProduct, Invalid, Unavailable."""
    products = shop.products.lookup([item["productid"] for item in merged(wanted)])
    priced = quote(wanted, products, shop.terms)
    return {
        "items": priced.lines,
        "goods": priced.goods,
        "deliveryCharge": priced.delivery,
        "tax": priced.tax,
        "total": priced.total,
    }


@dataclass(frozen=True)
class _Intent:
    """A priced request, before it has an id."""

    buyer: Buyer
    name: str
    email: str
    address: Any
    provider: str
    priced: Quote

    def documents(self, orderid: str, fingerprint: str) -> list[Doc]:
        """The order first: it is the claim on the key."""
        date, userid, priced = timestamp(), self.buyer.userid, self.priced
        order = ORDER.new(
            order_key(orderid, "order"), orderid=orderid, userid=userid, basket=priced.lines, goods=priced.goods,
            delivery=priced.delivery, tax=priced.tax, total=priced.total, date=date, provider=self.provider,
            fingerprint=fingerprint,
        )  # fmt: skip
        customer = CUSTOMER.new(
            order_key(orderid, "customer"), orderid=orderid, userid=userid, name=self.name, email=self.email,
            deliveryAddress=self.address,
        )  # fmt: skip
        return [order, customer, *items_of(order)]


def _intent(shop: Shop, buyer: Buyer, body: dict[str, Any]) -> _Intent:
    """One look-up of all products and, for a customer, one read of the user."""
    shop.provider(body["payment"]["provider"])
    products = shop.products.lookup([item["productid"] for item in merged(body["items"])])
    priced = quote(body["items"], products, shop.terms)
    check_expected(priced, body.get("expected_total"))
    if buyer.userid is None:
        return _Intent(buyer, buyer.name, buyer.email, body["address"], body["payment"]["provider"], priced)
    user = shop.users.checkout(buyer.userid)
    address = body.get("address") or _address_of(user, body["address_id"])
    return _Intent(buyer, user["name"], user["email"], address, body["payment"]["provider"], priced)


def _address_of(user: Doc, address_id: str) -> Any:
    for known in user["addresses"]:
        if known["id"] == address_id:
            return {"name": known["name"], "address": known["address"]}
    raise NoSuchAddress("Choose one of your addresses.", errors={"address_id": ["You have no such address."]})


def _latest(shop: Shop, whose: str, key: str) -> tuple[str, OrderDocuments]:
    """The order that this key stands for today, or the id that it would get."""
    generation = 1
    while True:
        orderid = orderid_for(whose, key, generation)
        found = shop.orders.order(orderid)
        if not found.exists or not key_is_free_again(found.order["date"], now()):
            return orderid, found
        generation += 1


def _completed(shop: Shop, found: OrderDocuments, docs: list[Doc]) -> OrderDocuments:
    """Adds the lines and the customer that a crash in the middle of the first bulk left out."""
    there = {doc["_id"] for doc in found.documents}
    missing = [doc for doc in docs[1:2] + items_of(found.order) if doc["_id"] not in there]
    if missing and found.payment is None:
        shop.orders.add_all(missing)
        return OrderDocuments([*found.documents, *missing])
    return found


def _again(
    shop: Shop, found: OrderDocuments, docs: list[Doc] | None, fingerprint: str, token: str,
    refusal: AisleError | None,
) -> Placed:  # fmt: skip
    """A repeated request: the same answer; if the first one got stuck, this one carries on."""
    paid = found.payment is not None
    closed = found.cancellation is not None and not paid
    check_same(
        found.order["fingerprint"], fingerprint, orderid=found.order["orderid"], paid=paid, closed=closed
    )
    found = _wait_for_the_first(shop, found if docs is None else _completed(shop, found, docs))
    _refuse_if_shop_cancelled(found)
    if found.payment is not None:
        return Placed(found, replayed=True)
    if found.customer is None and refusal is not None:
        raise refusal
    return Placed(_carry_through(shop, found, token), replayed=True)


def _wait_for_the_first(shop: Shop, found: OrderDocuments) -> OrderDocuments:
    """While the request that placed the order may still be at work, its outcome is waited for."""
    placed, pause = min(parse(found.order["date"]), now()), FIRST_PAUSE
    until = placed + timedelta(seconds=WAIT_FOR_THE_FIRST)
    while found.payment is None and found.cancellation is None and now() < until:
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
        found = shop.orders.order(found.order["orderid"])
    return found


def _carry_through(shop: Shop, found: OrderDocuments, token: str) -> OrderDocuments:
    """From the intent to the payment document."""
    order = found.order
    try:
        reserve(shop, order)
        charge = _charge(shop, order, token)
    except (OutOfStock, PaymentDeclined) as refusal:
        return _refused(shop, found, refusal)
    except (PaymentClosed, GoodsGone):
        raise AttemptClosed from None
    ended = record_payment(shop, found, charge)
    _refuse_if_shop_cancelled(ended)
    return ended


def _refuse_if_shop_cancelled(found: OrderDocuments) -> None:
    """Raises what the attempt was refused with: declined, out of stock (and paid back if it was paid), or closed."""
    if found.cancellation is not None and found.cancellation["by"] == "shop":
        raise refusal_of(found.cancellation)


def _charge(shop: Shop, order: Doc, token: str) -> Charge:
    """Asks again when the answer is lost: the provider charges an order once."""
    provider = shop.provider(order["provider"])
    for left in reversed(range(CHARGE_TRIES)):
        try:
            return provider.charge(order["orderid"], order["total"], token)
        except ProviderUnavailable:
            if not left:
                raise
            time.sleep(FIRST_PAUSE)
    raise AssertionError("unreachable")


def _refused(shop: Shop, found: OrderDocuments, refusal: AisleError) -> OrderDocuments:
    """Undoes the attempt, unless a parallel request got it paid; what cannot be undone now is left to reconciliation."""
    try:
        ended = abandon(shop, found, refusal.code, refusal.detail)
    except Unavailable:
        log.warning("order %s stays open for reconciliation", found.order["orderid"])
        raise refusal from None
    if ended.payment is None:
        raise refusal
    return ended
