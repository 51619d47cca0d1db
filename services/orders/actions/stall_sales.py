"""Sales at a stall: what was handed over there is written down as an order, whatever the stock or the price list say by now.

The order is the claim on the device's key, which is good for ever. Then, each step under fixed ids, so that whoever repeats it (the device,
the worker's sweep) writes the same: the goods leave the stock, below zero where the chain has too few; what was oversold, the entry of the day,
the hand-over; last the payment, after which nothing is left to do.
"""

from datetime import timedelta
from typing import Any

from services.orders.actions.attempts import Placed
from services.orders.actions.goods_costs import costs_now, known_costs
from services.orders.actions.stall_days import day_of
from services.orders.declarations.order import Order
from services.orders.declarations.parts import SoldLine, line_key
from services.orders.declarations.stall import StallSale
from services.orders.dependencies import Dependencies
from services.orders.documents import (
    CUSTOMER,
    ORDER,
    OVERSOLD,
    OVERSOLD_ENTRY,
    OVERSOLD_SETTLEMENT,
    STALL_ENTRY,
    order_key,
    oversold_key,
    stall_key,
)
from services.orders.rules.assembly import OrderDocuments
from services.orders.rules.identity import orderid_for
from services.orders.rules.pricing.stall import stall_quote
from services.orders.rules.stall import oversold_of
from services.orders.rules.writing import (
    costs_of,
    decision_of,
    delivery_of,
    dispatch_of,
    event_fields,
    items_of,
    notice_of,
    payment_of,
    sold,
)
from shared.clock import iso, now, parse
from shared.couch import Document
from shared.errors import Conflict, Invalid, NotFound
from shared.idempotency import check_same, fingerprint_of
from shared.money import Money

STALL = "stall"
"""Whose keys they are, and the courier of what was handed over."""
NOBODY_TOLD = "nobody"


class NothingOversold(NotFound):
    code, title = "nothing_oversold", "Nothing of this order was oversold"


class SettledAnotherWay(Conflict):
    code, title = "settled_another_way", "This was settled in another way before"


def record_sale(deps: Dependencies, key: str, body: dict[str, Any], actor: str) -> Placed:
    """The order of a sale {items, total, payment, stall, sold_at, sold_by, email, name}: once for each key, whoever sends it and however late.

    Raises Invalid for a total that is not that of the items, KeyReused.
    """
    orderid, fingerprint = orderid_for(STALL, key), fingerprint_of(body)
    found = deps.orders.order(orderid)
    is_new = not found.exists
    if is_new:
        _check(body)
        docs = _first_documents(deps, orderid, fingerprint, body, actor)
        is_new = deps.orders.place(docs)
        found = OrderDocuments(docs) if is_new else deps.orders.order(orderid)
    check_same(found.order["fingerprint"], fingerprint, orderid=orderid)
    if not is_new and found.payment is None:
        found = _completed(deps, found, _customer(orderid, body))
    return Placed(finish(deps, found, again=not is_new), replayed=not is_new)


def finish(deps: Dependencies, found: OrderDocuments, *, again: bool = True) -> OrderDocuments:
    """Brings a sale that was begun to its end. `again`: somebody may have done a part of it."""
    if found.payment is not None:
        return found
    order = found.order
    if again:
        found = _completed(deps, found, _customer(order["orderid"], {}))
    expires = iso(now() + timedelta(seconds=deps.settings.reservation_seconds))
    deps.products.sell_anyway(order["orderid"], order["basket"], expires, order["date"], again=again)
    said = deps.products.waiting({order["orderid"]: order["basket"]})[order["orderid"]]
    known = oversold_of(found)
    lacking = known["lines"] if known else _lacking(order, said)
    payment = payment_of(
        order, order["provider"], order.get("payment_reference", ""), order["total"], order["date"], sold=True
    )
    stall = order["stall"]
    dispatch = dispatch_of(order, payment, STALL, stall["name"], order["date"])
    docs: list[Document] = [
        *_oversold(order, lacking),
        decision_of(
            order,
            "dispatch",
            f"{STALL} {stall['name']}",
            stall["sold_by"],
            date=order["date"],
            courier=STALL,
            courierid=stall["name"],
        ),
        dispatch,
        delivery_of(order, dispatch, order["date"]),
        *(notice_of(order, kind, NOBODY_TOLD) for kind in ("dispatch", "delivery")),
    ]
    deps.stall.add([_entry(order, lacking), *_oversold_entry(order, lacking)])
    deps.orders.add_all(docs)
    deps.orders.add(payment)
    return deps.orders.order(order["orderid"])


