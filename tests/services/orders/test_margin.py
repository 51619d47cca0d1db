"""GET /v1/admin/reports/margin: what is left of sales over the costs as they were at the order, and nobody but staff can read a cost."""

import csv
import io
import secrets
from typing import Any

import orjson
import pytest
import requests

from services.orders.actions.summaries import summarise_order
from services.orders.dependencies import Dependencies
from services.orders.documents import order_key
from shared.couch import Database
from tests.people import Person
from tests.services.orders.conftest import Shop, calls
from tests.services.orders.test_desk_orders import line, send
from tests.waiting import eventually

CURRENCY = "SEK"  # of these tests alone
PATH = "/v1/admin/reports/margin"
COST = 73913
"""Of one; no other figure here reads like it."""


def goods(shop: Shop, price: int, cost: int | None) -> str:
    more = {} if cost is None else {"cost_prices": {CURRENCY: cost}}
    return shop.product(price=price, currency=CURRENCY, delivery=0, **more)


def report(shop: Shop, day: str, **more: str) -> dict[str, Any]:
    found = shop.get(shop.admin, PATH, params={"from": day, "currency": CURRENCY, **more})
    assert found.status_code == 200, found.text
    assert calls(found)["global"] == 1, found.headers["Server-Timing"]
    return found.json()


def total(shop: Shop, day: str) -> tuple[int, ...]:
    """Units, known units, and the amounts."""
    found = report(shop, day)["totals"]
    return tuple(amounts(found[0])) if found else (0, 0, 0, 0, 0, 0)


def amounts(row: dict[str, Any]) -> list[int]:
    names = ("units", "known_units", "sales", "known_sales", "cost", "margin")
    return [row[name] if isinstance(row[name], int) else row[name]["amount"] for name in names]


def less(after: tuple[int, ...], before: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(one - other for one, other in zip(after, before, strict=True))


def delivered(shop: Shop, orderid: str) -> None:
    for verb in ("dispatch", "delivery"):
        parcel = {"courier": "Owl", "courierid": "1"}
        assert shop.post(shop.admin, f"/v1/admin/orders/{orderid}/{verb}", parcel).status_code == 201


def make_dearer(shop: Shop, productid: str) -> None:
    """From now on; what was ordered before has cost what it cost then."""
    path = f"{shop.products}/v1/products/{productid}"
    content = shop.admin.get(path, timeout=30).json()
    read_only = ("rating", "stock", "highest_price", "status")
    sent = {name: value for name, value in content.items() if name not in read_only}
    dearer = sent | {"cost_prices": {CURRENCY: COST + 1000}}
    assert shop.admin.put(path, json=dearer, timeout=30).status_code == 200


def net(amount: int, order: dict[str, Any]) -> int:
    """Without the tax that prices of this shop hold."""
    held = next(each for each in order["items"] if each["total"]["amount"] == amount)
    return int(held["tax"]["base"]["amount"])


def test_what_is_left_over_the_costs_as_they_were(shop: Shop, customer: Person, deps: Dependencies) -> None:
    known, unknown = goods(shop, 200_000, COST), goods(shop, 50_000, None)
    order = shop.placed(customer, {known: 2, unknown: 1}, currency=CURRENCY)
    orderid, day = order["orderid"], order["date"][:10]
    before = total(shop, day)
    make_dearer(shop, known)
    summarise_order(deps, orderid)
    sold, rest = net(400_000, order), net(50_000, order)
    bought = (3, 2, sold + rest, sold, 2 * COST, sold - 2 * COST)
    assert eventually(lambda: less(total(shop, day), before) == bought), less(total(shop, day), before)
    delivered(shop, orderid)
    shop.sent_back(customer, orderid, {known: 1})
    summarise_order(deps, orderid)
    kept = (2, 1, sold - sold // 2 + rest, sold - sold // 2, COST, sold - sold // 2 - COST)
    assert eventually(lambda: less(total(shop, day), before) == kept), less(total(shop, day), before)
    shop.sent_back(customer, orderid, {known: 1}, condition="damaged")
    summarise_order(deps, orderid)
    lost = (1, 0, rest, 0, COST, -COST)
    assert eventually(lambda: less(total(shop, day), before) == lost), less(total(shop, day), before)


def test_a_cancelled_order_leaves_nothing(shop: Shop, customer: Person, deps: Dependencies) -> None:
    order = shop.placed(customer, {goods(shop, 90_000, 100): 3}, currency=CURRENCY)
    orderid, day = order["orderid"], order["date"][:10]
    before = total(shop, day)
    summarise_order(deps, orderid)
    assert eventually(lambda: total(shop, day) != before)
    assert shop.post(customer, f"/v1/orders/{orderid}/cancellation", {"reason": "late"}).status_code == 201
    summarise_order(deps, orderid)
    assert eventually(lambda: total(shop, day) == before)


def test_by_period_and_as_a_file(shop: Shop) -> None:
    """Of imported orders no cost is known: they are counted, and no margin is guessed."""
    orders = [
        line(f"margin-{secrets.token_hex(3)}", f"2011-0{month}-02T10:00:00Z", currency=CURRENCY)
        for month in (3, 4)
    ]
    for each in orders:
        each["items"][0]["unitPrice"]["currency"] = CURRENCY
    send(shop, orders)
    span = {"from": "2011-03-01", "to": "2011-05-01", "by": "month"}
    found = eventually(lambda: len((got := report(shop, span["from"], **span))["rows"]) == 2 and got)
    assert [row["period"] for row in found["rows"]] == ["2011-03", "2011-04"]
    for row in found["rows"]:
        assert (row["known_units"], row["margin"]["amount"], row["margin_percent"]) == (0, 0, None)
        assert row["units"] > 0
    answer = shop.get(shop.admin, PATH, params=span, headers={"Accept": "text/csv"})
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["period"], row["cost"]) for row in rows if row["currency"] == CURRENCY] == [
        ("2011-03", "0.00"),
        ("2011-04", "0.00"),
    ]