def settle_oversold(deps: Dependencies, orderid: str, outcome: str, actor: str) -> OrderDocuments:
    """Writes down once how those were helped whom the pieces lacked, and takes the sale off the list. The stock is left alone: what came in
    was booked when it came. 1 partition query, 1 read, 2 writes.

    Raises NothingOversold, SettledAnotherWay.
    """
    found = deps.orders.order(orderid)
    if oversold_of(found) is None:
        raise NothingOversold("No piece of this order was oversold at a stall.")
    key = order_key(orderid, "oversoldsettled")
    doc = OVERSOLD_SETTLEMENT.build(key, **event_fields(found.order), outcome=outcome, by=actor)
    kept, _ = deps.orders.add(doc)
    if kept["outcome"] != outcome:
        raise SettledAnotherWay(f"It was settled before, as {kept['outcome']}.")
    deps.stall.remove_oversold(found.order["date"], orderid)
    return found.with_document(kept)


def _check(body: dict[str, Any]) -> None:
    currencies = {each["price"]["currency"] for each in body["items"]} | {body["total"]["currency"]}
    if len(currencies) > 1:
        raise Invalid(
            "A sale is in one currency.", errors={"total": [f"There are {', '.join(sorted(currencies))}."]}
        )
    keys = [line_key(each) for each in body["items"]]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise Invalid("Name each product once.", errors={"items": [f"{twice} comes twice."]})
    amount = sum(each["price"]["amount"] * each["quantity"] for each in body["items"])
    if amount != body["total"]["amount"]:
        raise Invalid("The items do not add up.", errors={"total": [f"They come to {amount}."]})


def _first_documents(
    deps: Dependencies, orderid: str, fingerprint: str, body: dict[str, Any], actor: str
) -> list[Document]:
    """1 look-up of the products, 1 read of the shop's time zone."""
    moment = min(parse(body["sold_at"]), now())
    day = day_of(deps, moment)
    products = deps.products.lookup(
        [line_key(each) for each in body["items"]], currency=body["total"]["currency"], costs=True
    )
    priced = stall_quote(body["items"], products, deps.terms, body["stall"], day)
    payment = body["payment"]
    stall: StallSale = {"name": body["stall"], "sold_by": body["sold_by"], "day": day}
    if "given" in payment:
        stall["given"] = payment["given"]
    order = ORDER.build(
        order_key(orderid, "order"),
        orderid=orderid,
        number=deps.order_numbers.take(),
        userid=None,
        basket=priced.lines,
        goods=priced.goods,
        delivery=priced.delivery,
        tax=priced.tax,
        shipping=priced.shipping,
        taxes=priced.taxes,
        total=priced.total,
        date=iso(moment),
        provider=payment["kind"],
        fingerprint=fingerprint,
        placed_by=actor,
        stall=stall,
        **({"payment_reference": payment["reference"]} if payment["reference"] else {}),
        **({"language": body["language"]} if body["language"] else {}),
    )
    return [order, _customer(orderid, body), *costs_of(orderid, known_costs(products)), *items_of(order)]


def _customer(orderid: str, body: dict[str, Any]) -> Document:
    return CUSTOMER.build(
        order_key(orderid, "customer"),
        orderid=orderid,
        userid=None,
        name=body.get("name", ""),
        email=body.get("email", ""),
        deliveryAddress=None,
    )


def _completed(deps: Dependencies, found: OrderDocuments, customer: Document) -> OrderDocuments:
    """With the customer, the lines and what the goods cost, which a crash left out of the first bulk."""
    missing: list[Document] = [doc for doc in [customer, *items_of(found.order)] if not found.has(doc["_id"])]
    if not missing:
        return found
    if found.costs is None:
        missing += costs_of(found.order["orderid"], costs_now(deps, found.order))
    deps.orders.add_all(missing)
    return OrderDocuments([*found.documents, *missing])


def _lacking(order: Order, said: dict[str, int]) -> list[SoldLine]:
    return [
        sold(line, count, line["unitPrice"]["amount"] * count)
        for line in order["basket"]
        if (count := said.get(line_key(line), 0))
    ]


def _oversold(order: Order, lines: list[SoldLine]) -> list[Document]:
    key = order_key(order["orderid"], "oversold")
    return [OVERSOLD.build(key, **event_fields(order, order["date"]), lines=lines)] if lines else []


def _entry(order: Order, lacking: list[SoldLine]) -> Document:
    stall, total = order["stall"], order["total"]
    present: Money = {"amount": total["amount"], "currency": total["currency"]}
    return STALL_ENTRY.build(
        stall_key(stall["day"], f"sale-{order['orderid']}"),
        **_about(order),
        kind=order["provider"],
        total=present,
        oversold=sum(line["quantity"] for line in lacking),
        price_changed=any("manual_price" in line for line in order["basket"]),
    )


def _oversold_entry(order: Order, lacking: list[SoldLine]) -> list[Document]:
    if not lacking:
        return []
    key = oversold_key(order["date"], order["orderid"])
    return [OVERSOLD_ENTRY.build(key, **_about(order), lines=lacking)]


def _about(order: Order) -> dict[str, Any]:
    stall = order["stall"]
    return {
        "orderid": order["orderid"],
        "number": order.get("number") or order["orderid"],
        "stall": stall["name"],
        "sold_by": stall["sold_by"],
        "date": order["date"],
    }