def test_the_costs_lie_beside_the_order_and_cost_no_call(
    shop: Shop, customer: Person, database: Database
) -> None:
    """The bulk that writes the order writes them; of goods without a cost there is no document."""
    known, unknown = goods(shop, 60_000, 55), goods(shop, 60_000, None)
    plain = shop.order(customer, {unknown: 1}, currency=CURRENCY)
    told = shop.order(customer, {known: 1, unknown: 1}, currency=CURRENCY)
    assert calls(told) == calls(plain)
    ids = [order_key(each.json()["orderid"], "costs") for each in (plain, told)]
    found = database.get_many(ids)
    assert {each: doc["costs"] for each, doc in found.items()} == {ids[1]: {known: 55}}


def test_nobody_but_staff_reads_a_cost(shop: Shop, customer: Person, deps: Dependencies) -> None:
    """Not in what the checkout, the quote, the order, its lines, its export or the products' look-up answer."""
    known = goods(shop, 200_000, COST)
    asked = {"items": [{"productid": known, "quantity": 1}], "currency": CURRENCY}
    quoted = shop.post(customer, "/v1/orders/quote", asked)
    placed = shop.order(customer, {known: 1}, currency=CURRENCY)
    orderid = placed.json()["orderid"]
    summarise_order(deps, orderid)
    read = [
        shop.get(customer, path)
        for path in (
            f"/v1/orders/{orderid}",
            f"/v1/orders/{orderid}/items",
            "/v1/orders",
            f"/v1/orders/{orderid}?include=items",
        )
    ]
    body = {"productids": [known], "currency": CURRENCY, "costs": True}
    lookups = [
        asker.post(f"{shop.products}/v1/products/lookup", json=body, timeout=30)
        for asker in (requests.Session(), customer)
    ]
    exported = orjson.dumps(_export(shop, deps, orderid))
    for text in (exported, *(each.content for each in (quoted, placed, *read, *lookups))):
        assert b"73913" not in text
        assert b"cost" not in text
    assert known.encode() in exported
    assert all(each.status_code in (200, 201) for each in (quoted, placed, *read, *lookups))
    for asker in (customer, requests.Session()):
        assert shop.get(asker, PATH).status_code in (401, 403)


def _export(shop: Shop, deps: Dependencies, orderid: str) -> dict[str, Any]:
    from services.orders.actions.privacy import export_orders

    userid = deps.orders.header(orderid)["userid"]
    assert userid
    return export_orders(deps, userid)


@pytest.mark.parametrize("span", [{"from": "2026-11-20T10:00:00Z"}, {"by": "hour"}, {"from": "soon"}])
def test_whole_days_are_reported(shop: Shop, span: dict[str, str]) -> None:
    assert shop.get(shop.admin, PATH, params=span).status_code in (400, 422)


def test_an_imported_line_may_say_its_cost(shop: Shop) -> None:
    orderid, day, price = f"cost{secrets.token_hex(4)}", "2011-02-03", {"amount": 9000, "currency": CURRENCY}
    before = total(shop, day)
    bought = line(orderid, f"{day}T10:00:00Z", currency=CURRENCY)
    tea = {"productid": "tea", "name": "Tea", "unitPrice": price}
    bought["items"] = [
        {**tea, "quantity": 2, "cost": {"amount": COST, "currency": CURRENCY}},
        {**tea, "productid": "gift", "quantity": 1},
    ]
    send(shop, [bought])
    found = less(total(shop, day), before)
    assert found == (3, 2, 27000, 18000, 2 * COST, 18000 - 2 * COST)
    again = {**tea, "quantity": 1, "cost": {"amount": 1, "currency": CURRENCY}}
    for wrong in (
        {**tea, "quantity": 1, "cost": -1},
        {**tea, "quantity": 1, "cost": {"amount": 1, "currency": "GBP"}},
        again,
    ):
        items = [*bought["items"], wrong]
        body = orjson.dumps({**bought, "orderid": f"{orderid}x", "items": items})
        path, headers = "/v1/admin/orders/import", {"Content-Type": "application/x-ndjson"}
        url = f"{shop.orders}{path}"
        (failed,) = shop.admin.post(url, data=body, headers=headers, timeout=60).json()["failed"]
        assert failed["detail"].startswith("items.2.cost: "), failed
